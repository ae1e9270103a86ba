"""Numbers from text: exact, or refused with a reason and the limits."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculators.form.errors import ParameterError
from calculators.form.numbers import LONGEST_NUMBER, decimal, plain, whole

LOW, HIGH = 1, 10_000
REFUSED_WHOLE = [
    pytest.param("", "empty", id="nothing"),
    pytest.param(" \t\n", "empty", id="blank"),
    pytest.param("0", "too_small", id="zero"),
    pytest.param("-1", "too_small", id="negative"),
    pytest.param("10001", "too_large", id="above"),
    pytest.param("1.5", "not_whole", id="fraction"),
    pytest.param("32.0", "not_whole", id="whole with a point"),
    pytest.param("1e3", "not_whole", id="exponent"),
    pytest.param("1e400", "not_whole", id="beyond a float"),
    pytest.param("NaN", "not_a_number", id="NaN"),
    pytest.param("inf", "not_a_number", id="infinity"),
    pytest.param("0x10", "not_a_number", id="hexadecimal"),
    pytest.param("1_000", "not_a_number", id="underscore"),
    pytest.param("8,192", "not_a_number", id="separator"),
    pytest.param("八", "not_a_number", id="Chinese numeral"),
    pytest.param("+-1", "not_a_number", id="two signs"),
    pytest.param("1\x002", "not_a_number", id="NUL"),
    pytest.param("９", "full_width", id="full-width digit"),
    pytest.param("1²", "full_width", id="superscript"),
    pytest.param("٣", "full_width", id="Arabic-Indic digit"),
    pytest.param("9" * 10_000, "too_long", id="10,000 digits"),
]
REFUSED_DECIMAL = [
    pytest.param("", "empty", id="nothing"),
    pytest.param("0.09", "too_small", id="below"),
    pytest.param("-0.5", "too_small", id="negative"),
    pytest.param("1e400", "too_large", id="beyond a float"),
    pytest.param("1e-400", "too_small", id="below a float"),
    pytest.param("1e9999", "not_a_number", id="exponent of four digits"),
    pytest.param("nan", "not_a_number", id="nan"),
    pytest.param("1/2", "not_a_number", id="quotient"),
    pytest.param(".", "not_a_number", id="point alone"),
    pytest.param("0,5", "not_a_number", id="comma"),
    pytest.param("０.5", "full_width", id="full-width digit"),
    pytest.param("0." + "3" * 10_000, "too_long", id="10,000 digits"),
]


@given(number=st.integers(LOW, HIGH), left=st.sampled_from(["", " ", "\n", "\u3000"]))
def test_every_whole_number_in_range_is_read(number, left):
    """Digits with or without a sign and blanks around them give the number itself."""
    assert number == whole("layers", f"{left}{number} ", LOW, HIGH)
    assert number == whole("layers", f"+{number}", LOW, HIGH)


@pytest.mark.parametrize(("text", "reason"), REFUSED_WHOLE)
def test_whole_refuses(text, reason):
    """What is no whole number in range raises its own reason, with the limits to show."""
    with pytest.raises(ParameterError) as caught:
        whole("layers", text, LOW, HIGH)

    assert ("layers", reason) == (caught.value.field, caught.value.reason)
    assert {"text", "minimum", "maximum"} == caught.value.limits.keys()
    assert (caught.value.limits["minimum"], caught.value.limits["maximum"]) == ("1", "10000")


@pytest.mark.parametrize(("text", "reason"), REFUSED_DECIMAL)
def test_decimal_refuses(text, reason):
    """What is no decimal in range raises its own reason."""
    with pytest.raises(ParameterError) as caught:
        decimal("share", text, Fraction(1, 10), Fraction(1))

    assert reason == caught.value.reason
    assert (caught.value.limits["minimum"], caught.value.limits["maximum"]) == ("0.1", "1")


@given(whole_part=st.integers(0, 10**15), tail=st.text("0123456789", min_size=1, max_size=20))
def test_decimals_are_exact(whole_part, tail):
    """A decimal is the fraction that its digits say, never the nearest binary one."""
    expected = Fraction(int(f"{whole_part}{tail}"), 10 ** len(tail))

    assert expected == decimal("x", f"{whole_part}.{tail}", Fraction(0), Fraction(10**16))


@given(st.text(max_size=2 * LONGEST_NUMBER))
def test_only_parameter_errors(text):
    """Any text at all is a number in range or a ParameterError."""
    for read, low, high in ((whole, LOW, HIGH), (decimal, Fraction(0), Fraction(1))):
        try:
            value = read("x", text, low, high)
        except ParameterError:
            continue

        assert low <= value <= high


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        pytest.param("0.5", Fraction(1, 2), id="half"),
        pytest.param("3", Fraction(3), id="whole fraction"),
        pytest.param("1000000000000", 10**12, id="no exponent"),
    ],
)
def test_plain(expected, value):
    """Limits are shown as a reader would type them."""
    assert expected == plain(value)
