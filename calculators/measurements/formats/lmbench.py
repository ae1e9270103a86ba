"""LMCache LMBench multi-round CSV (@18fe8926): one row a request, seconds.

``ttft`` is 0 when no token arrived; ``generation_time`` is the time after the first token. End to
end time is ``finish_time - launch_time``. The file states nothing but its rows; statistics are
computed over rows with a token.
"""

from array import array
from typing import Final

from calculators.measurements.record import Number, Reading, measured
from calculators.measurements.sheet import Sheet, settle
from calculators.measurements.source import Source
from calculators.measurements.tables import Row, head_of, rows_of

FORMAT: Final = "lmbench-csv"
TOTALS: Final = {"prompt_tokens": "input_tokens", "generation_tokens": "output_tokens"}
COLUMNS: Final = {"ttft", "generation_time", "prompt_tokens", "generation_tokens"}


def claims(source: Source) -> bool:
    """The columns of the script."""
    return source.first is None and set(head_of(first_line(source))) >= COLUMNS


def first_line(source: Source) -> str:
    """The head line."""
    return source.head.lstrip().split("\n", 1)[0]


class Columns:
    """The requests of a run, column by column: rows are folded in while reading."""

    def __init__(self) -> None:
        self.rows = self.good = 0
        self.ttft, self.e2e = array("d"), array("d")
        self.tokens: dict[str, Number | None] = dict.fromkeys(TOTALS, 0)

    def add(self, row: Row) -> None:
        """One request; one without a first token only counts."""
        self.rows += 1
        ttft = settle(row.cells["ttft"])[0]
        if not ttft:
            return
        self.good += 1
        self.ttft.append(ttft)
        elapsed = time_of(row)
        if elapsed is not None:
            self.e2e.append(elapsed)
        for column, total in self.tokens.items():
            count = settle(row.cells[column])[0]
            self.tokens[column] = None if count is None or total is None else total + count


def time_of(row: Row) -> float | None:
    """Finish minus launch; None where the row lacks one of them."""
    start, end = (settle(row.cells.get(name, ""))[0] for name in ("launch_time", "finish_time"))
    return None if start is None or end is None else float(end - start)


def read(source: Source) -> Reading:
    """All rows as one run."""
    columns = Columns()
    for row in rows_of(source.text, progress=source.progress):
        columns.add(row)
    sheet = Sheet({}, 0, "")
    bad = columns.rows - columns.good
    sheet.put(columns.rows, "n_requests", source="rows")
    sheet.put(columns.good, "n_success", source="ttft", computed="rows with a first token")
    sheet.put(bad, "n_failure", source="ttft", computed="rows without a first token")
    if bad:
        sheet.note("rows_without_token", rows=bad)
    samples(sheet, columns)
    if columns.rows and not columns.good:
        for quantity in ("ttft", "e2e"):
            for stat in ("mean", "p50", "p90", "p95", "p99", "min", "max"):
                sheet.null(quantity, stat, "all_failed", quantity)
    sheet.compute("rows with a first token")
    return measured(FORMAT, [sheet.finish(rule="r7")])


def samples(sheet: Sheet, columns: Columns) -> None:
    """The series of the good rows, and the token totals."""
    if not columns.good:
        return
    sheet.sample(columns.ttft, "ttft", "s", source="ttft", expected=None)
    if columns.e2e:
        whole = columns.good
        sheet.sample(columns.e2e, "e2e", "s", source="finish_time - launch_time", expected=whole)
    for column, total in columns.tokens.items():
        if total is not None:
            sheet.put(total, TOTALS[column], "total", source=column, computed="sum over rows")
