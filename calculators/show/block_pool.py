"""A paged KV pool as SVG from plain data, in the signs of ``tree``: queue, block tables, chains.

First the free queue and the blocks of each running request as strips of numbers, then every block
with content under the block before it, as a tree. A solid line is a link of the hash chain, a
dashed one is not (a block that is not full has no hash). A dashed number in the queue holds
nothing, a dashed slot of a block no token. A padlock has the number of requests that hold the
block, a ring its place in the queue. No language, ids, styles or scripts; the classes are those of
the tree. Left out: pools that one cannot read; see ``drawable``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

from calculators.show.tree import (
    COLUMN,
    FONT,
    GAP,
    LINE,
    MOST_NODES,
    PAD,
    PADLOCK,
    TAB,
    WIDTH,
    Box,
    TreeNode,
    clipped,
    columns,
    depths,
    placed,
    root_svg,
)
from calculators.show.tree import SIGNS as TREE_SIGNS

type State = Literal["", "matched", "new", "grown", "released", "evicted"]

SIGNS: dict[State, str] = {
    "matched": TREE_SIGNS["matched"],
    "new": TREE_SIGNS["new"],
    "grown": "»",
    "released": "−",
    "evicted": TREE_SIGNS["evicted"],
}
MOST_SQUARES = 64  # of a strip
NAME_COLUMN = 7.9  # names are set a little smaller
INDENT = 12  # chains are deep and narrow
DEEPEST_INDENT = 110
HEAD = "←"  # the queue is taken from here


@dataclass(frozen=True, slots=True)
class Square:
    """A number in a strip; ``hollow`` where nothing can be found behind it."""

    text: str
    hollow: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Strip:
    """A named row of squares; ``head`` says that they are taken from its beginning."""

    name: str
    squares: tuple[Square, ...]
    head: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolBlock:
    """A block with content. ``above`` is the place of its parent, earlier in the sequence.

    ``extra`` are keys that stand in its hash beside the tokens, ``empty`` slots wait for tokens.
    """

    number: int
    words: tuple[str, ...]
    extra: tuple[str, ...] = ()
    empty: int = 0
    above: int | None = None
    state: State = ""
    references: int = 0
    place: int | None = None

    @property
    def node(self) -> TreeNode:
        """The block as a node of a tree: its number, extra keys, tokens and empty slots."""
        words = (str(self.number), *self.extra, *self.words, *(("",) * self.empty))
        return TreeNode(words=words, parent=self.above, state="new" if self.state else "")


def drawable(strips: Sequence[Strip], blocks: Sequence[PoolBlock]) -> bool:
    """Whether a drawing of this pool can be read at all."""
    return len(blocks) <= MOST_NODES and all(len(strip.squares) <= MOST_SQUARES for strip in strips)


def pool_svg(strips: Sequence[Strip], blocks: Sequence[PoolBlock], root: str) -> str:
    """The pool; blocks parents first, the descendants of a block right after it.

    ``root`` names what stands before the first block of a chain.
    """
    parts: list[str] = []
    y = 0.0
    for strip in strips:
        drawn, y = strip_svg(strip, y)
        parts += drawn
    if blocks:
        stem = y + 12
        parts.append(root_svg(root, stem))
        drawn, y = chains_svg(blocks, stem)
        parts += drawn
    return (
        f'<svg class="cp-tree" viewBox="0 0 {WIDTH} {y:g}" font-size="{FONT}" '
        f'aria-hidden="true" focusable="false">{"".join(parts)}</svg>'
    )


def strip_svg(strip: Strip, y: float) -> tuple[list[str], float]:
    """A strip, in as many lines as it needs, and where the next thing may begin."""
    name = clipped(strip.name)
    parts = [f'<text x="2" y="{y + 15:g}" class="cp-tree-name">{escape(name)}</text>']
    at = 2 + columns(name) * NAME_COLUMN + 2 * PAD
    if strip.head and strip.squares:
        parts.append(f'<text x="{at:g}" y="{y + 15:g}">{HEAD}</text>')
        at += TAB
    for square in strip.squares:
        width = columns(square.text) * COLUMN + 8
        if at + width > WIDTH:
            at, y = float(TAB), y + LINE
        parts.append(square_svg(square, at, y, width))
        at += width + 3
    return parts, y + LINE + GAP


def square_svg(square: Square, x: float, y: float, width: float) -> str:
    """A number in its frame."""
    frame = (
        'class="cp-tree-root" stroke-dasharray="2 2"' if square.hollow else 'class="cp-tree-token"'
    )
    return (
        f'<rect {frame} x="{x:g}" y="{y + 1:g}" width="{width:g}" height="{LINE - 4}" rx="3"/>'
        f'<text x="{x + width / 2:g}" y="{y + 16:g}" text-anchor="middle"'
        f"{' class="cp-tree-name"' if square.hollow else ''}>{escape(square.text)}</text>"
    )


def chains_svg(blocks: Sequence[PoolBlock], stem: float) -> tuple[list[str], float]:
    """The blocks below a root at ``stem``, and where they end."""
    parts: list[str] = []
    boxes: list[Box] = []
    y = stem - 12 + LINE + GAP
    step = min(INDENT, DEEPEST_INDENT / max(depths([block.node for block in blocks])))
    for block in blocks:
        above = None if block.above is None else boxes[block.above]
        box = placed(block.node, TAB + 2.0 if above is None else above.x + step, y)
        start = (12.0, stem + 6) if above is None else (above.x + 5, above.y + above.height)
        parts.append(block_svg(block, box, start))
        boxes.append(box)
        y += box.height + GAP
    return parts, y


def block_svg(block: PoolBlock, box: Box, start: tuple[float, float]) -> str:
    """A block: the line from its parent, its frame, and what is in and beside it."""
    state = f" cp-tree-{block.state}" if block.state else ""
    held = " cp-tree-locked" if block.references else ""
    loose = ' stroke-dasharray="3 3"' if block.empty else ""
    return (
        f'<g class="cp-tree-node{state}{held}"><path class="cp-tree-edge"{loose} '
        f'd="M{start[0]:g} {start[1]:g}V{box.middle:g}H{box.x:g}"/>'
        f'<rect class="cp-tree-box" x="{box.x:g}" y="{box.y:g}" width="{box.width:g}" '
        f'height="{box.height:g}" rx="4"/>{"".join(inside(block, box))}</g>'
    )


def inside(block: PoolBlock, box: Box) -> Iterator[str]:
    """The sign, the number, the tokens, the empty slots, and the mark on the right."""
    if block.state:
        yield text_svg(box.x + 14, box.middle + 5, SIGNS[block.state], ' class="cp-tree-sign"')
    number, *chips = box.chips
    yield text_svg(
        box.x + number.x + number.width / 2,
        box.y + number.y + 15,
        number.text,
        ' font-weight="700"',
    )
    for chip in chips:
        x, y = box.x + chip.x, box.y + chip.y
        frame = "cp-tree-token" if chip.text else "cp-tree-root"
        dashes = "" if chip.text else ' stroke-dasharray="2 2"'
        yield (
            f'<rect class="{frame}"{dashes} x="{x:g}" y="{y:g}" width="{chip.width:g}" '
            f'height="{LINE - 4}" rx="3"/>'
        )
        if chip.text:
            yield text_svg(x + chip.width / 2, y + 15, chip.text)
    yield from mark(block, box.x + box.width, box.middle)


def mark(block: PoolBlock, end: float, middle: float) -> Iterator[str]:
    """How many hold the block, or its place in the queue; nothing beside what was evicted."""
    if block.references:
        yield (
            f'<g class="cp-tree-lock" transform="translate({end + 11:g} {middle - 2:g})">'
            f"{PADLOCK}</g>"
        )
    elif block.place is not None:
        yield f'<circle class="cp-tree-ring" cx="{end + 11:g}" cy="{middle:g}" r="4.5"/>'
    count = block.references or block.place
    if count:
        yield f'<text x="{end + 20:g}" y="{middle + 5:g}">{count}</text>'


def text_svg(x: float, y: float, text: str, attributes: str = "") -> str:
    """A text around a place."""
    return f'<text{attributes} x="{x:g}" y="{y:g}" text-anchor="middle">{escape(text)}</text>'
