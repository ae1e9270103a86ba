"""The drawing of a block pool: the queue in order, every token and mark, within a phone's width."""

import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculators.show.block_pool import (
    HEAD,
    MOST_SQUARES,
    SIGNS,
    PoolBlock,
    Square,
    Strip,
    drawable,
    pool_svg,
)
from calculators.show.tree import MOST_NODES, WIDTH

QUEUE = Strip(name="queue", head=True, squares=(Square("7", hollow=True), Square("2")))
BLOCKS = (
    PoolBlock(number=0, words=("a", "b"), extra=("@lora",), state="matched", references=2),
    PoolBlock(number=1, words=("c",), empty=1, above=0, state="new", references=1),
    PoolBlock(number=2, words=("x", "y"), above=0, place=2),
    PoolBlock(number=1, words=("o", "p"), above=2, state="evicted"),
)
word = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1)


@st.composite
def pools(draw):
    """Blocks of any shape, each after its parent and its elder siblings' descendants."""
    blocks, path = [], []
    for words in draw(st.lists(st.lists(word, min_size=1, max_size=8), min_size=1, max_size=12)):
        path = path[: draw(st.integers(0, len(path)))]
        blocks.append(
            PoolBlock(
                number=draw(st.integers(0, 99)),
                words=tuple(words),
                empty=draw(st.integers(0, 8 - len(words))),
                above=path[-1] if path else None,
                state=draw(st.sampled_from(["", *SIGNS])),
                references=draw(st.integers(0, 3)),
                place=draw(st.none() | st.integers(1, 60)),
            )
        )
        path = [*path, len(blocks) - 1]
    return blocks


def texts(svg):
    """The words of a drawing, in order."""
    return [element.text for element in ET.fromstring(svg).iter("text")]  # noqa: S314 # ours


def test_queue_tables_and_chains_in_order():
    """The queue from its head, the block tables, then each block with signs, tokens and marks."""
    table = Strip(name="r1", squares=(Square("0"), Square("1")))
    strips = ["queue", HEAD, "7", "2", "r1", "0", "1"]
    blocks = ["✓", "0", "@lora", "a", "b", "2", "+", "1", "c", "1", "2", "x", "y", "2"]

    assert [*strips, "start", *blocks, "×", "1", "o", "p"] == texts(
        pool_svg([QUEUE, table], BLOCKS, "start")
    )


def test_marks_tell_held_from_free():
    """A held block has a padlock, a free one a ring, what was evicted neither."""
    svg = pool_svg([QUEUE], BLOCKS, "start")

    assert (2, 1) == (svg.count('cp-tree-lock"'), svg.count("cp-tree-ring"))


def test_what_is_not_full_is_dashed():
    """A hollow square, an empty slot and the line to a block without a hash are dashed."""
    svg = pool_svg([QUEUE], BLOCKS, "start")

    assert 3 == svg.count("stroke-dasharray")
    assert 0 == pool_svg([], BLOCKS[:1], "start").count("stroke-dasharray")


def test_an_empty_pool_is_its_queue():
    """Without content there is no root to hang it on."""
    assert ["queue", HEAD, "7", "2"] == texts(pool_svg([QUEUE], [], "start"))


@given(blocks=pools(), names=st.lists(word, max_size=4), count=st.integers(0, MOST_SQUARES))
def test_no_drawing_leaves_its_frame(blocks, names, count):
    """Well-formed, nothing beyond the frame, no block above an earlier one, no id or style."""
    squares = tuple(Square(str(number), hollow=number % 2 == 1) for number in range(count))
    svg = pool_svg([Strip(name=name, squares=squares) for name in names], blocks, "start")
    root = ET.fromstring(svg)  # noqa: S314 # ours
    _, _, width, height = map(float, root.get("viewBox").split())
    rects = list(root.iter("rect"))
    framed = [r for r in rects if r.get("x") is not None]
    tops = [float(r.get("y")) for r in rects if r.get("class") == "cp-tree-box"]

    assert WIDTH == width
    assert len(blocks) == len(tops)
    assert tops == sorted(tops)
    assert all(float(r.get("x")) + float(r.get("width")) <= width for r in framed)
    assert all(float(r.get("y") or 0) + float(r.get("height")) <= height for r in framed)
    assert not re.search(r"\s(id|style|on\w+)=", re.sub(r">[^<]*<", "><", svg))


@pytest.mark.parametrize(
    ("squares", "blocks", "drawn"),
    [
        pytest.param(0, 0, True, id="nothing but names"),
        pytest.param(MOST_SQUARES, MOST_NODES, True, id="as many as can be read"),
        pytest.param(MOST_SQUARES + 1, 0, False, id="too long a queue"),
        pytest.param(0, MOST_NODES + 1, False, id="too many blocks"),
    ],
)
def test_what_cannot_be_read_is_not_drawn(squares, blocks, drawn):
    """A long queue and many blocks are left to the table."""
    strip = Strip(name="queue", squares=(Square("1"),) * squares)

    assert drawn is drawable([strip], [BLOCKS[0]] * blocks)
