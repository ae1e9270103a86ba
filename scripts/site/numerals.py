"""Figures of prose: which of them a reader could not trace.

A numeral with a unit is accounted for when a fence computed it or took it from the archive, when
it is a setting of something computed in its section or stands in an exercise's question, when its
paragraph, row or item (or the paragraph that introduces its table) names a source, or when it is in
the list of constants, each with a reason. A source is an address of another site, a footnote, or a
page of the archive. What this does not judge is whether the source says so. Headings ask; their
sections answer.

``python -m scripts.site.numerals [FILE...]`` lists what is left, and fails if there is any.
"""

import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scripts.paths import DATA, DOCS

ALLOWED: Final = DATA / "constants.toml"
UNITS: Final = (
    "%|ms|µs|us|ns|seconds?|minutes?|hours?|days?|"
    "[KMGT]i?B(?:/s)?|bytes?|bits?|GT/s|Gbps|[GT]?FLOPs?(?:/s)?|"
    "tokens?|requests?|blocks?|pages?|chunks?|layers?|heads?|elements?|times|samples?|users?|"
    "GPUs?|cards?|instances?|iterations?|steps?|s|x|×|"
    "字节|毫秒|秒|分钟|小时|天|倍|层|"
    "个 ?(?:token|请求|block|块|KV 头|头|元素|样本|用户|实例|chunk)|次|步|张卡"
)
NUMERAL: Final = re.compile(
    r"(?<![\w.#/+-])(?P<number>\d[\d,]*(?:\.\d+)?)(?:(?:\s?(?:to|and|–|-|到|至|/)\s?)[\d.,]+)?"
    rf"[ \u00a0]?(?P<unit>{UNITS})(?![A-Za-z])"
)
FENCE: Final = re.compile(r"^ *(`{3,}|~{3,})")
CODE: Final = re.compile(r"(`+)[^\n]*?\1")
SOURCE: Final = re.compile(
    r"\]\(https?://|<https?://|\[\^[\w-]+\]|\]\([^)]*measurements/\w|#!measured "
)
SETTING: Final = re.compile(
    r"^ *[\w-]+ *= *(.+)|#!(?:value|sum) ([^`]+)`|^\?\?\? question (.+)", re.MULTILINE
)
ADDRESS: Final = re.compile(r"\]\([^()\s]*(?:\([^()]*\)[^()\s]*)*\)")
HEADING: Final = re.compile(r"^#+ .*?\{ *#(?P<anchor>[\w-]+)")
FRONT: Final = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
ITEM: Final = re.compile(r"^\s*(?:[-*+]|\d+\.|\|)\s")


@dataclass(frozen=True, kw_only=True, slots=True)
class Loose:
    """A figure that is not accounted for, and where it stands."""

    line: int
    section: str
    figure: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """A paragraph, a row or an item, with the sentence that introduces its table or list."""

    line: int
    section: str
    text: str
    before: str


def loose(page: str, allowed: Mapping[str, str]) -> list[Loose]:
    """The figures of a page that nothing accounts for.

    ``allowed`` are constants with their reasons: ``"95 %"``, or ``"#anchor 2 bytes"`` for one
    section.
    """
    chosen = settings(page)
    return [
        Loose(line=block.line, section=block.section, figure=figure, text=block.text.strip())
        for block in blocks(page)
        if not SOURCE.search(f"{block.before}\n{block.text}")
        for figure in figures(block.text)
        if not {figure, f"#{block.section} {figure}"} & allowed.keys()
        and figure.split()[0].replace(",", "") not in chosen.get(block.section, ())
    ]


def settings(page: str) -> dict[str, set[str]]:
    """``{section: numbers that its calculators, answers, sums and exercises are given}``."""
    found: dict[str, set[str]] = {}
    section = ""
    for line in page.splitlines():
        heading = HEADING.match(line)
        section = heading["anchor"] if heading else section
        for match in SETTING.finditer(line):
            numbers = re.findall(
                r"\d+(?:\.\d+)?", "".join(filter(None, match.groups())).replace(",", "")
            )
            found.setdefault(section, set()).update(numbers)
    return found


def figures(text: str) -> Iterator[str]:
    """The numerals with a unit in a text, without those in code, formulas and addresses."""
    for found in NUMERAL.finditer(CODE.sub(" ", ADDRESS.sub("]", text))):
        yield f"{found['number']} {found['unit']}"


def blocks(page: str) -> Iterator[Block]:
    """The blocks of a page outside fences."""
    section, before, lines, start = "", "", list[str](), 0
    for number, line in enumerate([*unfenced(page), ""], start=1):
        heading = HEADING.match(line)
        starts = not line.strip() or heading or ITEM.match(line)
        if starts and lines:
            text = "\n".join(lines)
            yield Block(line=start, section=section, text=text, before=before)
            before = before if ITEM.match(text) else text
            lines = []
        section = heading["anchor"] if heading else section
        if line.strip() and not heading:
            start = start if lines else number
            lines.append(line)


def unfenced(page: str) -> Iterator[str]:
    """The lines of a page, with those of its front matter and fences empty."""
    front = FRONT.match(page)
    head = front[0].count("\n") if front else 0
    fence = ""
    for number, line in enumerate(page.splitlines()):
        mark = FENCE.match(line)
        inside = bool(fence)
        if mark and not fence:
            fence, inside = mark[1], True
        elif mark and line.strip() == fence:
            fence = ""
        yield "" if inside or number < head else line


def constants() -> Mapping[str, str]:
    """The figures that need no source beside them, each with its reason."""
    found: Mapping[str, str] = tomllib.loads(ALLOWED.read_text(encoding="utf-8"))["constants"]
    return found


def main(arguments: Sequence[str]) -> int:
    """List what is left of the named pages, or of all."""
    allowed = constants()
    left = 0
    for path in [Path(name) for name in arguments] or sorted(DOCS.rglob("*.md")):
        for one in loose(path.read_text(encoding="utf-8"), allowed):
            left += 1
            print(f"{path.name}:{one.line} #{one.section} {one.figure}: {one.text[:100]}")
    print(f"{left} figures without a source")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
