"""Arithmetic that stands within a line is computed at build, exactly, and nothing else is."""

from fractions import Fraction

import pytest

from calculators.show.quantity import Quantity
from scripts.site import fences, sums


@pytest.mark.parametrize(
    ("expected", "source"),
    [
        pytest.param(Quantity(2200, "ms"), "200 + 100 * 20 in ms", id="precedence"),
        pytest.param(Quantity(Fraction(124, 5), "ms", 1), "(500 + 99 * 20) / 100 in ms:1", id="/"),
        pytest.param(Quantity(1008, "tokens"), "(1024 - 1) // 16 * 16 in tokens", id="floor"),
        pytest.param(Quantity(3), "ceil(2.1)", id="ceil"),
        pytest.param(Quantity(-1), "min(2, 3 - 4)", id="least"),
        pytest.param(Quantity(Fraction(3, 10)), "0.1 + 0.2", id="decimals are exact"),
        pytest.param(Quantity(2**60 + 1), "1152921504606846976 + 1", id="beyond floats"),
    ],
)
def test_sums(expected, source):
    """The value is exact, with the unit and the decimals that are asked for."""
    assert expected == sums.quantity(source)


@pytest.mark.parametrize(
    "source", ["x + 1", "__import__('os')", "2 ** 9", "[1]", "abs(1)", "1 if 1 else 2", "'a' * 9"]
)
def test_nothing_but_arithmetic(source):
    """Anything else fails the build by name."""
    with pytest.raises(ValueError, match="no arithmetic"):
        sums.quantity(source)


@pytest.mark.parametrize(
    ("lang", "shown"),
    [("en", "1,008\N{NO-BREAK SPACE}tokens"), ("zh", "1,008\N{NO-BREAK SPACE}token")],
)
def test_a_sum_within_a_line(lang, shown):
    """The figure is marked as computed, in the page's language, and says how it came about."""
    word = getattr(fences, f"inline_sum_{lang}")("63 * 16 in tokens", "", "", None)

    assert f'<data class="cp-computed" value="1008" title="63 × 16">{shown}</data>' == word
