"""Tables and plots of runs under load: schedulers side by side, distributions, sweeps."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Protocol

from calculators.serving import measured
from calculators.serving.columns import Columns
from calculators.serving.distribution import Distribution, distribution
from calculators.serving.fit import fit
from calculators.serving.load_params import Params
from calculators.serving.request import Time
from calculators.serving.slo import STATUSES, Slo
from calculators.serving.steadiness import Steadiness, warm_up
from calculators.serving.tools import Tool
from calculators.show.blocks import (
    Axis,
    Cell,
    Message,
    Notes,
    Number,
    Numbers,
    Plot,
    Section,
    Series,
    Table,
)
from calculators.show.quantity import Quantity

P50, P99 = Fraction(1, 2), Fraction(99, 100)
CURVE = tuple(Fraction(percent, 100) for percent in (*range(0, 95, 5), *range(95, 101)))
TOOL_ROWS = {"P50": P50, "P90": Fraction(9, 10), "P99": P99}


class Shown(Protocol):
    """What a table needs of a scheduler's run."""

    @property
    def columns(self) -> Columns:
        """Per-request metrics."""

    @property
    def gaps(self) -> Distribution:
        """All gaps between tokens, µs."""

    @property
    def ttft(self) -> Distribution:
        """TTFT, µs."""


def policy_name(name: str) -> Message:
    """The label of a scheduler."""
    return Message(f"policy.{name}")


def ms(value: Time | None) -> Quantity | None:
    """µs as ms."""
    return None if value is None else Quantity(Fraction(value) / 1000, "ms", 1)


def percent(part: int, whole: int) -> Quantity | None:
    """A share in percent."""
    return Quantity(Fraction(100 * part, whole), "percent", 1) if whole else None


def policy_table(systems: Mapping[str, Shown], slo: Slo) -> Table:
    """The metrics that one compares."""
    return Table(
        id="policies",
        columns=(
            *("policy", "ttft_p50", "ttft_p99", "queue_p99", "tpot_p50", "tpot_p99", "itl_p99"),
            *("worst_itl", "good_of_arrived", "good_of_completed", "goodput"),
        ),
        rows=tuple(policy_row(name, system, slo) for name, system in systems.items()),
    )


def policy_row(name: str, system: Shown, slo: Slo) -> tuple[Cell, ...]:
    """One scheduler."""
    columns = system.columns
    queue, tpot = known(columns.t_queue), known(list(columns.tpot))
    good = sum(columns.good(slo))
    return (
        policy_name(name),
        ms(system.ttft.percentile(P50)),
        ms(system.ttft.percentile(P99)),
        ms(queue.percentile(P99)),
        ms(tpot.percentile(P50)),
        ms(tpot.percentile(P99)),
        ms(system.gaps.percentile(P99)),
        ms(system.gaps.largest),
        percent(good, len(columns.requests)),
        percent(good, len(columns.finished())),
        goodput(columns, good),
    )


def known(values: list[Time | None]) -> Distribution:
    """Of the values that are there."""
    return distribution(value for value in values if value is not None)


def goodput(columns: Columns, good: int) -> Quantity | None:
    """Good requests a second, from first arrival to last finish."""
    ends = [columns.end[index] for index in columns.finished()]
    last = max((end for end in ends if end is not None), default=None)
    if last is None:
        return None
    window = Fraction(last - columns.requests[0].arrival)
    return Quantity(good * 1_000_000 / window, "requests_per_s", 2) if window else None


def status_table(systems: Mapping[str, Shown], slo: Slo) -> Table:  # noqa: ARG001 - one signature
    """What became of all arrived requests, and the work that was thrown away."""
    return Table(
        id="statuses",
        columns=("policy", "arrived", *STATUSES, "preemptions", "recomputed"),
        rows=tuple(status_row(name, system.columns) for name, system in systems.items()),
    )


def status_row(name: str, columns: Columns) -> tuple[Cell, ...]:
    """One scheduler."""
    statuses = list(columns.status)
    computed = sum(request.prompt for request in columns.requests) + columns.recomputed
    return (
        policy_name(name),
        Quantity(len(statuses)),
        *(Quantity(statuses.count(status)) for status in STATUSES),
        Quantity(columns.preemptions),
        percent(columns.recomputed, computed),
    )


