"""What stands between two headings, as a part that a browser may leave out of sight unlaid.

Most of the time to a first drawing goes into laying out text that nobody sees yet. A part gets a
class with a guess of its height; the style sheet does the rest. Headings stay outside, since the
table of contents asks where they are, and so do calculators, whose forms are laid out in any case.
The first parts, which are in sight, are left as they are.
"""

import re
from typing import Final

HEADING: Final = re.compile(r"(?m)^(?=<h[1-6][ >])")
WHOLE_HEADING: Final = re.compile(r"<h[1-6][ >].*?</h[1-6]>\s*", re.DOTALL)
DRAWN: Final = re.compile(r"<(svg|math)\b.*?</\1>", re.DOTALL)
TAG: Final = re.compile(r"<[^>]+>")
WIDE: Final = re.compile(r"[\u2e80-\uffef]")
IN_SIGHT: Final = 3  # parts from the top
LEAST_REM: Final = 10  # smaller ones are laid out as quickly as skipped
STEPS_REM: Final = (10, 14, 20, 28, 40, 56, 80, 112, 160)
# Heights on a phone: a line of 42 narrow signs, and what a row, a figure, a formula adds.
SIGNS, LINE_REM, ROW_REM, FIGURE_REM, FORMULA_REM, BLOCK_REM = 42, 1.4, 2.2, 16, 3.5, 0.8


def with_parts(html: str) -> str:
    """Wrap what follows each heading of a page's text, but for the first ones."""
    chunks = HEADING.split(html)
    return "".join(
        chunk if number < IN_SIGHT else folded(chunk) for number, chunk in enumerate(chunks)
    )


def folded(chunk: str) -> str:
    """A heading and, as a part, what stands below it."""
    heading = WHOLE_HEADING.match(chunk)
    below = chunk[heading.end() :] if heading else chunk
    height = height_rem(below)
    if "cp-calculator" in below or height < LEAST_REM:
        return chunk
    step = sum(height >= least for least in STEPS_REM)
    return f'{chunk[: len(chunk) - len(below)]}<div class="cp-part cp-part-{step}">{below}</div>\n'


def height_rem(html: str) -> float:
    """A guess of the height on a phone."""
    text = TAG.sub("", DRAWN.sub("", html))
    signs = len(text) + len(WIDE.findall(text))
    return (
        signs / SIGNS * LINE_REM
        + html.count("<tr") * ROW_REM
        + html.count("<figure") * FIGURE_REM
        + html.count("cp-formula") * FORMULA_REM
        + (html.count("<p") + html.count("<li")) * BLOCK_REM
    )
