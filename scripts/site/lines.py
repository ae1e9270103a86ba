"""Where no line of a page may end.

Pure text in, text out. A browser may break a line between a formula and the sign that closes it,
between a figure and its unit, and behind the hyphens that begin an option's name. Listings,
formulas, drawings and calculators are left as they are.
"""

import re
from typing import Final

CLOSED: Final = re.compile(
    r'<span class="cp-math">(?:(?!</?span).)*</span>[，。：；、）？！,.:;)?!]+', re.DOTALL
)
OPTION: Final = re.compile(r"(?<=<code>)--?\w+")
WHOLE: Final = r'<span class="cp-whole">\g<0></span>'
TAG: Final = re.compile(r"(<[^>]*>)")
KEPT: Final = frozenset({"code", "math", "pre", "script", "section", "style", "svg", "title"})
UNITS: Final = r"%|[µmn]?s|min|[kKMGT]i?B(?:/s)?|[kMGT]?FLOPs?(?:/s)?|[kMG]?Hz"
FIGURE: Final = re.compile(rf"(?<=\d) (?=(?:{UNITS})(?![\w/]))")


def unbroken(html: str) -> str:
    """The page with whole formulas, options and figures."""
    return figures(OPTION.sub(WHOLE, CLOSED.sub(WHOLE, html)))


def figures(html: str) -> str:
    """A space that does not break between each figure and its unit in running text."""
    depth = 0
    parts = TAG.split(html)  # text, tag, text, tag, … text
    for place in range(0, len(parts), 2):
        if not depth:
            parts[place] = FIGURE.sub("\N{NO-BREAK SPACE}", parts[place])
        if place + 1 < len(parts):
            depth += change(parts[place + 1])
    return "".join(parts)


def change(tag: str) -> int:
    """How a tag changes the number of kept elements that are open."""
    name = re.match(r"</?([\w-]+)", tag)
    if name is None or name[1] not in KEPT or tag.endswith("/>"):
        return 0
    return -1 if tag.startswith("</") else 1
