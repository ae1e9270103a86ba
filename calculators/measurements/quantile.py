"""The statistics that a reader computes from complete raw samples: mean, range, R-7 percentiles.

R-7 is the rule of numpy.percentile and pandas, which most of the tools use. The other rules and the
intervals are in ``calculators.latency``.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from calculators.latency.quantiles import r7

STATS: Final = {name: Fraction(int(name[1:]), 100) for name in ("p50", "p90", "p95", "p99")}


def summary(samples: Sequence[float]) -> dict[str, tuple[float, str]]:
    """Each statistic with the rule that gives it."""
    ordered = sorted(samples)
    found = {name: (r7(ordered, p), "R-7 over") for name, p in STATS.items()}
    found["mean"] = (math.fsum(ordered) / len(ordered), "mean of")
    found["min"] = (ordered[0], "minimum of")
    found["max"] = (ordered[-1], "maximum of")
    return found
