"""All gaps between the tokens of a run of the fast engine, counted by stretches of iterations.

Whoever decodes in two iterations one after the other sees the time between their ends. So a stretch
of equal iterations gives one gap, as often as it has iterations times sequences; only the first gap
after a prefill that stood between two decode iterations, and the gap over a preemption, are a
request's own. Time grows with stretches and requests, not with tokens.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from itertools import chain, compress, pairwise
from operator import add, mul, sub
from typing import Any

from calculators.serving.distribution import Distribution, of_counts
from calculators.serving.trace import ENTRIES, Clock, Trace

type Counts = defaultdict[Any, int]
"""How often each gap occurs."""


def gaps_of(trace: Trace) -> Distribution:
    """All gaps between tokens of one request, over all requests."""
    counts: Counts = defaultdict(int)
    for gap in gaps_over_preemptions(trace):
        counts[gap] += 1
    if trace.mixed:
        gaps_without_breaks(trace, counts)
    else:
        gaps_with_breaks(trace, counts)
    return of_counts(counts)


def gaps_over_preemptions(trace: Trace) -> Iterator[Any]:
    """From the last token of a stay in the batch to the first one of the next."""
    for index in trace.earlier:
        for before, later in pairwise(trace.stays(index)):
            last = before.joined + before.tokens - 1
            yield later.shown_at - (trace.clock.at(last) if before.tokens > 1 else before.shown_at)


def gaps_without_breaks(trace: Trace, counts: Counts) -> None:
    """Where every first token ends an iteration, each iteration is the gap of all who decode."""
    numbers, _, lengths, sequences = columns(trace.clock, trace.last_number)
    iterations = map(sub, numbers[1:], numbers)
    for gap, count in zip(lengths, map(mul, iterations, sequences), strict=True):
        counts[gap] += count
    for number in trace.late:
        counts[lengths[bisect_left(numbers, number) - 1]] -= 1


def gaps_with_breaks(trace: Trace, counts: Counts) -> None:
    """Where prefills stand between decode iterations, the first gap of a stretch is another one.

    Those who join see it from their own first token on.
    """
    numbers, starts, lengths, sequences = columns(trace.clock, trace.last_number)
    first_ends = dict(zip(numbers, map(add, starts, lengths), strict=False))
    joins = own_gaps(trace, first_ends, counts)
    late = Counter(trace.late)
    previous: Any = None
    for number, upto, start, length, decoding in zip(
        numbers, numbers[1:], starts, lengths, sequences, strict=False
    ):
        if upto > number:
            end = start + length
            first = length if previous is None else end - previous
            counts[first] += decoding - joins.get(number, 0)
            more = upto - number - 1
            if more:
                counts[length] += decoding * more
                end += length * more
            if upto in late:
                counts[length if more else first] -= late[upto]
            previous = end


def own_gaps(trace: Trace, first_ends: Mapping[int, Any], counts: Counts) -> Counter[int]:
    """Count the first gaps after joins, each from the request's own token to ``first_ends``.

    Returns how many requests that see a gap join at each number of decode iterations.
    """
    usual = [tokens > 1 for tokens in trace.shown]
    for index in trace.earlier:
        usual[index] = False
    numbers = list(compress(trace.joined, usual))
    shown = list(compress(trace.first_token, usual))
    stays = chain.from_iterable(map(trace.stays, trace.earlier))
    for stay in (stay for stay in stays if stay.tokens > 1):
        numbers.append(stay.joined)
        shown.append(stay.shown_at)
    for gap, count in Counter(map(sub, map(first_ends.__getitem__, numbers), shown)).items():
        counts[gap] += count
    return Counter(numbers)


def columns(clock: Clock, last: int) -> tuple[list[int], list[Any], list[Any], list[int]]:
    """Numbers (with the last one), starts, lengths and sequences of all stretches.

    Stretches whose iterations grow are taken apart into single ones.
    """
    flat = single_iterations(clock, last) if clock.growth else clock.stretches
    numbers, starts, lengths, sequences = (flat[entry::ENTRIES] for entry in range(4))
    return [*numbers, last], starts, lengths, sequences


def single_iterations(clock: Clock, last: int) -> list[Any]:
    """The stretches of a clock, each iteration by itself where they grow."""
    flat: list[Any] = []
    for index, (number, upto) in enumerate(pairwise([*clock.numbers, last])):
        start, length, sequences, free = clock.stretches[
            ENTRIES * index + 1 : ENTRIES * (index + 1)
        ]
        more = clock.growth.get(index, 0)
        flat += (number, start, length, sequences, free)
        for single in range(number + 1, upto if more else number):
            start += length
            length += more
            flat += (single, start, length, sequences, free)
    return flat
