"""genai-perf and aiperf summaries as CSV: two tables in one file, units inside the names.

Columns differ between versions and are read by name. genai-perf groups thousands (``1,234.56``)
and aiperf does not. Integers are printed as ``89.00``; nanosecond
time stamps are rounded to a float and therefore not taken. The two tables are separated by a blank
line; further tables (telemetry) are listed, not read.
"""

import re
from typing import Final

from calculators.measurements.formats.genai_keys import QUANTITIES, TOTALS, metric, stat_of
from calculators.measurements.record import Reading, measured
from calculators.measurements.sheet import Sheet
from calculators.measurements.source import Source
from calculators.measurements.tables import Row, head_of, rows_of, sections

FORMAT: Final = "genai-perf-csv"
GROUPED: Final = re.compile(r"-?\d{1,3}(,\d{3})+(\.\d+)?\Z", re.ASCII)
NAME: Final = re.compile(r"(.+?)\s*(?:\(([^()]*)\))?\Z")


def claims(source: Source) -> bool:
    """A table that begins with the column ``Metric``."""
    first = source.head.lstrip().split("\n", 1)[0]
    columns = head_of(first)
    return (
        len(columns) > 1 and columns[0] == "Metric" and (columns[1] == "Value" or "avg" in columns)
    )


def read(source: Source) -> Reading:
    """One run of the two tables."""
    sheet = Sheet({}, 0, "")
    for line, text in sections(source.text):
        for row in rows_of(text, line):
            take(sheet, row)
    if sheet.value("n_success") == 0:
        sheet.all_failed()
    sheet.missing_zeros()
    differing_counts(sheet)
    return measured(FORMAT, [sheet.finish(rule="r7")])


def ungrouped(cell: str) -> str:
    """``1,234.56 → 1234.56``."""
    return cell.replace(",", "") if GROUPED.match(cell) else cell


def take(sheet: Sheet, row: Row) -> None:
    """The figures of one line."""
    match = NAME.match(row.cells.get("Metric", ""))
    if match is None:
        return
    name, unit = match[1].strip().lower().replace(" ", "_"), match[2] or ""
    if name not in QUANTITIES and name not in TOTALS:
        sheet.note("metric_unknown", name=match[1].strip())
    elif "Value" in row.cells:
        metric(sheet, name, unit, {"avg": ungrouped(row.cells["Value"])})
    else:
        cells = {w: ungrouped(cell) for w, cell in row.cells.items() if stat_of(w) and cell}
        metric(sheet, name, unit, cells)


def differing_counts(sheet: Sheet) -> None:
    """Reasoning and visible tokens of one table are counted over different numbers of requests."""
    reasoning, output = (
        sheet.value("reasoning_tokens", "total"),
        sheet.value("output_tokens", "total"),
    )
    if reasoning and output:
        sheet.note("reasoning_share", reasoning=reasoning, output=output)
