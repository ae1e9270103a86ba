"""Four rules that benchmark tools call "percentile", on sorted samples.

For n = 25 the p95 is X(23) + 0.8 (X(24) - X(23)) under R-7 and X(24) under the others, so a column
of percentiles needs its rule in the head. Sources: numpy.percentile (method linear) and pandas for
R-7; mlcommons/inference @b66003e1 for the floor index; vllm-project/guidellm @ee7a7745 for the step
CDF. Left out: Tukey's quartiles of pytest-benchmark, which give no percentile.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Final

type Rule = Callable[[Sequence[float], Fraction], float]


def r7(ordered: Sequence[float], probability: Fraction) -> float:
    """Linear interpolation at (n - 1) p."""
    place = (len(ordered) - 1) * probability
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + float(place - below) * (ordered[above] - ordered[below])


def nearest_rank(ordered: Sequence[float], probability: Fraction) -> float:
    """The smallest sample with at least the share p at or below it: X(ceil(n p))."""
    return ordered[max(1, math.ceil(len(ordered) * probability)) - 1]


def floor_index(ordered: Sequence[float], probability: Fraction) -> float:
    """Element floor(n p) counted from 0, as MLPerf LoadGen takes it."""
    return ordered[min(math.floor(len(ordered) * probability), len(ordered) - 1)]


def step_cdf(ordered: Sequence[float], probability: Fraction) -> float:
    """The first value whose cumulated share reaches p; equal samples count together."""
    needed = len(ordered) * probability
    return next((value for seen, value in enumerate(ordered, 1) if seen >= needed), ordered[-1])


RULES: Final[dict[str, Rule]] = {
    "r7": r7,
    "nearest_rank": nearest_rank,
    "floor_index": floor_index,
    "step_cdf": step_cdf,
}
