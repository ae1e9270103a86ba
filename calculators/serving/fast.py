"""The fast engine: the same integers as `engine`, skipping over equal iterations.

Between two events (an arrival that can be admitted, a finish, the end of a chunk, a deadline, a
shortage of blocks, the horizon) every decoding request gains one token in each iteration. One
counter of iterations stands for all of them: a request that joins at number g with r tokens to go
finishes at number g + r, and needs a new block whenever the counter has its residue modulo the
block size. Cost then grows with requests, not with tokens.

Covers static, orca, prefill_first, chunked and v1 in first-come order without a long-prefill cap,
which could starve single decodes; `covers` tells. Everything else runs in the plain engine.
"""

import heapq
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from calculators.serving.costs import Cost
from calculators.serving.request import Request, Time, in_order
from calculators.serving.settings import Settings
from calculators.serving.trace import (
    DECODING,
    FINISHED,
    NOT_ARRIVED,
    PREFILLING,
    REJECTED,
    TIMEOUT,
    WAITING,
    Stay,
    Trace,
)

NEVER = float("inf")
SHIFT = 24  # bits for the index of a request below its finishing number in the heap
MASK = (1 << SHIFT) - 1
MIXED = ("orca", "chunked", "v1")
CHUNKING = ("chunked", "v1")
POLICIES = ("static", "orca", "prefill_first", "chunked", "v1")


def covers(settings: Settings) -> bool:
    """Whether `run` can take these settings."""
    return (
        settings.policy in POLICIES
        and settings.scheduling == "fcfs"
        and not settings.long_prefill_token_threshold
    )


def run(requests: Iterable[Request], settings: Settings, cost: Cost) -> Trace:
    """The run of an open workload, as columns."""
    return Core(in_order(tuple(requests)), settings, cost).simulate()


