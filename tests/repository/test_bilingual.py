"""Two languages, one site: every page has its twin with the same skeleton."""

import re
from itertools import pairwise

import pytest
from page_skeleton import DELIMITER, INLINE, Skeleton, skeleton, without_fences

from scripts.paths import DOCS, ROOT

ENGLISH, CHINESE = DOCS / "en", DOCS / "zh"
PAGES = sorted(path.relative_to(ENGLISH).as_posix() for path in ENGLISH.rglob("*.md"))
HAN = re.compile(r"[\u4e00-\u9fff]")


def twin(page):
    """The skeletons of a page in both languages."""
    if not (CHINESE / page).exists():
        pytest.fail(f"docs/zh/{page} is missing")
    return [skeleton((folder / page).read_text(encoding="utf-8")) for folder in (ENGLISH, CHINESE)]


def differing(english, chinese):
    """What one counter has more of than the other, as ``{item: (en, zh)}``."""
    return {
        item: (english[item], chinese[item])
        for item in english | chinese
        if english[item] != chinese[item]
    }


def test_the_same_files():
    """Both languages have the same files at the same paths."""
    english, chinese = (
        sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())
        for folder in (ENGLISH, CHINESE)
    )

    assert english == chinese


@pytest.mark.parametrize("page", PAGES)
def test_headings(page):
    """The same headings at the same levels with the same anchors, each explicit and its own."""
    english, chinese = twin(page)
    anchors = [anchor for _, anchor in english.headings]

    assert english.headings == chinese.headings
    assert None not in anchors
    assert len(set(anchors)) == len(anchors)
    assert [level for level, _ in english.headings].count(1) == 1


@pytest.mark.parametrize("page", PAGES)
def test_heading_levels_do_not_jump(page):
    """A heading is at most one level below the one before it."""
    levels = [level for level, _ in twin(page)[0].headings]

    assert [pair for pair in pairwise(levels) if pair[1] > pair[0] + 1] == []


@pytest.mark.parametrize("page", PAGES)
def test_fences(page):
    """Calculators, answers, figures, formulas and code are the same, in the same order."""
    english, chinese = twin(page)

    assert english.fences == chinese.fences


@pytest.mark.parametrize("page", PAGES)
def test_computed_words(page):
    """Computed figures and formulas within lines are the same."""
    english, chinese = twin(page)

    assert differing(english.computed, chinese.computed) == {}


@pytest.mark.parametrize("page", PAGES)
def test_code_words(page):
    """Options, commands and file names within lines are the same, spelling included."""
    english, chinese = twin(page)

    assert english.code.keys() ^ chinese.code.keys() == set()


@pytest.mark.parametrize("page", PAGES)
def test_admonitions_tables_and_lists(page):
    """Boxes, tables (rows by columns) and lists (items) have the same shape and order."""
    english, chinese = twin(page)

    assert english.admonitions == chinese.admonitions
    assert english.tables == chinese.tables
    assert english.lists == chinese.lists


@pytest.mark.parametrize("page", PAGES)
def test_links(page):
    """The same targets and the same footnotes are referred to as often."""
    english, chinese = twin(page)

    assert differing(english.targets, chinese.targets) == {}
    assert differing(english.footnotes, chinese.footnotes) == {}


@pytest.mark.parametrize("page", PAGES)
def test_numerals(page):
    """No figure is stated to the readers of one language only, and none is half a word."""
    english, chinese = twin(page)

    assert differing(english.numerals, chinese.numerals) == {}
    assert chinese.number_words == []


@pytest.mark.parametrize("page", PAGES)
def test_front_matter(page):
    """Title and description are stated in both."""
    english, chinese = twin(page)

    assert english.front == chinese.front
    assert {"title", "description"} <= {*english.front}


@pytest.mark.parametrize("page", PAGES)
def test_internal_links_lead_somewhere(page):
    """A link within the site names a page that exists and, if any, an anchor that it has."""
    for target in twin(page)[0].targets:
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = ((ENGLISH / page).parent / path).resolve() if path else ENGLISH / page

        assert there.is_file(), target
        if anchor and there.suffix == ".md":
            text = there.read_text(encoding="utf-8")

            assert f"#{anchor}" in re.findall(r"#[\w-]+(?=[^{}\n]*\})", text), target


