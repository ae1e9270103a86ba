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
from operator import add
from typing import Any

from calculators.serving.costs import Cost
from calculators.serving.request import Request, Time, in_order
from calculators.serving.settings import Settings
from calculators.serving.trace import (
    DECODING,
    ENTRIES,
    FINISHED,
    NOT_ARRIVED,
    PREFILLING,
    REJECTED,
    TIMEOUT,
    WAITING,
    Trace,
)

NEVER = float("inf")
UNLIMITED = 1 << 60  # stands for "no limit" where a comparison of integers is quicker
SHIFT = 24  # bits for the index of a request below its finishing number in the heap
MASK = (1 << SHIFT) - 1
MIXED = ("orca", "chunked", "v1")
CHUNKING = ("chunked", "v1")
RESERVING = ("static", "orca")
RUNNING = (PREFILLING, DECODING)
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
    """One run. The hot loop keeps its state in local variables and lends it to the rare events."""

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
            mixed=settings.policy in MIXED,
        )
        self.times: list[Any] = [*(request.arrival for request in requests), NEVER]
        self.following = 0  # the next request to arrive
        self.waiting: deque[int] = deque()
        self.gone = 0  # entries of the queue that timed out and still lie in it
        self.order: list[int] = []  # by admission; ended ones stay until they are found
        self.ends: list[int] = []  # heap of finishing number and index
        self.deadlines: list[tuple[Time, int]] = []
        self.partial: int | None = None  # the one request whose prompt is not finished
        self.partial_done = 0  # its computed tokens
        self.partial_owned = 0  # its blocks
        self.fresh: dict[int, int] = {}  # blocks of requests that end their prefill just now
        self.size = settings.block_size
        self.free = settings.num_blocks or 0
        self.limited = settings.num_blocks is not None
        self.growing = self.limited and settings.policy not in RESERVING
        self.residues = [0] * self.size  # decoding requests by the counter that needs a block
        self.prefixes: dict[str, int] = {}
        self.stayed: dict[int, int] = {}  # tokens shown before the stay in the batch that runs
        self.decoding = 0
        self.context = 0
        self.number = 0  # decode iterations so far

    def simulate(self) -> Trace:
        """Run to the end or to the horizon."""
        self.loop()
        self.trace.seal(self.number)
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
        """The hot loop. Long on purpose: a call for each event would double the time of a run."""
        settings, trace, times, cost = self.settings, self.trace, self.times, self.cost
        prompt, output, shown, joined = self.prompt, self.output, trace.shown, trace.joined
        status, first_token, end = trace.status, trace.first_token, trace.end
        first_scheduled, waiting, ends = trace.first_scheduled, self.waiting, self.ends
        record, grown = trace.clock.stretches.extend, trace.clock.growth
        deadlines, residues, order = self.deadlines, self.residues, self.order
        push, pop, size = heapq.heappush, heapq.heappop, self.size
        a, b, c = cost.coefficients or (0, 0, 0)
        linear, reads = cost.coefficients is not None, cost.reads_context
        policy, horizon = settings.policy, settings.horizon
        static, mixed, chunks = policy == "static", policy in MIXED, policy in CHUNKING
        by_chunk, reserving = policy == "v1", policy in RESERVING
        limited, growing, watermark = self.limited, self.growing, settings.watermark_blocks
        timed = any(request.timeout is not None for request in trace.requests)
        longest = settings.max_num_batched_tokens if policy == "prefill_first" else None
        rare = timed or settings.prefix_cache or longest is not None
        careful = timed or limited or reads or not linear or horizon is not None
        checked = rare or self.some_never_fit() or settings.max_queue is not None
        most = settings.max_num_seqs or UNLIMITED
        limit = (settings.token_budget if chunks else longest) or UNLIMITED
        due = UNLIMITED  # the first number of ``ends``
        joiners: list[int] = []  # requests whose prefill ends in this iteration
        now: Any = times[0] if prompt else 0
        g = n = seats = context = following = 0
        free = self.free
        while horizon is None or now <= horizon:
            if checked:
                self.arrive(now)
                if deadlines and deadlines[0][0] <= now:
                    self.number, self.decoding, self.context, self.free = g, n, context, free
                    self.expire(now, late=0)
                    n, context, free = self.decoding, self.context, self.free
                following = self.following
            else:
                while times[following] <= now:
                    waiting.append(following)
                    following += 1
            held = free
            preempted = False
            if growing and (mixed or not waiting) and residues[(g + 1) % size] > free:
                preempted = True
                self.number, self.decoding, self.context, self.free = g, n, context, free
                self.make_room(now)
                n, context, free = self.decoding, self.context, self.free
            # what prefills in this iteration
            prefill = extra = read = 0
            if joiners:
                joiners.clear()
            if waiting or self.partial is not None:
                budget = limit - n if mixed else limit
                room = most - n
                spare = free - residues[(g + 1) % size] if growing and mixed else free
                i = self.partial
                if i is not None:
                    left = prompt[i] + shown[i] - self.partial_done
                    take = left if left <= budget else budget  # noqa: FURB136 - min() is slower
                    if growing and by_chunk:
                        blocks = -(-(self.partial_done + take) // size) - self.partial_owned
                        if blocks > spare:
                            preempted = True
                            self.free = free
                            self.preempt(i, now)
                            free, take = self.free, 0
                        else:
                            spare -= blocks
                            free -= blocks
                            self.partial_owned += blocks
                    if take:
                        room -= 1
                        budget -= take
                        self.partial_done += take
                        if left == 1 and shown[i]:
                            extra = 1
                            read = prompt[i] + shown[i]
                        else:
                            prefill = take
                        if take == left:
                            joiners.append(i)
                            self.partial = None
                            if timed:
                                self.fresh[i] = self.partial_owned
                if static and n:
                    room = 0
                while waiting and not preempted and room > 0 and budget > 0:
                    i = waiting[0]
                    whole = prompt[i] + shown[i]
                    hit = 0
                    if rare:
                        if self.drop_head(i, whole, longest, now):
                            continue
                        hit = self.hit(i, whole)
                    take = left = whole - hit
                    if take > budget:
                        if not chunks:
                            break
                        take = budget
                    if limited:
                        if reserving:
                            blocks = -(-(prompt[i] + output[i] - 1) // size)
                        else:
                            blocks = -(-(hit + take if by_chunk else whole) // size)
                        if blocks + watermark > spare:
                            break
                        spare -= blocks
                        free -= blocks
                        order.append(i)
                    waiting.popleft()
                    if first_scheduled[i] is None:
                        first_scheduled[i] = now
                    else:
                        trace.moves += (now, -1)
                    if hit:
                        trace.cached[i] += hit
                    status[i] = PREFILLING
                    room -= 1
                    budget -= take
                    if left == 1 and shown[i]:
                        extra += 1
                        read += whole
                    else:
                        prefill += take
                    if take == left:
                        joiners.append(i)
                        if timed:
                            self.fresh[i] = blocks if limited else 0
                    else:
                        self.partial, self.partial_done = i, hit + take
                        self.partial_owned = blocks if limited else 0
            # the iteration, or many equal ones
            if prefill or extra:
                rides = n if mixed else 0
                if linear:
                    length = a + b * prefill + c * (rides + extra)
                else:
                    length = cost.duration(prefill, rides + extra, read + (context if mixed else 0))
                if horizon is not None and now + length > horizon:
                    record((g, now, 0, 0, held))
                    break
                record((g, now, length, rides, held))
                if settings.prefix_cache:
                    self.publish(joiners)
                now += length
                late = 0
                if mixed:
                    if growing:
                        free -= residues[(g + 1) % size]
                    g += 1
                    late = 1
                    if reads:
                        context += n
            elif n:
                if growing and not mixed and not preempted and residues[(g + 1) % size] > free:
                    preempted = True
                    self.number, self.decoding, self.context, self.free = g, n, context, free
                    self.make_room(now)
                    n, context, free = self.decoding, self.context, self.free
                length = a + c * (seats if static else n)
                if not linear:
                    length = cost.duration(0, seats if static else n, context)
                count = due - g
                gap: Any = NEVER if waiting else times[following] - now
                span = count * length
                if careful:
                    if deadlines and deadlines[0][0] - now < gap:
                        gap = deadlines[0][0] - now
                    more = cost.growth(n) if reads else 0
                    if preempted or more is None:
                        count, more = 1, 0
                    if more:
                        count = first_reaching(gap, length, more, count)
                    elif gap < count * length:
                        count = -(-gap // length)
                    if horizon is not None:
                        count = last_within(horizon - now, length, more, count)
                        if not count:
                            record((g, now, 0, 0, held))
                            break
                    if growing:
                        first = (g + 1) % size
                        last = first + count % size
                        blocks = count // size * n + sum(residues[first:last])
                        if last > size:
                            blocks += sum(residues[: last - size])
                        if blocks > free:
                            count, blocks = self.until_shortage(g, n, free)
                        free -= blocks
                    span = count * length
                    if reads:
                        context += n * count
                        if more:
                            grown[len(trace.clock.stretches) // ENTRIES] = more
                            span += more * (count * (count - 1) // 2)
                elif gap < span:
                    count = -(-gap // length)
                    span = count * length
                record((g, now, length, n, held))
                now += span
                g += count
                late = 1
            else:
                record((g, now, 0, 0, held))
                if following == len(prompt):
                    break
                now = times[following]
                continue
            # what the end of the iteration brings
            if timed:
                self.number, self.decoding, self.context, self.free = g, n, context, free
                self.settle(now, late=late)
                self.fresh.clear()
                n, context, free = self.decoding, self.context, self.free
                following = self.following
            while due <= g:
                i = pop(ends) & MASK
                due = ends[0] >> SHIFT if ends else UNLIMITED
                if limited or timed:
                    if status[i] != DECODING or joined[i] + output[i] - shown[i] != g:
                        continue  # it was preempted or aborted since
                    if limited:
                        positions = prompt[i] + output[i] - 1
                        free += -(-positions // size)
                        if growing:
                            residues[(g + 1 - positions) % size] -= 1
                n -= 1
                if reads:
                    context -= prompt[i] + output[i]
                status[i] = FINISHED
                end[i] = now
                shown[i] = output[i]
            for i in joiners:
                if timed and status[i] != PREFILLING:
                    continue
                shown[i] += 1
                if first_token[i] is None:
                    first_token[i] = now
                else:
                    trace.resumed[i] = now
                left = output[i] - shown[i]
                if left:
                    status[i] = DECODING
                    joined[i] = g
                    n += 1
                    left += g
                    if left < due:  # noqa: PLR1730 - min() is slower
                        due = left
                    push(ends, (left << SHIFT) | i)
                    if reads:
                        context += prompt[i] + shown[i]
                    if growing:
                        residues[(g + 2 - prompt[i] - shown[i]) % size] += 1
                else:
                    status[i] = FINISHED
                    end[i] = now
                    if limited:
                        free += -(-(prompt[i] + output[i] - 1) // size)
            if static and joiners:
                seats = len(joiners)
        self.number, self.decoding, self.context, self.free = g, n, context, free
        self.following = following

    def some_never_fit(self) -> bool:
        """Whether a request could never have all its blocks, so that arrivals need a look."""
        blocks = -(-(max(map(add, self.prompt, self.output), default=1) - 1) // self.size)
        return self.limited and blocks > self.free - self.settings.watermark_blocks

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
            if request.timeout is not None:
                heapq.heappush(self.deadlines, (request.arrival + request.timeout, index))

    def refuse(self, index: int, reason: str, now: Time) -> None:
        """A request that will never run, or never again."""
        self.trace.status[index] = REJECTED
        self.trace.reasons[index] = reason
        self.trace.end[index] = now

    def settle(self, before: Time, *, late: int) -> None:
        """Arrivals and deadlines before an instant, in the order of time."""
        while True:
            arrival = self.times[self.following]
            deadline: Any = self.deadlines[0][0] if self.deadlines else NEVER
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
                    trace.moves += (deadline, -1)
            elif status[index] == DECODING:
                self.leave(index)
                trace.shown[index] += self.number - trace.joined[index] - late
                if late:
                    trace.late.append(self.number)
            elif status[index] == PREFILLING:
                self.leave_prefill(index)
            else:
                continue
            status[index] = TIMEOUT
            trace.end[index] = deadline
        while self.waiting and status[self.waiting[0]] != WAITING:
            self.waiting.popleft()
            self.gone -= 1

    def leave(self, index: int) -> int:
        """A request stops decoding before its end: frees its blocks, returns its KV tokens."""
        trace = self.trace
        before = self.prompt[index] + trace.shown[index]
        tokens = before - 1 + self.number - trace.joined[index]
        self.decoding -= 1
        self.context -= tokens + 1
        if self.growing:
            self.free += -(-tokens // self.size)
            self.residues[(trace.joined[index] + 2 - before) % self.size] -= 1
        elif self.limited:
            self.free += -(-(self.prompt[index] + self.output[index] - 1) // self.size)
        return tokens

    def leave_prefill(self, index: int) -> int:
        """A request stops in its prefill: frees its blocks, returns its KV tokens."""
        if self.partial != index:
            self.free += self.fresh[index]
            return 0
        self.partial = None
        self.free += self.partial_owned
        return self.partial_done

    def until_shortage(self, number: int, decoding: int, free: int) -> tuple[int, int]:
        """How many iterations pass before one lacks a block; the blocks they take.

        In ``size`` iterations every request takes one block; the rest is counted by residue.
        """
        residues, size = self.residues, self.size
        first = (number + 1) % size
        cycles = free // decoding
        blocks, count = cycles * decoding, cycles * size
        while blocks + residues[first] <= free:
            blocks += residues[first]
            count += 1
            first = first + 1 if first + 1 < size else 0
        return count, blocks

    def make_room(self, now: Time) -> None:
        """Preempt from the tail until every decoding request left can take its block."""
        slot, residues = (self.number + 1) % self.size, self.residues
        order, status = self.order, self.trace.status
        while residues[slot] > self.free:
            victim = order.pop()
            while status[victim] not in RUNNING:
                victim = order.pop()
            self.preempt(victim, now)

    def preempt(self, index: int, now: Time) -> None:
        """Back to the head of the queue, without blocks and computed tokens."""
        trace = self.trace
        if trace.status[index] == DECODING:
            trace.recomputed[index] += self.leave(index)
            self.end_stay(index)
        else:
            trace.recomputed[index] += self.leave_prefill(index)
        trace.status[index] = WAITING
        trace.preemptions[index] += 1
        trace.moves += (now, 1)
        self.waiting.appendleft(index)

    def end_stay(self, index: int) -> None:
        """Write down which tokens came in the stay that ends."""
        trace = self.trace
        tokens = trace.shown[index] + self.number - trace.joined[index]
        shown_at = trace.resumed.get(index, trace.first_token[index])
        before = self.stayed.get(index, 0)
        trace.ended_stays += (index, shown_at, trace.joined[index], tokens - before)
        self.stayed[index] = trace.shown[index] = tokens

    def drop_head(self, index: int, whole: int, longest: int | None, now: Time) -> bool:
        """Take a head out of the queue that timed out or can never be prefilled again."""
        if self.trace.status[index] != WAITING:
            self.gone -= 1
        elif longest is not None and whole > longest:
            self.refuse(index, "recompute_too_long", now)
            self.trace.moves += (now, -1)
        else:
            return False
        self.waiting.popleft()
        return True

    def hit(self, index: int, whole: int) -> int:
        """Prompt tokens in the prefix cache: whole blocks, and at least one token is left."""
        request = self.trace.requests[index]
        if not self.settings.prefix_cache or request.prefix_group is None:
            return 0
        known = self.prefixes.get(request.prefix_group, 0)
        return min(known, request.prefix_len, whole - 1) // self.size * self.size

    def publish(self, joiners: list[int]) -> None:
        """What was computed of shared prefixes can be hit from now on."""
        for index in joiners:
            request = self.trace.requests[index]
            if request.prefix_group is not None:
                known = self.prefixes.get(request.prefix_group, 0)
                self.prefixes[request.prefix_group] = max(known, request.prefix_len)
        if self.partial is not None:
            request = self.trace.requests[self.partial]
            if request.prefix_group is not None:
                ready = min(self.partial_done, request.prefix_len)
                known = self.prefixes.get(request.prefix_group, 0)
                self.prefixes[request.prefix_group] = max(known, ready)


def first_reaching(gap: Any, length: Any, more: Any, most: int) -> int:
    """The least count of iterations that last ``gap`` or longer, at most ``most``."""
    if span_of(most, length, more) <= gap:
        return most
    if not more:
        return int(-(-gap // length))
    low, high = 1, most
    while low < high:
        middle = (low + high) // 2
        if span_of(middle, length, more) >= gap:
            high = middle
        else:
            low = middle + 1
    return low


def last_within(room: Any, length: Any, more: Any, most: int) -> int:
    """The greatest count of iterations that last ``room`` or shorter, at most ``most``."""
    if span_of(most, length, more) <= room:
        return most
    if not more:
        return int(room // length)
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if span_of(middle, length, more) <= room:
            low = middle
        else:
            high = middle - 1
    return low


def span_of(count: int, length: Any, more: Any) -> Any:
    """``count`` iterations, each ``more`` longer than the one before."""
    if not more:
        return count * length
    return count * length + more * (count * (count - 1) // 2)
