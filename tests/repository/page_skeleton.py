"""The language-free skeleton of a page: what two translations of one page must share.

A reader for the Markdown that these pages use, not for all of Markdown.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

FENCE = re.compile(r"^(?P<indent> *)(?P<mark>`{3,}|~{3,})(?P<info>[^`]*)$")
HEADING = re.compile(
    r"^(?P<marks>#{1,6})\s+(?P<text>.*?)(?:\s*\{\s*#(?P<anchor>[\w-]+)[^}]*\})?\s*$"
)
ADMONITION = re.compile(r"^ *(?P<mark>!!!|\?\?\?\+?|===)\s+(?P<kind>[\w-]+)?")
INLINE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
LINK = re.compile(r"\]\((?P<target>[^()\s]*(?:\([^()]*\)[^()\s]*)*)(?:\s+\"[^\"]*\")?\)")
BARE = re.compile(r"<(https?://[^>]+)>")
FOOTNOTE = re.compile(r"\[\^(?P<name>[\w-]+)\]")
ITEM = re.compile(r"^(?P<indent> *)(?P<mark>[-*+]|\d+[.)]|:)\s+\S")
DELIMITER = re.compile(r"^\s*\|?\s*:?-{1,}:?\s*(\|\s*:?-{1,}:?\s*)*\|?\s*$")
NUMERAL = re.compile(r"(?<![A-Za-z\d_.#])\d+(?:[.,]\d+)*")
NUMBER_WORD = re.compile(r"\d\s*[十百千万亿]")
HALF_WIDTH = str.maketrans("０１２３４５６７８９．％", "0123456789.%")
FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
ATTRIBUTES = re.compile(r"\{[:\s]*[.#][^}]*\}")


@dataclass
class Skeleton:
    """What a page is made of, without its words."""

    headings: list[tuple[int, str | None]] = field(default_factory=list)
    fences: list[tuple[str, str]] = field(default_factory=list)
    computed: Counter[str] = field(default_factory=Counter)
    code: Counter[str] = field(default_factory=Counter)
    admonitions: list[tuple[str, str]] = field(default_factory=list)
    targets: Counter[str] = field(default_factory=Counter)
    footnotes: Counter[str] = field(default_factory=Counter)
    tables: list[tuple[int, int]] = field(default_factory=list)
    lists: list[tuple[str, int]] = field(default_factory=list)
    numerals: Counter[str] = field(default_factory=Counter)
    number_words: list[str] = field(default_factory=list)
    front: list[str] = field(default_factory=list)


def skeleton(text):
    """The skeleton of a page's Markdown."""
    found = Skeleton()
    front = FRONT_MATTER.match(text)
    if front:
        found.front = re.findall(r"^(\w+):", front[0], re.MULTILINE)
        text = text[front.end() :]
    lines = without_fences(text, found)
    blocks(lines, found)
    words("\n".join(lines), found)
    return found


def without_fences(text, found):
    """The lines outside fences; the fences themselves are noted."""
    lines, inside, body = [], None, []
    for line in text.splitlines():
        mark = FENCE.match(line)
        if inside is None and mark:
            inside, body = mark, []
        elif inside is not None and mark and line.strip() == inside["mark"]:
            found.fences.append((inside["info"].strip(), "\n".join(body)))
            lines.append("")
            inside = None
        elif inside is not None:
            body.append(line.removeprefix(inside["indent"]).rstrip())
        else:
            lines.append(line)

    assert inside is None, f"a fence is never closed: {inside and inside[0]}"
    return lines


def blocks(lines, found):
    """Note headings, admonitions, tables and lists."""
    table, open_lists = 0, {}
    for number, line in enumerate(lines):
        if heading := HEADING.match(line):
            found.headings.append((len(heading["marks"]), heading["anchor"]))
        if admonition := ADMONITION.match(line):
            found.admonitions.append((admonition["mark"], admonition["kind"] or ""))
        if DELIMITER.match(line) and "|" in line and number and "|" in lines[number - 1]:
            table = cells(line)
            found.tables.append((0, table))
        elif table and "|" in line:
            found.tables[-1] = (found.tables[-1][0] + 1, table)
            assert cells(line) == table, f"a row of another width: {line[:80]}"
        else:
            table = 0
        listed(line, open_lists, found)


def cells(row):
    """How many cells a row of a table has; code may hold a bar."""
    bare = INLINE.sub("x", row).replace(r"\|", "").strip()
    return len(bare.strip("|").split("|"))


def listed(line, open_lists, found):
    """Count an item to the list that it continues; other text at the margin ends all lists."""
    item = ITEM.match(line)
    if item is None:
        depth = len(line) - len(line.lstrip()) if line.strip() else 10**6
        for indent in [indent for indent in open_lists if indent >= depth]:
            del open_lists[indent]
        return
    indent = len(item["indent"])
    kind = "ordered" if item["mark"][0].isdigit() else item["mark"]
    for deeper in [i for i in open_lists if i > indent]:
        del open_lists[deeper]
    if indent in open_lists and found.lists[open_lists[indent]][0] == kind:
        place = open_lists[indent]
        found.lists[place] = (kind, found.lists[place][1] + 1)
    else:
        open_lists[indent] = len(found.lists)
        found.lists.append((kind, 1))


def words(text, found):
    """Note what stands within lines: code, links, footnotes and numerals."""
    for _, code in INLINE.findall(text):
        code = " ".join(code.split())  # noqa: PLW2901 - a line may break within code
        (found.computed if code.startswith("#!") else found.code)[code] += 1
    prose = INLINE.sub(" ", text)
    found.targets.update(match["target"] for match in LINK.finditer(prose))
    found.targets.update(BARE.findall(prose))
    found.footnotes.update(match["name"] for match in FOOTNOTE.finditer(prose))
    prose = ATTRIBUTES.sub(" ", BARE.sub(" ", FOOTNOTE.sub(" ", LINK.sub("] ", prose))))
    prose = re.sub(r"^ *\d+[.)]\s", " ", prose, flags=re.MULTILINE)
    prose = prose.translate(HALF_WIDTH)
    found.numerals.update(NUMERAL.findall(prose))
    found.number_words = [match[0] for match in NUMBER_WORD.finditer(prose)]
