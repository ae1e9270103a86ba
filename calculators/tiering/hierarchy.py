"""A trace through GPU memory and the tiers below it: who served which block, and at what price.

A lookup is one contiguous prefix: the leading blocks in GPU memory, then those that follow in the
next tier, and so on, never back up (HiCache's rule; LMCache asks its tiers in the same order).
Whole blocks only; at least one token of a prompt is computed. What is found below is copied up
("promotion"), what is computed goes down by each tier's write policy.

Time: each instance prefills one request after the other in order of arrival, which is all that
delays a first token here. Each request is timed twice, with the tiers and without; GPU memory
holds the same blocks in both cases, so the comparison is with the engine's own prefix cache.
Left out: decode, batching, requests that overtake one that waits for its prefetch, writes that
compete with serving, blocks in use by running requests.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from calculators.prefix.invariants import require
from calculators.tiering.places import AnyPlace, check, place
from calculators.tiering.recompute import Prefill

type WritePolicy = Literal["write_through", "write_through_selective", "write_back"]
type PrefetchPolicy = Literal["best_effort", "wait_complete", "timeout"]

WRITE_POLICIES = ("write_through", "write_through_selective", "write_back")
PREFETCH_POLICIES = ("best_effort", "wait_complete", "timeout")
NS_PER_S = 10**9
NS_PER_MS = 10**6


@dataclass(frozen=True, kw_only=True, slots=True)
class Level:
    """A tier below GPU memory; ``capacity`` in blocks, None without limit.

    ``write``: blocks come down when they are computed (through), when they are used again in the
    tier above (selective) or when that tier evicts them (back). ``prefetched`` tiers (HiCache's
    L3) load while a request waits, others once it is its turn. Below ``least_tokens`` nothing is
    loaded.
    """

    name: str
    capacity: int | None
    ns_per_block: Fraction
    latency_ns: int = 0
    parallel: int = 1
    policy: str = "lru"
    write: WritePolicy = "write_through"
    least_tokens: int = 0
    prefetched: bool = False
    shared: bool = False

    def load_ns(self, blocks: int) -> int:
        """Time to load so many blocks, rounded up."""
        of = self.ns_per_block
        rounds = -(-blocks // self.parallel)
        return rounds * self.latency_ns - (-blocks * of.numerator // of.denominator)

    def blocks_within(self, ns: int, blocks: int) -> int:
        """How many of the blocks have come after so long."""
        low, high = 0, blocks
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.load_ns(middle) <= ns else (low, middle - 1)
        return low


@dataclass(frozen=True, kw_only=True, slots=True)
class Setup:
    """GPU memory in blocks, the levels below it from near to far, and how they are used."""

    gpu_blocks: int | None
    levels: tuple[Level, ...]
    prefill: Prefill
    gpu_policy: str = "lru"
    instances: int = 1
    promote: bool = True
    prefetch: PrefetchPolicy = "wait_complete"
    timeout_base_ns: int = 0
    timeout_ns_per_1024: int = 0


@dataclass(kw_only=True, slots=True)
class Flow:
    """Blocks of one tier over all instances.

    ``used`` from it, ``put_in``, of these ``written`` from above, ``evicted``, left at the end.
    """

    used: int = 0
    put_in: int = 0
    written: int = 0
    evicted: int = 0
    resident: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What became of a trace.

    ``found[i]`` are blocks that request i used, GPU memory first; ``load_ns`` is loading that no
    queue hid; ``ttft_ns`` and ``control_ns`` are the times to the first token with the tiers and
    without them. ``flows`` are tiers, GPU memory first.
    """

    found: list[tuple[int, ...]]
    blocks: list[int]
    computed_tokens: int
    control_tokens: int
    load_ns: list[int]
    ttft_ns: list[int]
    control_ns: list[int]
    flows: tuple[Flow, ...]

    def check(self) -> None:
        """Raise BrokenInvariantError where blocks are lost or made."""
        for tier, flow in enumerate(self.flows):
            balance = flow.put_in - flow.evicted
            require(balance == flow.resident, "put in - evicted is not what is left")
            used = sum(found[tier] for found in self.found)
            require(used == flow.used, "blocks used and blocks found differ")
            require(flow.written <= flow.put_in, "more was written than put in")
        for found, blocks in zip(self.found, self.blocks, strict=True):
            require(sum(found) <= blocks, "a request found more than it has")


