"""SGLang's policy, skipping over equal decode iterations: the same integers as the plain engine.

As in `fast`, one counter of decode iterations stands for all decoding requests. While requests
wait for memory each iteration is looked at, since the reserve for future output shrinks with it;
otherwise whole stretches are skipped. Covers first-come order without prefix cache, deadlines,
queue limits, horizon, mixed chunks and costs that read the context; `covers` tells.
"""

import heapq
from collections import deque
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import lcm
from operator import add
from typing import Any

from calculators.serving.costs import Cost
from calculators.serving.policies.sglang import CLIP_MAX_NEW_TOKENS, RETRACT_DECODE_STEPS
from calculators.serving.request import Request, in_order
from calculators.serving.settings import Settings
from calculators.serving.trace import (
    DECODING,
    FINISHED,
    PREFILLING,
    REJECTED,
    WAITING,
    Trace,
)

NEVER = float("inf")
UNLIMITED = 1 << 60  # stands for "no limit" where a comparison of integers is quicker
SHIFT = 24  # bits for the index of a request below its finishing number in the heap
MASK = (1 << SHIFT) - 1


def covers(requests: Iterable[Request], settings: Settings, cost: Cost) -> bool:
    """Whether `run` can take these."""
    return (
        settings.policy == "sglang"
        and not settings.prefix_cache
        and not settings.enable_mixed_chunk
        and settings.scheduling == "fcfs"
        and settings.max_queue is None
        and settings.horizon is None
        and not cost.reads_context
        and all(r.timeout is None and r.output <= CLIP_MAX_NEW_TOKENS for r in requests)
    )


def run(requests: Iterable[Request], settings: Settings, cost: Cost) -> Trace:
    """The run, as columns."""
    core = Core(in_order(tuple(requests)), settings, cost)
    core.loop()
    core.trace.seal(core.number)
    return core.trace


