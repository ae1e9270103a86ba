"""Per-request metrics of a run as columns, and the gaps between all tokens.

Made from the outcomes of the plain engine or from the trace of the fast one: same figures. The
gaps of a trace are counted by stretches of iterations, never token by token.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from calculators.serving.distribution import Distribution, distribution, of_counts
from calculators.serving.records import Outcome, Status
from calculators.serving.request import Request, Time
from calculators.serving.trace import CODES, NOT_ARRIVED, Trace


@dataclass(frozen=True, kw_only=True, slots=True)
class Columns:
    """One entry a request that arrived. Instants are None where it never came to it."""

    requests: Sequence[Request]
    status: Sequence[Status]
    first_scheduled: Sequence[Time | None]
    first_token: Sequence[Time | None]
    first_content: Sequence[Time | None]
    end: Sequence[Time | None]
    tokens: Sequence[int]
    gaps: Distribution
    preemptions: int
    recomputed: int
    cached: int

    def finished(self) -> list[int]:
        """Indices of the finished requests."""
        return [index for index, status in enumerate(self.status) if status == "finished"]

    @property
    def t_queue(self) -> list[Time | None]:
        """First scheduled start minus arrival."""
        return [
            since(r.arrival, t) for r, t in zip(self.requests, self.first_scheduled, strict=True)
        ]

    @property
    def t_prompt_path(self) -> list[Time | None]:
        """First token minus first scheduled start."""
        pairs = zip(self.first_scheduled, self.first_token, strict=True)
        return [None if start is None else since(start, token) for start, token in pairs]

    @property
    def t_first_content(self) -> list[Time | None]:
        """First token with content minus first token."""
        pairs = zip(self.first_token, self.first_content, strict=True)
        return [None if first is None else since(first, content) for first, content in pairs]

    @property
    def ttft(self) -> list[Time | None]:
        """First token minus arrival."""
        return [since(r.arrival, t) for r, t in zip(self.requests, self.first_token, strict=True)]

    @property
    def ttft_content(self) -> list[Time | None]:
        """First token with content minus arrival."""
        return [since(r.arrival, t) for r, t in zip(self.requests, self.first_content, strict=True)]

    @property
    def e2e(self) -> list[Time | None]:
        """Finish minus arrival, of finished requests."""
        rows = zip(self.requests, self.end, self.status, strict=True)
        return [since(r.arrival, end) if s == "finished" else None for r, end, s in rows]

    @property
    def tpot(self) -> list[Fraction | None]:
        """(finish - first token) / (output - 1), of finished requests with more than one token."""
        rows = zip(self.first_token, self.end, self.tokens, self.status, strict=True)
        return [
            Fraction(end - first) / (tokens - 1)
            if status == "finished" and tokens > 1 and first is not None and end is not None
            else None
            for first, end, tokens, status in rows
        ]


def since(start: Time, end: Time | None) -> Time | None:
    """The time between, None where there is no end."""
    return None if end is None else end - start


def of_outcomes(outcomes: Sequence[Outcome]) -> Columns:
    """From the outcomes of the plain engine."""
    arrived = [outcome for outcome in outcomes if outcome.status != "not_arrived"]
    contents = [
        None if o.ttft_content is None else o.request.arrival + o.ttft_content for o in arrived
    ]
    return Columns(
        requests=[outcome.request for outcome in arrived],
        status=[outcome.status for outcome in arrived],
        first_scheduled=[outcome.first_scheduled for outcome in arrived],
        first_token=[outcome.first_token for outcome in arrived],
        first_content=contents,
        end=[outcome.end for outcome in arrived],
        tokens=[len(outcome.token_times) for outcome in arrived],
        gaps=distribution(gap for outcome in arrived for gap in outcome.itl),
        preemptions=sum(outcome.preemptions for outcome in arrived),
        recomputed=sum(outcome.recomputed for outcome in arrived),
        cached=sum(outcome.cached for outcome in arrived),
    )


def of_trace(trace: Trace) -> Columns:
    """From the trace of the fast engine."""
    kept = [i for i, status in enumerate(trace.status) if status != NOT_ARRIVED]
    count = len(kept)  # requests that did not arrive are the last ones
    return Columns(
        requests=trace.requests[:count],
        status=[CODES[status] for status in trace.status[:count]],
        first_scheduled=trace.first_scheduled[:count],
        first_token=trace.first_token[:count],
        first_content=[first_content(trace, index) for index in range(count)],
        end=trace.end[:count],
        tokens=trace.shown[:count],
        gaps=gaps_of(trace),
        preemptions=trace.preemptions.total(),
        recomputed=trace.recomputed.total(),
        cached=trace.cached.total(),
    )


def first_content(trace: Trace, index: int) -> Time | None:
    """The instant of the first token with content."""
    wanted = trace.requests[index].first_content_token
    if wanted == 1:
        return trace.first_token[index]
    if trace.shown[index] < wanted:
        return None
    return trace.token_times(index)[wanted - 1]


def gaps_of(trace: Trace) -> Distribution:
    """All gaps between tokens of one request, over all requests.

    The first gap of a stay in the batch is its own; all later ones are the distance between two
    decode iterations, shared by everyone who decodes in both.
    """
    counts: Counter[Time] = Counter()
    changes: Counter[int] = Counter()
    for index in range(len(trace.requests)):
        stays = trace.stays(index)
        for stay in stays:
            if stay.tokens > 1:
                counts[trace.clock.at(stay.joined + 1) - stay.shown_at] += 1
                changes[stay.joined + 2] += 1
                changes[stay.joined + stay.tokens] -= 1
        for before, after in pairwise(stays):
            last = before.joined + before.tokens - 1
            ended = trace.clock.at(last) if before.tokens > 1 else before.shown_at
            counts[after.shown_at - ended] += 1
    for gap, iterations, sharing in shared_gaps(trace, changes):
        counts[gap] += iterations * sharing
    return of_counts(counts)


def shared_gaps(trace: Trace, changes: Counter[int]) -> Iterator[tuple[Time, int, int]]:
    """(gap before an iteration, how many such iterations in a row, requests that see it)."""
    sharing, previous = 0, None
    marks = iter(sorted(changes))
    mark = next(marks, None)
    for first, last, start, length, growth in stretches(trace):
        number = first
        while number <= last:
            if mark == number:
                sharing += changes[number]
                mark = next(marks, None)
            until = last if mark is None or mark > last else mark - 1
            step = length + growth * (number - first)
            if number == first and previous is not None:
                yield start + length - previous, 1, sharing
                number += 1
            elif growth or number == first:
                yield step, 1, sharing
                number += 1
            else:
                yield step, until - number + 1, sharing
                number = until + 1
        count = last - first + 1
        previous = start + count * length + growth * (count * (count - 1) // 2)


def stretches(trace: Trace) -> Iterator[tuple[int, int, Any, Any, Any]]:
    """First and last number, start, length and growth of every stretch that decodes."""
    flat, clock = trace.clock.stretches, trace.clock
    numbers = [*clock.numbers, trace.last_number]
    for index, (before, after) in enumerate(pairwise(numbers)):
        if after > before:
            start, length = flat[4 * index + 1], flat[4 * index + 2]
            yield before + 1, after, start, length, clock.growth.get(index, 0)


def merged(parts: Sequence[Columns]) -> Columns:
    """The columns of several workers as one, in order of (arrival, id)."""
    rows = sorted(
        ((r.arrival, r.id, part, index) for part in parts for index, r in enumerate(part.requests)),
        key=lambda row: row[:2],
    )
    gaps: Counter[Time] = Counter()
    for part in parts:
        before = (0, *part.gaps.cumulative)
        for value, upto, below in zip(part.gaps.values, part.gaps.cumulative, before, strict=False):
            gaps[value] += upto - below
    return Columns(
        requests=[part.requests[index] for _, _, part, index in rows],
        status=[part.status[index] for _, _, part, index in rows],
        first_scheduled=[part.first_scheduled[index] for _, _, part, index in rows],
        first_token=[part.first_token[index] for _, _, part, index in rows],
        first_content=[part.first_content[index] for _, _, part, index in rows],
        end=[part.end[index] for _, _, part, index in rows],
        tokens=[part.tokens[index] for _, _, part, index in rows],
        gaps=of_counts(gaps),
        preemptions=sum(part.preemptions for part in parts),
        recomputed=sum(part.recomputed for part in parts),
        cached=sum(part.cached for part in parts),
    )
