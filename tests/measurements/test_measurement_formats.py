"""What each format's small sample files say."""

import math

import pytest
from measurement_samples import CASES

from calculators.measurements.read import read_source
from calculators.measurements.source import open_text


def reading_of(name, text, companions):
    """The reading of a case's file with its companions."""
    beside = tuple(open_text(body, other) for other, body in companions.items())

    return read_source(open_text(text, name, companions=beside))


@pytest.mark.parametrize(
    ("name", "text", "companions", "expectations"),
    [pytest.param(*case[1:], id=case[0]) for case in CASES],
)
def test_file_says(name, text, companions, expectations):
    """Every listed figure has its value in the canonical unit, or null with its reason."""
    reading = reading_of(name, text, companions)

    for key, quantity, stat, expected in expectations:
        holder = reading if key is None else reading.measurement(key)
        assert holder is not None, key
        figure = holder.figure(quantity, stat)
        if isinstance(expected, str):
            assert expected == figure.reason, (key, quantity, stat, figure)
        else:
            assert figure.value is not None, (key, quantity, stat, figure)
            assert math.isclose(expected, figure.value, rel_tol=1e-9), (key, quantity, stat)


@pytest.mark.parametrize(
    ("name", "text", "companions"), [pytest.param(*case[1:4], id=case[0]) for case in CASES]
)
def test_reading_is_consistent(name, text, companions):
    """No figure stands twice, none has both a value and a reason, no pointer is shared."""
    reading = reading_of(name, text, companions)

    reading.check()
