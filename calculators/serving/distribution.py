"""Many values and how often each occurs, with the percentile rules that tools use.

Percentiles are exact: an index rule picks a value, interpolation is a fraction. The rules differ
most where samples are few: of 100 requests P99 is one request.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import gcd
from typing import Literal

from calculators.serving.request import Time

type Rule = Literal["linear", "floor_index", "cdf"]
"""linear: numpy's default. floor_index: MLPerf, the value at index ⌊n·p⌋. cdf: guidellm, the least
value with at least the share p of the sample at or below it."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """Distinct values, ascending, and the counts of values up to and including each."""

    values: tuple[Time, ...]
    cumulative: tuple[int, ...]

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
        """The sum of all values; those of one denominator are summed as integers."""
        sums: Counter[int] = Counter()
        below = 0
        for value, upto in zip(self.values, self.cumulative, strict=True):
            sums[value.denominator] += value.numerator * (upto - below)
            below = upto
        return sum((Fraction(part, whole) for whole, part in sums.items()), start=Fraction(0))

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
        index = bisect_left(self.values, limit)
        if index < len(self.values) and self.values[index] == limit:
            index += 1
        below = self.cumulative[index - 1] if index else 0
        return Fraction(below, self.count) if self.count else None


def distribution(values: Iterable[Time]) -> Distribution:
    """Of single values."""
    return of_counts(Counter(values))


def of_counts(counts: Counter[Time]) -> Distribution:
    """Of values with their counts; values that never occur are left out."""
    pairs = sorted((value, count) for value, count in counts.items() if count)
    return Distribution(
        tuple(value for value, _ in pairs), tuple(accumulate(count for _, count in pairs))
    )


def of_ratios(pairs: Iterable[tuple[Time, int]]) -> Distribution:
    """Of quotients (part, whole), exactly, and much quicker than of as many fractions.

    Quotients are put in order by their rounded value, which never turns an order around; where two
    share one, all are compared exactly.
    """
    counts = Counter(lowest_terms(part, whole) for part, whole in pairs)
    keys = {pair: pair[0] / pair[1] for pair in counts}
    order = sorted(counts, key=keys.__getitem__)
    if len(set(keys.values())) < len(keys):
        order.sort(key=lambda pair: Fraction(*pair))
    values = tuple(Fraction(*pair) for pair in order)
    return Distribution(values, tuple(accumulate(counts[pair] for pair in order)))


def lowest_terms(part: Time, whole: int) -> tuple[int, int]:
    """``(6, 4) → (3, 2)``; the part may itself be a fraction."""
    above, below = part.numerator, whole * part.denominator
    common = gcd(above, below)
    return above // common, below // common


def union(parts: Iterable[Distribution]) -> Distribution:
    """All values of several distributions together."""
    counts: Counter[Time] = Counter()
    for part in parts:
        before = (0, *part.cumulative)
        for value, upto, below in zip(part.values, part.cumulative, before, strict=False):
            counts[value] += upto - below
    return of_counts(counts)
