"""Bencher Metric Format (bencherdev/bencher @8d75325c): name → measure → value with bounds.

No unit stands inside, and what the bounds mean is not said: they are the bare value's minimum and
maximum.
"""

from typing import Any, Final

from calculators.measurements.formats.micro import UNCOUNTED
from calculators.measurements.record import Measurement, Reading, measured
from calculators.measurements.shapes import below, has, mapping
from calculators.measurements.sheet import Sheet
from calculators.measurements.source import Source

FORMAT: Final = "bencher"


def claims(source: Source) -> bool:
    """Every member is an object of measures with values."""
    value = source.value
    return (
        isinstance(value, dict)
        and bool(value)
        and all(
            isinstance(measures, dict)
            and measures
            and all(has(node, "value") for node in measures.values())
            for measures in value.values()
        )
    )


def read(source: Source) -> Reading:
    """One measurement a name; a second measure of a name gives ``name/measure``."""
    found: list[Measurement] = []
    for name, measures in mapping(source.value).items():
        for index, (measure, node) in enumerate(measures.items()):
            key = name if index == 0 else f"{name}/{measure}"
            found.append(one(key, name, measure, node))
    return measured(FORMAT, found)


def one(key: str, name: str, measure: str, node: Any) -> Measurement:
    """One measure of one name."""
    sheet = Sheet(node, key, below("", name, measure))
    sheet.number("value", "value")
    sheet.number("lower_value", "value", "min")
    sheet.number("upper_value", "value", "max")
    sheet.label("name", name)
    sheet.label("test", measure)
    if node.get("lower_value") is not None and node.get("lower_value") == node.get("upper_value"):
        sheet.note("bounds_equal", bound=node["lower_value"])
    return sheet.finish(inapplicable=UNCOUNTED)