class Core:
    """The state that events seldom need; the hot loop keeps its own in local variables."""

    def __init__(self, requests: tuple[Request, ...], settings: Settings, cost: Cost) -> None:
        count = len(requests)
        self.settings = settings
        self.cost = cost
        self.prompt = [request.prompt for request in requests]
        self.output = [request.output for request in requests]
        self.trace = Trace(
            requests=list(requests),
            status=bytearray(count),
            first_scheduled=[None] * count,
            first_token=[None] * count,
            end=[None] * count,
            shown=[0] * count,
            joined=[0] * count,
        )
        self.times: list[Any] = [*(request.arrival for request in requests), NEVER]
        self.following = 0  # the next request to arrive
        self.timed = any(request.timeout is not None for request in requests)
        self.waiting: deque[int] = deque()
        self.gone = 0  # entries of the queue that timed out and still lie in it
        self.order: list[int] = []  # by admission; ended ones stay until they are found
        self.ends: list[int] = []  # heap of finishing number and index
        self.deadlines: list[tuple[Time, int]] = []
        self.partial: int | None = None
        self.done: dict[int, int] = {}  # computed tokens of requests in prefill
        self.owned: dict[int, int] = {}  # blocks of requests in prefill
        self.size = settings.block_size
        self.limited = settings.num_blocks is not None
        self.free = settings.num_blocks or 0
        self.reserving = settings.policy in {"static", "orca"}
        self.residues = [0] * self.size  # decoding requests by the counter that needs a block
        self.prefixes: dict[str, int] = {}
        self.decoding = 0
        self.context = 0
        self.extra_context = 0  # tokens read by resumed requests that cost as decodes
        self.number = 0  # decode iterations so far

    def simulate(self) -> Trace:
        """Run to the end or to the horizon."""
        self.loop()
        horizon = self.settings.horizon
        if horizon is not None:
            self.settle(horizon, late=0)
            self.arrive(horizon)
            self.expire(horizon, late=0)
        for index, status in enumerate(self.trace.status):
            if status == DECODING:
                self.trace.shown[index] += self.number - self.trace.joined[index]
        count = len(self.trace.requests)
        self.trace.status[self.following : count] = bytes([NOT_ARRIVED]) * (count - self.following)
        return self.trace

    def loop(self) -> None:  # noqa: C901, PLR0912, PLR0915
        """The hot loop. Long on purpose: each call or attribute here costs a part of the run."""
        settings, trace, times = self.settings, self.trace, self.times
        prompt, output, shown, joined = self.prompt, self.output, trace.shown, trace.joined
        status, first_token, end = trace.status, trace.first_token, trace.end
        first_scheduled, waiting, ends = trace.first_scheduled, self.waiting, self.ends
        clock, duration, growth = trace.clock, self.cost.duration, self.cost.growth
        numbers, starts, lengths = clock.number, clock.start, clock.length
        sequences, push, pop = clock.decodes, heapq.heappush, heapq.heappop
        deadlines, cost_reads, limited = self.deadlines, self.cost.reads_context, self.limited
        timed, following = self.timed, 0
        static = settings.policy == "static"
        mixed, chunks = settings.policy in MIXED, settings.policy in CHUNKING
        plain = not (limited or timed or settings.prefix_cache or settings.policy == "prefill_first")
        simple_arrivals = not timed and not limited and settings.max_queue is None
        simple_arrivals = simple_arrivals and settings.policy != "prefill_first"
        growing = limited and not self.reserving
        most = settings.max_num_seqs or NEVER
        tokens = settings.token_budget if chunks else settings.max_num_batched_tokens
        limit: Any = NEVER if static or settings.policy == "orca" else tokens or NEVER
        horizon: Any = NEVER if settings.horizon is None else settings.horizon
        g = n = seats = context = 0
        now: Any = times[0]
        while now <= horizon:
            if simple_arrivals:
                while times[following] <= now:
                    waiting.append(following)
                    following += 1
            else:
                self.arrive(now)
                if deadlines and deadlines[0][0] <= now:
                    self.number, self.decoding, self.context = g, n, context
                    self.expire(now, late=0)
                    n, context = self.decoding, self.context
                following = self.following
                while waiting and status[waiting[0]] != WAITING:
                    waiting.popleft()
                    self.gone -= 1
            # what prefills in this iteration
            prefill = extra = 0
            joiners: list[int] = []
            preempted = False
            if growing and mixed and n:
                preempted = self.residues[(g + 1) % self.size] > self.free
                if preempted:
                    self.number, self.decoding, self.context = g, n, context
                    self.make_room(now)
                    n, context = self.decoding, self.context
            if plain:
                budget = limit - n if mixed else limit
                room = most - n
                i = self.partial
                if i is not None:
                    room -= 1
                    left = prompt[i] - self.done[i]
                    prefill = left if left <= budget else budget
                    budget -= prefill
                    if prefill == left:
                        self.partial = None
                        joiners.append(i)
                    else:
                        self.done[i] += prefill
                while waiting and room > 0 and budget > 0 and not (static and n):
                    i = waiting.popleft()
                    first_scheduled[i] = now
                    status[i] = PREFILLING
                    room -= 1
                    take = prompt[i]
                    if take <= budget:
                        joiners.append(i)
                    else:
                        take = budget
                        self.partial = i
                        self.done[i] = take
                    budget -= take
                    prefill += take
            elif self.partial is not None or (waiting and not (static and n)):
                self.number, self.decoding, self.context = g, n, context
                prefill, extra, preempted = self.admit(
                    now, joiners, limit, most, preempted=preempted
                )
                n, context = self.decoding, self.context
            # the iteration, or many equal ones
            if prefill or extra:
                rides = n if mixed else 0
                read = (context if mixed else 0) + (self.extra_context if extra else 0)
                length = duration(prefill, rides + extra, read)
                if now + length > horizon:
                    break
                numbers.append(g)
                starts.append(now)
                lengths.append(length)
                sequences.append(rides)
                if settings.prefix_cache:
                    self.publish(joiners)
                now += length
                late = 0
                if mixed:
                    if growing:
                        self.free -= self.residues[(g + 1) % self.size]
                    g += 1
                    context += n
                    late = 1
            elif n:
                if growing and not mixed:
                    preempted = self.residues[(g + 1) % self.size] > self.free
                    if preempted:
                        self.number, self.decoding, self.context = g, n, context
                        self.make_room(now)
                        n, context = self.decoding, self.context
                length = duration(0, seats if static else n, context)
                count = (ends[0] >> SHIFT) - g
                more = growth(n) if cost_reads else 0
                if preempted or more is None:
                    count = 1
                span = count * length
                if more:
                    span += more * (count * (count - 1) // 2)
                gap = NEVER if waiting else times[following] - now
                if deadlines and deadlines[0][0] - now < gap:
                    gap = deadlines[0][0] - now
                if gap < span:
                    count, span = first_reaching(gap, length, more, count)
                if growing:
                    count, span = self.until_shortage(g, n, count, span, length, more)
                if now + span > horizon:
                    count, span = last_within(horizon - now, length, more, count)
                if not count:
                    break
                if more:
                    clock.growth[len(numbers)] = more
                numbers.append(g)
                starts.append(now)
                lengths.append(length)
                sequences.append(n)
                now += span
                if growing:
                    self.free -= self.demand(g, n, count)
                g += count
                context += n * count
                late = 1
            elif following < len(prompt):
                now = times[following]
                continue
            else:
                break
            # what the end of the iteration brings
            if timed:
                self.number, self.decoding, self.context = g, n, context
                self.settle(now, late=late)
                n, context, following = self.decoding, self.context, self.following
            last = (g << SHIFT) | MASK
            while ends and ends[0] <= last:
                i = pop(ends)
                if limited or timed:
                    stale = i >> SHIFT != g or status[i & MASK] != DECODING
                    if stale or joined[i & MASK] + output[i & MASK] - shown[i & MASK] != g:
                        continue
                i &= MASK
                n -= 1
                if limited or cost_reads:
                    self.number = g
                    context -= self.leave(i)
                status[i] = FINISHED
                end[i] = now
                shown[i] = output[i]
            for i in joiners:
                if status[i] != PREFILLING:
                    continue
                shown[i] += 1
                joined[i] = g
                if first_token[i] is None:
                    first_token[i] = now
                else:
                    trace.resumed[i] = now
                left = output[i] - shown[i]
                if limited or cost_reads:
                    context += self.enter(i)
                if left:
                    status[i] = DECODING
                    n += 1
                    push(ends, ((g + left) << SHIFT) | i)
                else:
                    if limited or cost_reads:
                        self.number = g
                        context -= self.leave(i)
                    status[i] = FINISHED
                    end[i] = now
            if static and joiners:
                seats = len(joiners)
        self.number, self.decoding, self.context, self.following = g, n, context, following

    def arrive(self, now: Time) -> None:
        """Arrivals up to now join the queue or are refused, each at its own time."""
        trace, settings = self.trace, self.settings
        while self.times[self.following] <= now:
            index = self.following
            self.following += 1
            request = trace.requests[index]
            reason = settings.reject_reason(request, len(self.waiting) - self.gone)
            if reason is not None:
                self.refuse(index, reason, request.arrival)
                continue
            self.waiting.append(index)
            if request.deadline is not None:
                heapq.heappush(self.deadlines, (request.deadline, index))

    def refuse(self, index: int, reason: str, now: Time) -> None:
        """A request that will never run, or never again."""
        self.trace.status[index] = REJECTED
        self.trace.reasons[index] = reason
        self.trace.end[index] = now

    def settle(self, before: Time, *, late: int) -> None:
        """Arrivals and deadlines before an instant, in the order of time."""
        while True:
            arrival = self.times[self.following]
            deadline = self.deadlines[0][0] if self.deadlines else NEVER
            if arrival <= deadline and arrival < before:
                self.arrive(arrival)
            elif deadline < before:
                self.expire(deadline, late=late)
            else:
                return

    def expire(self, until: Time, *, late: int) -> None:
        """Requests with deadline ≤ until end there. ``late`` tokens of each came after it."""
        trace, status = self.trace, self.trace.status
        while self.deadlines and self.deadlines[0][0] <= until:
            deadline, index = heapq.heappop(self.deadlines)
            if status[index] == WAITING:
                self.gone += 1
                if index in trace.preemptions:
                    trace.moves.append((deadline, -1))
            elif status[index] == DECODING:
                self.decoding -= 1
                self.context -= self.leave(index)
                trace.shown[index] += self.number - trace.joined[index] - late
            elif status[index] == PREFILLING:
                self.free += self.owned.pop(index, 0)
                if self.partial == index:
                    self.partial = None
            else:
                continue
            status[index] = TIMEOUT
            trace.end[index] = deadline

    def computed(self, index: int) -> int:
        """Valid KV tokens of a decoding request."""
        trace = self.trace
        return self.prompt[index] + trace.shown[index] - 1 + self.number - trace.joined[index]

    def residue(self, index: int) -> int:
        """Which counters, modulo the block size, make a decoding request take a new block."""
        trace = self.trace
        return (trace.joined[index] + 2 - self.prompt[index] - trace.shown[index]) % self.size

    def enter(self, index: int) -> int:
        """A request starts to decode: returns the tokens that its next step reads."""
        if self.limited and not self.reserving:
            self.residues[self.residue(index)] += 1
            self.owned.pop(index, None)
        return self.prompt[index] + self.trace.shown[index]

    def leave(self, index: int) -> int:
        """A decoding request ends: frees its blocks, returns the tokens that it no longer reads."""
        tokens = self.computed(index)
        if self.reserving:
            self.free += self.owned.pop(index, 0)
        elif self.limited:
            self.free += -(-tokens // self.size)
            self.residues[self.residue(index)] -= 1
        return tokens + 1

    def demand(self, number: int, decoding: int, count: int) -> int:
        """Blocks that the next ``count`` decode iterations take."""
        cycles, rest = divmod(count, self.size)
        first = (number + 1) % self.size
        last = first + rest
        some = sum(self.residues[first:last])
        if last > self.size:
            some += sum(self.residues[: last - self.size])
        return cycles * decoding + some

    def until_shortage(
        self, number: int, decoding: int, count: int, span: Any, length: Any, more: Any
    ) -> tuple[int, Any]:
        """Shorten a stretch so that it ends before the first iteration that lacks a block."""
        if self.demand(number, decoding, count) <= self.free:
            return count, span
        cycles = self.free // decoding
        left = self.free - cycles * decoding
        fits = cycles * self.size
        while (blocks := self.residues[(number + fits + 1) % self.size]) <= left:
            left -= blocks
            fits += 1
        return fits, fits * length + (more * (fits * (fits - 1) // 2) if more else 0)

    def make_room(self, now: Time) -> None:
        """Preempt from the tail until every decoding request left can take its block."""
        slot = (self.number + 1) % self.size
        while self.residues[slot] > self.free:
            victim = self.order.pop()
            if self.trace.status[victim] in {PREFILLING, DECODING}:
                self.preempt(victim, now)

    def preempt(self, index: int, now: Time) -> None:
        """Back to the head of the queue, without blocks and computed tokens."""
        trace = self.trace
        if trace.status[index] == DECODING:
            self.decoding -= 1
            trace.recomputed[index] += self.computed(index)
            self.context -= self.leave(index)
            self.end_stay(index)
        else:
            self.partial = None
            trace.recomputed[index] += self.done[index]
            self.free += self.owned.pop(index)
        trace.status[index] = WAITING
        trace.preemptions[index] += 1
        trace.moves.append((now, 1))
        self.waiting.appendleft(index)

    def end_stay(self, index: int) -> None:
        """Write down which tokens came in the stay that ends."""
        trace = self.trace
        tokens = trace.shown[index] + self.number - trace.joined[index]
        stays = trace.earlier.setdefault(index, [])
        before = sum(stay.tokens for stay in stays)
        shown_at = trace.resumed.get(index, trace.first_token[index])
        if shown_at is not None:
            stays.append(Stay(shown_at, trace.joined[index], tokens - before))
        trace.shown[index] = tokens

    def admit(
        self, now: Time, joiners: list[int], limit: Any, most: Any, *, preempted: bool
    ) -> tuple[int, int, bool]:
        """Continue the partial prompt and admit others, with blocks, prefixes and resumed ones.

        Returns prefill tokens, prefills that count as a decode, and whether anything was preempted.
        """
        mixed = self.settings.policy in MIXED
        budget = limit - self.decoding if mixed else limit
        spare = self.free
        if mixed and self.decoding:
            spare -= self.residues[(self.number + 1) % self.size]
        work = Work(budget=budget, room=most - self.decoding, spare=spare, joiners=joiners)
        if self.partial is not None:
            preempted |= not self.next_chunk(self.partial, work, now)
        while not preempted and self.waiting and work.room > 0 and work.budget > 0:
            if not self.admit_head(self.waiting[0], work, now, limit):
                break
        self.extra_context = work.extra_context
        return work.prefill, work.extra, preempted

    def next_chunk(self, index: int, work: "Work", now: Time) -> bool:
        """The next chunk of the partial prompt; False if it preempted itself for want of blocks."""
        whole = self.prompt[index] + self.trace.shown[index]
        left = whole - self.done[index]
        take = min(left, work.budget)
        if self.limited and self.settings.policy == "v1":
            blocks = -(-(self.done[index] + take) // self.size) - self.owned[index]
            if blocks > work.spare:
                self.preempt(index, now)
                return False
            self.take_blocks(index, blocks, work)
        self.partial = None
        work.room -= 1
        self.compute(index, take, left, work)
        return True

    def admit_head(self, index: int, work: "Work", now: Time, limit: Any) -> bool:
        """Admit the head of the queue, or drop it; False if it has to wait."""
        policy, trace = self.settings.policy, self.trace
        if trace.status[index] != WAITING:
            self.waiting.popleft()
            self.gone -= 1
            return True
        whole = self.prompt[index] + trace.shown[index]
        if policy == "prefill_first" and whole > limit:
            self.waiting.popleft()
            self.refuse(index, "recompute_too_long", now)
            trace.moves.append((now, -1))
            return True
        hit = self.hit(index, whole)
        left = whole - hit
        if left > work.budget and policy not in CHUNKING:
            return False
        take = min(left, work.budget)
        if self.limited:
            blocks = -(-self.reserve(index, whole, hit + take) // self.size)
            if blocks + self.settings.watermark_blocks > work.spare:
                return False
            self.take_blocks(index, blocks, work)
            self.order.append(index)
        self.start(index, hit, now)
        work.room -= 1
        self.compute(index, take, left, work)
        return True

    def reserve(self, index: int, whole: int, first: int) -> int:
        """KV tokens for which a request takes blocks at admission."""
        if self.reserving:
            return self.prompt[index] + self.output[index] - 1
        return first if self.settings.policy == "v1" else whole

    def take_blocks(self, index: int, blocks: int, work: "Work") -> None:
        """Give blocks to a request in prefill."""
        self.owned[index] = self.owned.get(index, 0) + blocks
        self.free -= blocks
        work.spare -= blocks

    def start(self, index: int, hit: int, now: Time) -> None:
        """Leave the queue."""
        trace = self.trace
        self.waiting.popleft()
        if trace.first_scheduled[index] is None:
            trace.first_scheduled[index] = now
        else:
            trace.moves.append((now, -1))
        trace.status[index] = PREFILLING
        if hit:
            trace.cached[index] += hit
        self.done[index] = hit

    def compute(self, index: int, take: int, left: int, work: "Work") -> None:
        """Put ``take`` of the ``left`` tokens of a request into the iteration."""
        work.budget -= take
        self.done[index] += take
        if left == 1 and self.trace.shown[index]:
            work.extra += 1
            work.extra_context += self.done[index]
        else:
            work.prefill += take
        if take == left:
            work.joiners.append(index)
        else:
            self.partial = index

    def hit(self, index: int, whole: int) -> int:
        """Prompt tokens in the prefix cache: whole blocks, and at least one token is left."""
        request = self.trace.requests[index]
        if not self.settings.prefix_cache or request.prefix_group is None:
            return 0
        known = self.prefixes.get(request.prefix_group, 0)
        return min(known, request.prefix_len, whole - 1) // self.size * self.size

    def publish(self, joiners: list[int]) -> None:
        """What was computed of shared prefixes can be hit from now on."""
        partial = [] if self.partial is None else [self.partial]
        for index in (*joiners, *partial):
            request = self.trace.requests[index]
            if request.prefix_group is not None:
                ready = min(self.done[index], request.prefix_len)
                known = self.prefixes.get(request.prefix_group, 0)
                self.prefixes[request.prefix_group] = max(known, ready)


@dataclass(slots=True)
class Work:
    """What an iteration still has room for, and the prefills put into it."""

    budget: Any
    room: Any
    spare: int
    joiners: list[int]
    prefill: int = 0
    extra: int = 0  # resumed requests with one token to compute: they cost as decodes
    extra_context: int = 0


def first_reaching(gap: Any, length: Any, more: Any, most: int) -> tuple[int, Any]:
    """The least count of iterations that last ``gap`` or longer, at most ``most``; their span."""
    if not more:
        count = -(-gap // length)
        return count, count * length
    low, high = 1, most
    while low < high:
        middle = (low + high) // 2
        if span_of(middle, length, more) >= gap:
            high = middle
        else:
            low = middle + 1
    return low, span_of(low, length, more)


def last_within(room: Any, length: Any, more: Any, most: int) -> tuple[int, Any]:
    """The greatest count of iterations that last ``room`` or shorter; their span."""
    if not more:
        count = room // length
        return count, count * length
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if span_of(middle, length, more) <= room:
            low = middle
        else:
            high = middle - 1
    return low, span_of(low, length, more)


def span_of(count: int, length: Any, more: Any) -> Any:
    """``count`` iterations, each ``more`` longer than the one before."""
    return count * length + more * (count * (count - 1) // 2)
