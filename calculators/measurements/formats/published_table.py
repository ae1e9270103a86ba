"""A table that somebody else published, retyped with its conditions: no samples, no intervals.

The file names its source and states for every row what the table prints and nothing more. A row's
first call is a single value. Figures have their own unit.
"""

from collections.abc import Mapping
from typing import Any, Final

from calculators.measurements.formats.micro import UNCOUNTED
from calculators.measurements.record import Measurement, Reading, measured
from calculators.measurements.shapes import at, below, has, mapping, sequence
from calculators.measurements.sheet import Sheet
from calculators.measurements.source import Source

FORMAT: Final = "published-table"
SCHEMA: Final = "critical-path/published-table"


def claims(source: Source) -> bool:
    """The schema's name."""
    return has(source.value, "schema", "rows") and source.value["schema"] == SCHEMA


def read(source: Source) -> Reading:
    """One measurement a row."""
    report = mapping(source.value)
    return measured(
        FORMAT,
        [
            row(mapping(node), index, report)
            for index, node in enumerate(sequence(report.get("rows")))
        ],
    )


def row(node: Mapping[str, Any], index: int, report: Mapping[str, Any]) -> Measurement:
    """What the table prints in one row."""
    sheet = Sheet(node, index, below("", "rows", index))
    for figure in sequence(sheet.take("figures")):
        if has(figure, "quantity", "value"):
            stat = figure.get("stat")
            sheet.put(
                figure["value"],
                str(figure["quantity"]),
                stat if isinstance(stat, str) else None,
                str(figure.get("unit", "")),
                source=str(figure.get("column", "")),
            )
    sheet.skip("prompt_tokens")
    sheet.label("name", sheet.take("name"))
    sheet.label("model", at(report, "conditions", "model"))
    sheet.label("device", at(report, "conditions", "device", "used"))
    sheet.note("samples_not_published")
    boundary = sheet.take("boundary") if "boundary" in node else report.get("boundary")
    sheet.boundary = boundary if isinstance(boundary, str) else None
    sheet.provenance = {
        **mapping(report.get("conditions")),
        "source": report.get("source"),
        "remarks": report.get("remarks"),
        "characters": plain_count(sheet.take("characters")),
    }
    return sheet.finish(inapplicable=UNCOUNTED - {"input_tokens"})


def plain_count(raw: Any) -> int | None:
    """A whole number that the row states, else None."""
    return raw if isinstance(raw, int) and not isinstance(raw, bool) else None