def window_table(systems: Mapping[str, Shown], share: Fraction) -> Table:
    """The cold start, the first ``share`` of the arrivals, apart from the rest."""
    return Table(
        id="window",
        columns=("policy", "cold_requests", "cold_p50", "cold_p99", "rest_p50", "rest_p99"),
        rows=tuple(window_row(name, system.columns, share) for name, system in systems.items()),
        folded=True,
    )


def window_row(name: str, columns: Columns, share: Fraction) -> tuple[Cell, ...]:
    """TTFT of one scheduler in both windows."""
    cold, rest = warm_up(columns, share)
    ttft = columns.ttft
    parts = [known([ttft[index] for index in window]) for window in (cold, rest)]
    cells = [ms(part.percentile(at)) for part in parts for at in (P50, P99)]
    return (policy_name(name), Quantity(len(cold)), *cells)


def cdf_plot(name: str, distributions: Mapping[str, Distribution]) -> Plot:
    """The share of values up to a time, one line a scheduler."""
    series = []
    for policy, found in distributions.items():
        cut = [(found.percentile(share), share) for share in CURVE]
        points = [(float(v) / 1000, float(100 * share)) for v, share in cut if v is not None]
        series.append(Series(name=policy_name(policy), points=tuple(points)))
    return Plot(
        id=name,
        kind="line",
        x=Axis(name=name, unit="ms"),
        y=Axis(name="share", unit="percent"),
        series=tuple(series),
        alt={"count": len(series)},
    )


def load_plot(found: Mapping[str, list[tuple[float, float]]], params: Params) -> Plot:
    """Attainment against load; a vertical line marks each scheduler's knee."""
    base = float(params.rate if params.workload != "trace" else params.rate_factor)
    share = float(params.slo_share)
    knees = {name: knee(points, share) for name, points in found.items()}
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
                name=policy_name(name),
                points=tuple((factor * base, 100 * value) for factor, value in points),
            )
            for name, points in found.items()
        ),
        marks=((100 * share, Message("mark.share")),),
        x_marks=tuple(
            (factor * base, policy_name(name)) for name, factor in knees.items() if factor
        ),
        alt={"count": len(found), "share": Quantity(100 * params.slo_share, "percent")},
    )


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


def tool_table(tool: Tool, columns: Mapping[str, Columns]) -> Table:
    """The same runs as one tool reports them: its names, its formulas, its percentile rule."""
    rows: list[tuple[Cell, ...]] = []
    for policy, run in columns.items():
        for name, metric in tool.metrics.items():
            found = metric(run)
            cells = [ms(found.percentile(share, tool.rule)) for share in TOOL_ROWS.values()]
            rows.append((policy_name(policy), f"{tool.name}: {name}", ms(found.mean), *cells))
    return Table(
        id="tool",
        columns=("policy", "metric", "mean", "p50", "p90", "p99"),
        rows=tuple(rows),
        folded=True,
    )


def fit_section(text: str) -> Section:
    """The line through the reader's points, and how far each point is from it."""
    points = measured.points(text)
    found = fit(points)
    if found is None:
        return Section(id="fit", blocks=(Notes(items=(Message("note.no_fit"),)),), folded=True)
    numbers = (("a", found.a_us), ("b", found.b_us), ("c", found.c_us))
    rows = tuple(
        (Quantity(prefill), Quantity(decodes), Quantity(time, "us"), Quantity(residual, "us", 1))
        for (prefill, decodes, time), residual in zip(points, found.residuals_us, strict=True)
    )
    return Section(
        id="fit",
        blocks=(
            Numbers(
                items=tuple(Number(id=f"fit_{n}", quantity=Quantity(v, "us")) for n, v in numbers)
            ),
            Table(
                id="residuals", columns=("prefill_tokens", "decodes", "time", "residual"), rows=rows
            ),
        ),
        folded=True,
    )


def warnings(found: Mapping[str, Steadiness]) -> Iterator[Message]:
    """The labels of runs that say nothing about a steady state, with their evidence."""
    for name, steady in found.items():
        for label in steady.labels:
            yield Message(
                f"warning.{label}",
                {
                    "policy": policy_name(name),
                    "first": in_ms(steady.first_half_ttft),
                    "second": in_ms(steady.second_half_ttft),
                    "tail": Quantity(Fraction(steady.tail) / 1_000_000, "s", 1),
                    "window": Quantity(Fraction(steady.window) / 1_000_000, "s", 1),
                },
            )


def in_ms(value: float | None) -> Quantity | None:
    """A mean in µs as ms."""
    return None if value is None else Quantity(value / 1000, "ms", 0)
