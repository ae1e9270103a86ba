"""From points to the largest rate that meets the service level, with its spread over seeds.

For one seed it is the largest rate of the grid at which the share of good requests, of all
arrived, reaches the target there and at every smaller rate. Over seeds: the median with the
smallest and largest, and for each rate the mean attainment with a 95 % t interval.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from statistics import fmean, median, stdev
from typing import Any

# two-sided 95 % quantiles of Student's t by degrees of freedom; beyond 30 the normal one
T95 = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)
NORMAL95 = 1.960


def capacities(points: Iterable[Mapping[str, Any]], share: float) -> list[dict[str, Any]]:
    """One entry a system, in order of name."""
    by_system: dict[str, list[Mapping[str, Any]]] = {}
    for point in points:
        by_system.setdefault(point["system"], []).append(point)
    return [capacity(system, rows, share) for system, rows in sorted(by_system.items())]


def capacity(system: str, rows: Sequence[Mapping[str, Any]], share: float) -> dict[str, Any]:
    """The largest rate of each seed, and attainment by rate over the seeds."""
    seeds = sorted({row["seed"] for row in rows})
    largest = [largest_rate([row for row in rows if row["seed"] == s], share) for s in seeds]
    return {
        "system": system,
        "share": share,
        "seeds": len(seeds),
        "largest_rate": median(largest),
        "smallest_over_seeds": min(largest),
        "largest_over_seeds": max(largest),
        "attainment_by_rate": [
            by_rate(rate, [row["attainment"] for row in rows if row["rate"] == rate])
            for rate in sorted({row["rate"] for row in rows})
        ],
    }


def largest_rate(rows: Sequence[Mapping[str, Any]], share: float) -> float:
    """0.0 where not even the smallest rate meets the level."""
    best = 0.0
    for row in sorted(rows, key=lambda row: row["rate"]):
        if row["attainment"] < share:
            break
        best = row["rate"]
    return best


def by_rate(rate: float, values: Sequence[float]) -> dict[str, Any]:
    """Mean attainment and half the width of its interval; None of a single seed."""
    half = None
    if len(values) > 1:
        t = T95[len(values) - 2] if len(values) - 2 < len(T95) else NORMAL95
        half = round(t * stdev(values) / sqrt(len(values)), 6)
    return {"rate": rate, "mean": round(fmean(values), 6), "half_width": half}
