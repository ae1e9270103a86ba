"""Every figure of the pages is computed, archived or cited, or is a constant with its reason."""

import re

import pytest

from scripts.paths import DOCS
from scripts.site.numerals import blocks, constants, figures, loose, settings

PAGES = sorted(DOCS.glob("*/*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(DOCS).as_posix())
def test_every_figure_is_accounted_for(page):
    """No numeral with a unit stands on a page without a way to trace it."""
    left = loose(page.read_text(encoding="utf-8"), constants())

    assert [f"{one.line} #{one.section} {one.figure}" for one in left] == []


def test_every_reason_is_needed():
    """Each entry of the list of constants is used by a page, and states a reason."""
    allowed = constants()
    used = {
        name
        for page in PAGES
        for block in blocks(page.read_text(encoding="utf-8"))
        for figure in figures(block.text)
        for name in (figure, f"#{block.section} {figure}")
    }

    assert allowed.keys() <= used
    assert all(re.search(r"\w{3}", reason) for reason in allowed.values())


LOOSE = ["8.7 ms"]


@pytest.mark.parametrize(
    ("expected", "page"),
    [
        pytest.param(LOOSE, "It took 8.7 ms.", id="bare"),
        pytest.param([], "It took 8.7 ms ([a](https://example.org)).", id="link"),
        pytest.param([], "It took 8.7 ms.[^a]", id="footnote"),
        pytest.param([], "It took 8.7 ms, [measured](measurements/0a1b.md).", id="measurement"),
        pytest.param(LOOSE, "It took 8.7 ms ([see](#below)).", id="a link within the page"),
        pytest.param(LOOSE, "It took 8.7 ms.\n\nAs [a](https://example.org) says.", id="elsewhere"),
        pytest.param([], "From [a](https://b.org):\n\n| x |\n| --- |\n| 8.7 ms |", id="table"),
        pytest.param([], "`8.7 ms` and `#!value kv total`", id="code"),
        pytest.param([], "```\n8.7 ms\n```", id="fence"),
        pytest.param([], "## Is 8.7 ms slow? {#slow}", id="heading"),
        pytest.param([], "---\ndescription: 8.7 ms\n---\nText.", id="front matter"),
        pytest.param([], "Take 8 layers: `#!value kv total layers=8`.", id="a setting"),
        pytest.param([], "`#!sum 8 * 16 in tokens` of 16 tokens.", id="an operand"),
        pytest.param(["128 tokens"], "`#!sum 8 * 16` = 128 tokens.", id="a result by hand"),
        pytest.param([], '??? question "Of 1,024 tokens?"\n    1,024 tokens.', id="asked for"),
        pytest.param(["63 blocks"], '??? question "1,024?"\n    63 blocks.', id="answered by hand"),
        pytest.param(["9 layers"], "Take 9 layers: `#!value kv total layers=8`.", id="another"),
        pytest.param([], "vLLM 0.19.0, issue 25, section 3", id="no unit"),
        pytest.param(["3 倍", "24 GB"], "快 3 倍，占 24 GB 显存。", id="Chinese"),
    ],
)
def test_what_counts_as_accounted_for(expected, page):
    """A figure needs its source in its own paragraph, row or introduction, or to be a setting."""
    assert expected == [one.figure for one in loose(page, {})]


def test_constants_may_be_of_one_section():
    """A constant is allowed everywhere or in the one section that it is listed for."""
    page = "## A {#a}\n\n2 bytes\n\n## B {#b}\n\n2 bytes and 3 bytes"

    assert ["2 bytes", "3 bytes"] == [one.figure for one in loose(page, {"#a 2 bytes": "reason"})]
    assert ["3 bytes"] == [one.figure for one in loose(page, {"2 bytes": "reason"})]


def test_settings_of_a_section():
    """Settings are what the fences and computed figures of a section are given."""
    page = "## A {#a}\n\n```answer\nkv\nlayers = 80\n```\n\n`#!value kv total tokens=4096`"

    assert {"a": {"80", "4096"}} == settings(page)
