"""Per-request metrics of a run as columns, and the gaps between all tokens.

Made from the outcomes of the plain engine or from the trace of the fast one: same figures. The
gaps of a trace are counted by stretches of iterations, never token by token.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from operator import sub
from typing import Any

from calculators.serving.distribution import (
    Distribution,
    distribution,
    of_counts,
    of_ratios,
    union,
)
from calculators.serving.gaps import gaps_of
from calculators.serving.records import Outcome, Run, Status
from calculators.serving.request import Request, Time
from calculators.serving.slo import Slo
from calculators.serving.trace import CODES, NOT_ARRIVED, Steps, Trace


@dataclass(frozen=True, kw_only=True)
class Columns:
    """One entry a request that arrived. Instants are None where it never came to it.

    Metrics are computed when they are asked for, and kept.
    """

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
    count_used: Callable[[], Steps] = field(default=Steps, compare=False, repr=False)

    def finished(self) -> list[int]:
        """Indices of the finished requests."""
        return [index for index, status in enumerate(self.status) if status == "finished"]

    @cached_property
    def all_finished(self) -> bool:
        """Whether no request ended in another way."""
        return self.status.count("finished") == len(self.status)

    def good(self, slo: Slo) -> list[bool]:
        """Which requests finished within every limit; one-token requests have no TPOT."""
        good = [status == "finished" for status in self.status]
        for times, limit in ((self.ttft, slo.ttft), (self.e2e, slo.e2e)):
            if limit is not None:
                pairs = zip(good, times, strict=True)
                good = [met and time is not None and time <= limit for met, time in pairs]
        if slo.tpot is not None:
            rows = zip(good, self.decode_time, self.tokens, strict=True)
            good = [met and (t is None or t <= slo.tpot * (n - 1)) for met, t, n in rows]
        return good

    @cached_property
    def gaps(self) -> Distribution:
        """All gaps between the tokens of one request, over all requests."""
        return self.count_gaps()

    @cached_property
    def waiting_steps(self) -> Steps:
        """The length of the waiting queue at each change."""
        if self.count_waiting is not None:
            return self.count_waiting()
        changes = Counter(self.arrival)
        changes.subtract(now for now in self.first_scheduled if now is not None)
        instants = sorted(changes)
        return Steps(instants, list(accumulate(map(changes.__getitem__, instants))))

    @cached_property
    def used_steps(self) -> Steps:
        """KV blocks in use, where memory is limited."""
        return self.count_used()

    @cached_property
    def queue_distribution(self) -> Distribution:
        """Of all that were scheduled."""
        return known(self.t_queue)

    @cached_property
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

    @cached_property
    def ttft(self) -> list[Time | None]:
        """First token minus arrival."""
        return between(self.arrival, self.first_token)

    @cached_property
    def ttft_content(self) -> list[Time | None]:
        """First token with content minus arrival."""
        if self.first_content is self.first_token:
            return self.ttft
        return between(self.arrival, self.first_content)

    @cached_property
    def e2e(self) -> list[Time | None]:
        """Finish minus arrival, of finished requests."""
        return self.of_finished(between(self.arrival, self.end))

    @cached_property
    def decode_time(self) -> list[Time | None]:
        """Finish minus first token, of finished requests with more than one token."""
        times = self.of_finished(between(self.first_token, self.end))
        if 1 not in self.tokens:
            return times
        pairs = zip(times, self.tokens, strict=True)
        return [time if tokens > 1 else None for time, tokens in pairs]

    def of_finished(self, times: list[Time | None]) -> list[Time | None]:
        """The times of finished requests, None for all others."""
        if self.all_finished:
            return times
        pairs = zip(times, self.status, strict=True)
        return [time if status == "finished" else None for time, status in pairs]

    @property
    def tpot(self) -> list[Fraction | None]:
        """decode_time / (output - 1), exactly."""
        rows = zip(self.decode_time, self.tokens, strict=True)
        return [None if t is None else Fraction(t, tokens - 1) for t, tokens in rows]

    @cached_property
    def tpot_distribution(self) -> Distribution:
        """Of all that have a TPOT, without a fraction for each of them."""
        rows = zip(self.decode_time, self.tokens, strict=True)
        return of_ratios((t, tokens - 1) for t, tokens in rows if t is not None)

    @cached_property
    def ttft_distribution(self) -> Distribution:
        """Of all requests that showed a token."""
        return known(self.ttft)


def known(values: Sequence[Time | None]) -> Distribution:
    """Of the values that are there."""
    return distribution(value for value in values if value is not None)


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
        count_waiting=(lambda: of_pairs(run.waiting_steps)) if run.waiting_steps else None,
        count_used=lambda: of_pairs(run.used_steps),
    )


def of_pairs(pairs: Sequence[tuple[Time, int]]) -> Steps:
    """From (instant, count)."""
    return Steps([instant for instant, _ in pairs], [count for _, count in pairs])


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
        count_gaps=lambda: of_counts(Counter(gap for o in arrived for gap in o.itl)),
        preemptions=sum(outcome.preemptions for outcome in arrived),
        recomputed=sum(outcome.recomputed for outcome in arrived),
        cached=sum(outcome.cached for outcome in arrived),
    )


def of_trace(trace: Trace) -> Columns:
    """From the trace of the fast engine."""
    count = len(trace.status) - trace.status.count(NOT_ARRIVED)  # these are the last ones
    first_token = trace.first_token[:count]
    return Columns(
        requests=trace.requests[:count],
        status=list(map(CODES.__getitem__, trace.status[:count])),
        first_scheduled=trace.first_scheduled[:count],
        first_token=first_token,
        first_content=first_contents(trace, first_token),
        end=trace.end[:count],
        tokens=trace.shown[:count],
        count_gaps=lambda: gaps_of(trace),
        preemptions=trace.preemptions.total(),
        recomputed=trace.recomputed.total(),
        cached=trace.cached.total(),
        count_waiting=trace.waiting_steps,
        count_used=trace.used_steps,
    )


def first_contents(trace: Trace, first_token: list[Time | None]) -> list[Time | None]:
    """The instants of the first tokens with content; mostly they are the first tokens."""
    if all(request.first_content_token == 1 for request in trace.requests):
        return first_token
    return [first_content(trace, index) for index in range(len(first_token))]


def first_content(trace: Trace, index: int) -> Time | None:
    """The instant of the first token with content."""
    wanted = trace.requests[index].first_content_token
    if wanted == 1:
        return trace.first_token[index]
    if trace.shown[index] < wanted:
        return None
    return trace.token_times(index)[wanted - 1]


def merged(parts: Sequence[Columns]) -> Columns:
    """The columns of several workers as one, in order of (arrival, id)."""
    if len(parts) == 1:
        return replace(parts[0], count_waiting=None, count_used=Steps)
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
        count_gaps=lambda: union(part.gaps for part in parts),
        preemptions=sum(part.preemptions for part in parts),
        recomputed=sum(part.recomputed for part in parts),
        cached=sum(part.cached for part in parts),
    )