class Hierarchy:
    """The state between two requests."""

    def __init__(self, setup: Setup, block_tokens: int) -> None:
        self.setup = setup
        self.block_tokens = block_tokens
        shared = {
            at: place(level.policy, level.capacity)
            for at, level in enumerate(setup.levels, start=1)
            if level.shared
        }
        self.chains = [self.chain(shared) for _ in range(setup.instances)]
        self.flows = tuple(Flow() for _ in range(len(setup.levels) + 1))
        self.free_ns = [0] * setup.instances
        self.control_free_ns = [0] * setup.instances

    def chain(self, shared: dict[int, AnyPlace]) -> list[AnyPlace]:
        """The places of one instance, those that are shared being the same for all."""
        setup = self.setup
        below = [
            shared.get(at) or place(level.policy, level.capacity)
            for at, level in enumerate(setup.levels, start=1)
        ]
        return [place(setup.gpu_policy, setup.gpu_blocks), *below]

    def look_up(self, chain: Sequence[AnyPlace], blocks: Sequence[int], most: int) -> list[int]:
        """Where the part found in each tier ends; at most ``most`` blocks in all."""
        ends = []
        at = 0
        levels = self.setup.levels
        for tier, where in enumerate(chain):
            start, cache = at, where.blocks
            while at < most and blocks[at] in cache:
                at += 1
            if tier and (at - start) * self.block_tokens < levels[tier - 1].least_tokens:
                at = start
            ends.append(at)
        return ends

    def cut_prefetch(self, ends: list[int], waited_ns: int) -> int:
        """When the prefetched part is ready, counted from arrival; ``ends`` shrink to what came.

        ``waited_ns`` is how long the request waits for its turn anyway.
        """
        setup = self.setup
        ready = 0
        for tier, level in enumerate(setup.levels, start=1):
            count = ends[tier] - ends[tier - 1]
            if not level.prefetched or count <= 0:
                continue
            limit = self.limit_ns(count, waited_ns)
            came = count if limit is None else level.blocks_within(limit - ready, count)
            ready += level.load_ns(came)
            if came < count:  # what follows would not be contiguous
                ends[tier:] = [ends[tier - 1] + came] * (len(ends) - tier)
                if limit is not None and setup.prefetch == "timeout":
                    ready = max(ready, limit)
                break
        return ready

    def own_load_ns(self, ends: Sequence[int]) -> int:
        """What is loaded once it is the request's turn."""
        return sum(
            level.load_ns(ends[tier] - ends[tier - 1])
            for tier, level in enumerate(self.setup.levels, start=1)
            if not level.prefetched
        )

    def limit_ns(self, blocks: int, waited_ns: int) -> int | None:
        """How long a prefetch may take; None waits for its end."""
        setup = self.setup
        if setup.prefetch == "wait_complete":
            return None
        if setup.prefetch == "best_effort":
            return waited_ns
        tokens = blocks * self.block_tokens
        return max(waited_ns, setup.timeout_base_ns + setup.timeout_ns_per_1024 * tokens // 1024)

    def store(self, chain: Sequence[AnyPlace], blocks: list[int], ends: Sequence[int]) -> None:
        """Use, promote and write down the blocks of a request, tier by tier."""
        put_in, gone = chain[0].use(blocks)
        self.note(0, ends[0], put_in, 0, len(gone))
        above, start, last = 0, ends[0], ends[-1]
        down = blocks[last:]
        for tier, level in enumerate(self.setup.levels, start=1):
            where, write, end = chain[tier], level.write, ends[tier]
            touched = blocks[start : last if self.setup.promote else end] if start < last else []
            promoted = 0
            if write == "write_back":  # older than all that the request touches
                down = gone[::-1]
                put_in, gone = where.use(down)
                if touched:
                    promoted, more = where.use(touched)
                    put_in += promoted
                    gone += more
            else:
                if write == "write_through_selective":
                    down = blocks[above:start]
                if touched and end < last:
                    promoted = len(touched) - sum(map(where.blocks.__contains__, touched))
                ordered = touched + down if write == "write_through" else down + touched
                put_in, gone = where.use(ordered)
            if put_in or start < end:  # nothing goes if nothing comes
                self.note(tier, end - start, put_in, put_in - promoted, len(gone))
            above, start = start, end

    def note(self, tier: int, used: int, put_in: int, written: int, evicted: int) -> None:
        """Count what happened in a tier."""
        flow = self.flows[tier]
        flow.used += used
        flow.put_in += put_in
        flow.written += written
        flow.evicted += evicted

    def check(self) -> None:
        """No place holds more than fits."""
        for chain in self.chains:
            for where in chain:
                check(where)

    def close(self) -> tuple[Flow, ...]:
        """The flows with what is left in the end; a shared place counts once."""
        for tier, flow in enumerate(self.flows):
            places = {id(chain[tier]): chain[tier] for chain in self.chains}
            flow.resident = sum(len(where.blocks) for where in places.values())
        return self.flows
