"""Collects the figures of one measurement from a mapping and remembers which keys it used.

The only mutable object of the package; it lives inside one ``read`` call. Every number of a file
passes through :func:`settle`, which alone decides between a value and a reason code.
"""

import math
import re
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from calculators.measurements.quantile import summary
from calculators.measurements.record import (
    Figure,
    Key,
    Label,
    Measurement,
    Note,
    Number,
    Reason,
    Samples,
)
from calculators.measurements.scan import Dropped
from calculators.measurements.units import LATENCIES, canonical, convert, known

NUMBER_TEXT: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\Z")
NOT_FINITE_TEXT: Final = frozenset(
    {"inf", "+inf", "-inf", "infinity", "-infinity", "nan", "-nan", ".inf", "-.inf", ".nan"}
)
LONGEST_NUMBER: Final = 400
MOST_IN_TUPLE: Final = 100_000  # samples; beyond it they stay in an array of doubles
MISSING: Final = object()

# Spreads and signed delays may be zero in truth; the others cannot.
ZERO_IS_MISSING: Final = LATENCIES - {"schedule_delay", "queue", "run_time", "cpu_time"}
# Of single samples also a gap between chunks, which may arrive together.
ZERO_SAMPLE_IS_MISSING: Final = ZERO_IS_MISSING - {"itl"}


def settle(raw: Any) -> tuple[Number | None, Reason | None]:
    """A number or the reason why there is none: ``"inf"`` → ``(None, "not_finite")``."""
    if isinstance(raw, str):
        raw = from_text(raw)
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        return None, "not_stated"
    if isinstance(raw, int) and raw.bit_length() <= 1023:  # noqa: PLR2004 -- a double's exponent
        return raw, None
    return (raw, None) if isinstance(raw, float) and math.isfinite(raw) else (None, "not_finite")


def from_text(text: str) -> Number | None:
    """A number written as text; None for other text."""
    word = text.strip()
    if word.lower() in NOT_FINITE_TEXT:
        return math.nan
    if len(word) > LONGEST_NUMBER or not NUMBER_TEXT.match(word):
        return None
    return int(word) if word.lstrip("+-").isdecimal() else float(word)


def whole(value: Number, quantity: str) -> Number:
    """A count that a tool printed as ``89.00`` is 89."""
    if canonical(quantity) == "count" and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


