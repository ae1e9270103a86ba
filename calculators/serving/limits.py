"""Limits of the options that no form guards: those of callers in Python, and sums of fields."""

from fractions import Fraction
from math import isfinite

from calculators.form.numbers import in_range

LARGEST = 10**12  # of any option; more is a slip of the hand


def within(
    field: str, value: float | Fraction, least: int | Fraction, most: int | Fraction = LARGEST
) -> None:
    """Raises ParameterError where a value breaks its limits; infinities are too large."""
    exact = Fraction(value) if isfinite(value) else Fraction(2 * LARGEST)
    in_range(field, exact, Fraction(least), Fraction(most), str(value))
