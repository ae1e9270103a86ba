"""The parts of a measurement's page: conditions, samples, cold and warm, failures, intervals."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from calculators.latency.intervals import Interval, above_maximum, stated
from calculators.measurements import result_file
from calculators.measurements.record import Figure, Samples
from calculators.show.blocks import (
    Axis,
    Block,
    Cell,
    Message,
    Notes,
    Number,
    Numbers,
    Plot,
    Series,
    Table,
)
from calculators.show.labels import Labels
from calculators.show.quantity import Quantity
from scripts.site.archive_conditions import cold as what_was_cold
from scripts.site.archive_conditions import lines
from scripts.site.archive_records import Entry
from scripts.site.archive_words import absence

SHARES = (Fraction(1, 2), Fraction(19, 20), Fraction(99, 100))
COUNTS = ("n_requests", "n_success", "n_failure", "n_incomplete")
MOST_POINTS = 2000
PLOTTED_UNITS = {"ms", "s"}


def conditions(entry: Entry, labels: Labels) -> Iterator[Block]:
    """Every condition, also those that nobody stated."""
    yield Table(id="conditions", columns=("condition", "stated"), rows=lines(entry, labels))
    if notes := entry.measurement.notes:
        yield Notes(items=tuple(result_file.note_text(note) for note in notes), kind="warning")


def samples(entry: Entry) -> Iterator[Block]:
    """All samples as a plot with its table, or why there are none."""
    if not entry.measurement.samples:
        yield Notes(items=(no_samples(entry),), kind="warning")
    for series in entry.measurement.samples:
        yield plot(entry, series)
        step = step_of(series)
        if step > 1:
            values = {"step": step, "count": f"{len(series.values):,}"}
            yield Notes(items=(Message("note.thinned", values),))


def no_samples(entry: Entry) -> Message:
    """Why there are no samples."""
    why = absence(entry)
    if entry.row.p50 is None and entry.row.cold is not None:
        return Message("note.one_value")
    return Message("note.no_intervals", {"why": why or Message("samples.not_in_file")})


def step_of(series: Samples) -> int:
    """Every how manieth sample is drawn."""
    return -(-len(series.values) // MOST_POINTS)


def plot(entry: Entry, series: Samples) -> Plot:
    """The samples in their order; the first call stands before them at 0."""
    step = step_of(series)
    warm = tuple((float(n), v) for n, v in enumerate(series.values, 1) if (n - 1) % step == 0)
    drawn = [Series(name=Message("series.warm"), points=warm)]
    cold = entry.measurement.figure("first_call")
    if series.quantity == "run_time" and cold.value is not None and cold.unit == series.unit:
        drawn.append(Series(name=Message("series.cold"), points=((0.0, float(cold.value)),)))
    timed = series.unit in PLOTTED_UNITS
    return Plot(
        id="series",
        kind="point",
        x=Axis(name="call"),
        y=Axis(name="time", unit=series.unit) if timed else Axis(name="amount"),
        series=tuple(drawn),
        alt={"count": f"{len(series.values):,}"},
    )


def cold(entry: Entry, labels: Labels) -> Iterator[Block]:
    """The first call beside the warm median, and what was cold."""
    first = entry.measurement.figure("first_call")
    if first.value is None:
        yield Notes(items=(Message("note.no_cold"),))
        return
    warm = entry.measurement.figure(entry.row.quantity, "p50")
    items = [Number(id="cold", quantity=result_file.quantity(first))]
    if warm.value is not None:
        items.append(Number(id="p50", quantity=result_file.quantity(warm)))
        if warm.value and warm.unit == first.unit:
            factor = Quantity(float(first.value) / float(warm.value), "", 2)
            items.append(Number(id="factor", quantity=factor))
    yield Numbers(items=tuple(items))
    alone = () if warm.value is not None else (Message("note.only_cold"),)
    yield Notes(items=(Message("note.first_call"), what_was_cold(entry, labels), *alone))


def failures(entry: Entry) -> Iterator[Block]:
    """Counts by status; a count that is not stated is not zero."""
    figures = [entry.measurement.figure(name) for name in COUNTS]
    known = [figure for figure in figures if figure.value is not None]
    if known:
        yield Numbers(
            items=tuple(Number(id=f.quantity, quantity=result_file.quantity(f)) for f in known)
        )
    failed = entry.measurement.figure("n_failure")
    if failed.value is None:
        yield Notes(items=(Message(f"silence.failures_{failed.reason}"),))


def intervals(entry: Entry) -> Iterator[Block]:
    """Bounds by order statistics from complete samples, and the rule behind them."""
    several = [s for s in entry.measurement.samples if len(s.values) > 1]
    complete = [s for s in several if s.complete]
    if complete:
        yield Table(
            id="bounds",
            columns=("quantity", "percentile", "lower", "upper", "ranks", "coverage"),
            rows=tuple(bound(s, share) for s in complete for share in SHARES),
        )
        yield Notes(items=(Message("note.shortest"), Message("note.independent")))
    elif several:
        yield Notes(items=(Message("note.incomplete"),), kind="warning")
    else:
        yield Notes(items=(no_samples(entry),), kind="warning")


def bound(series: Samples, share: Fraction) -> tuple[Cell, ...]:
    """One interval as a row."""
    n = len(series.values)
    found, ordered = stated(n, share), sorted(series.values)
    none = Message("bound.none")
    upper: Cell = none
    if found.upper is None and share > SHARES[0]:
        chance = Quantity(100 * above_maximum(n, share), "percent", 1)
        upper = Message("bound.above", {"chance": chance})
    return (
        result_file.name_of(series.quantity, series.source),
        Quantity(100 * share, "percent"),
        none if found.lower is None else value(series, ordered[found.lower - 1]),
        upper if found.upper is None else value(series, ordered[found.upper - 1]),
        ranks(found),
        Quantity(100 * found.coverage, "percent", 1),
    )


def value(series: Samples, sample: float) -> Quantity:
    """A sample in its unit."""
    return result_file.quantity(
        Figure(quantity=series.quantity, stat=None, unit=series.unit, value=sample)
    )


def ranks(found: Interval) -> str:
    """``X(8)..X(18)``."""
    low, high = (f"X({rank})" if rank else "–" for rank in (found.lower, found.upper))
    return f"{low}..{high}"


def figures(entry: Entry) -> Iterator[Block]:
    """Every figure with its key and unit in the file, then the text facts."""
    yield result_file.figures(entry.measurement)
    yield replace(result_file.labels(entry.measurement), folded=True)
