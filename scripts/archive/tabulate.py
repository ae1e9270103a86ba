"""Honest rows from records: what n samples allow, and nothing beyond.

The median comes with its order-statistic interval; a p95 has an upper bound only where the samples
give one; the first call is one value. A table over several artefacts carries each row's provenance.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from calculators.form.errors import ParameterError
from calculators.latency.intervals import Interval, stated
from calculators.latency.overlap import Span, rankable
from calculators.measurements.record import Measurement, Number
from scripts.archive.record import from_json

P50, P95 = Fraction(1, 2), Fraction(19, 20)
MAIN = ("run_time", "batch_latency", "ttft", "e2e")


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One measurement as a line of a table; bounds are None where the samples give none."""

    id: str
    name: str
    quantity: str
    n: Number | None
    p50: Number | None
    p50_span: Span
    p95: Number | None
    p95_span: Span
    low: Number | None
    high: Number | None
    cold: Number | None
    kind: str
    artefact: str
    model: str | None = None


def row(record: Mapping[str, Any]) -> Row:
    """The line of one record."""
    measurement = from_json(record)
    quantity = main_quantity(measurement)

    def value(stat: str) -> Number | None:
        return measurement.figure(quantity, stat).value

    ordered = sorted(s.values) if (s := measurement.sampled(quantity)) and s.complete else []
    return Row(
        id=record["id"],
        name=measurement.label("name").value or measurement.label("model").value or record["id"],
        quantity=quantity,
        n=len(ordered)
        or measurement.figure("n_samples").value
        or measurement.figure("n_success").value,
        p50=value("p50"),
        p50_span=span(ordered, P50),
        p95=value("p95"),
        p95_span=span(ordered, P95),
        low=value("min"),
        high=value("max"),
        cold=measurement.figure("first_call").value,
        kind=record["kind"],
        artefact=record["identity"]["original_sha256"],
        model=model_of(measurement),
    )


def model_of(measurement: Measurement) -> str | None:
    """The model's name; random weights never go without saying so."""
    name = measurement.label("model").value
    return f"{name}, timing only, random weights" if timing_only(measurement) else name


def timing_only(measurement: Measurement) -> bool:
    """Whether the weights were random, so that nothing but the times means anything."""
    return any(note.code == "random_weights" for note in measurement.notes)


def main_quantity(measurement: Measurement) -> str:
    """The latency that the measurement is about."""
    there = {figure.quantity for figure in measurement.figures if figure.value is not None}
    return next((name for name in MAIN if name in there), "run_time")


def span(ordered: Sequence[float], probability: Fraction) -> Span:
    """The interval of a quantile as values; open where no sample bounds it."""
    if len(ordered) < 2:  # noqa: PLR2004 -- one sample bounds nothing
        return Span(low=None, high=None)
    found: Interval = stated(len(ordered), probability)
    if probability == P50 and not found.bounded:
        return Span(low=None, high=None)  # fewer than six samples: their range covers less
    return Span(low=at_rank(ordered, found.lower), high=at_rank(ordered, found.upper))


def at_rank(ordered: Sequence[float], rank: int | None) -> float | None:
    """X(rank), counted from 1."""
    return None if rank is None else ordered[rank - 1]


def may_rank(rows: Sequence[Row]) -> bool:
    """Whether the rows' medians may be put in an order."""
    return rankable([one.p50_span for one in rows])


def require_provenance(rows: Sequence[Row], *, shown_per_row: bool) -> None:
    """Raise ParameterError when rows of several artefacts would share one line of provenance."""
    artefacts = {one.artefact for one in rows}
    if len(artefacts) > 1 and not shown_per_row:
        raise ParameterError("table", "provenance_hidden", artefacts=len(artefacts))


def text_table(rows: Sequence[Row]) -> str:
    """The rows as plain text, provenance in every line."""
    head = (
        "measurement",
        "what",
        "model",
        "n",
        "p50 ms [95 %]",
        "p95 ms [95 %]",
        "min-max ms",
        "first call ms (n = 1)",
        "kind",
        "artefact",
    )
    body = [head, *(cells(one) for one in rows)]
    widths = [max(len(line[i]) for line in body) for i in range(len(head))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in body
    ]
    ranking = "" if may_rank(rows) else "\nno ranking: intervals overlap or are unknown"
    return "\n".join(lines) + ranking


def cells(one: Row) -> tuple[str, ...]:
    """One row's cells."""
    return (
        one.id,
        one.name,
        one.model or "-",
        shown(one.n),
        f"{shown(one.p50)} {bounds(one.p50_span)}".strip(),
        f"{shown(one.p95)} {bounds(one.p95_span)}".strip(),
        f"{shown(one.low)}-{shown(one.high)}",
        shown(one.cold),
        one.kind,
        one.artefact[:12],
    )


def shown(value: Number | None) -> str:
    """A number to four digits, or a dash."""
    return "-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def bounds(one: Span) -> str:
    """``[a, b]``, ``[at least a]``, or nothing."""
    if one.low is None and one.high is None:
        return ""
    if one.high is None:
        return f"[at least {shown(one.low)}, no upper bound]"
    return f"[{shown(one.low)}, {shown(one.high)}]"
