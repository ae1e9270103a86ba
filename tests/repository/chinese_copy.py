"""Chinese copy, line by line: AutoCorrect's rules for spacing and punctuation, and the house's own.

AutoCorrect knows Markdown and corrects what stands within a run of text. What it leaves alone
(brackets, percent signs, units, code beside Han) is here; terms are those of the glossary, which
``test_bilingual`` holds the pages to.
"""

import re

import autocorrect_py
from page_skeleton import FENCE

HAN = r"[\u4e00-\u9fff]"
UNITS = "KiB|MiB|GiB|TiB|KB|MB|GB|TB|ms|us|ns|Gbps|FLOP/s"
CODE = "a space between Han and code"
RULES = {
    CODE: re.compile(rf"{HAN}`[^`\n]+`|`[^`\n]+`{HAN}"),
    "no space beside full-width punctuation": re.compile(
        r"[^\s|*+-] [，。；：？！、）】》]|[（，。；？！、] \w"
    ),
    "full-width brackets around Han": re.compile(rf"(?<!\])\([^()\n]*{HAN}[^()\n]*\)"),
    "full-width punctuation after Han": re.compile(rf"{HAN}[,;!?:](?!\w)"),
    "a percent sign stands at its number": re.compile(r"\d[ \u00a0]%"),
    "a space before a unit": re.compile(rf"\d(?:{UNITS})\b"),
    "six dots for an ellipsis": re.compile(rf"{HAN}\.{{3}}|(?<!…)…(?!…)"),
    "one mark is enough": re.compile(r"[！？，；：、。]{2}"),
}
INLINE = re.compile(r"(`+)[^\n]*?\1")
LINK = re.compile(r"\]\([^()\s]*(?:\([^()]*\)[^()\s]*)*\)|<https?://[^>]+>|\{[ :]*[#.][^}]*\}")


def problems(text):
    """What is wrong with a text in Markdown, one sentence each with its line."""
    found = [
        f"{fault.line}: {fault.old.strip()[:60]} → {fault.new.strip()[:60]}"
        for fault in autocorrect_py.lint_for(text, "copy.md").lines
    ]
    return [*found, *(f"{at}: {fault}" for at, line in prose(text) for fault in house(line))]


def prose(text):
    """``(number, line)`` of a text's lines outside fences."""
    fence = None
    for number, line in enumerate(text.splitlines(), start=1):
        mark = FENCE.match(line)
        if fence is None and not mark:
            yield number, line
        elif fence is None:
            fence = mark["mark"]
        elif line.strip() == fence:
            fence = None


def house(line):
    """What the house's own rules say about a line."""
    bare = LINK.sub("]", line)
    plain = INLINE.sub("v", bare)
    for rule, pattern in RULES.items():
        if match := pattern.search(bare if rule is CODE else plain):
            yield f"{rule}: {match[0]}"
