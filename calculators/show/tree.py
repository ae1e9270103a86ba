"""A radix tree as SVG from plain data: indented, growing downward, legible on a phone.

Every node is a box of its tokens below its parent. A sign on the left says what the last step did
to it (``SIGNS``), a padlock with a number on the right how many requests hold it, a ring that it
may go now. No language, colour only as a second sign, no ids, styles or scripts: colours are the
page's classes (``cp-tree-…``). Left out: trees wider or deeper than one can read; see ``drawable``.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

type State = Literal["", "matched", "new", "split", "shortened", "evicted"]

SIGNS: dict[State, str] = {
    "matched": "✓",
    "new": "+",
    "split": "▲",
    "shortened": "▼",
    "evicted": "×",
}
MOST_NODES = 60
MOST_WORDS = 12  # of a node, further ones are counted
LONGEST_WORD = 18  # columns

WIDTH = 320  # about what a phone leaves: the text is then as large as it says
FONT = 14
COLUMN = 8.5  # of the page's fixed-width type at this size
LINE = 24
PAD = 5
GAP = 7  # between boxes
TAB = 20  # the sign's place
MARKS = 38  # the padlock's place
INDENT = 18
DEEPEST_INDENT = 140
PADLOCK = (
    '<path d="M-3.5 0v-3a3.5 3.5 0 0 1 7 0v3"/><rect x="-5.5" width="11" height="8" rx="1.5"/>'
)


@dataclass(frozen=True, kw_only=True, slots=True)
class TreeNode:
    """``parent`` is the place of a node earlier in the sequence, None below a root.

    ``root`` names the root of the branch, such as a namespace; nodes of one root stand together.
    """

    words: tuple[str, ...]
    parent: int | None = None
    root: str = "root"
    state: State = ""
    locks: int = 0
    evictable: bool = False


@dataclass(frozen=True, slots=True)
class Chip:
    """A token in its box, relative to the box."""

    text: str
    x: float
    y: float
    width: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Box:
    """A node with its place."""

    node: TreeNode
    x: float
    y: float
    width: float
    height: float
    chips: tuple[Chip, ...]

    @property
    def middle(self) -> float:
        """Where the first line of tokens runs."""
        return self.y + PAD + LINE / 2 - 2


def drawable(nodes: Sequence[TreeNode]) -> bool:
    """Whether a drawing of this tree can be read at all."""
    return 0 < len(nodes) <= MOST_NODES


def tree_svg(nodes: Sequence[TreeNode]) -> str:
    """The tree; its nodes parents first, the descendants of a node right after it."""
    parts = []
    boxes: list[Box] = []
    y = 0.0
    step = min(INDENT, DEEPEST_INDENT / max(depths(nodes), default=1))
    for index, node in enumerate(nodes):
        if node.parent is None and (index == 0 or nodes[index - 1].root != node.root):
            stem = y + 12
            parts.append(root_svg(node.root, stem))
            y += LINE + GAP
        above = None if node.parent is None else boxes[node.parent]
        x = TAB + 2.0 if above is None else above.x + step
        box = placed(node, x, y)
        start = (12.0, stem + 6) if above is None else (above.x + 9, above.y + above.height)
        parts.append(box_svg(box, start))
        boxes.append(box)
        y += box.height + GAP
    return (
        f'<svg class="cp-tree" viewBox="0 0 {WIDTH} {y:g}" font-size="{FONT}" '
        f'aria-hidden="true" focusable="false">{"".join(parts)}</svg>'
    )


def outline(nodes: Sequence[TreeNode]) -> str:
    """The tree in a line: ``a b [c d e f; x y]``; roots are parted by a bar."""
    below: dict[int | None, list[int]] = {}
    for index, node in enumerate(nodes):
        below.setdefault(node.parent, []).append(index)

    def told(index: int) -> str:
        inner = "; ".join(told(child) for child in below.get(index, ()))
        words = " ".join(shortened(nodes[index].words))
        return f"{words} [{inner}]" if inner else words

    return " | ".join(told(index) for index in below.get(None, ()))


def depths(nodes: Sequence[TreeNode]) -> list[int]:
    """How many nodes are above each, itself included."""
    found: list[int] = []
    for node in nodes:
        found.append(1 if node.parent is None else found[node.parent] + 1)
    return found


def shortened(words: Sequence[str]) -> list[str]:
    """At most ``MOST_WORDS`` words, the rest as a count, each at most ``LONGEST_WORD`` columns."""
    kept = list(words if len(words) <= MOST_WORDS else words[: MOST_WORDS - 1])
    if len(kept) < len(words):
        kept.append(f"…+{len(words) - len(kept)}")
    return [clipped(word) for word in kept]


def clipped(word: str) -> str:
    """A word, cut with an ellipsis where it is too wide."""
    while columns(word) > LONGEST_WORD:
        word = word[: max(1, min(len(word) - 2, LONGEST_WORD - 1))].rstrip("…") + "…"
    return word


def columns(text: str) -> int:
    """The width in columns: East Asian wide characters take two."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def placed(node: TreeNode, x: float, y: float) -> Box:
    """A node's box at a place, as wide as its tokens need."""
    left = PAD + (TAB if node.state else 0)
    room = WIDTH - MARKS - x - PAD
    chips: list[Chip] = []
    at, line = float(left), 0
    for word in shortened(node.words):
        width = columns(word) * COLUMN + 8
        if at > left and at + width > room:
            at, line = float(left), line + 1
        chips.append(Chip(word, at, PAD + line * LINE, width))
        at += width + 3
    right = max(chip.x + chip.width for chip in chips)
    return Box(
        node=node,
        x=x,
        y=y,
        width=right + PAD,
        height=(line + 1) * LINE + 2 * PAD - 4,
        chips=tuple(chips),
    )


