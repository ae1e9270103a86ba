"""Many values and how often each occurs, with the percentile rules that tools use.

Percentiles are exact: an index rule picks a value, interpolation is a fraction. The rules differ
most where samples are few: of 100 requests P99 is one request.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, chain
from operator import mul, sub, truediv
from typing import Literal, overload

from calculators.serving.request import Time

type Rule = Literal["linear", "floor_index", "cdf"]
"""linear: numpy's default. floor_index: MLPerf, the value at index ⌊n·p⌋. cdf: guidellm, the least
value with at least the share p of the sample at or below it."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """Values, ascending, and the counts of values up to and including each.

    A value may stand more than once: a sorted sample is one, with the counts 1, 2, 3, ...
    """

    values: Sequence[Time]
    cumulative: Sequence[int]

    @property
    def count(self) -> int:
        """How many values there are."""
        return self.cumulative[-1] if self.cumulative else 0

    @property
    def mean(self) -> Fraction | None:
        """The mean, None of nothing."""
        return Fraction(self.total) / self.count if self.count else None

    @property
    def total(self) -> Time:
        """The sum of all values."""
        counts = list(map(sub, self.cumulative, chain((0,), self.cumulative)))
        if set(map(type, self.values)) <= {int}:
            total: int = sum(map(mul, self.values, counts))
            return total
        pairs = zip(self.values, counts, strict=True)
        return sum_of_ratios((v.numerator * count, v.denominator) for v, count in pairs)

    @property
    def largest(self) -> Time | None:
        """The greatest value, None of nothing."""
        return self.values[-1] if self.values else None

    def at(self, index: int) -> Time:
        """The value at an index of the sorted sample, from 0."""
        return self.values[bisect_right(self.cumulative, index)]

    def percentile(self, share: Fraction, rule: Rule = "linear") -> Time | None:
        """The percentile of a share between 0 and 1, None of nothing."""
        if not self.count:
            return None
        if rule == "floor_index":
            return self.at(min(int(self.count * share), self.count - 1))
        if rule == "cdf":
            return self.at(max(-int(-(self.count * share) // 1) - 1, 0))
        position = (self.count - 1) * share
        below = int(position)
        low, high = self.at(below), self.at(min(below + 1, self.count - 1))
        return low + (high - low) * (position - below)

    def share_up_to(self, limit: Time) -> Fraction | None:
        """The share of values ≤ limit, None of nothing."""
        index = bisect_right(self.values, limit)
        below = self.cumulative[index - 1] if index else 0
        return Fraction(below, self.count) if self.count else None


class Quotients(Sequence[Fraction]):
    """Quotients in ascending order, each made a fraction only when it is asked for.

    They are put in order by their rounded value, which never turns an order around; where some
    round alike, these few are compared exactly.
    """

    __slots__ = ("above", "below", "rounded")

    def __init__(self, pairs: Iterable[tuple[Time, int]]) -> None:
        above: list[int] = []
        below: list[int] = []
        for part, whole in pairs:
            above.append(part.numerator)  # the part may itself be a fraction
            below.append(whole * part.denominator)
        rounded = list(map(truediv, above, below))
        order = sorted(range(len(rounded)), key=rounded.__getitem__)
        self.above = list(map(above.__getitem__, order))
        self.below = list(map(below.__getitem__, order))
        self.rounded = list(map(rounded.__getitem__, order))

    def __len__(self) -> int:
        """How many there are."""
        return len(self.rounded)

    @overload
    def __getitem__(self, index: int) -> Fraction: ...
    @overload
    def __getitem__(self, index: slice) -> list[Fraction]: ...
    def __getitem__(self, index: int | slice) -> Fraction | list[Fraction]:
        """The quotient at an index of the order."""
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        place = range(len(self))[index]
        first = bisect_left(self.rounded, self.rounded[place])
        same = slice(first, bisect_right(self.rounded, self.rounded[place]))
        alike = Counter(zip(self.above[same], self.below[same], strict=True))
        exact = sorted((Fraction(*pair), count) for pair, count in alike.items())
        upto = list(accumulate(count for _, count in exact))
        return exact[bisect_right(upto, place - first)][0]


class Ratios(Distribution):
    """Of quotients, which are not made fractions for their sum either."""

    values: Quotients

    @property
    def total(self) -> Time:
        """The sum of all quotients."""
        return sum_of_ratios(zip(self.values.above, self.values.below, strict=True))


def distribution(values: Iterable[Time]) -> Distribution:
    """Of single values: the sorted sample."""
    ordered = sorted(values)
    return Distribution(ordered, range(1, len(ordered) + 1))


def of_counts(counts: Mapping[Time, int]) -> Distribution:
    """Of values with their counts; values that never occur are left out."""
    kept = counts if all(counts.values()) else {v: count for v, count in counts.items() if count}
    values = sorted(kept)
    return Distribution(values, list(accumulate(map(kept.__getitem__, values))))


def of_ratios(pairs: Iterable[tuple[Time, int]]) -> Ratios:
    """Of quotients (part, whole), exactly, and much quicker than of as many fractions."""
    quotients = Quotients(pairs)
    return Ratios(quotients, range(1, len(quotients) + 1))


def sum_of_ratios(pairs: Iterable[tuple[int, int]]) -> Fraction:
    """The sum of (part, whole); those of one denominator are summed as integers."""
    sums: defaultdict[int, int] = defaultdict(int)
    for part, whole in pairs:
        sums[whole] += part
    return sum((Fraction(part, whole) for whole, part in sums.items()), start=Fraction(0))


def union(parts: Iterable[Distribution]) -> Distribution:
    """All values of several distributions together."""
    counts: Counter[Time] = Counter()
    for part in parts:
        before = (0, *part.cumulative)
        for value, upto, below in zip(part.values, part.cumulative, before, strict=False):
            counts[value] += upto - below
    return of_counts(counts)
