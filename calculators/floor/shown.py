"""Figures as they are shown: a least time rounded down, a highest rate rounded up."""

from fractions import Fraction
from math import ceil, floor

from calculators.show.quantity import Quantity

SIGNIFICANT = 4
MOST_DIGITS = 9
LARGE = 10**6


def digits_of(value: Fraction) -> int:
    """Decimals that leave four significant digits: ``4.79312 → 3``, ``0.0123456 → 5``."""
    if value <= 0:
        return 0
    digits, bound = SIGNIFICANT - 1, Fraction(10)
    while digits and value >= bound:
        digits, bound = digits - 1, bound * 10
    while value < 1 and digits < MOST_DIGITS:
        digits, value = digits + 1, value * 10
    return digits


def ms(seconds: Fraction) -> Quantity:
    """A least time in milliseconds, never more than it is."""
    value = seconds * 1000
    digits = digits_of(value)
    return Quantity(Fraction(floor(value * 10**digits), 10**digits), "ms", digits)


def tokens_per_s(rate: Fraction) -> Quantity:
    """A highest rate, never less than it is."""
    digits = digits_of(rate)
    return Quantity(Fraction(ceil(rate * 10**digits), 10**digits), "tokens_per_s", digits)


def ratio(value: Fraction) -> Quantity:
    """FLOP for each byte."""
    return Quantity(value, "flop_per_byte", 1)


def percent(share: Fraction) -> Quantity:
    """A share of a time."""
    return Quantity(share * 100, "percent", 1)


def number(value: Fraction | int) -> str:
    """A number within a calculation: whole where it is or where a part of one is nothing."""
    exact = Fraction(value)
    if exact.denominator == 1 or exact >= LARGE:
        return str(round(exact))
    return f"{float(exact):.6g}"
