"""Iteration times from a table that the reader measured: prefill tokens, decodes, microseconds.

Between two measured points the time is interpolated linearly in prefill tokens and in decodes;
beyond the table it continues along its last two points. The table must be a full grid. Leaves out
the context length, which such tables do not have.
"""

import csv
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from calculators.form.errors import ParameterError, excerpt
from calculators.serving.request import Time

FIELD = "table"
HEAD = ["prefill_tokens", "decodes", "time_us"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """Times in µs on a grid of prefill tokens and decodes, both ascending."""

    prefills: tuple[int, ...]
    decodes: tuple[int, ...]
    times_us: tuple[tuple[Time, ...], ...]

    @property
    def reads_context(self) -> bool:
        """A table knows no context."""
        return False

    @property
    def coefficients(self) -> None:
        """Interpolation is no single line."""

    def growth(self, decodes: int) -> Time:  # noqa: ARG002 - the protocol's
        """Equal iterations take equal time."""
        return 0

    def duration(self, prefill: int, decodes: int, context: int) -> Time:  # noqa: ARG002
        """Time of one iteration in whole µs, rounded up, at least 1."""
        rows = [between(self.decodes, row, decodes) for row in self.times_us]
        return max(1, -int(-between(self.prefills, rows, prefill) // 1))


def between(grid: Sequence[int], values: Sequence[Time], at: int) -> Fraction:
    """The value at a place of a grid, on the line through the two points around it."""
    if len(grid) == 1:
        return Fraction(values[0])
    right = min(max(bisect_right(grid, at), 1), len(grid) - 1)
    low, high = grid[right - 1], grid[right]
    share = Fraction(at - low, high - low)
    return values[right - 1] + (values[right] - values[right - 1]) * share


def points(text: str) -> list[tuple[int, int, int]]:
    """(prefill tokens, decodes, µs) of a CSV with these three columns. Errors name the row."""
    rows = csv.reader(text.removeprefix("\ufeff").splitlines())
    if [name.strip() for name in next(rows, [])] != HEAD:
        raise ParameterError(FIELD, "unknown_columns", text=excerpt(text), options=", ".join(HEAD))
    return [point(number, row) for number, row in enumerate(rows, start=2) if row]


def point(number: int, row: Sequence[str]) -> tuple[int, int, int]:
    """One measured iteration."""
    cells = [cell.strip() for cell in row]
    if len(cells) != len(HEAD) or not all(c.isascii() and c.isdecimal() for c in cells):
        raise ParameterError(FIELD, "bad_row", row=number, text=excerpt(",".join(row)))
    if any(len(cell) > 15 for cell in cells) or not int(cells[2]):  # noqa: PLR2004 - absurd
        raise ParameterError(FIELD, "bad_row", row=number, text=excerpt(",".join(row)))
    return int(cells[0]), int(cells[1]), int(cells[2])


def measured(found: Sequence[tuple[int, int, int]]) -> Measured:
    """The cost model of a full grid of points. Raises ParameterError where a point is missing."""
    prefills = tuple(sorted({prefill for prefill, _, _ in found}))
    decodes = tuple(sorted({count for _, count, _ in found}))
    known = {(prefill, count): time for prefill, count, time in found}
    for prefill in prefills:
        for count in decodes:
            if (prefill, count) not in known:
                raise ParameterError(FIELD, "missing_point", prefill=prefill, decodes=count)
    if not found:
        raise ParameterError(FIELD, "no_rows")
    return Measured(
        prefills=prefills,
        decodes=decodes,
        times_us=tuple(tuple(known[p, d] for d in decodes) for p in prefills),
    )
