"""An answer in a terminal: the same figures, aligned, and nothing that steers the terminal."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from show_samples import HUGE, labels, sample

from calculators.show.blocks import Number, Plot, Table
from calculators.show.quantity import Quantity
from calculators.show.text import block_text, pad, render_text, table_text, width


def test_figures_with_exact_bytes():
    """A size is rounded and exact in one line; a small one is said once."""
    assert f"Total: 8.00 PiB ({HUGE} bytes)" in render_text(sample(), labels())
    assert (
        block_text(Number(id="total", quantity=Quantity(3, "bytes")), labels()) == "Total: 3 bytes"
    )


def test_every_block_but_the_plot_is_there():
    """Derivation, notes, table, code, drawing, frames and sections all reach the terminal."""
    text = render_text(sample("DATA"), labels())

    for line in (
        "  DATA: DATA = 8.00 PiB",
        "- DATA",
        "Flags\nDATA",
        "1. DATA",
        "2. DATA",
        "More\n\nShare: 7 tokens",
    ):
        assert line in text
    assert [block_text(b, labels()) for b in sample().blocks if isinstance(b, Plot)] == [""]
    assert text.endswith("\n")
    assert "\u00a0" not in text


def test_columns_are_aligned_by_display_width():
    """Chinese characters take two columns; numbers stand to the right."""
    rows = (("缓存", Quantity(7, "tokens")), ("full", Quantity(1234, "tokens")), ("x", None))
    _, *lines = table_text(
        Table(id="layers", columns=("cache", "bytes"), rows=rows), labels()
    ).splitlines()

    assert lines == [
        "Cache         Bytes",
        "缓存       7 tokens",
        "full   1,234 tokens",
        "x                 –",
    ]


@given(st.text(st.characters(codec="utf-8", exclude_categories=("Cc",)), max_size=20))
def test_padding_fills_to_the_width(text):
    """A padded text takes exactly the columns asked for."""
    assert width(text) + 3 == width(pad(text, width(text) + 3, right=True))
    assert pad(text, width(text) + 3, right=False).startswith(text)


@given(st.text(st.sampled_from("ab\x1b[31m\x07\r\x9b\u202e\n中"), max_size=20))
def test_data_cannot_steer_the_terminal(text):
    """No control character but the end of a line is written, whatever a pasted file holds."""
    written = render_text(sample(text), labels())

    assert [c for c in written if unicodedata.category(c) == "Cc" and c != "\n"] == []


@pytest.mark.parametrize("text", ["a\nb", "a\r\nb", "a\u2028b"])
def test_a_cell_is_one_line(text):
    """A line end in the data does not break the rows of a table."""
    table = Table(id="layers", columns=("cache",), rows=((text,), ("c",)))

    assert len(table_text(table, labels()).splitlines()) == 4