def root_svg(name: str, y: float) -> str:
    """A root: a ring and its name."""
    return (
        f'<circle class="cp-tree-root" cx="12" cy="{y:g}" r="6"/>'
        f'<text x="24" y="{y + 5:g}" class="cp-tree-name">{escape(clipped(name))}</text>'
    )


def box_svg(box: Box, start: tuple[float, float]) -> str:
    """A node: the line from its parent, its frame, sign, tokens and marks."""
    node = box.node
    state = f" cp-tree-{node.state}" if node.state else ""
    held = " cp-tree-locked" if node.locks else ""
    return (
        f'<g class="cp-tree-node{state}{held}">'
        f'<path class="cp-tree-edge" d="M{start[0]:g} {start[1]:g}V{box.middle:g}H{box.x:g}"/>'
        f'<rect class="cp-tree-box" x="{box.x:g}" y="{box.y:g}" width="{box.width:g}" '
        f'height="{box.height:g}" rx="4"/>{"".join(inside(box))}</g>'
    )


def inside(box: Box) -> Iterator[str]:
    """What a box holds and what stands beside it."""
    node, end = box.node, box.x + box.width
    if node.state:
        yield (
            f'<text class="cp-tree-sign" x="{box.x + 14:g}" y="{box.middle + 5:g}" '
            f'text-anchor="middle">{SIGNS[node.state]}</text>'
        )
    for chip in box.chips:
        x, y = box.x + chip.x, box.y + chip.y
        yield (
            f'<rect class="cp-tree-token" x="{x:g}" y="{y:g}" width="{chip.width:g}" '
            f'height="{LINE - 4}" rx="3"/><text x="{x + chip.width / 2:g}" y="{y + 15:g}" '
            f'text-anchor="middle">{escape(chip.text)}</text>'
        )
    if node.locks:
        yield (
            f'<g class="cp-tree-lock" transform="translate({end + 11:g} {box.middle - 2:g})">'
            f'{PADLOCK}</g><text x="{end + 20:g}" y="{box.middle + 5:g}">{node.locks}</text>'
        )
    elif node.evictable and node.state != "evicted":
        yield f'<circle class="cp-tree-ring" cx="{end + 11:g}" cy="{box.middle:g}" r="4.5"/>'
