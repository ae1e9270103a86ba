"""Rounding in exact arithmetic, binary units, figures for machines."""

import decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculators.show.quantity import (
    BINARY_UNITS,
    Quantity,
    binary,
    machine_text,
    number_text,
    rounded,
)

BEYOND_FLOATS = st.integers(-(10**40), 10**40)
FRACTIONS = st.builds(Fraction, BEYOND_FLOATS, st.integers(1, 10**20))


def by_decimal(value, digits):
    """The oracle: half up by the decimal module, with more digits than any value here has."""
    with decimal.localcontext(prec=300):
        exact = decimal.Decimal(value.numerator) / decimal.Decimal(value.denominator)
        step = decimal.Decimal(1).scaleb(-digits)
        text = f"{exact.quantize(step, rounding=decimal.ROUND_HALF_UP):,f}"
    return text.removeprefix("-") if not text.strip("-0.,") else text


@given(value=FRACTIONS, digits=st.integers(0, 6))
def test_rounding_is_that_of_decimal_arithmetic(value, digits):
    """Half up, thousands parted, as exact decimal arithmetic gives it, far beyond 2^53."""
    assert by_decimal(value, digits) == rounded(value, digits)


@given(value=BEYOND_FLOATS)
def test_whole_numbers_lose_no_digit(value):
    """A whole number shown without decimals is itself."""
    assert f"{value:,}" == rounded(value, 0)


@pytest.mark.parametrize(
    ("expected", "value", "digits"),
    [
        pytest.param("0.33", Fraction(1, 3), 2, id="third"),
        pytest.param("0.67", Fraction(2, 3), 2, id="two thirds"),
        pytest.param("0.13", Fraction(1, 8), 2, id="half goes up"),
        pytest.param("-0.13", Fraction(-1, 8), 2, id="away from zero"),
        pytest.param("1.00", Fraction(999, 1000), 2, id="carry"),
        pytest.param("0", Fraction(-1, 3), 0, id="no negative zero"),
        pytest.param("9,007,199,254,740,993", 2**53 + 1, 0, id="beyond 2^53"),
        pytest.param("2.68", 2.675, 2, id="a float is the number that it is"),
    ],
)
def test_rounded(expected, value, digits):
    """Worked cases."""
    assert expected == rounded(value if value != 2.675 else Fraction("2.675"), digits)


@given(value=st.integers(0, 2**90))
def test_binary_prefix_keeps_the_number_between_1_and_1024(value):
    """The prefix is the largest that leaves at least 1; the number is value / 1024^power."""
    number, unit = binary(value)
    power = BINARY_UNITS.index(unit)

    assert rounded(Fraction(value, 1024**power), 2 if power else 0) == number
    assert power == 0 or value >= 1024**power
    assert power == len(BINARY_UNITS) - 1 or value < 1024 ** (power + 1)


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        pytest.param(("4.00", "GiB"), 4294967296, id="4 GiB"),
        pytest.param(("0", "bytes"), 0, id="nothing"),
        pytest.param(("1,023", "bytes"), 1023, id="below a KiB"),
        pytest.param(("1.00", "KiB"), 1024, id="a KiB"),
        pytest.param(("1,024.00", "KiB"), 2**20 - 1, id="rounding does not change the unit"),
        pytest.param(("1,048,576.00", "EiB"), 2**80, id="beyond the last prefix"),
        pytest.param(("0.50", "bytes"), Fraction(1, 2), id="half a byte"),
        pytest.param(("-4.00", "GiB"), -4294967296, id="negative"),
    ],
)
def test_binary(expected, value):
    """Worked cases."""
    assert expected == binary(value)


@pytest.mark.parametrize(
    ("expected", "quantity"),
    [
        pytest.param(("8,192", "tokens"), Quantity(8192, "tokens"), id="whole"),
        pytest.param(("0.33", "ms"), Quantity(Fraction(1, 3), "ms"), id="two digits unless said"),
        pytest.param(("2", "ms"), Quantity(Fraction(4, 2), "ms"), id="whole fraction"),
        pytest.param(("2.500", "s"), Quantity(2.5, "s", 3), id="digits as said"),
        pytest.param(("–", ""), Quantity(float("nan"), "s"), id="NaN is a dash"),
        pytest.param(("–", ""), Quantity(float("-inf"), "s"), id="infinity is a dash"),
        pytest.param(("4.0", "GiB"), Quantity(4294967296, "bytes", 1), id="bytes with digits"),
    ],
)
def test_number_text(expected, quantity):
    """The number and the unit as they are shown."""
    assert expected == number_text(quantity)


@given(FRACTIONS | BEYOND_FLOATS | st.floats(allow_nan=False))
def test_machine_text_loses_nothing(value):
    """What machines read gives the very value back."""
    text = machine_text(value)
    back = float(text) if isinstance(value, float) else Fraction(text)

    assert value == back
