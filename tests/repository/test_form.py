"""One form for every guide: the same parts in the same order, in both languages."""

import re

import pytest
from page_skeleton import HEADING

from scripts.paths import DOCS

GUIDES = ("latency", "kv-cache", "radix-attention", "lmcache", "scheduling")
PARTS = ["model", "limits", "protocol", "traps", "questions", "exercises", "references"]
STEPS = re.compile(r"^(\d)\. ", re.MULTILINE)
FOLDED = re.compile(r"^\?\?\? ", re.MULTILINE)

each = pytest.mark.parametrize("page", GUIDES)
both = pytest.mark.parametrize("lang", ["en", "zh"])


def source(page, lang):
    """The text of a guide."""
    return (DOCS / lang / f"{page}.md").read_text(encoding="utf-8")


def part(page, lang, name):
    """The text of one section."""
    text = source(page, lang)
    start = text.index(f"{{#{name}}}")
    return text[start : text.find("\n## ", start)]


@each
@both
def test_parts_come_in_one_order(page, lang):
    """Model, limits, protocol, traps, questions, exercises and references follow each other."""
    matches = [HEADING.match(line) for line in source(page, lang).splitlines()]
    anchors = [match["anchor"] for match in matches if match and len(match["marks"]) == 2]

    assert PARTS == [anchor for anchor in anchors if anchor in PARTS]


@each
@both
def test_the_question_comes_first(page, lang):
    """A guide begins with the question that it answers, then a calculator follows somewhere."""
    text = source(page, lang)
    lede = text.split("\n{ .cp-lede }", 1)[0].rsplit("\n\n", 1)[1]

    assert re.search(r"[?？]\*\*$", lede)
    assert "```calculator\n" in text
    assert "```figure\n" in text


@each
@both
def test_the_protocol_has_three_steps(page, lang):
    """The experiment is three steps."""
    assert ["1", "2", "3"] == STEPS.findall(part(page, lang, "protocol"))


@each
@both
def test_exercises_fold_their_answers(page, lang):
    """An exercise has its answer below it, folded."""
    assert FOLDED.search(part(page, lang, "exercises"))
