"""The radix tree against its slow twin, rule by rule, and its invariants broken on purpose."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prefix_twins import SlowTree, facts

from calculators.form.errors import ParameterError
from calculators.prefix.invariants import BrokenInvariantError, MisuseError
from calculators.prefix.keys import Namespace, namespace, pack, pack_pairs
from calculators.prefix.policy_choice import NAMES, policy
from calculators.prefix.radix import RadixTree

THRESHOLD, ESTIMATE = 5, 2
NAMESPACES = (Namespace(), Namespace("a"), Namespace(None, "salt"), Namespace("a", "salt"))


def named(name):
    """A policy by name, the budget of tlru being short."""
    return policy(name, threshold=THRESHOLD, next_prompt_estimate=ESTIMATE)


def pair(name, page_size, *, packed=True, partial_refresh=True):
    """A tree and its twin."""
    tree = RadixTree(
        page_size=page_size,
        policy=named(name),
        width=4 if packed else 1,
        partial_refresh=partial_refresh,
    )
    twin = SlowTree(page_size, name, beyond=THRESHOLD - ESTIMATE, partial_refresh=partial_refresh)
    return tree, twin


keys = st.lists(st.integers(0, 1), min_size=0, max_size=10)
operations = st.lists(
    st.tuples(
        st.sampled_from(("insert", "insert", "match", "lock", "unlock", "evict", "serve")),
        keys,
        st.sampled_from(NAMESPACES),
        st.integers(0, 6),
    ),
    max_size=40,
)


def run(tree, twin, script, *, packed=True):
    """Apply a script to both and compare what they say after every operation."""
    locks = []
    lowest = 0 if any(name == "serve" for name, *_ in script) else -1
    for name, key, space, number in script:
        form = pack(key) if packed else list(key)
        if name == "insert":
            expected = twin.insert(key, space, priority=number % 3 + lowest, inserted=number)
            computed = tree.insert(
                form, space, priority=number % 3 + lowest, inserted=number
            ).tokens
        elif name in {"match", "lock"}:
            node, expected = twin.match(key, space)
            found = tree.match(form, space)
            computed = found.tokens
            if name == "lock":
                twin.lock(node)
                tree.lock(found.node)
                locks.append((node, found.node))
        elif name == "unlock" and locks:
            node, held = locks.pop(number % len(locks))
            before = twin.protected
            twin.lock(node, -1)
            expected, computed = before - twin.protected, tree.unlock(held)
        elif name == "evict" and number <= tree.evictable:
            expected, computed = twin.evict(number), tree.evict(number)
        elif name == "serve":
            unit = tree.unit
            whole = form[: len(form) // unit * unit]
            usable = max(len(form) - tree.width, 0) // unit * unit
            expected = twin.serve(key, usable // tree.width, 24, space)
            computed = tree.serve(whole, usable, 24 * tree.width, space) // tree.width
        else:
            continue
        tree.check()

        assert (name, expected) == (name, computed)
        assert twin.facts() == facts(tree)
        assert (twin.total, twin.protected) == (tree.total, tree.protected)


@pytest.mark.parametrize("page_size", [1, 2, 4])
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25, deadline=None)
@given(script=operations)
def test_tree_equals_its_twin(name, page_size, script):
    """After any operations the tree has exactly the nodes, locks and counts of the slow twin."""
    run(*pair(name, page_size), script)


@pytest.mark.parametrize("page_size", [1, 2])
@settings(max_examples=25, deadline=None)
@given(script=operations)
def test_plain_lists_give_the_same_tree(page_size, script):
    """Keys as plain lists of integers behave as packed keys do."""
    run(*pair("lru", page_size, packed=False), script, packed=False)


@settings(max_examples=40, deadline=None)
@given(script=operations)
def test_mini_sglang_does_not_refresh_a_partial_match(script):
    """With mini-sglang's rule neither half of a split is refreshed by a lookup."""
    run(*pair("lru", 1, partial_refresh=False), script)


@pytest.mark.parametrize("page_size", [1, 2])
def test_partial_match_splits_and_keeps_the_total(page_size):
    """A match that ends inside a node splits it and changes no size (rule 4)."""
    tree = RadixTree(page_size=page_size)
    tree.insert(pack([1, 2, 3, 4, 5, 6, 7, 8]))
    tree.insert(pack([1, 2, 9, 10]))

    assert tree.total == 10
    assert tree.match(pack([1, 2, 3, 4, 999, 1000])).tokens == 4
    assert tree.total == 10


