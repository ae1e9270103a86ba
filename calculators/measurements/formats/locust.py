"""locust statistics CSV (``*_stats.csv``): one row a request name, ``Aggregated`` the last.

Milliseconds; percentiles come from a histogram of rounded times. Response times include failed
requests. Column names differ between versions (``# requests`` before 1.0).
"""

import re
from typing import Final

from calculators.measurements.record import Measurement, Reading, attachment, measured
from calculators.measurements.sheet import Sheet
from calculators.measurements.source import Source
from calculators.measurements.tables import Row, head_of, rows_of

FORMAT: Final = "locust"
COLUMNS: Final = {
    "Request Count": ("n_requests", None, ""),
    "# requests": ("n_requests", None, ""),
    "Failure Count": ("n_failure", None, ""),
    "# failures": ("n_failure", None, ""),
    "Median Response Time": ("e2e", "p50", "ms"),
    "Median response time": ("e2e", "p50", "ms"),
    "Average Response Time": ("e2e", "mean", "ms"),
    "Average response time": ("e2e", "mean", "ms"),
    "Min Response Time": ("e2e", "min", "ms"),
    "Min response time": ("e2e", "min", "ms"),
    "Max Response Time": ("e2e", "max", "ms"),
    "Max response time": ("e2e", "max", "ms"),
    "Requests/s": ("request_throughput", None, ""),
}
PERCENT: Final = re.compile(r"\d+(\.\d+)?\Z", re.ASCII)
IGNORED: Final = frozenset({"50%", "100%"})  # again the median and the maximum


def columns_of(source: Source) -> set[str]:
    """The head line's names."""
    return set(head_of(source.head.lstrip().split("\n", 1)[0]))


def claims(source: Source) -> bool:
    """The columns of the statistics, or of the history and failure files beside them."""
    names = columns_of(source)
    return source.first is None and (
        is_statistics(names)
        or {"Timestamp", "User Count"} <= names
        or {"Method", "Name", "Error", "Occurrences"} <= names
    )


def is_statistics(names: set[str]) -> bool:
    """The statistics file itself."""
    return (
        "Name" in names
        and bool({"Request Count", "# requests"} & names)
        and ("Timestamp" not in names)
    )


def read(source: Source) -> Reading:
    """One measurement a row; history and failures are companions."""
    if not is_statistics(columns_of(source)):
        return attachment(FORMAT)
    return measured(
        FORMAT,
        [
            run(row, index)
            for index, row in enumerate(rows_of(source.text, progress=source.progress))
        ],
    )


def run(row: Row, index: int) -> Measurement:
    """One request name."""
    sheet = Sheet(row.cells, index, f"L{row.line}")
    for column, (quantity, stat, unit) in COLUMNS.items():
        if row.cells.get(column) in {"", "N/A"}:
            sheet.skip(column)
            sheet.null(quantity, stat, "not_stated", column)
        else:
            sheet.number(column, quantity, stat, unit)
    for column, cell in row.cells.items():
        percent = column.removesuffix("%")
        if column.endswith("%") and PERCENT.match(percent):
            sheet.skip(column)
            if column not in IGNORED and cell not in {"", "N/A"}:
                sheet.put(cell, "e2e", f"p{percent}", "ms", source=column)
    sheet.label("name", sheet.take("Name"))
    sheet.skip("Type", "Method")
    endings(sheet)
    return sheet.finish(rule="rounded_histogram")


def endings(sheet: Sheet) -> None:
    """Successes follow from requests and failures."""
    asked, failed = sheet.value("n_requests"), sheet.value("n_failure")
    if asked is not None and failed is not None and asked >= failed:
        sheet.put(
            asked - failed, "n_success", source="requests, failures", computed="requests - failures"
        )
    if failed:
        sheet.note("times_include_failures", failed=failed)
    if asked and asked == failed:
        sheet.all_failed()
    sheet.missing_zeros()
