"""Text out of sight may stay unlaid: what is wrapped, what is not, and that nothing is lost."""

import re

import pytest

from scripts.paths import DOCS
from scripts.site.parts import STEPS_REM, height_rem, with_parts

LONG = "<p>" + "word " * 300 + "</p>\n"


def page(*below):
    """A page of headings, each with something below it."""
    return "".join(f'<h2 id="h{i}">H {i}</h2>\n{part}' for i, part in enumerate(below))


def wrapped(html):
    """The numbers of the headings that a part follows."""
    return [int(n) for n in re.findall(r'<h2 id="h(\d+)">[^\n]*\n<div class="cp-part', html)]


@pytest.mark.parametrize(
    ("expected", "below"),
    [
        pytest.param([2, 3], [LONG] * 4, id="but the first, which are in sight"),
        pytest.param([3], [LONG, LONG, "<p>short</p>\n", LONG], id="not short ones"),
        pytest.param(
            [2], [LONG, LONG, LONG, f'<section class="cp-calculator">{LONG}'], id="no calculator"
        ),
    ],
)
def test_what_is_wrapped(expected, below):
    """Long text between headings, from the third on, without calculators."""
    assert expected == wrapped(with_parts(page(*below)))


def test_nothing_is_lost():
    """Without the wrapping the page is as it was."""
    html = page(*[LONG] * 5)

    assert html == re.sub(r'<div class="cp-part[^>]*>|</div>\n', "", with_parts(html))


def test_chinese_signs_are_wide():
    """A Chinese sign takes the place of two."""
    assert height_rem("<p>" + "字" * 420) == height_rem("<p>" + "a" * 840)


def test_every_step_has_a_height():
    """The style sheet knows each class that is written."""
    style = (DOCS / "assets" / "site.css").read_text(encoding="utf-8")

    assert [f".cp-part-{step + 1} {{ --cp-height:" in style for step in range(len(STEPS_REM))] == [
        True
    ] * len(STEPS_REM)