def test_namespaces_share_the_pool_and_nothing_else():
    """Equal tokens of two namespaces are stored twice and evicted from one queue (rules 19, 20)."""
    tree = RadixTree()
    tree.insert(pack([1, 2, 3]), namespace("adapter"))
    tree.insert(pack([1, 2, 3]), namespace("adapter", "salt"))

    assert tree.total == 6
    assert tree.match(pack([1, 2, 3])).tokens == 0
    assert tree.evict(1) == 3
    assert tree.match(pack([1, 2, 3]), namespace("adapter")).tokens == 0
    assert namespace("adapter") == namespace("adapter", "")


def test_pairs_of_eagle_are_one_fewer_than_tokens():
    """In EAGLE mode N tokens give N - 1 units (rule 25)."""
    tree = RadixTree(width=8)
    tree.insert(pack_pairs([1, 2, 3, 4]))

    assert tree.total == 3
    assert tree.match(pack_pairs([1, 2, 3, 9])).tokens == 2


def test_a_lock_protects_against_any_eviction():
    """Eviction stops short where only locked tokens remain (rules 9, 12, 13)."""
    tree = RadixTree()
    tree.insert(pack([1, 2, 3, 4]))
    held = tree.match(pack([1, 2])).node

    assert tree.lock(held) == -2
    assert tree.evict(99) == 2
    assert (tree.protected, tree.evictable) == (2, 0)
    assert tree.unlock(held) == 2
    assert tree.evict(99) == 2


def test_a_request_larger_than_the_pool_is_refused_whole():
    """What does not fit stores nothing, and is counted."""
    tree = RadixTree()

    assert tree.serve(pack(range(9)), 32, 16) == 0
    assert (tree.total, tree.refused) == (0, 1)


def unlock_twice():
    """Unlock a node once more than it was locked."""
    tree = RadixTree()
    node = tree.insert(pack([1, 2])).node
    tree.lock(node)
    tree.unlock(node)
    tree.unlock(node)


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        pytest.param(lambda: RadixTree(page_size=0), "too_small", id="page 0"),
        pytest.param(lambda: policy("random"), "not_an_option", id="unknown policy"),
        pytest.param(
            lambda: policy("tlru", threshold=1, next_prompt_estimate=1),
            "not_above_estimate",
            id="budget that never binds",
        ),
    ],
)
def test_what_cannot_be_used_is_refused_with_a_reason(act, reason):
    """Bad input raises ParameterError with the reason as data."""
    with pytest.raises(ParameterError) as error:
        act()

    assert reason == error.value.reason


@pytest.mark.parametrize(
    "act",
    [
        pytest.param(lambda: pack([1, -1]), id="negative token"),
        pytest.param(lambda: pack([2**32]), id="token beyond 32 bits"),
        pytest.param(unlock_twice, id="unlock of what is not locked"),
        pytest.param(lambda: RadixTree(partial_refresh=False).evict(1), id="mini-sglang refuses"),
    ],
)
def test_what_no_form_can_ask_for_is_a_misuse(act):
    """A program that breaks a cache's contract is told so, and not by a reader's error."""
    with pytest.raises(MisuseError):
        act()


def corrupted(change):
    """A sound tree after a change to it or to one of its leaves."""
    tree = RadixTree(page_size=1)
    tree.insert(pack([1, 2, 3, 4]))
    tree.insert(pack([1, 2, 5]))
    tree.insert(pack([7]))
    tree.check()
    change(tree, next(n for n in tree.walk() if n.children is None))
    return tree


def set_leaf(**values):
    """A change of a leaf."""
    return lambda _tree, leaf: [setattr(leaf, name, value) for name, value in values.items()]


def set_tree(**values):
    """A change of the tree."""
    return lambda tree, _leaf: [setattr(tree, name, value) for name, value in values.items()]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(set_tree(size=1), id="size"),
        pytest.param(set_tree(locked_size=4), id="protected size"),
        pytest.param(set_tree(nodes=9), id="count of nodes"),
        pytest.param(set_leaf(key=b""), id="empty node"),
        pytest.param(set_leaf(head=b"1234"), id="head"),
        pytest.param(set_leaf(depth=1), id="depth"),
        pytest.param(set_leaf(history=0), id="history"),
        pytest.param(set_leaf(children={}), id="empty children"),
        pytest.param(set_leaf(locks=1), id="lock without its ancestors"),
        pytest.param(set_leaf(last_access=10**6), id="future"),
        pytest.param(set_leaf(last_access=-1), id="queued too late"),
        pytest.param(lambda tree, _leaf: tree.queue.clear(), id="lost from the queue"),
        pytest.param(lambda tree, leaf: tree.enqueue(leaf), id="queued twice"),
    ],
)
def test_check_finds_a_corrupted_tree(change):
    """Every invariant that is broken on purpose is found."""
    with pytest.raises(BrokenInvariantError):
        corrupted(change).check()
