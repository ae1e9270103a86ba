"""Our own benches of the site and the labs, written by ``python -m scripts.bench --out FILE``.

One measurement a bench, each figure under its own name and unit: nothing is converted. A unit
``s (median)`` or ``s (least)`` states what the number is of its runs. Samples stay with the figure
whose name they carry; no further statistic is computed from them, as a figure says itself which one
it is. Load averages are part of the conditions.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from calculators.measurements.formats.micro import UNCOUNTED
from calculators.measurements.record import Measurement, Reading, measured
from calculators.measurements.shapes import below, has, mapping, sequence
from calculators.measurements.sheet import Sheet
from calculators.measurements.source import Source

FORMAT: Final = "bench"
SCHEMA: Final = "critical-path/bench"
CONDITIONS: Final = ("command", "date", "machine", "software", "load_average")
UNIT: Final = re.compile(r"(.*\S)\s*\((median|least)\)\Z")
STATS: Final = {"median": "p50", "least": "min"}
NO_NAME: Final = re.compile(r"[^a-z0-9]+")


def claims(source: Source) -> bool:
    """The schema's name."""
    return has(source.value, "schema", "benches") and source.value["schema"] == SCHEMA


def read(source: Source) -> Reading:
    """One measurement a bench."""
    report = mapping(source.value)
    listed = enumerate(sequence(report.get("benches")))
    return measured(FORMAT, [bench(mapping(node), index, report) for index, node in listed])


def bench(node: Mapping[str, Any], index: int, report: Mapping[str, Any]) -> Measurement:
    """The figures of one bench."""
    sheet = Sheet(node, index, below("", "benches", index))
    for figure in sequence(sheet.take("figures")):
        put(sheet, mapping(figure))
    sheet.label("name", sheet.take("name"))
    sheet.label("test", sheet.take("about"))
    sheet.label("date", report.get("date"))
    sheet.label("tool_version", report.get("version"))
    sheet.provenance = {name: report[name] for name in CONDITIONS if name in report}
    return sheet.finish(inapplicable=UNCOUNTED)


def put(sheet: Sheet, figure: Mapping[str, Any]) -> None:
    """One figure under its own name, and its samples."""
    if "value" not in figure:
        return
    name, unit = str(figure.get("name")), str(figure.get("unit") or "")
    of_runs = UNIT.match(unit)
    unit, stat = (of_runs[1], STATS[of_runs[2]]) if of_runs else (unit, None)
    quantity = free(sheet, NO_NAME.sub("_", name.lower()).strip("_") or "figure", stat)
    sheet.put(figure["value"], quantity, stat, unit, source=name)
    if isinstance(figure.get("samples"), list):
        sheet.sample(figure["samples"], quantity, unit, source=name, expected=None)


def free(sheet: Sheet, slug: str, stat: str | None) -> str:
    """A name that no other figure has: names may differ in punctuation alone."""
    name, number = f"own_{slug}", 2
    while sheet.has(name, stat):
        name, number = f"own_{slug}_{number}", number + 1
    return name
