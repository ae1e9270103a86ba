"""What is repeated of a reader's input, and what an error carries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculators.form.errors import SHOWN_CHARACTERS, ParameterError, excerpt


@given(st.text(max_size=500))
def test_excerpt_is_short_printable_and_on_one_line(text):
    """Whatever comes in, what is repeated fits a sentence and has no control character."""
    shown = excerpt(text)

    assert len(shown) <= SHOWN_CHARACTERS
    assert shown == "" or shown.isprintable()
    assert [shown] == (shown.splitlines() or [""])


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        pytest.param("abc", "abc", id="short"),
        pytest.param("a b", " a\n\tb\x00 ", id="blanks and controls become one blank"),
        pytest.param("x" * 40, "x" * 40, id="just fits"),
        pytest.param("x" * 39 + "…", "x" * 41, id="cut, and said so"),
        pytest.param("", "\u202e\u200b", id="direction marks vanish"),
        pytest.param("<b>", "<b>", id="markup is text, escaped by the renderer"),
    ],
)
def test_excerpt(expected, text):
    """The beginning is kept, a cut is marked."""
    assert expected == excerpt(text)


def test_error_holds_data():
    """Field, reason and limits are data for the wording, and the exception is a ValueError."""
    error = ParameterError("layers", "too_small", minimum=1, text="0")

    assert (
        error.field,
        error.reason,
        error.limits,
    ) == ("layers", "too_small", {"minimum": 1, "text": "0"})
    assert isinstance(error, ValueError)
