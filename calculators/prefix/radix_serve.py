"""Requests through a radix tree at zero service time, as fast as Python goes."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from calculators.prefix.keys import Key, Namespace
from calculators.prefix.node import Node, raise_history
from calculators.prefix.radix_evict import make_room

if TYPE_CHECKING:
    from calculators.prefix.radix import RadixTree

TICKS = 3  # moments of an operation: its walk, the upper half of its split, its new leaf

type Visit = tuple[Key, int, Namespace]
"""A key in whole pages, how many of its elements may be reused, its namespace."""


def serve_all(  # noqa: C901, PLR0912, PLR0915 # see below
    tree: "RadixTree", visits: Iterable[Visit], capacity: int
) -> list[int]:
    """Match, lock, evict, insert and unlock each request in turn, in one walk; lengths in elements.

    Never more than ``capacity`` elements are held; a request that does not fit is refused: it
    reuses and stores nothing. Returns what each request reused. The tree afterwards is the one
    that the five calls leave (a test compares them): what the walk passed is locked until the
    insertion has passed it too, so nobody sees that it is refreshed once and not twice. All
    requests have priority 0; in a tree with nodes below 0 those would stay below.
    """
    # This is the hot loop of every replay, hence one function longer than others here, with the
    # work of RadixTree.add_leaf written out: calls would take a third of its time.
    head_at, agrees, score = tree.head, tree.agrees, tree.score
    unit = tree.unit if tree.width > 1 else 0
    records_history = tree.policy.beyond is not None
    fresh_leaves, grows = tree.fresh, tree.policy.grows
    clock, size, added = tree.clock, tree.size, 0
    reused = []
    current = root = None
    for key, usable, namespace in visits:
        if namespace is not current or root is None:
            current, root = namespace, tree.root(namespace)
        now = clock + TICKS
        clock = later = now + TICKS
        node = root
        at = 0
        children = node.children
        while at < usable and children is not None:
            head: Any = key[at : at + unit] if unit else head_at(key, at)
            child = children.get(head)
            if child is None:
                break
            end = child.depth
            if end <= usable and agrees(key, child.key, at):
                node, at = child, end
            else:
                node, at = tree.enter(child, key, at, usable, now)
            node.last_access = later
            node.hits += 1
            children = node.children
        reused.append(at)
        fresh = len(key) - at
        if not fresh:
            tree.offer(node)
            continue
        excess = size + fresh - capacity
        if excess > 0:
            node.locks += 1
            gone = make_room(tree, excess)
            node.locks -= 1
            size -= gone
            excess -= gone
        if excess > 0:
            tree.refused += 1
            reused[-1] = 0
            tree.offer(node)
        elif at == usable:  # what may not be reused may still be there
            held = tree.size
            tree.offer(tree.insert_below(node, key, at, later, 0, 0).node)
            size += tree.size - held
        else:
            head = key[at : at + unit] if unit else head_at(key, at)
            leaf = Node(key[at:], head, node, len(key), later + 2)
            leaf.hits = 1
            if node.children is None:
                node.children = {head: leaf}
            else:
                node.children[head] = leaf
            added += 1
            size += fresh
            if records_history:
                raise_history(leaf)
            stored = leaf.stored = score(leaf)
            leaf.queued = True
            if grows and (not fresh_leaves or fresh_leaves[-1].stored < stored):
                fresh_leaves.append(leaf)
            else:
                tree.enqueue(leaf)
    tree.clock, tree.size = clock, size
    tree.nodes += added
    return reused
