"""CSV tables as rows by column name. A row that is not as wide as its head is never guessed at."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass

from calculators.form.errors import ParameterError
from calculators.measurements.scan import Progress

ROWS_BETWEEN = 4096  # two reports of progress


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One row: its line in the file counted from 1 and its cells by column."""

    line: int
    cells: dict[str, str]


def head_of(line: str) -> list[str]:
    """The column names of a head line."""
    try:
        return next(csv.reader([line.strip("\r\n \ufeff")]), [])
    except csv.Error:
        return []


def lines_of(text: str) -> Iterator[str]:
    """The lines with their ends, one by one: a long table is not copied."""
    place = 0
    while place < len(text):
        end = text.find("\n", place) + 1 or len(text)
        yield text[place:end]
        place = end


def rows_of(text: str, first_line: int = 1, progress: Progress | None = None) -> Iterator[Row]:
    """The rows under the first line of ``text``. Raises ParameterError for a row of other width."""
    reader = csv.reader(lines_of(text))
    try:
        columns = [name.strip() for name in next(reader, [])]
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            line = first_line + reader.line_num - 1
            if progress is not None and line % ROWS_BETWEEN == 0:
                progress(line)
            if len(cells) != len(columns):
                raise ParameterError(
                    "file", "row_width", line=line, fields=len(cells), header=len(columns)
                )
            yield Row(line=line, cells=dict(zip(columns, (c.strip() for c in cells), strict=True)))
    except csv.Error as error:
        raise ParameterError(
            "file", "csv_broken", line=reader.line_num, detail=str(error)
        ) from None


def sections(text: str) -> list[tuple[int, str]]:
    """The tables of a file that separates them by blank lines: (first line, text)."""
    found: list[tuple[int, str]] = []
    lines = text.splitlines(keepends=True)
    start = 0
    for number, line in enumerate([*lines, "\n"]):
        if not line.strip():
            if number > start:
                found.append((start + 1, "".join(lines[start:number])))
            start = number + 1
    return found
