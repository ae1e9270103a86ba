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

SHIFT = 24
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
    """One run."""

    def __init__(self, requests: Sequence[Request], settings: Settings, cost: Cost) -> None:
        count = len(requests)
        self.settings = settings
        self.cost = cost
        self.requests = requests
        self.prompt = [request.prompt for request in requests]
        self.output = [request.output for request in requests]
        self.arrivals = [request.arrival for request in requests]
        self.trace = Trace(
            requests=list(requests),
            status=bytearray(count),
            first_scheduled=[None] * count,
            first_token=[None] * count,
            end=[None] * count,
            shown=[0] * count,
            joined=[0] * count,
        )
        self.following = 0
        self.waiting: deque[int] = deque()
        self.ends: list[int] = []
        self.decoding: set[int] = set()
        self.partial: int | None = None
        self.partial_done = 0
        self.size = settings.block_size
        self.limited = settings.num_blocks is not None
        self.free = settings.num_blocks or 0
        self.residues = [0] * self.size
        self.stayed: dict[int, int] = {}  # tokens shown before the stay in the batch that runs
        self.future = 0  # output tokens that the running requests may still make
        self.unit = self.ratio = self.decay = self.lowest = 0
        self.set_ratio(settings.new_token_ratio)
        self.number = 0
        self.now: Any = requests[0].arrival if requests else 0

    def loop(self) -> None:
        """Prefill if a batch can be formed, else decode, else wait for the next arrival."""
        arrivals, waiting, limited = self.arrivals, self.waiting, self.limited
        count, note_use = len(arrivals), self.trace.uses.extend
        while True:
            if limited:
                note_use((self.now, self.free))
            if self.following < count and arrivals[self.following] <= self.now:
                self.arrive()
            if limited and not self.decoding and self.partial is None:
                self.set_ratio(self.settings.new_token_ratio)
            prefill = extra = 0
            if waiting or self.partial is not None:
                joiners, prefill, extra = self.form_batch()
            if prefill or extra:
                self.prefill(joiners, prefill, extra)
            elif self.decoding:
                self.decode()
            elif self.following < count:
                self.now = arrivals[self.following]
            else:
                return

    def arrive(self) -> None:
        """Arrivals up to now join the queue, or can never be served."""
        while self.following < len(self.arrivals) and self.arrivals[self.following] <= self.now:
            request = self.requests[self.following]
            reason = self.settings.reject_reason(request, len(self.waiting))
            if reason is None:
                self.waiting.append(self.following)
            else:
                self.trace.status[self.following] = REJECTED
                self.trace.reasons[self.following] = reason
                self.trace.end[self.following] = request.arrival
            self.following += 1

    def form_batch(self) -> tuple[list[int], int, int]:
        """Whose prefill ends in the next iteration, its prefill tokens, and those that are decodes.

        A resumed request with one token left to compute costs as a decode.
        """
        joiners: list[int] = []
        room = self.settings.chunked_prefill_size
        left = self.settings.max_prefill_tokens
        prefill = extra = 0
        if self.partial is not None:
            index = self.partial
            need = self.whole(index) - self.partial_done
            take = need if room is None else min(need, room)
            prefill, extra = self.priced(index, need, take)
            left -= take
            room = None if room is None else room - take
            self.partial_done += take
            if take < need:
                return joiners, prefill, extra
            self.partial = None
            joiners.append(index)
        batch = bool(prefill)
        while self.waiting and (room is None or room > 0):
            index = self.waiting[0]
            need = self.prompt[index] + self.trace.shown[index]
            running = len(self.decoding) + len(joiners)
            if (batch and need >= left) or self.no_seat(running) or not self.fits(index, running):
                break
            take = need if room is None else min(need, room)
            self.admit(index)
            tokens, decodes = self.priced(index, need, take)
            prefill, extra = prefill + tokens, extra + decodes
            batch = batch or bool(tokens)
            if take < need:
                self.partial, self.partial_done = index, take
                break
            joiners.append(index)
            left -= take
            room = None if room is None else room - take
        return joiners, prefill, extra

    def no_seat(self, running: int) -> bool:
        """Whether as many run as may."""
        limit = self.settings.max_num_seqs
        return limit is not None and running >= limit

    def whole(self, index: int) -> int:
        """Tokens to compute from the start."""
        return self.prompt[index] + self.trace.shown[index]

    def priced(self, index: int, need: int, take: int) -> tuple[int, int]:
        """Tokens that cost as prefill, and whether the step costs as a decode."""
        return (0, 1) if need == 1 and self.trace.shown[index] else (take, 0)

    def fits(self, index: int, running: int) -> bool:
        """Whether prompt and output fit beside what the running requests may still need."""
        if not self.limited or not running:
            return True
        shown = self.trace.shown[index]
        whole, more = self.prompt[index] + shown, self.output[index] - shown
        if -(-whole // self.size) + self.settings.watermark_blocks > self.free:
            return False
        return (self.free * self.size - whole - more) * self.unit > self.ratio * self.future

    def admit(self, index: int) -> None:
        """Leave the queue with blocks for the whole prompt."""
        trace = self.trace
        self.waiting.popleft()
        if trace.first_scheduled[index] is None:
            trace.first_scheduled[index] = self.now
        else:
            trace.moves += (self.now, -1)
        trace.status[index] = PREFILLING
        self.future += self.output[index] - trace.shown[index]
        if self.limited:
            self.free -= -(-self.whole(index) // self.size)

    def prefill(self, joiners: Sequence[int], tokens: int, extra: int) -> None:
        """An iteration without the decoding requests."""
        length = self.cost.duration(tokens, extra, 0)
        self.trace.clock.stretches += (self.number, self.now, length, 0)
        self.now += length
        for index in joiners:
            self.join(index)

    def join(self, index: int) -> None:
        """A prefill is done: a token appears."""
        trace = self.trace
        trace.shown[index] += 1
        trace.joined[index] = self.number
        self.future -= 1
        if trace.first_token[index] is None:
            trace.first_token[index] = self.now
        else:
            trace.resumed[index] = self.now
        left = self.output[index] - trace.shown[index]
        self.decoding.add(index)
        if self.limited:
            self.residues[self.residue(index)] += 1
        if left:
            trace.status[index] = DECODING
            heapq.heappush(self.ends, ((self.number + left) << SHIFT) | index)
        else:
            self.finish(index)

    def residue(self, index: int) -> int:
        """Which counters, modulo the block size, make the request take a new block."""
        trace = self.trace
        return (trace.joined[index] + 2 - self.whole(index)) % self.size

    def leave(self, index: int) -> int:
        """Free a decoding request's blocks; returns its KV tokens."""
        tokens = self.whole(index) - 1 + self.number - self.trace.joined[index]
        self.decoding.discard(index)
        if self.limited:
            self.free += -(-tokens // self.size)
            self.residues[self.residue(index)] -= 1
        return tokens

    def finish(self, index: int) -> None:
        """The last token was shown."""
        self.leave(index)
        self.trace.status[index] = FINISHED
        self.trace.shown[index] = self.output[index]
        self.trace.end[index] = self.now

    def decode(self) -> None:
        """One or many equal decode iterations, and the requests that end with them."""
        trace = self.trace
        short = self.limited and self.residues[(self.number + 1) % self.size] > self.free
        if short:
            self.retract()
        decoding = len(self.decoding)
        length = self.cost.duration(0, decoding, 0)
        count = 1 if short else self.equal_iterations(length)
        trace.clock.stretches.extend((self.number, self.now, length, decoding))
        if self.limited:
            self.pass_memory(count, decoding, decays=not short)
        self.now += count * length
        self.number = number = self.number + count
        while self.ends and self.ends[0] >> SHIFT <= number:
            index = heapq.heappop(self.ends) & MASK
            due = trace.joined[index] + self.output[index] - trace.shown[index]
            if trace.status[index] == DECODING and due == number:
                self.finish(index)

    def pass_memory(self, count: int, decoding: int, *, decays: bool) -> None:
        """What iterations take of the memory, and of the reserve for output to come."""
        self.free -= self.blocks(count)
        self.future -= decoding * count
        if decays:
            self.ratio = max(self.ratio - count * self.decay, self.lowest)

    def equal_iterations(self, length: Any) -> int:
        """How many iterations pass before something else can happen."""
        while self.trace.status[self.ends[0] & MASK] != DECODING:
            heapq.heappop(self.ends)  # it was retracted
        count = max((self.ends[0] >> SHIFT) - self.number, 1)
        if self.waiting:
            full = self.no_seat(len(self.decoding) + (self.partial is not None))
            return count if full and not self.limited else 1
        if self.following < len(self.arrivals):
            gap = self.arrivals[self.following] - self.now
            if gap < count * length:
                count = int(-(-gap // length))
        while self.limited and count > 1 and self.blocks(count) > self.free:
            count //= 2  # a shorter stretch that fits; the next one goes on from there
        return count

    def blocks(self, count: int) -> int:
        """Blocks that the next iterations take."""
        residues, size = self.residues, self.size
        first = (self.number + 1) % size
        if count == 1:
            return residues[first]
        cycles, rest = divmod(count, size)
        last = first + rest
        blocks = cycles * len(self.decoding) + sum(residues[first:last])
        return blocks + sum(residues[: last - size]) if last > size else blocks

    def retract(self) -> None:
        """Preempt until the next iteration fits, and set the ratio anew."""
        victims = sorted(self.decoding, key=self.keeping_order)
        while len(self.decoding) > 1 and self.blocks(1) > self.free:
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
        trace.recomputed[index] += self.leave(index)
        shown_at = trace.resumed.get(index, trace.first_token[index])
        before = self.stayed.get(index, 0)
        trace.ended_stays += (index, shown_at, trace.joined[index], shown - before)
        self.stayed[index] = trace.shown[index] = shown
        trace.status[index] = WAITING
        trace.preemptions[index] += 1
        trace.moves += (self.now, 1)
        self.waiting.append(index)
