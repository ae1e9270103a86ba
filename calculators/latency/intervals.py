"""Distribution-free intervals of a quantile between order statistics; how many samples it needs.

The number of n independent samples at or below the true q-quantile is Binomial(n, q) (Hahn and
Meeker, Statistical Intervals, chapter 5). X(r) is therefore a lower bound that fails with
P(B <= r - 1), X(s) an upper bound that fails with P(B >= s). In the tail of few samples no upper
bound exists, whatever the data: 25 samples bound a p95 only from below.

Two exact rules: equal tails (each side fails with at most half) and the shortest pair of ranks.
:func:`stated` takes the shortest for the median, where the tails are equal but for one rank (100
samples: X(40)..X(60) against X(40)..X(61)), and equal tails elsewhere, where the shortest pair
would put nearly all failures on one side. Left out: samples that depend on each other (requests of
one batch, drifting iterations), for which none of this holds.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Literal

CONFIDENCE = Fraction(95, 100)


@dataclass(frozen=True, kw_only=True, slots=True)
class Interval:
    """Ranks counted from 1 that bound a quantile.

    ``upper`` is None where no sample can be an upper bound; the bound is then one-sided.
    ``coverage`` is the probability that the statement holds.
    """

    n: int
    probability: Fraction
    lower: int | None
    upper: int | None
    coverage: float

    @property
    def bounded(self) -> bool:
        """Whether both bounds exist."""
        return self.lower is not None and self.upper is not None

    def check(self) -> None:
        """Raise ValueError for ranks outside the sample or out of order."""
        ranks = [rank for rank in (self.lower, self.upper) if rank is not None]
        if any(not 1 <= rank <= self.n for rank in ranks) or ranks != sorted(ranks):
            raise ValueError(f"ranks {ranks} of {self.n} samples")


def masses(n: int, probability: Fraction) -> list[float]:
    """P(B = k) for k = 0..n of the binomial distribution."""
    p = float(probability)
    log_p, log_rest = math.log(p), math.log1p(-p)
    whole = math.lgamma(n + 1)
    return [
        math.exp(
            whole - math.lgamma(k + 1) - math.lgamma(n - k + 1) + k * log_p + (n - k) * log_rest
        )
        for k in range(n + 1)
    ]


def below(n: int, probability: Fraction) -> list[float]:
    """P(B <= k) for k = 0..n."""
    return list(accumulate(masses(n, probability)))


def interval(n: int, probability: Fraction, confidence: Fraction = CONFIDENCE) -> Interval:
    """The equal-tailed interval, or the one-sided lower bound where no upper one exists."""
    tail = float(1 - confidence) / 2
    mass = masses(n, probability)
    lower = lower_rank(mass, tail)
    upper = upper_rank(mass, tail)
    if upper is None:
        lower = lower_rank(mass, 2 * tail)
    return Interval(
        n=n, probability=probability, lower=lower, upper=upper, coverage=covered(mass, lower, upper)
    )


def stated(n: int, probability: Fraction, confidence: Fraction = CONFIDENCE) -> Interval:
    """The interval that tables show: the shortest for the median, equal tails elsewhere."""
    rule = shortest if probability == Fraction(1, 2) else interval
    return rule(n, probability, confidence)


def shortest(n: int, probability: Fraction, confidence: Fraction = CONFIDENCE) -> Interval:
    """The fewest ranks with the coverage, of these the lowest; else as :func:`interval`."""
    total = [0.0, *below(n, probability)]
    best: tuple[int, int, int] | None = None
    high = 1
    for low in range(1, n):
        high = max(high, low + 1)
        while high <= n and total[high] - total[low] < confidence:
            high += 1
        if high > n:
            break
        best = min(filter(None, (best, (high - low, low, high))))
    if best is None:
        return interval(n, probability, confidence)
    _, low, high = best
    return Interval(
        n=n, probability=probability, lower=low, upper=high, coverage=total[high] - total[low]
    )


def lower_rank(mass: list[float], tail: float) -> int | None:
    """The largest rank whose bound fails with at most ``tail``."""
    found, total = None, 0.0
    for rank in range(1, len(mass)):
        total += mass[rank - 1]
        if total > tail:
            break
        found = rank
    return found


def upper_rank(mass: list[float], tail: float) -> int | None:
    """The smallest rank whose bound fails with at most ``tail``."""
    found, total = None, 0.0
    for rank in range(len(mass) - 1, 0, -1):
        total += mass[rank]
        if total > tail:
            break
        found = rank
    return found


def covered(mass: list[float], lower: int | None, upper: int | None) -> float:
    """P(lower <= B < upper), an open side counting whole; no bound at all covers nothing said."""
    if lower is None and upper is None:
        return 0.0
    return math.fsum(mass[(lower or 0) : (upper if upper is not None else len(mass))])


def above_maximum(n: int, probability: Fraction) -> float:
    """The probability that the true quantile lies above the largest of n samples."""
    return float(probability**n)


def samples_needed(probability: Fraction, tail: Fraction) -> int:
    """The smallest n for which the maximum bounds the quantile from above but for ``tail``.

    ``samples_needed(Fraction(95, 100), Fraction(5, 100)) → 59``; with half the tail, as a
    two-sided interval needs it, 72.
    """
    guess = max(1, math.floor(math.log(tail) / math.log(probability)) - 1)
    return next(n for n in range(guess, guess + 4) if probability**n <= tail)


Sides = Literal["one", "two"]


def needed_for(
    probability: Fraction, confidence: Fraction = CONFIDENCE, sides: Sides = "two"
) -> int:
    """How many samples an upper bound of this quantile needs."""
    tail = 1 - confidence
    return samples_needed(probability, tail if sides == "one" else tail / 2)
