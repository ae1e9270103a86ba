"""Per-request metrics of a run as columns, and the gaps between all tokens.

Made from the outcomes of the plain engine or from the trace of the fast one: same figures. The
gaps of a trace are counted by stretches of iterations, never token by token.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from itertools import accumulate, pairwise
from operator import sub
from typing import Any

from calculators.serving.distribution import (
    Distribution,
    distribution,
    of_counts,
    of_ratios,
    union,
)
from calculators.serving.records import Outcome, Run, Status
from calculators.serving.request import Request, Time
from calculators.serving.slo import Slo
from calculators.serving.trace import CODES, NOT_ARRIVED, Trace

type Steps = Sequence[tuple[Time, int]]
"""(instant, count from then on)."""


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
    count_gaps: Callable[[], Distribution] = field(compare=False, repr=False)
    preemptions: int
    recomputed: int
    cached: int
    count_waiting: Callable[[], Steps] | None = field(default=None, compare=False, repr=False)
    count_used: Callable[[], Steps] = field(default=tuple, compare=False, repr=False)

    def finished(self) -> list[int]:
        """Indices of the finished requests."""
        return [index for index, status in enumerate(self.status) if status == "finished"]

    def good(self, slo: Slo) -> list[bool]:
        """Which requests finished within every limit; one-token requests have no TPOT."""
        rows = zip(self.status, self.ttft, self.decode_time, self.tokens, self.e2e, strict=True)
        return [
            status == "finished"
            and within(ttft, slo.ttft)
            and (decoding is None or slo.tpot is None or decoding <= slo.tpot * (tokens - 1))
            and within(e2e, slo.e2e)
            for status, ttft, decoding, tokens, e2e in rows
        ]

    @property
    def gaps(self) -> Distribution:
        """All gaps between the tokens of one request, over all requests."""
        return self.count_gaps()

    @property
    def waiting_steps(self) -> Steps:
        """The length of the waiting queue at each change."""
        if self.count_waiting is not None:
            return self.count_waiting()
        changes = Counter(self.arrival)
        changes.subtract(now for now in self.first_scheduled if now is not None)
        instants = sorted(changes)
        return list(zip(instants, accumulate(changes[now] for now in instants), strict=True))

    @property
    def arrival(self) -> list[Time]:
        """Instants of arrival."""
        return [request.arrival for request in self.requests]

    @property
    def t_queue(self) -> list[Time | None]:
        """First scheduled start minus arrival."""
        return between(self.arrival, self.first_scheduled)

    @property
    def t_prompt_path(self) -> list[Time | None]:
        """First token minus first scheduled start."""
        return between(self.first_scheduled, self.first_token)

    @property
    def t_first_content(self) -> list[Time | None]:
        """First token with content minus first token."""
        return between(self.first_token, self.first_content)

    @property
    def ttft(self) -> list[Time | None]:
        """First token minus arrival."""
        return between(self.arrival, self.first_token)

    @property
    def ttft_content(self) -> list[Time | None]:
        """First token with content minus arrival."""
        return between(self.arrival, self.first_content)

    @property
    def e2e(self) -> list[Time | None]:
        """Finish minus arrival, of finished requests."""
        times = between(self.arrival, self.end)
        if all(status == "finished" for status in self.status):
            return times
        rows = zip(times, self.status, strict=True)
        return [time if status == "finished" else None for time, status in rows]

    @property
    def decode_time(self) -> list[Time | None]:
        """Finish minus first token, of finished requests with more than one token."""
        times = between(self.first_token, self.end)
        rows = zip(times, self.tokens, self.status, strict=True)
        return [time if s == "finished" and tokens > 1 else None for time, tokens, s in rows]

    @property
    def tpot(self) -> list[Fraction | None]:
        """decode_time / (output - 1), exactly."""
        rows = zip(self.decode_time, self.tokens, strict=True)
        return [None if t is None else Fraction(t, tokens - 1) for t, tokens in rows]

    @property
    def tpot_distribution(self) -> Distribution:
        """Of all that have a TPOT, without a fraction for each of them."""
        rows = zip(self.decode_time, self.tokens, strict=True)
        return of_ratios((t, tokens - 1) for t, tokens in rows if t is not None)


def within(value: Time | None, limit: Time | None) -> bool:
    """Whether a limit is kept; no limit always is."""
    return limit is None or (value is not None and value <= limit)


def between(starts: Sequence[Any], ends: Sequence[Any]) -> list[Any]:
    """The times between, None where one of the two instants is missing."""
    if None not in starts and None not in ends:
        return list(map(sub, ends, starts))
    pairs = zip(starts, ends, strict=True)
    return [None if end is None or start is None else end - start for start, end in pairs]


def of_run(run: Run) -> Columns:
    """From a run of the plain engine, with queue and memory over time."""
    return replace(
        of_outcomes(run.outcomes),
        count_waiting=(lambda: run.waiting_steps) if run.waiting_steps else None,
        count_used=lambda: run.used_steps,
    )


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
        count_gaps=cache(lambda: distribution(gap for o in arrived for gap in o.itl)),
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
        first_content=first_contents(trace, count),
        end=trace.end[:count],
        tokens=trace.shown[:count],
        count_gaps=cache(lambda: gaps_of(trace)),
        preemptions=trace.preemptions.total(),
        recomputed=trace.recomputed.total(),
        cached=trace.cached.total(),
        count_waiting=trace.waiting_steps,
        count_used=trace.used_steps,
    )


def first_contents(trace: Trace, count: int) -> list[Time | None]:
    """The instants of the first tokens with content; mostly they are the first tokens."""
    if all(request.first_content_token == 1 for request in trace.requests):
        return trace.first_token[:count]
    return [first_content(trace, index) for index in range(count)]


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
    return Columns(
        requests=[part.requests[index] for _, _, part, index in rows],
        status=[part.status[index] for _, _, part, index in rows],
        first_scheduled=[part.first_scheduled[index] for _, _, part, index in rows],
        first_token=[part.first_token[index] for _, _, part, index in rows],
        first_content=[part.first_content[index] for _, _, part, index in rows],
        end=[part.end[index] for _, _, part, index in rows],
        tokens=[part.tokens[index] for _, _, part, index in rows],
        count_gaps=cache(lambda: union(part.gaps for part in parts)),
        preemptions=sum(part.preemptions for part in parts),
        recomputed=sum(part.recomputed for part in parts),
        cached=sum(part.cached for part in parts),
    )