class Sheet:
    """The figures, labels and samples of one measurement as they are found."""

    def __init__(self, node: Mapping[str, Any], key: Key, pointer: str) -> None:
        self.node = node
        self.key = key
        self.pointer = pointer
        self.used: set[str] = set()
        self.kept: set[str] = set()
        self.figures: list[Figure] = []
        self.labels: list[Label] = []
        self.samples: list[Samples] = []
        self.notes: list[Note] = []
        self.boundary: str | None = None
        self.provenance: Mapping[str, Any] = {}

    def take(self, name: str) -> Any:
        """The value of a key, which counts as known from now on; MISSING when there is none."""
        self.used.add(name)
        return self.node.get(name, MISSING)

    def skip(self, *names: str) -> None:
        """Keys that are known and need no figure."""
        self.used.update(names)

    def keep(self, *names: str) -> None:
        """Keys that are known, give no figure, and stay in the record as they are."""
        self.kept.update(names)

    def has(self, quantity: str, stat: str | None = None) -> bool:
        """Whether the figure is there already."""
        return any(f.quantity == quantity and f.stat == stat for f in self.figures)

    def number(
        self,
        name: str,
        quantity: str,
        stat: str | None = None,
        unit: str = "",
        *,
        null: Reason = "not_stated",
    ) -> None:
        """The figure that a key states. ``null`` is what the file means by JSON null there."""
        raw = self.take(name)
        if raw is not MISSING:
            self.put(raw, quantity, stat, unit, source=name, null=null)

    def put(  # noqa: PLR0913 -- see number
        self,
        raw: Any,
        quantity: str,
        stat: str | None = None,
        unit: str = "",
        *,
        source: str,
        null: Reason = "not_stated",
        computed: str | None = None,
    ) -> None:
        """A figure from a raw value in the given unit. The first statement of a figure stays."""
        if self.has(quantity, stat):
            self.differs(raw, quantity, stat, unit, source)
            return
        self.figures.append(
            self.figure(raw, quantity, stat, unit, source=source, null=null, computed=computed)
        )

    def figure(  # noqa: PLR0913 -- see number
        self,
        raw: Any,
        quantity: str,
        stat: str | None,
        unit: str,
        *,
        source: str,
        null: Reason = "not_stated",
        computed: str | None = None,
    ) -> Figure:
        """A raw value as figure; text that is no number is noted."""
        target = None if stat == "cv" else canonical(quantity)
        value, reason = settle(raw)
        if raw is None:
            reason = null
        elif value is None and reason == "not_stated" and raw != "":
            self.note("not_a_number", key=source)
        if value is not None and target is not None and not known(unit or target, target):
            self.note("unit_unknown", key=source, unit=unit)
            value, reason = None, "not_stated"
        if value is not None:
            value = whole(convert(value, unit or target or "", target), quantity)
            value, reason = settle(value)
        shown = "ratio" if stat == "cv" else (target or unit or None)
        return Figure(
            quantity=quantity,
            stat=stat,
            unit=shown,
            value=value,
            reason=reason,
            source=source,
            source_unit=unit,
            computed=computed,
        )

    def differs(self, raw: Any, quantity: str, stat: str | None, unit: str, source: str) -> None:
        """Note when a file states one figure twice and differently."""
        first = next(f for f in self.figures if f.quantity == quantity and f.stat == stat)
        other = self.figure(raw, quantity, stat, unit, source=source)
        if other.value != first.value:
            self.note("stated_twice", key=source, first=first.value, second=other.value)

    def null(self, quantity: str, stat: str | None, reason: Reason, source: str = "") -> None:
        """A figure that the file cannot have, with its reason."""
        if not self.has(quantity, stat):
            self.figures.append(
                Figure(
                    quantity=quantity,
                    stat=stat,
                    unit=canonical(quantity),
                    value=None,
                    reason=reason,
                    source=source,
                )
            )

    def value(self, quantity: str, stat: str | None = None) -> Number | None:
        """The value of a figure that was put already."""
        return next(
            (f.value for f in self.figures if f.quantity == quantity and f.stat == stat), None
        )

    def label(self, name: str, raw: Any) -> None:
        """A text fact. Numbers are kept digit by digit; other kinds are no label."""
        if isinstance(raw, bool):
            raw = str(raw).lower()
        if isinstance(raw, int | float):
            raw = str(raw)
        if isinstance(raw, str) and raw and all(label.name != name for label in self.labels):
            self.labels.append(Label(name=name, value=raw))

    def note(self, code: str, **data: Any) -> None:
        """A warning about this measurement."""
        note = Note(code=code, data=data)
        if note not in self.notes:
            self.notes.append(note)

    def sample(
        self, raw: Iterable[Any], quantity: str, unit: str, *, source: str, expected: int | None
    ) -> None:
        """Raw samples; complete when every one is a number and there are as many as expected.

        A zero where nothing can take no time is no sample: no token came.
        """
        wanted = canonical(quantity)
        unit = unit or wanted or ""
        if wanted is not None and not known(unit, wanted):
            self.note("unit_unknown", key=source, unit=unit)
            return
        good, count = array("d"), 0
        for item in raw:
            count += 1
            value = settle(item)[0]
            if value is None or (value == 0 and quantity in ZERO_SAMPLE_IS_MISSING):
                continue
            value = settle(convert(value, unit, wanted))[0]
            if value is not None:
                good.append(value)
        complete = len(good) == count and expected in {None, len(good)}
        if not complete:
            self.note("samples_incomplete", key=source, found=len(good), expected=expected or count)
        if good:
            values = good if len(good) > MOST_IN_TUPLE else tuple(good)
            self.samples.append(
                Samples(
                    quantity=quantity,
                    unit=wanted or unit,
                    values=values,
                    source=source,
                    complete=complete,
                )
            )

    def compute(self, over: str = "") -> None:
        """Statistics from complete samples where the file states none, marked with the rule."""
        for samples in self.samples:
            if samples.complete:
                for stat, (value, rule) in summary(samples.values).items():
                    self.computed(samples, stat, value, f"{rule} {over or samples.source}")

    def computed(self, samples: Samples, stat: str, value: float, rule: str) -> None:
        """One computed statistic, unless the file states it."""
        if self.value(samples.quantity, stat) is None and not self.has(samples.quantity, stat):
            unit = "" if canonical(samples.quantity) else samples.unit
            self.put(value, samples.quantity, stat, unit, source=samples.source, computed=rule)

    def missing_zeros(self) -> None:
        """Latencies of exactly zero were not measured; their spread is then missing too."""
        zero = {f.quantity for f in self.figures if f.stat in {"mean", "p50"} and f.value == 0}
        self.figures = [self.unzeroed(figure, zero) for figure in self.figures]

    def unzeroed(self, figure: Figure, zero: set[str]) -> Figure:
        """The figure, null when its zero means that nothing was measured."""
        if figure.quantity not in ZERO_IS_MISSING or figure.value != 0:
            return figure
        if figure.stat == "std" and figure.quantity not in zero:
            return figure
        self.note("zero_means_missing", key=figure.source)
        return replace(figure, value=None, reason="zero_means_missing", computed=None)

    def all_failed(self, quantities: Iterable[str] = LATENCIES) -> None:
        """Nothing succeeded: whatever latencies the file prints are no statistics."""
        self.note("all_failed")
        names = frozenset(quantities)
        self.figures = [
            replace(f, value=None, reason="all_failed", computed=None) if f.quantity in names else f
            for f in self.figures
        ]

    def finish(self, *, inapplicable: Iterable[str] = (), rule: str | None = None) -> Measurement:
        """The measurement, with the keys that nobody asked for."""
        extra = {k: v for k, v in self.node.items() if k not in self.used and plain(v)}
        return Measurement(
            key=self.key,
            pointer=self.pointer,
            figures=tuple(self.figures),
            labels=tuple(self.labels),
            samples=tuple(self.samples),
            inapplicable=frozenset(inapplicable),
            percentile_rule=rule,
            boundary=self.boundary,
            provenance=self.provenance,
            extra=extra,
            unknown=tuple(key for key in extra if key not in self.kept),
            notes=tuple(self.notes),
        )


def plain(value: Any) -> bool:
    """Whether an unknown key's value is kept: not a dropped text."""
    return not isinstance(value, Dropped)
