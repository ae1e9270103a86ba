"""The picture that a link to a page shows elsewhere: its title on the site's colours, as PNG.

One for each guide in each language, below ``assets/cards/``; pages of single measurements share
that of the archive. Where no font of the machine has Han characters, Chinese pages share one
picture that is kept with the sources, rather than show boxes.
"""

from collections.abc import Iterator
from functools import cache
from html import escape
from itertools import takewhile
from typing import Final

import vl_convert

from calculators.show.labels import LANGUAGES, Language
from scripts.cache import cached, digest
from scripts.paths import ASSETS, DOCS

WIDTH, HEIGHT = 1200, 630  # what the networks ask for
FONTS: Final = "Noto Sans, Noto Sans CJK SC, Noto Sans SC, PingFang SC, Microsoft YaHei, sans-serif"
SIZE, LINE = 66, 86  # px of the title
LONGEST: Final = 15.0  # em of a title's line
FIRST_HAN: Final = "\u2e80"
PROMISE: Final = {
    "en": "computed on the spot · archived as a measurement · cited",
    "zh": "当场计算 · 有存档的测量 · 注明出处",
}
NAMES: Final = {"en": "Critical Path", "zh": "关键路径 · Critical Path"}
KEPT: Final = ASSETS / "card-zh.png"


def address(url: str, lang: Language) -> str:
    """Where the picture of a page lies below the English home page."""
    return f"assets/cards/{lang}/{url.split('/', 1)[0] or 'index'}.png"


def pictures() -> Iterator[tuple[str, bytes]]:
    """``(path, PNG)`` of every page that has a source, in both languages."""
    for lang in LANGUAGES:
        for path in sorted((DOCS / lang).glob("*.md")):
            yield (
                f"assets/cards/{lang}/{path.stem}.png",
                picture(title(path.read_text(encoding="utf-8")), lang),
            )


def title(page: str) -> str:
    """The title in a page's front matter."""
    [line] = [line for line in page.split("---\n", 2)[1].splitlines() if line.startswith("title:")]
    return line.removeprefix("title:").strip().strip('"')


def picture(text: str, lang: Language) -> bytes:
    """The PNG of a title."""
    if lang == "zh" and not has_han():
        return KEPT.read_bytes()
    svg = drawing(text, lang)
    return cached("card", digest(svg.encode()), lambda: png(svg))


def png(svg: str) -> bytes:
    """A drawing as PNG, a pixel for a pixel."""
    return bytes(vl_convert.svg_to_png(svg, scale=1.0, ppi=72.0))


@cache
def has_han() -> bool:
    """Whether two characters look different: without a font all look like the same box."""
    one, other = (png(f"{OPEN}{line(text, 0, 300, 200)}</svg>") for text in "关键")
    return one != other


def drawing(text: str, lang: Language) -> str:
    """The picture as SVG."""
    lines = wrapped(text)
    top = 300 - (len(lines) - 1) * LINE // 2
    shown = (line(part, 90, top + n * LINE, SIZE, "700") for n, part in enumerate(lines))
    return "".join(
        (
            OPEN,
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#17324d"/>',
            PATH,
            line(NAMES[lang], 90, 110, 34, "600"),
            *shown,
            line(PROMISE[lang], 90, 560, 30, "400"),
            "</svg>",
        )
    )


def line(text: str, left: int, base: int, size: int, weight: str = "400") -> str:
    """One line of text."""
    return (
        f'<text x="{left}" y="{base}" font-family="{FONTS}" font-size="{size}" '
        f'font-weight="{weight}" fill="#ffffff">{escape(text)}</text>'
    )


def wrapped(text: str) -> list[str]:
    """As few lines as fit, of about the same length."""
    fewest = len(broken(text, LONGEST))
    limits = (LONGEST - step / 2 for step in range(int(2 * LONGEST)))
    even = takewhile(lambda lines: len(lines) == fewest, (broken(text, at) for at in limits))
    return list(even)[-1]


def broken(text: str, longest: float) -> list[str]:
    """Lines up to a length: Latin breaks between words, Chinese between any two characters."""
    lines = [""]
    for piece in pieces(text):
        if lines[-1] and width(lines[-1] + piece.rstrip()) > longest:
            lines.append("")
        lines[-1] += piece
    return [found.strip() for found in lines]


def pieces(text: str) -> Iterator[str]:
    """The parts between which a line may end; punctuation stays with what it follows."""
    piece = ""
    for char in text:
        if piece and (
            piece[-1] == " " or (char >= FIRST_HAN and char not in "，。：；？！、）》”")
        ):
            yield piece
            piece = ""
        piece += char
    if piece:
        yield piece


def width(text: str) -> float:
    """How wide a text is in bold, in em, roughly: Han are square, others a good half."""
    return sum(1.0 if char >= FIRST_HAN else 0.54 for char in text)


OPEN: Final = (
    f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
    f'viewBox="0 0 {WIDTH} {HEIGHT}">'
)
# A chain of waits with its longest path marked: the sign of the site.
PATH: Final = (
    '<g fill="none" stroke-width="10" stroke-linecap="round">'
    '<path d="M860 96H1110" stroke="#4a6886"/><path d="M860 120H940" stroke="#ffb26b"/>'
    '<path d="M952 120H1060" stroke="#7cc0ff"/><path d="M1072 120H1110" stroke="#8fd6a8"/></g>'
)
