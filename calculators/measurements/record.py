"""The normalised record of a result file: figures with units, labels, samples and what is missing.

A figure is a number in a canonical unit or null with a reason code, never both. Where a file says
nothing about a quantity there is no figure; :meth:`Measurement.figure` then answers with the reason
that holds for the format. Left out: what the numbers are worth (see ``calculators.latency``).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Reason = Literal["not_stated", "not_applicable", "not_finite", "zero_means_missing", "all_failed"]
Outcome = Literal["measurements", "no_measurement", "attachment"]
Number = int | float
Key = int | str

THROUGHPUTS = frozenset(
    {
        "request_throughput",
        "output_token_throughput",
        "input_token_throughput",
        "total_token_throughput",
    }
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Note:
    """A warning to the reader: a code that the labels word, with its data."""

    code: str
    data: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        facts = ", ".join(f"{name} {value}" for name, value in self.data.items())
        return f"{self.code.replace('_', ' ')}: {facts}" if facts else self.code.replace("_", " ")


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """One number of a measurement in its canonical unit, or null with a reason.

    ``source`` is the key in the file and ``source_unit`` the unit there; ``computed`` names the
    rule where the file does not state the number but holds what it follows from.
    """

    quantity: str
    stat: str | None
    unit: str | None
    value: Number | None
    reason: Reason | None = None
    source: str = ""
    source_unit: str = ""
    computed: str | None = None

    def check(self) -> None:
        """Raise ValueError unless exactly one of value and reason is there."""
        if (self.value is None) == (self.reason is None):
            raise ValueError(f"{self.quantity} {self.stat}: value and reason contradict")
        if self.value is not None and not abs(self.value) < float("inf"):
            raise ValueError(f"{self.quantity} {self.stat}: {self.value} is not finite")


@dataclass(frozen=True, kw_only=True, slots=True)
class Label:
    """A text fact of a measurement, character by character as in the file, or null."""

    name: str
    value: str | None
    reason: Reason | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Samples:
    """Raw samples of one quantity in its canonical unit.

    ``complete`` says that every repetition behind the file's own statistics is here; only then may
    a statistic be computed from them.
    """

    quantity: str
    unit: str
    values: Sequence[float]
    source: str
    complete: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Measurement:
    """One measurement inside a file.

    ``key`` is its position counted from 0 or its name; ``pointer`` the JSON pointer, line or table
    row. ``inapplicable`` are the quantities that do not exist for this kind of measurement.
    ``boundary`` says from where to where time was taken, ``provenance`` what the file tells of the
    conditions beyond its labels. ``extra`` holds keys that give no figure, unchanged; ``unknown``
    names those of them that no rule knows.
    """

    key: Key
    pointer: str
    figures: tuple[Figure, ...]
    labels: tuple[Label, ...] = ()
    samples: tuple[Samples, ...] = ()
    inapplicable: frozenset[str] = frozenset()
    percentile_rule: str | None = None
    boundary: str | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()

    def figure(self, quantity: str, stat: str | None = None) -> Figure:
        """The figure, or null with the reason why the file has none.

        A run's throughput is one number: tools that print it as a mean and tools that print it
        bare answer to both names.
        """
        names = {stat}
        if quantity in THROUGHPUTS and stat in {None, "mean"}:
            names = {None, "mean"}
        found = [f for f in self.figures if f.quantity == quantity and f.stat in names]
        return found[0] if found else self.absent(quantity, stat)

    def absent(self, quantity: str, stat: str | None) -> Figure:
        """The null figure of a quantity that the file does not name."""
        return Figure(
            quantity=quantity, stat=stat, unit=None, value=None, reason=self.absence(quantity)
        )

    def absence(self, quantity: str) -> Reason:
        """Why a quantity without figures has none."""
        return "not_applicable" if quantity in self.inapplicable else "not_stated"

    def label(self, name: str) -> Label:
        """The label, or null with reason ``not_stated``."""
        found = [label for label in self.labels if label.name == name]
        return found[0] if found else Label(name=name, value=None, reason="not_stated")

    def sampled(self, quantity: str) -> Samples | None:
        """The raw samples of a quantity, if the file keeps them."""
        return next((s for s in self.samples if s.quantity == quantity), None)

    def check(self) -> None:
        """Raise ValueError when a figure contradicts itself or stands twice."""
        names = [(figure.quantity, figure.stat) for figure in self.figures]
        for figure in self.figures:
            figure.check()
        if len(names) != len(set(names)):
            twice = sorted(str(name) for name in set(names) if names.count(name) > 1)
            raise ValueError(f"{self.pointer}: figures stand twice: {', '.join(twice)}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """What a file says: its format, its measurements and what a reader must know about it."""

    format: str
    outcome: Outcome
    measurements: tuple[Measurement, ...] = ()
    figures: tuple[Figure, ...] = ()
    notes: tuple[Note, ...] = ()

    def measurement(self, key: Key) -> Measurement | None:
        """The measurement with this key."""
        return next((m for m in self.measurements if m.key == key), None)

    def figure(self, quantity: str, stat: str | None = None) -> Figure:
        """A statement about the whole file, the number of measurements among them."""
        if quantity == "n_measurements":
            return Figure(quantity=quantity, stat=None, unit="count", value=len(self.measurements))
        found = [f for f in self.figures if f.quantity == quantity and f.stat == stat]
        null = Figure(quantity=quantity, stat=stat, unit=None, value=None, reason="not_stated")
        return found[0] if found else null

    @property
    def all_notes(self) -> tuple[Note, ...]:
        """The notes of the file and of its measurements."""
        return self.notes + tuple(note for m in self.measurements for note in m.notes)

    def noted(self, notes: Iterable[Note]) -> "Reading":
        """The same reading with more notes in front."""
        return replace(self, notes=(*notes, *self.notes))

    def check(self) -> None:
        """Raise ValueError when a measurement is inconsistent or two share a pointer."""
        pointers = [m.pointer for m in self.measurements]
        if len(pointers) != len(set(pointers)):
            raise ValueError("two measurements share a pointer")
        for measurement in self.measurements:
            measurement.check()


def measured(format_name: str, measurements: Iterable[Measurement], *notes: Note) -> Reading:
    """The reading of a file that holds measurements."""
    return Reading(
        format=format_name, outcome="measurements", measurements=tuple(measurements), notes=notes
    )


def attachment(format_name: str, *notes: Note) -> Reading:
    """The reading of companion data without measurements."""
    return Reading(format=format_name, outcome="attachment", notes=notes)
