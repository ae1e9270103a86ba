"""github-action-benchmark ``data.js`` (@c38cce98): JavaScript around JSON, or the JSON alone.

Each bench has its own unit and a spread of undefined meaning (``± 3%``), kept as text in ``extra``.
"""

from collections.abc import Mapping
from typing import Any, Final

from calculators.measurements.formats.micro import UNCOUNTED
from calculators.measurements.record import Measurement, Reading, measured
from calculators.measurements.shapes import at, below, has, mapping, sequence
from calculators.measurements.sheet import Sheet, settle
from calculators.measurements.source import Source, open_text

FORMAT: Final = "github-action-benchmark"
PREFIX: Final = "window.BENCHMARK_DATA"


def claims(source: Source) -> bool:
    """The script, or its data."""
    return source.head.lstrip().startswith(PREFIX) or has(source.value, "lastUpdate", "entries")


def read(source: Source) -> Reading:
    """One measurement a bench, in the order of the file."""
    value = source.value
    if not has(value, "entries"):
        value = open_text(source.text.partition("=")[2], source.name).value
    found: list[Measurement] = []
    for suite, runs in mapping(at(value, "entries")).items():
        for number, run in enumerate(sequence(runs)):
            for place, bench in enumerate(sequence(mapping(run).get("benches"))):
                pointer = below("", "entries", suite, number, "benches", place)
                found.append(one(mapping(bench), len(found), pointer, mapping(run)))
    return measured(FORMAT, found)


def one(node: Mapping[str, Any], key: int, pointer: str, run: Mapping[str, Any]) -> Measurement:
    """One bench of one run."""
    sheet = Sheet(node, key, pointer)
    sheet.number("value", "value", None, str(node.get("unit") or ""))
    sheet.skip("unit")
    if settle(node.get("range"))[0] is not None:
        sheet.number("range", "range")
    sheet.label("name", sheet.take("name"))
    sheet.label("commit", at(run, "commit", "id"))
    sheet.label("date", run.get("date"))
    return sheet.finish(inapplicable=UNCOUNTED)
