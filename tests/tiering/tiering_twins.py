"""Slow and obvious versions: tiers as lists of blocks, a request's life in small steps."""

from fractions import Fraction
from math import ceil


class SlowPlace:
    """Blocks in a list, oldest first, with their numbers of uses."""

    def __init__(self, capacity, policy):
        self.capacity = capacity
        self.policy = policy
        self.order = []
        self.counts = {}

    def touch(self, block):
        """Use or put in one block; room is made by the caller."""
        there = block in self.order
        if there and self.policy != "fifo":
            self.order.remove(block)
        if not there or self.policy != "fifo":
            self.order.append(block)
        self.counts[block] = self.counts.get(block, 0) + 1

    def drop(self):
        """The next to go: the oldest, under LFU among those used least."""
        victim = self.order[0]
        if self.policy == "lfu":
            victim = min(self.order, key=lambda b: (self.counts[b], self.order.index(b)))
        self.order.remove(victim)
        del self.counts[victim]
        return victim

    def full(self):
        """Whether nothing more fits."""
        return self.capacity is not None and len(self.order) >= self.capacity

    def use(self, blocks):
        """Last to first: (put in, evicted)."""
        new = [b for b in blocks if b not in self.order]
        gone = []
        if self.policy == "lfu":
            for block in reversed([b for b in blocks if b not in new]):
                self.touch(block)
            for block in reversed(new):
                if self.full():
                    gone.append(self.drop())
                self.touch(block)
            return new, gone
        for block in reversed(blocks):
            self.touch(block)
        while self.capacity is not None and len(self.order) > self.capacity:
            gone.append(self.drop())
        return new, gone


def load_ns(level, blocks):
    """Rounds of latency and the blocks themselves."""
    return ceil(Fraction(blocks, level.parallel)) * level.latency_ns + ceil(
        blocks * level.ns_per_block
    )


def compute_ns(setup, start, end):
    """A prefill in whole nanoseconds."""
    work = setup.prefill.work.amount(end) - setup.prefill.work.amount(start)
    return int(setup.prefill.overhead_s * 10**9) + ceil(work / setup.prefill.per_s * 10**9)


def run(trace_rows, setup, size):
    """(found, ttft, control, flows) of rows (blocks, tokens, arrival in ns)."""
    levels = setup.levels
    shared = {i: SlowPlace(x.capacity, x.policy) for i, x in enumerate(levels) if x.shared}
    chains = [
        [SlowPlace(setup.gpu_blocks, setup.gpu_policy)]
        + [shared.get(i) or SlowPlace(x.capacity, x.policy) for i, x in enumerate(levels)]
        for _ in range(setup.instances)
    ]
    free, alone_free = [0] * setup.instances, [0] * setup.instances
    flows = [{"used": 0, "put_in": 0, "written": 0, "evicted": 0} for _ in range(len(levels) + 1)]
    found_all, ttft, control = [], [], []
    for index, (ids, tokens, arrival) in enumerate(trace_rows):
        full = ids[: tokens // size]
        usable = full[: (tokens - 1) // size]
        who = index % setup.instances
        chain = chains[who]
        parts, rest = [], list(usable)
        for tier, place in enumerate(chain):
            part = []
            while rest and rest[0] in place.order:
                part.append(rest.pop(0))
            if tier and len(part) * size < levels[tier - 1].least_tokens:
                rest, part = part + rest, []
            parts.append(part)
        waits = max(0, free[who] - arrival)
        alone = len(parts[0])
        ready = prefetched(setup, levels, parts, waits, size)
        own = sum(
            load_ns(level, len(part))
            for level, part in zip(levels, parts[1:], strict=True)
            if part and not level.prefetched
        )
        reused = sum(map(len, parts))
        end = max(arrival + waits, arrival + ready) + own + compute_ns(setup, reused * size, tokens)
        free[who] = end
        ttft.append(end - arrival)
        alone_end = max(arrival, alone_free[who]) + compute_ns(setup, alone * size, tokens)
        alone_free[who] = alone_end
        control.append(alone_end - arrival)
        found_all.append(tuple(map(len, parts)))
        keep(setup, chain, full, parts, flows)
    for tier, flow in enumerate(flows):
        places = {id(chain[tier]): chain[tier] for chain in chains}.values()
        flow["resident"] = sum(len(place.order) for place in places)
    return found_all, ttft, control, flows


def prefetched(setup, levels, parts, waits, size):
    """When the prefetched part is there; what does not come in time leaves ``parts``."""
    ready = 0
    for tier, level in enumerate(levels, start=1):
        part = parts[tier]
        if not level.prefetched or not part:
            continue
        limit = {
            "wait_complete": None,
            "best_effort": waits,
            "timeout": max(
                waits,
                setup.timeout_base_ns + setup.timeout_ns_per_1024 * len(part) * size // 1024,
            ),
        }[setup.prefetch]
        came = 0
        while came < len(part) and (limit is None or ready + load_ns(level, came + 1) <= limit):
            came += 1
        stopped = came < len(part)
        ready += load_ns(level, came)
        if stopped:
            parts[tier] = part[:came]
            for deeper in range(tier + 1, len(parts)):
                parts[deeper] = []
            if setup.prefetch == "timeout":
                ready = max(ready, limit)
            break
    return ready


def keep(setup, chain, full, parts, flows):
    """Use, promote, write down."""
    reused = sum(map(len, parts))
    new, gone = chain[0].use(full)
    note(flows[0], len(parts[0]), len(new), 0, len(gone))
    offered = full[reused:]
    for tier, level in enumerate(setup.levels, start=1):
        deeper = [b for part in parts[tier + 1 :] for b in part] if setup.promote else []
        touched = parts[tier] + deeper
        if level.write == "write_back":
            offered = list(reversed(gone))
            steps = [offered, touched]
        elif level.write == "write_through_selective":
            offered = list(parts[tier - 1])
            steps = [offered + touched]
        else:
            steps = [touched + offered]
        put_in, gone, written = [], [], []
        for step in steps:
            new, out = chain[tier].use(step)
            put_in += new
            gone += out
            written += [b for b in new if b not in touched or step is offered]
        note(flows[tier], len(parts[tier]), len(put_in), len(written), len(gone))


def note(flow, used, put_in, written, evicted):
    """Count."""
    flow["used"] += used
    flow["put_in"] += put_in
    flow["written"] += written
    flow["evicted"] += evicted
