"""Plots of runs under load: distributions, queue and memory over time, load and chunk sweeps."""

from bisect import bisect_left
from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise

from calculators.serving.distribution import Distribution
from calculators.serving.load_params import Params
from calculators.serving.load_tables import Shown, policy_name
from calculators.serving.request import Time
from calculators.serving.settings import SHORT_NAMES
from calculators.serving.trace import Steps
from calculators.show.blocks import Axis, Cell, Message, Plot, Series, Table
from calculators.show.quantity import Quantity

CURVE = tuple(Fraction(percent, 100) for percent in (*range(0, 95, 5), *range(95, 101)))
WINDOWS = 40  # of a plot over time; each shows its largest value


def cdf_plot(name: str, distributions: Mapping[str, Distribution]) -> Plot:
    """The share of values up to a time, one line a scheduler."""
    series = []
    for policy, found in distributions.items():
        cut = [(found.percentile(share), share) for share in CURVE]
        points = [(float(v) / 1000, float(100 * share)) for v, share in cut if v]  # log: above 0
        series.append(Series(name=SHORT_NAMES[policy], points=tuple(points)))
    return Plot(
        id=name,
        kind="line",
        x=Axis(name=name, unit="ms", log=True),
        y=Axis(name="share", unit="percent"),
        series=tuple(series),
        alt={"count": len(series)},
    )


def queue_plot(systems: Mapping[str, Shown]) -> Plot:
    """Waiting requests over time."""
    steps = {name: system.columns.waiting_steps for name, system in systems.items()}
    return over_time("queue", "requests", steps)


def memory_plot(systems: Mapping[str, Shown]) -> Plot:
    """KV blocks in use over time, of the schedulers whose memory is limited."""
    steps = {name: system.columns.used_steps for name, system in systems.items()}
    return over_time("memory", "blocks", steps)


def over_time(name: str, unit: str, steps: Mapping[str, Steps]) -> Plot:
    """One line a scheduler that has steps, on one time axis from the first to the last of all."""
    steps = {policy: found for policy, found in steps.items() if found.instants}
    first = min((found.instants[0] for found in steps.values()), default=0)
    last = max((found.instants[-1] for found in steps.values()), default=0)
    series = tuple(
        Series(name=SHORT_NAMES[policy], points=windows(found, first, last))
        for policy, found in steps.items()
    )
    return Plot(
        id=name,
        kind="step",
        x=Axis(name="time", unit="s"),
        y=Axis(name=name, unit=unit),
        series=series,
        alt={"count": len(series), "windows": WINDOWS},
    )


def windows(steps: Steps, first: Time, last: Time) -> tuple[tuple[float, float], ...]:
    """(start in s, largest count) of equal windows, up to the one with the last change."""
    instants, counts = steps.instants, steps.counts
    if last == first:
        return tuple((0.0, float(count)) for count in counts[-1:])
    cuts = [
        bisect_left(instants, number * (last - first), key=lambda now: (now - first) * WINDOWS)
        for number in range(1, WINDOWS)
    ]
    largest: list[int] = []
    held = 0
    for begin, end in pairwise([0, *cuts, len(counts)]):
        if begin == len(counts):
            break
        largest.append(max(held, max(counts[begin:end], default=held)))
        if end:
            held = counts[end - 1]
    width = float(last - first) / WINDOWS / 1_000_000
    return tuple((round(i * width, 3), float(v)) for i, v in enumerate(largest))


def base_rate(params: Params) -> float:
    """The load of the workload itself: requests a second, or 1 of a trace."""
    return float(params.rate if params.workload != "trace" else params.rate_factor)


def load_plot(found: Mapping[str, list[tuple[float, float]]], params: Params) -> Plot:
    """Attainment against load; vertical lines mark the knees that lie within the sweep."""
    base = base_rate(params)
    share = float(params.slo_share)
    last = max(factor for points in found.values() for factor, _ in points)
    seen = {knee(points, share) for points in found.values()} - {None, last}
    knees = sorted(factor * base for factor in seen if factor is not None)
    return Plot(
        id="load",
        kind="line",
        x=Axis(
            name="rate" if params.workload != "trace" else "rate_factor",
            unit="requests_per_s" if params.workload != "trace" else "",
        ),
        y=Axis(name="attainment", unit="percent"),
        series=tuple(
            Series(
                name=SHORT_NAMES[name],
                points=tuple((factor * base, 100 * value) for factor, value in points),
            )
            for name, points in found.items()
        ),
        marks=((100 * share, Message("mark.share")),),
        x_marks=tuple((at, f"{at:,g}") for at in knees),
        alt={"count": len(found), "share": Quantity(100 * params.slo_share, "percent")},
    )


def knee_table(found: Mapping[str, list[tuple[float, float]]], params: Params) -> Table:
    """The largest load of the sweep that each scheduler still serves well enough."""
    share, base = float(params.slo_share), base_rate(params)
    unit = "" if params.workload == "trace" else "requests_per_s"
    rows: list[tuple[Cell, ...]] = []
    for name, points in found.items():
        factor = knee(points, share)
        load = None if factor is None else Quantity(factor * base, unit, 2)
        held = factor is not None and factor == points[-1][0]
        rows.append((policy_name(name), Message("cell.at_least", {"load": load}) if held else load))
    return Table(id="knees", columns=("policy", "largest_load"), rows=tuple(rows))


def knee(points: list[tuple[float, float]], share: float) -> float | None:
    """The largest factor up to which every smaller one also meets the share."""
    best = None
    for factor, value in points:
        if value < share:
            break
        best = factor
    return best


def chunk_plot(found: list[tuple[int, float, float]]) -> Plot:
    """P99 of TTFT against P99 of the gaps, a point a token budget."""
    return Plot(
        id="chunks",
        kind="point",
        x=Axis(name="itl_p99", unit="ms"),
        y=Axis(name="ttft_p99", unit="ms"),
        series=tuple(
            Series(name=str(budget), points=((gap, ttft),)) for budget, ttft, gap in found
        ),
        alt={"count": len(found)},
    )
