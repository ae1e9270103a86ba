"""The drawing of a radix tree: every token, sign and lock in it, within a phone's width."""

import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculators.show.tree import (
    LONGEST_WORD,
    MOST_NODES,
    MOST_WORDS,
    SIGNS,
    WIDTH,
    TreeNode,
    clipped,
    columns,
    drawable,
    outline,
    shortened,
    tree_svg,
)

SPLIT = (
    TreeNode(words=("a", "b"), state="split", locks=2),
    TreeNode(words=("c", "d"), parent=0, state="shortened", locks=2),
    TreeNode(words=("x",), parent=0, state="new", evictable=True),
)
words = st.lists(st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1), min_size=1)


@st.composite
def trees(draw):
    """Trees of any shape, each node after its parent and its elder siblings' descendants."""
    nodes, path = [], []
    for words_of in draw(st.lists(words, min_size=1, max_size=12)):
        path = path[: draw(st.integers(0, len(path)))]
        state = draw(st.sampled_from(["", *SIGNS]))
        parent = path[-1] if path else None
        nodes.append(
            TreeNode(
                words=tuple(words_of),
                parent=parent,
                root=nodes[parent].root if path else draw(st.sampled_from(["root", "root @a"])),
                state=state,
                locks=draw(st.integers(0, 3)),
                evictable=draw(st.booleans()),
            )
        )
        path = [*path, len(nodes) - 1]
    return nodes


def texts(svg):
    """The words of a drawing, in order."""
    return [element.text for element in ET.fromstring(svg).iter("text")]  # noqa: S314 # ours


def test_a_split_is_drawn_with_its_signs_and_locks():
    """Signs stand before the tokens, the number of locks after them."""
    assert ["root", "▲", "a", "b", "2", "▼", "c", "d", "2", "+", "x"] == texts(tree_svg(SPLIT))


def test_a_ring_marks_what_may_go():
    """An unlocked leaf has a ring, a locked node a padlock, and what is gone neither."""
    gone = TreeNode(words=("g",), state="evicted", evictable=True)

    assert 1 == tree_svg(SPLIT).count("cp-tree-ring")
    assert 2 == tree_svg(SPLIT).count('cp-tree-lock"')
    assert 0 == tree_svg([gone]).count("cp-tree-ring")


def test_each_namespace_has_its_root():
    """A root is drawn where its first branch stands, once."""
    nodes = [
        TreeNode(words=("a",), root="root @red"),
        TreeNode(words=("b",), root="root @red"),
        TreeNode(words=("a",), root="root @blue"),
    ]

    assert ["root @red", "a", "b", "root @blue", "a"] == texts(tree_svg(nodes))


def test_the_outline_tells_the_same_tree():
    """Children stand in brackets behind their parent."""
    assert "a b [c d; x]" == outline(SPLIT)
    assert "a | b" == outline([TreeNode(words=("a",)), TreeNode(words=("b",))])


@given(nodes=trees())
def test_no_drawing_leaves_its_frame(nodes):
    """Well-formed, no box beyond the frame, none above an earlier one, no id or style."""
    svg = tree_svg(nodes)
    root = ET.fromstring(svg)  # noqa: S314 # ours
    _, _, width, height = map(float, root.get("viewBox").split())
    boxes = [r for r in root.iter("rect") if r.get("class") == "cp-tree-box"]
    tops = [float(box.get("y")) for box in boxes]

    assert WIDTH == width
    assert len(nodes) == len(boxes)
    assert tops == sorted(tops)
    assert all(float(b.get("x")) + float(b.get("width")) <= width for b in boxes)
    assert all(float(b.get("y")) + float(b.get("height")) <= height for b in boxes)
    assert not re.search(r"\s(id|style|on\w+)=", re.sub(r">[^<]*<", "><", svg))


@given(nodes=trees())
def test_every_token_is_in_the_drawing(nodes):
    """All tokens of short nodes are there, in the order of the nodes."""
    drawn = texts(tree_svg(nodes))
    for node in nodes:
        assert all(word in drawn for word in shortened(node.words))


@given(word=st.text(min_size=1))
def test_a_long_word_is_cut(word):
    """A word never takes more than its columns, and a short one stays whole."""
    cut = clipped(word)

    assert columns(cut) <= LONGEST_WORD
    assert cut == word or columns(word) > LONGEST_WORD


def test_many_words_are_counted():
    """Words beyond the last are a count of them."""
    found = shortened([str(i) for i in range(100)])

    assert MOST_WORDS == len(found)
    assert f"…+{100 - MOST_WORDS + 1}" == found[-1]


@pytest.mark.parametrize(
    ("count", "drawn"),
    [
        pytest.param(0, False, id="nothing"),
        pytest.param(1, True, id="one"),
        pytest.param(MOST_NODES, True, id="as many as can be read"),
        pytest.param(MOST_NODES + 1, False, id="too many"),
    ],
)
def test_what_cannot_be_read_is_not_drawn(count, drawn):
    """An empty tree and one with too many nodes are left to the table."""
    assert drawn is drawable([TreeNode(words=("a",))] * count)
