"""Tables of runs under load: schedulers side by side, and what tools and clients report."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Protocol

from calculators.serving import measured
from calculators.serving.clients import client_view
from calculators.serving.columns import Columns, known
from calculators.serving.distribution import Distribution
from calculators.serving.fit import fit
from calculators.serving.request import Request, Time
from calculators.serving.slo import STATUSES, Slo
from calculators.serving.steadiness import Steadiness, warm_up
from calculators.serving.tools import Tool
from calculators.show.blocks import (
    Cell,
    Message,
    Notes,
    Number,
    Numbers,
    Section,
    Table,
)
from calculators.show.quantity import Quantity

P50, P99 = Fraction(1, 2), Fraction(99, 100)
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
    def tpot(self) -> Distribution:
        """TPOT, µs."""

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
    queue, tpot = columns.queue_distribution, system.tpot
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


def goodput(columns: Columns, good: int) -> Quantity | None:
    """Good requests a second, from first arrival to last finish."""
    ends = [columns.end[index] for index in columns.finished()]
    last = max((end for end in ends if end is not None), default=None)
    if last is None:
        return None
    window = Fraction(last - columns.requests[0].arrival)
    return Quantity(good * 1_000_000 / window, "requests_per_s", 2) if window else None


def status_table(systems: Mapping[str, Shown]) -> Table:
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


def tool_table(tool: Tool, columns: Mapping[str, Columns], pulse: Callable[[], None]) -> Table:
    """The same runs as one tool reports them: its names, its formulas, its percentile rule.

    ``pulse`` is called as the work goes on.
    """
    rows: list[tuple[Cell, ...]] = []
    for policy, run in columns.items():
        for name, metric in tool.metrics.items():
            pulse()
            found = metric(run)
            cells = [ms(found.percentile(share, tool.rule)) for share in TOOL_ROWS.values()]
            rows.append((policy_name(policy), f"{tool.name}: {name}", ms(found.mean), *cells))
    return Table(
        id="tool",
        columns=("policy", "metric", "mean", "p50", "p90", "p99"),
        rows=tuple(rows),
        folded=True,
    )


def client_table(systems: Mapping[str, Shown], requests: Sequence[Request]) -> Table:
    """What a client with a limit on requests in flight reports, and what it leaves out."""
    intended = {request.id: request.arrival for request in requests}
    rows: list[tuple[Cell, ...]] = []
    for name, system in systems.items():
        columns = system.columns
        firsts = zip(columns.requests, columns.first_token, strict=True)
        view = client_view([(r, now) for r, now in firsts if now is not None], intended)
        cells = (view.reported_ttft, view.client_wait, view.scheduled_ttft)
        rows.append((policy_name(name), *map(ms, cells)))
    return Table(
        id="client",
        columns=("policy", "reported_ttft", "client_wait", "scheduled_ttft"),
        rows=tuple(rows),
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
