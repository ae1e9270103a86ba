"""The depth of a JSON text without recursion."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculators.form.nesting import DEEPEST, nests_deeper

TREES = st.recursive(
    st.none() | st.integers() | st.text(st.sampled_from('[]{}"\\ab'), max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=12,
)


def depth(tree):
    """The plain version: the deepest list or object of a parsed tree."""
    if isinstance(tree, dict):
        tree = [*tree.values()]
    return 1 + max(map(depth, tree), default=0) if isinstance(tree, list) else 0


@given(tree=TREES, limit=st.integers(0, 6))
def test_agrees_with_the_parsed_tree(tree, limit):
    """The depth of the text is that of what it parses to, whatever its strings hold."""
    assert (depth(tree) > limit) == nests_deeper(json.dumps(tree), limit)


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        pytest.param(True, "[" * 10_000, id="never closed"),
        pytest.param(True, '{"a":' * 10_000 + "1" + "}" * 10_000, id="objects"),
        pytest.param(True, "[" * (DEEPEST + 1), id="one too many"),
        pytest.param(False, "[" * DEEPEST + "]" * DEEPEST, id="just deep enough"),
        pytest.param(False, "[]" * 10_000, id="side by side"),
        pytest.param(False, json.dumps("[" * 10_000), id="in a string"),
        pytest.param(False, json.dumps('\\"[' * 10_000), id="behind escaped quotes"),
        pytest.param(False, '"' + "[" * 10_000, id="in a string that never ends"),
        pytest.param(False, "]" * 10_000, id="closed and never opened"),
        pytest.param(False, '"' + "\\" * 100_000, id="only backslashes"),
    ],
)
def test_depth(expected, text):
    """Worked cases, those of a hostile file among them."""
    assert expected == nests_deeper(text)


def test_a_big_file_is_read_once():
    """A million escaped quotes in a string that never ends take one pass, not one for each."""
    assert not nests_deeper("[" * DEEPEST + '"' + '\\"[' * 1_000_000)
    assert nests_deeper('"' + '\\"' * 1_000_000 + '"' + "[" * (DEEPEST + 1))
