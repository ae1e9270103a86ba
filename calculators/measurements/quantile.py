"""The statistics that a reader computes from complete raw samples: mean, range and R-7 percentiles.

R-7 is the rule of numpy.percentile and pandas (linear interpolation at (n - 1) p), which most of
the tools use. The other rules and their intervals are in ``calculators.latency``.
"""

import math
from collections.abc import Sequence

STATS = {"p50": 0.50, "p90": 0.90, "p95": 0.95, "p99": 0.99}


def r7(ordered: Sequence[float], probability: float) -> float:
    """The R-7 quantile of sorted samples."""
    place = (len(ordered) - 1) * probability
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def summary(samples: Sequence[float]) -> dict[str, tuple[float, str]]:
    """Each statistic with the rule that gives it."""
    ordered = sorted(samples)
    found = {name: (r7(ordered, p), "R-7 over") for name, p in STATS.items()}
    found["mean"] = (math.fsum(ordered) / len(ordered), "mean of")
    found["min"] = (ordered[0], "minimum of")
    found["max"] = (ordered[-1], "maximum of")
    return found
