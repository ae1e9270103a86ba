"""Two samples of latencies compared: Mann-Whitney test and bootstrap of the medians' ratio.

The test asks whether one sample tends to be larger; it is exact for small samples without ties and
a normal approximation with tie correction else (Mann and Whitney 1947). The bootstrap has a fixed
seed that is shown beside its answer. It is offered for medians only: resampling cannot exceed the
sample's maximum and would hide the very uncertainty of a tail quantile. Both need independent
samples. Left out: repeated looks, drift, and the spread between processes.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from calculators.latency.quantiles import r7

SEED = 20_260_101
ROUNDS = 2000
MOST_EXACT = 400  # n times m up to which the exact distribution is counted


@dataclass(frozen=True, kw_only=True, slots=True)
class RankTest:
    """The Mann-Whitney statistic of the first sample and its two-sided probability."""

    u: float
    n_first: int
    n_second: int
    p: float
    exact: bool

    @property
    def share(self) -> float:
        """The probability that a first sample exceeds a second one, ties counted half."""
        return self.u / (self.n_first * self.n_second)


@dataclass(frozen=True, kw_only=True, slots=True)
class Ratio:
    """The second median over the first with its bootstrap interval, and how it was drawn."""

    value: float
    low: float
    high: float
    confidence: float
    seed: int
    rounds: int


def median(values: Sequence[float]) -> float:
    """The middle sample, or the mean of the two middle ones."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def mann_whitney(first: Sequence[float], second: Sequence[float]) -> RankTest:
    """The two-sided test of two samples, neither of them empty."""
    values = sorted([(v, 0) for v in first] + [(v, 1) for v in second])
    u, ties = 0.0, 0
    seen_second = place = 0
    while place < len(values):
        end = place
        while end < len(values) and values[end][0] == values[place][0]:
            end += 1
        seconds = sum(group for _, group in values[place:end])
        u += (end - place - seconds) * (seen_second + seconds / 2)
        ties += (end - place) ** 3 - (end - place)
        seen_second += seconds
        place = end
    exact = ties == 0 and len(first) * len(second) <= MOST_EXACT
    n, m = len(first), len(second)
    p = exact_p(int(u), n, m) if exact else normal_p(u, n, m, ties)
    return RankTest(u=u, n_first=n, n_second=m, p=p, exact=exact)


def exact_p(u: int, n: int, m: int) -> float:
    """The two-sided probability by counting the orders of n and m samples without ties."""
    counts = u_counts(n, m)
    extreme = min(u, n * m - u)
    return min(1.0, float(Fraction(2 * sum(counts[: extreme + 1]), sum(counts))))


def u_counts(n: int, m: int) -> list[int]:
    """How many orders give each U: the Gaussian binomial coefficients of n + m over n."""
    counts = [1] + [0] * (n * m)
    for i in range(1, n + 1):
        top, bottom = m + i, i
        for u in range(n * m, top - 1, -1):
            counts[u] -= counts[u - top]
        for u in range(bottom, n * m + 1):
            counts[u] += counts[u - bottom]
    return counts


def normal_p(u: float, n: int, m: int, ties: int) -> float:
    """The normal approximation with continuity and tie correction."""
    total = n + m
    spread = n * m / 12 * ((total + 1) - ties / (total * (total - 1)))
    if spread <= 0:
        return 1.0
    distance = max(0.0, abs(u - n * m / 2) - 0.5)
    return math.erfc(distance / math.sqrt(2 * spread))


def ratio_of_medians(
    first: Sequence[float],
    second: Sequence[float],
    *,
    seed: int = SEED,
    rounds: int = ROUNDS,
    confidence: Fraction = Fraction(95, 100),
) -> Ratio:
    """The second sample's median over the first's, with the bootstrap's percentile interval."""
    draw = random.Random(seed)  # noqa: S311 -- resampling, not secrecy
    ratios = sorted(
        median(draw.choices(second, k=len(second))) / median(draw.choices(first, k=len(first)))
        for _ in range(rounds)
    )
    tail = (1 - confidence) / 2
    return Ratio(
        value=median(second) / median(first),
        low=r7(ratios, tail),
        high=r7(ratios, 1 - tail),
        confidence=float(confidence),
        seed=seed,
        rounds=rounds,
    )
