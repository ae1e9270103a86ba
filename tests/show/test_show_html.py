"""HTML of an answer: whole, escaped, without anything that a strict policy would block."""

import json
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from show_samples import HUGE, labels, sample

from calculators.show.blocks import Message, Notes, Plot, Table
from calculators.show.html import block_html, cell_text, render, value_html
from calculators.show.quantity import Quantity

VOID = {"br", "hr", "img", "input"}
NASTY = st.text(st.sampled_from("<>&\"'/=!-`{} \n\x00scriptonload\u2028中"), max_size=40)
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script><script>alert(1)//",
    "<!--<script>",
    "' onmouseover='alert(1)",
    "&lt;b&gt; &amp;amp;",
    "{field} {0.__class__}",
    "]]><svg onload=x>",
]


class Reader(HTMLParser):
    """Collects elements, attributes, text and data islands; notes unclosed elements."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.attributes = [], [], []
        self.texts, self.islands = [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        """Note an element and its attributes."""
        self.elements.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        """Close the innermost element, which has to be this one."""
        assert tag == self.open.pop()

    def handle_data(self, data):
        """Keep text and data islands apart."""
        (self.islands if self.open[-1:] == ["script"] else self.texts).append(data)


def skeleton(html):
    """The elements and attribute names of a piece of HTML, without any text."""
    read = Reader(html)

    assert read.open == []
    return read.elements, [name for name, _ in read.attributes]


PLAIN = skeleton(render(sample("a"), labels()))


@given(NASTY | st.sampled_from(HOSTILE))
def test_data_never_become_markup(text):
    """Whatever the data are, the elements and attributes are those of harmless data."""
    assert skeleton(render(sample(text), labels())) == PLAIN


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_shown_as_it_is(text):
    """A reader sees the text itself, in cells, expressions, notes, code and alternatives."""
    read = Reader(render(sample(text), labels()))

    assert sum(text in shown for shown in read.texts) > 6
    assert text in dict(read.attributes)["aria-label"] or any(
        text in (value or "") for _, value in read.attributes
    )


@given(NASTY)
def test_nothing_inline(text):
    """No inline style, no handler, no script but data islands: nothing a strict policy blocks."""
    html = render(sample(text), labels())
    names = {name for name, _ in Reader(html).attributes}

    assert not [name for name in names if name == "style" or name.startswith("on")]
    assert re.findall(r"<script[^>]*>", html) == [
        '<script type="application/json" class="cp-spec">'
    ]
    assert "style" not in Reader(html).elements


@given(NASTY)
def test_islands_hold_the_specification(text):
    """The data island of a plot is JSON, whole, with the data as they are."""
    [island] = Reader(render(sample(text), labels())).islands
    layers = json.loads(island)["layer"]

    assert text == layers[0]["data"]["values"][0]["series"]


def test_bytes_keep_their_exact_count():
    """A rounded size stands beside the exact count, and machines read the count too."""
    html = render(sample(), labels())

    assert f"exactly {HUGE:,} bytes" in html
    assert f'<data value="{HUGE}">8.00\u00a0PiB</data>' in html


def test_tables_are_tables():
    """Heads have a scope, the first cell heads its row, numbers are marked, the region is named."""
    html = block_html(
        Table(id="layers", columns=("cache", "bytes"), rows=(("full", Quantity(3, "bytes")),)),
        labels(),
    )

    assert html.count('<th scope="col">') == html.count('<th scope="col" class="cp-num">') == 1
    assert '<th scope="row">full</th><td class="cp-num">' in html
    assert 'role="group" aria-label="Layers" tabindex="0"' in html


@pytest.mark.parametrize("block", [b for b in sample().blocks if getattr(b, "folded", False)])
def test_folded_blocks_are_details(block):
    """What is secondary is folded by an element that needs no script."""
    html = block_html(block, labels())

    assert html.startswith("<details><summary>")
    assert html.endswith("</details>")


def test_a_folded_table_is_named_by_its_summary():
    """A folded table has its caption as summary, once."""
    html = block_html(Table(id="layers", columns=("cache",), rows=(), folded=True), labels())

    assert html.startswith("<details><summary>Layers</summary>")


def test_frames_stand_one_below_the_other():
    """Without script every frame is there, counted, with its caption."""
    html = render(sample("here"), labels())

    assert html.count('<section class="cp-frame"') == 2
    assert [html.count(f">Step {number} of 2<") for number in (1, 2)] == [1, 1]


def test_a_plot_has_alternative_and_numbers():
    """A plot is an image with a text alternative, and its numbers are a table beside it."""
    [plot] = [b for b in sample("512 MiB").blocks if isinstance(b, Plot)]
    html = block_html(plot, labels())

    assert 'role="img" aria-label="Reaches 512 MiB"' in html
    assert "<td>2.5</td>" in html
    assert "<td>1,000,000,000</td>" in html


def test_a_derivation_is_an_ordered_list():
    """Steps come in order, each with its expression and, where it has one, its value."""
    html = render(sample("8 × 4"), labels())

    assert html.count('<code class="cp-expression">8 × 4</code>') == 2
    assert html.count('<span class="cp-equals">') == 1


def test_no_notes_no_list():
    """An empty list of notes leaves nothing behind."""
    assert block_html(Notes(items=()), labels()) == ""


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        pytest.param("a", "a", id="text"),
        pytest.param("1,024", 1024.0, id="whole"),
        pytest.param("0.125", 0.125, id="fraction"),
        pytest.param("1.333", 4 / 3, id="four digits"),
        pytest.param("–", float("nan"), id="NaN"),
        pytest.param("–", float("inf"), id="infinity"),
    ],
)
def test_cell_text(expected, value):
    """Coordinates are shown short; what is no number is a dash."""
    assert expected == cell_text(value)


def test_values_in_prose_are_marked_as_computed():
    """A figure in running text carries its exact value."""
    assert value_html(Quantity(2048, "bytes"), labels()) == (
        '<data class="cp-computed" value="2048">2.00\u00a0KiB</data>'
    )


def test_unknown_words_raise():
    """A label that does not exist is an error of the build, not an empty place."""
    with pytest.raises(KeyError):
        block_html(Notes(items=(Message("note.unheard"),)), labels())
