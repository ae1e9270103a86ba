"""Block LRU at every capacity in one pass, by stack distances (Mattson et al., 1970).

A block is present at capacity C exactly if fewer than C different blocks were used after it. This
is the LRU of single blocks (``block_policies``), not SGLang's tree, which evicts whole leaves.
"""

from dataclasses import dataclass
from itertools import accumulate

from calculators.prefix.block_policies import TouchOrder
from calculators.prefix.limits import at_least
from calculators.prefix.segments import Segments, segments_of
from calculators.prefix.trace import Trace


@dataclass(frozen=True, kw_only=True, slots=True)
class Curve:
    """What all requests together reuse, by capacity in blocks: ``tokens[C]``, ``blocks[C]``.

    Beyond the last entry nothing changes: everything fits. ``tokens_recomputed`` leaves at least
    one token of each request to compute.
    """

    blocks: tuple[int, ...]
    tokens: tuple[int, ...]
    tokens_recomputed: tuple[int, ...]

    def at(self, capacity: int | None) -> tuple[int, int, int]:
        """Blocks, tokens, tokens with the last recomputed; None is unlimited."""
        if capacity is not None:
            at_least("capacity", capacity, 0)
        last = len(self.blocks) - 1
        index = last if capacity is None else min(capacity, last)
        return self.blocks[index], self.tokens[index], self.tokens_recomputed[index]


class Recency:
    """Weights by moment, with sums in O(log n): Fenwick's tree."""

    def __init__(self, moments: int) -> None:
        self.sums = [0] * (moments + 1)
        self.total = 0

    def add(self, moment: int, weight: int) -> None:
        """Add a weight at a moment, counted from 1."""
        self.total += weight
        sums, size = self.sums, len(self.sums)
        while moment < size:
            sums[moment] += weight
            moment += moment & -moment

    def after(self, moment: int) -> int:
        """The weight of everything later than a moment."""
        sums, found = self.sums, 0
        while moment:
            found += sums[moment]
            moment &= moment - 1
        return self.total - found


class Gains:
    """Tokens gained by capacity: jumps, and ramps of one block a step, summed up at the end."""

    def __init__(self, longest: int) -> None:
        self.jumps = [0] * (longest + 2)
        self.ramps = [0] * (longest + 3)

    def jump(self, capacity: int, gain: int) -> None:
        """From this capacity on so much more."""
        self.jumps[capacity] += gain

    def ramp(self, capacity: int, count: int, gain: int) -> None:
        """``count`` blocks, the first from this capacity on, each next one step later."""
        self.ramps[capacity] += gain
        self.ramps[capacity + count] -= gain

    def values(self) -> tuple[int, ...]:
        """The gain at every capacity."""
        steps = accumulate(self.ramps[: len(self.jumps)])
        return tuple(accumulate(a + b for a, b in zip(steps, self.jumps, strict=True)))


@dataclass(frozen=True, slots=True)
class Run:
    """A visited run: its blocks, those before the last one that may be reused, its partial end."""

    size: int
    plain: int
    tail_tokens: int | None


def runs_of(trace: Trace, segments: Segments, index: int, *, partial: bool) -> list[Run]:
    """The runs of one request with what each block of them is worth."""
    length, width = trace.input_tokens[index], trace.block_tokens
    whole = trace.block_counts[index] if partial else trace.full_block_counts[index]
    runs, before = [], 0
    for segment in segments.paths[index]:
        size = segments.sizes[segment]
        plain = min(size, (length - 1) // width - before)
        ends = before + size == whole
        tail = min(length, whole * width) - (whole - 1) * width if ends else None
        runs.append(Run(size, plain, tail))
        before += size
    return runs


class Pass:
    """One pass over the requests; ``curve`` is the answer."""

    def __init__(self, trace: Trace, segments: Segments, touch_order: TouchOrder) -> None:
        self.width = trace.block_tokens
        self.segments = segments
        self.forward = touch_order == "first_to_last"
        self.recency = Recency(sum(map(len, segments.paths)))
        self.last_used: dict[int, int] = {}
        self.now = 0
        self.blocks, self.tokens, self.recomputed = (Gains(segments.unique) for _ in range(3))

    def look_up(self, path: tuple[int, ...], runs: list[Run]) -> None:
        """Note from which capacity on each block of a request is found."""
        threshold = 0
        for segment, run in zip(path, runs, strict=True):
            if segment not in self.last_used:
                return
            newer = self.recency.after(self.last_used[segment])
            if self.forward:  # the first block of a run is its oldest: all of it or nothing
                threshold = max(threshold, newer + run.size)
                self.found_whole(threshold, run)
            else:
                self.found_from(newer + 1, run)

    def found_whole(self, capacity: int, run: Run) -> None:
        """The run is reused as a whole from this capacity on."""
        full = run.size - (run.tail_tokens is not None)
        self.blocks.jump(capacity, run.size)
        self.tokens.jump(capacity, full * self.width + (run.tail_tokens or 0))
        self.recomputed.jump(capacity, run.plain * self.width)

    def found_from(self, capacity: int, run: Run) -> None:
        """The first block is reused from this capacity on, each next one a step later."""
        full = run.size - (run.tail_tokens is not None)
        self.blocks.ramp(capacity, run.size, 1)
        self.tokens.ramp(capacity, full, self.width)
        self.tokens.jump(capacity + full, run.tail_tokens or 0)
        self.recomputed.ramp(capacity, run.plain, self.width)

    def touch(self, path: tuple[int, ...]) -> None:
        """Use the runs of a request in the order of the cache."""
        sizes = self.segments.sizes
        for segment in path if self.forward else reversed(path):
            if segment in self.last_used:
                self.recency.add(self.last_used[segment], -sizes[segment])
            self.now += 1
            self.last_used[segment] = self.now
            self.recency.add(self.now, sizes[segment])


def lru_curve(
    trace: Trace, *, touch_order: TouchOrder = "last_to_first", partial: bool = True
) -> Curve:
    """The prefix hits of block LRU at every capacity."""
    segments = segments_of(trace, partial=partial)
    work = Pass(trace, segments, touch_order)
    for index, path in enumerate(segments.paths):
        work.look_up(path, runs_of(trace, segments, index, partial=partial))
        work.touch(path)
    return Curve(
        blocks=work.blocks.values(),
        tokens=work.tokens.values(),
        tokens_recomputed=work.recomputed.values(),
    )
