"""LMCache LMBench multi-round CSV (@18fe8926): one row a request, seconds.

``ttft`` is 0 when no token arrived; ``generation_time`` is the time after the first token. End to
end time is ``finish_time - launch_time``. The file states nothing but its rows; statistics are
computed over rows with a token.
"""

from typing import Final

from calculators.measurements.record import Reading, measured
from calculators.measurements.sheet import Sheet, settle
from calculators.measurements.source import Source
from calculators.measurements.tables import Row, head_of, rows_of

FORMAT: Final = "lmbench-csv"
COLUMNS: Final = {"ttft", "generation_time", "prompt_tokens", "generation_tokens"}


def claims(source: Source) -> bool:
    """The columns of the script."""
    return source.first is None and set(head_of(first_line(source))) >= COLUMNS


def first_line(source: Source) -> str:
    """The head line."""
    return source.head.lstrip().split("\n", 1)[0]


def read(source: Source) -> Reading:
    """All rows as one run."""
    rows = list(rows_of(source.text))
    good = [row for row in rows if settle(row.cells["ttft"])[0]]
    sheet = Sheet({}, 0, "")
    sheet.put(len(rows), "n_requests", source="rows")
    sheet.put(len(good), "n_success", source="ttft", computed="rows with a first token")
    sheet.put(
        len(rows) - len(good), "n_failure", source="ttft", computed="rows without a first token"
    )
    if len(good) < len(rows):
        sheet.note("rows_without_token", rows=len(rows) - len(good))
    samples(sheet, good)
    if rows and not good:
        for quantity in ("ttft", "e2e"):
            for stat in ("mean", "p50", "p90", "p95", "p99", "min", "max"):
                sheet.null(quantity, stat, "all_failed", quantity)
    sheet.compute("rows with a first token")
    return measured(FORMAT, [sheet.finish(rule="r7")])


def samples(sheet: Sheet, good: list[Row]) -> None:
    """The series of the good rows, and the token totals."""
    if not good:
        return
    sheet.sample((row.cells["ttft"] for row in good), "ttft", "s", source="ttft", expected=None)
    if {"launch_time", "finish_time"} <= good[0].cells.keys():
        sheet.sample(
            (elapsed(row) for row in good),
            "e2e",
            "s",
            source="finish_time - launch_time",
            expected=None,
        )
    for column, quantity in (
        ("prompt_tokens", "input_tokens"),
        ("generation_tokens", "output_tokens"),
    ):
        counts = [settle(row.cells[column])[0] for row in good]
        if all(count is not None for count in counts):
            sheet.put(
                sum(filter(None, counts)),
                quantity,
                "total",
                source=column,
                computed="sum over rows",
            )


def elapsed(row: Row) -> float | None:
    """Finish minus launch."""
    start, end = (settle(row.cells[name])[0] for name in ("launch_time", "finish_time"))
    return None if start is None or end is None else float(end - start)