def prose_lines(path):
    """(number, line) of a page without fences and code."""
    lines = without_fences(path.read_text(encoding="utf-8"), Skeleton())
    return [INLINE.sub(" ", line) for line in lines]


@pytest.mark.parametrize("page", PAGES)
def test_languages_are_not_mixed_up(page):
    """An English page has no Chinese but terms in tables; a Chinese page is mostly Chinese."""
    english, chinese = (
        " ".join(line for line in prose_lines(folder / page) if "|" not in line)
        for folder in (ENGLISH, CHINESE)
    )

    assert len(HAN.findall(english)) <= len(english) // 50
    assert len(HAN.findall(chinese)) > len(chinese) // 8


def glossary():
    """(row, wordings that are never used) of the glossary in CONTRIBUTING.md."""
    path = ROOT / "CONTRIBUTING.md"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    heads = [
        number
        for number, line in enumerate(lines)
        if re.match(r"\|\s*English\s*\|\s*中文\s*\|", line)
        and DELIMITER.match([*lines, ""][number + 1])
    ]
    if not heads:
        pytest.skip("CONTRIBUTING.md has no glossary table yet")
    [head] = heads
    names = [cell.strip().lower() for cell in lines[head].strip("| ").split("|")]
    [never] = [place for place, name in enumerate(names) if name.startswith(("never", "不"))]
    for line in lines[head + 2 :]:
        if not line.startswith("|"):
            return
        row = [cell.strip() for cell in line.strip().strip("|").split("|")]
        words = [w.strip(' `“”"') for w in re.split(r"[,，、;；/]", row[never])]
        yield row, [word for word in words if HAN.search(word)]


def test_glossary():
    """A wording that the glossary rules out occurs on no Chinese page."""
    rows = list(glossary())
    found = [
        f"{page}:{word} (say {row[1]})"
        for page in PAGES
        for row, words in rows
        for word in words
        if word in "\n".join(prose_lines(CHINESE / page))
    ]

    assert rows
    assert found == []


SAMPLE = """---
title: x
---
# Title {#top}

Text with `code` and `#!value kv total layers=80`, 3.5 % of 1,024.[^a]

!!! note "Box"
    - one [link](kv-cache.md#x)
    - two

| a | b |
| --- | --: |
| 1 | `x|y` |

1. one
2. two

```math
x
```
"""


@pytest.mark.parametrize(
    ("part", "before", "after"),
    [
        pytest.param("headings", "{#top}", "{#other}", id="anchor"),
        pytest.param("headings", "{#top}", "", id="no anchor"),
        pytest.param("headings", "# Title", "## Title", id="level"),
        pytest.param("fences", "```math\nx", "```math\ny", id="formula"),
        pytest.param("computed", "layers=80", "layers=81", id="computed figure"),
        pytest.param("code", "`code`", "`kode`", id="code"),
        pytest.param("admonitions", "!!! note", "!!! warning", id="kind of box"),
        pytest.param("targets", "#x)", "#y)", id="link"),
        pytest.param("footnotes", "[^a]", "[^b]", id="footnote"),
        pytest.param("tables", "| 1 | `x|y` |", "", id="row"),
        pytest.param("lists", "    - two\n", "", id="item"),
        pytest.param("lists", "2. two", "- two", id="kind of list"),
        pytest.param("numerals", "3.5", "3.6", id="numeral"),
        pytest.param("numerals", "1,024", "1024", id="separator"),
        pytest.param("number_words", "1,024", "1 千", id="numeral and word"),
        pytest.param("front", "title:", "name:", id="front matter"),
    ],
)
def test_the_skeleton_sees_each_difference(part, before, after):
    """Every kind of difference between two pages changes the part of the skeleton that it is in."""
    assert before in SAMPLE

    same, other = skeleton(SAMPLE), skeleton(SAMPLE.replace(before, after))

    assert getattr(same, part) != getattr(other, part)


def test_words_may_differ():
    """A translation changes nothing in the skeleton."""
    translated = SAMPLE.replace("Text with", "含有").replace("of", "，共").replace("Title", "标题")

    assert skeleton(SAMPLE) == skeleton(translated.replace("1,024", "１,０２４"))
