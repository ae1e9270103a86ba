"""A dropped result file: what it says, what it does not say, and what must not be concluded.

The same readers as the archive's. Shows figures with their source key and unit, nulls with their
reason, labels, unknown keys and warnings. Leaves out any judgement of the numbers themselves.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from calculators.form import fields
from calculators.form.errors import ParameterError
from calculators.measurements.read import read_text
from calculators.measurements.record import Figure, Measurement, Note, Reading
from calculators.show.blocks import Block, Cell, Message, Notes, Number, Numbers, Result, Section
from calculators.show.blocks import Table as TableBlock
from calculators.show.progress import Progress
from calculators.show.quantity import Quantity

SUFFIXES = (".json", ".jsonl", ".csv", ".txt", ".js")
LONGEST = 200_000_000
MOST_SHOWN = 20  # measurements; a file with more is listed up to here
UNITS = {"ms": "ms", "s": "s", "tokens_per_s": "tokens_per_s", "requests_per_s": "requests_per_s"}
OWN = "own_"  # begins the quantities that a file names itself
ASKED = ("model", "device", "server_version", "tool_version", "date", "command")


@dataclass(frozen=True, kw_only=True)
class Params:
    """The form: a file."""

    file: str | None = fields.text(longest=LONGEST, suffixes=SUFFIXES, shared=False, lines=8)


def solve(params: Params, progress: Progress) -> Result:
    """What the file says."""
    progress(0)
    if params.file is None or not params.file.strip():
        return Result(blocks=(), status=Message("status.waiting"))
    reading = read_text(params.file)
    progress(1)
    count = Quantity(len(reading.measurements))
    return Result(
        blocks=tuple(blocks(reading)),
        status=Message(
            f"status.{reading.outcome}",
            {"format": Message(f"format.{reading.format}"), "count": count},
        ),
    )


def blocks(reading: Reading) -> Iterator[Block]:
    """The answer in reading order."""
    yield Numbers(
        items=(Number(id="measurements", quantity=Quantity(len(reading.measurements)), lead=True),)
    )
    if reading.notes:
        yield Notes(items=tuple(note_text(note) for note in reading.notes), kind="warning")
    for measurement in reading.measurements[:MOST_SHOWN]:
        yield section(measurement)
    if len(reading.measurements) > MOST_SHOWN:
        yield Notes(items=(Message("note.more", {"count": MOST_SHOWN}),))


def section(measurement: Measurement) -> Section:
    """One measurement: warnings, figures, what is not stated, unknown keys."""
    inner: list[Block] = []
    if measurement.notes:
        inner.append(Notes(items=tuple(note_text(n) for n in measurement.notes), kind="warning"))
    inner += [figures(measurement), labels(measurement)]
    inner.append(Notes(items=tuple(silences(measurement))))
    return Section(id="measurement", blocks=tuple(inner))


def note_text(note: Note) -> Message:
    """A note as a sentence."""
    return Message(f"warning.{note.code}", {name: str(value) for name, value in note.data.items()})


def figures(measurement: Measurement) -> TableBlock:
    """Every figure with its source."""
    rows = tuple(
        (
            name_of(figure.quantity, figure.source),
            figure.stat or "",
            value(figure),
            figure.source,
            figure.source_unit,
            figure.computed or "",
        )
        for figure in measurement.figures
    )
    return TableBlock(
        id="figures",
        columns=("quantity", "stat", "value", "source", "source_unit", "computed"),
        rows=rows,
    )


def name_of(quantity: str, source: str) -> Cell:
    """A quantity's name; one that the file made up itself keeps the file's words."""
    return source if quantity.startswith(OWN) else Message(f"quantity.{quantity}")


def value(figure: Figure) -> Cell:
    """The value in its canonical unit, or why there is none."""
    if figure.value is None:
        return Message(f"reason.{figure.reason}")
    return quantity(figure)


def quantity(figure: Figure) -> Quantity:
    """A figure as it is shown: four digits at least."""
    number = figure.value if figure.value is not None else 0
    unit = UNITS.get(figure.unit or "", "")
    if isinstance(number, int) or number.is_integer():
        return Quantity(number, unit)
    places = 3 - math.floor(math.log10(abs(number)))
    return Quantity(number, unit, max(2, min(places, 12)))


def labels(measurement: Measurement) -> TableBlock:
    """Pointer, boundary, percentile rule and the text facts."""
    facts: list[tuple[Cell, ...]] = [
        (Message("fact.pointer"), measurement.pointer or "/"),
        (Message("fact.rule"), Message(f"rule.{measurement.percentile_rule or 'unknown'}")),
    ]
    facts += [(Message("fact.label", {"name": one.name}), one.value) for one in measurement.labels]
    facts += [
        (Message("fact.unknown", {"name": name}), str(kept)[:200])
        for name, kept in measurement.extra.items()
    ]
    return TableBlock(id="facts", columns=("fact", "text"), rows=tuple(facts))


def silences(measurement: Measurement) -> Iterator[Message]:
    """What the file does not state, and what follows for a reader."""
    silent = [name for name in ASKED if measurement.label(name).value is None]
    if silent:
        yield Message("silence.labels", {"names": ", ".join(silent)})
    if not measurement.samples:
        yield Message("silence.samples")
    if measurement.figure("n_failure").value is None:
        yield Message(f"silence.failures_{measurement.figure('n_failure').reason}")


def in_field(field: str, text: str | None) -> Reading:
    """The reading of a form field's file; a refusal then names the field."""
    if text is None or not text.strip():
        raise ParameterError(field, "empty_file")
    try:
        return read_text(text)
    except ParameterError as error:
        raise ParameterError(field, error.reason, **error.limits) from None