class Core:
    """One run. The hot loop keeps its state in local variables and lends it to the rare events."""

    def __init__(self, requests: Sequence[Request], settings: Settings, cost: Cost) -> None:
        count = len(requests)
        self.settings = settings
        self.cost = cost
        self.requests = requests
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
        self.waiting: deque[int] = deque()
        self.decoding: set[int] = set()
        self.size = settings.block_size
        self.free = settings.num_blocks or 0
        self.residues = [0] * self.size  # decoding requests by the counter that needs a block
        self.stayed: dict[int, int] = {}  # tokens shown before the stay in the batch that runs
        self.future = 0  # output tokens that the running requests may still make
        self.unit = self.ratio = self.decay = self.lowest = 0
        self.set_ratio(settings.new_token_ratio)
        self.number = 0
        self.now: Any = 0

    def loop(self) -> None:  # noqa: C901, PLR0912, PLR0915
        """Prefill if a batch can be formed, else decode, else wait for the next arrival.

        Long on purpose: a call for each event would double the time of a run. A resumed request
        with one token left to compute costs as a decode.
        """
        settings, trace, cost, size = self.settings, self.trace, self.cost, self.size
        prompt, output, shown, joined = self.prompt, self.output, trace.shown, trace.joined
        status, first_token, end = trace.status, trace.first_token, trace.end
        first_scheduled, waiting, decoding = trace.first_scheduled, self.waiting, self.decoding
        record, residues = trace.clock.stretches.extend, self.residues
        push, pop = heapq.heappush, heapq.heappop
        times: list[Any] = [*(request.arrival for request in self.requests), NEVER]
        limited, watermark = settings.num_blocks is not None, settings.watermark_blocks
        tight = self.some_never_fit()
        a, b, c = cost.coefficients or (0, 0, 0)
        linear = cost.coefficients is not None
        most = settings.max_num_seqs or UNLIMITED
        chunk = settings.chunked_prefill_size or UNLIMITED
        ends: list[int] = []  # heap of finishing number and index
        joiners: list[int] = []  # requests whose prefill ends in this iteration
        partial: int | None = None  # the one request whose prompt is not finished
        done = 0  # its computed tokens
        now: Any = times[0] if prompt else 0
        free, future, ratio = self.free, self.future, self.ratio
        g = n = following = 0
        while True:
            held = free
            while times[following] <= now:
                if not (tight and self.refused(following)):
                    waiting.append(following)
                following += 1
            if limited and not n and partial is None:
                self.set_ratio(settings.new_token_ratio)
                ratio = self.ratio
            # what prefills in this iteration
            prefill = extra = 0
            room, left = chunk, settings.max_prefill_tokens
            if joiners:
                joiners.clear()
            if partial is not None:
                i = partial
                need = prompt[i] + shown[i] - done
                take = need if need <= room else room  # noqa: FURB136 - min() is slower
                if need == 1 and shown[i]:
                    extra = 1
                else:
                    prefill = take
                left -= take
                room -= take
                done += take
                if take == need:
                    partial = None
                    joiners.append(i)
            while waiting and partial is None and room > 0:
                i = waiting[0]
                made = shown[i]
                need = prompt[i] + made
                running = n + len(joiners)
                if running >= most or (prefill and need >= left):
                    break
                if limited:
                    blocks = -(-need // size)
                    if running:
                        spare = free * size - need - output[i] + made
                        if blocks + watermark > free or spare * self.unit <= ratio * future:
                            break
                    free -= blocks
                waiting.popleft()
                if first_scheduled[i] is None:
                    first_scheduled[i] = now
                else:
                    trace.moves += (now, -1)
                status[i] = PREFILLING
                future += output[i] - made
                take = need if need <= room else room  # noqa: FURB136 - min() is slower
                if need == 1 and made:
                    extra += 1
                else:
                    prefill += take
                if take < need:
                    partial, done = i, take
                    break
                joiners.append(i)
                left -= take
                room -= take
            # the iteration, or many equal ones
            if prefill or extra:
                length = a + b * prefill + c * extra
                if not linear:
                    length = cost.duration(prefill, extra, 0)
                record((g, now, length, 0, held))
                now += length
                for i in joiners:
                    shown[i] += 1
                    joined[i] = g
                    future -= 1
                    if first_token[i] is None:
                        first_token[i] = now
                    else:
                        trace.resumed[i] = now
                    still = output[i] - shown[i]
                    if still:
                        status[i] = DECODING
                        decoding.add(i)
                        n += 1
                        push(ends, ((g + still) << SHIFT) | i)
                        if limited:
                            residues[(g + 2 - prompt[i] - shown[i]) % size] += 1
                    else:
                        status[i] = FINISHED
                        end[i] = now
                        if limited:
                            free += -(-(prompt[i] + output[i] - 1) // size)
            elif n:
                short = limited and residues[(g + 1) % size] > free
                if short:
                    self.now, self.number, self.free, self.future = now, g, free, future
                    self.retract()
                    n, free, future, ratio = len(decoding), self.free, self.future, self.ratio
                length = a + c * n if linear else cost.duration(0, n, 0)
                count = 1
                if not short:
                    while status[ends[0] & MASK] != DECODING:
                        pop(ends)  # it was retracted
                    if not waiting:
                        count = max((ends[0] >> SHIFT) - g, 1)
                        gap = times[following] - now
                        if gap < count * length:
                            count = int(-(-gap // length))
                    elif not limited and n >= most:
                        count = max((ends[0] >> SHIFT) - g, 1)
                if limited:
                    blocks = self.blocks(g, n, count)
                    while count > 1 and blocks > free:
                        count //= 2  # a shorter stretch that fits; the next one goes on from there
                        blocks = self.blocks(g, n, count)
                    free -= blocks
                    future -= n * count
                    if not short:
                        ratio -= count * self.decay
                        if ratio < self.lowest:  # noqa: PLR1730 - max() is slower
                            ratio = self.lowest
                record((g, now, length, n, held))
                now += count * length
                g += count
                while ends and ends[0] >> SHIFT <= g:
                    i = pop(ends) & MASK
                    if status[i] != DECODING or joined[i] + output[i] - shown[i] != g:
                        continue  # it was retracted since
                    decoding.discard(i)
                    n -= 1
                    if limited:
                        positions = prompt[i] + output[i] - 1
                        free += -(-positions // size)
                        residues[(g + 1 - positions) % size] -= 1
                    status[i] = FINISHED
                    shown[i] = output[i]
                    end[i] = now
            else:
                record((g, now, 0, 0, held))
                if following == len(prompt):
                    break
                now = times[following]
        self.number = g

    def some_never_fit(self) -> bool:
        """Whether a request could never have all its blocks, so that arrivals need a look."""
        longest = max(map(add, self.prompt, self.output), default=1) - 1
        blocks = -(-longest // self.size)
        most = self.settings.num_blocks
        return most is not None and blocks > most - self.settings.watermark_blocks

    def refused(self, index: int) -> bool:
        """Whether a request could never have all its blocks; then it ends as it arrives."""
        request = self.requests[index]
        reason = self.settings.reject_reason(request, 0)
        if reason is not None:
            self.trace.status[index] = REJECTED
            self.trace.reasons[index] = reason
            self.trace.end[index] = request.arrival
        return reason is not None

    def blocks(self, number: int, decoding: int, count: int) -> int:
        """Blocks that the next iterations take."""
        residues, size = self.residues, self.size
        first = (number + 1) % size
        if count == 1:
            return residues[first]
        cycles, rest = divmod(count, size)
        last = first + rest
        blocks = cycles * decoding + sum(residues[first:last])
        return blocks + sum(residues[: last - size]) if last > size else blocks

    def retract(self) -> None:
        """Preempt until the next iteration fits, and set the ratio anew."""
        slot = (self.number + 1) % self.size
        victims = sorted(self.decoding, key=self.keeping_order)
        while len(self.decoding) > 1 and self.residues[slot] > self.free:
            self.preempt(victims.pop())
        made = sum(map(self.shown_now, self.decoding))
        made += RETRACT_DECODE_STEPS * len(self.decoding)
        outputs = sum(self.output[index] for index in self.decoding)
        self.set_ratio(min(Fraction(1), Fraction(made, outputs)))

    def set_ratio(self, ratio: Fraction) -> None:
        """Keep the ratio, its decay and its minimum as whole numbers of one common unit."""
        lowest = self.settings.min_new_token_ratio
        span = self.settings.new_token_ratio - lowest
        decay = span / self.settings.new_token_ratio_steps
        self.unit = lcm(ratio.denominator, decay.denominator, lowest.denominator)
        self.ratio = int(ratio * self.unit)
        self.decay, self.lowest = int(decay * self.unit), int(lowest * self.unit)

    def shown_now(self, index: int) -> int:
        """Tokens that a decoding request has shown."""
        return self.trace.shown[index] + self.number - self.trace.joined[index]

    def keeping_order(self, index: int) -> tuple[int, int, int]:
        """Most tokens shown first, then the shortest prompt, then the earliest."""
        return (-self.shown_now(index), self.prompt[index], index)

    def preempt(self, index: int) -> None:
        """To the end of the queue, without blocks and computed tokens."""
        trace = self.trace
        shown = self.shown_now(index)
        self.future -= self.output[index] - shown
        tokens = self.prompt[index] + shown - 1
        self.decoding.discard(index)
        self.free += -(-tokens // self.size)
        self.residues[(self.number + 1 - tokens) % self.size] -= 1
        trace.recomputed[index] += tokens
        shown_at = trace.resumed.get(index, trace.first_token[index])
        before = self.stayed.get(index, 0)
        trace.ended_stays += (index, shown_at, trace.joined[index], shown - before)
        self.stayed[index] = trace.shown[index] = shown
        trace.status[index] = WAITING
        trace.preemptions[index] += 1
        trace.moves += (self.now, 1)
        self.waiting.append(index)
