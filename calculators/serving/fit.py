"""A linear cost model from the reader's own measured iterations, with its residuals.

Least squares in exact arithmetic. Leaves out weights and outliers: look at the residuals.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from calculators.serving.request import Time


@dataclass(frozen=True, kw_only=True, slots=True)
class Fit:
    """A linear model fitted to measured iterations. ``residuals_us`` are measured minus fitted."""

    a_us: int
    b_us: Fraction
    c_us: Fraction
    residuals_us: tuple[Fraction, ...]


def fit(points: Sequence[tuple[int, int, Time]]) -> Fit | None:
    """Least squares of ``a + b · prefill + c · decodes`` through (prefill, decodes, µs).

    b and c are rounded to whole nanoseconds and a to µs, so that a run stays exact. None where
    the points do not determine the three. A negative coefficient says that the line is no model.
    """
    rows = [(1, prefill, decodes) for prefill, decodes, _ in points]
    times = [time for _, _, time in points]
    matrix = [
        [sum((Fraction(row[i] * row[j]) for row in rows), Fraction(0)) for j in range(3)]
        + [sum((Fraction(row[i] * t) for row, t in zip(rows, times, strict=True)), Fraction(0))]
        for i in range(3)
    ]
    found = solve(matrix)
    if found is None:
        return None
    a_us, b_us, c_us = round(found[0]), rounded(found[1]), rounded(found[2])
    residuals = (Fraction(t) - a_us - b_us * p - c_us * d for p, d, t in points)
    return Fit(a_us=a_us, b_us=b_us, c_us=c_us, residuals_us=tuple(residuals))


def rounded(value: Fraction) -> Fraction:
    """µs in whole nanoseconds."""
    return Fraction(round(value * 1000), 1000)


def solve(matrix: list[list[Fraction]]) -> list[Fraction] | None:
    """Gauss–Jordan elimination of three equations, exactly; None without a single solution."""
    for column in range(3):
        pivot = next((r for r in range(column, 3) if matrix[r][column]), None)
        if pivot is None:
            return None
        matrix[column], matrix[pivot] = matrix[pivot], matrix[column]
        matrix[column] = [value / matrix[column][column] for value in matrix[column]]
        for row in range(3):
            if row != column:
                factor = matrix[row][column]
                pairs = zip(matrix[row], matrix[column], strict=True)
                matrix[row] = [value - factor * above for value, above in pairs]
    return [row[3] for row in matrix]
