"""What must hold in a radix tree after every operation. Slow: walks everything."""

from typing import TYPE_CHECKING

from calculators.prefix.invariants import require
from calculators.prefix.node import MOMENT, MOMENT_BITS, Node

if TYPE_CHECKING:
    from calculators.prefix.radix import RadixTree


def check(tree: "RadixTree") -> None:
    """Raise BrokenInvariantError for the first thing that does not hold."""
    nodes = list(tree.walk())
    for node in nodes:
        check_place(tree, node)
        check_locks(node)
    require(len(nodes) == tree.nodes, "the count of nodes is wrong")
    require(sum(len(node.key) for node in nodes) == tree.size, "the size is wrong")
    locked = sum(len(node.key) for node in nodes if node.locks)
    require(locked == tree.locked_size, "the protected size is wrong")
    check_queue(tree, nodes)


def check_place(tree: "RadixTree", node: Node) -> None:
    """A node hangs under its parent by its first page, and is whole pages long."""
    parent = node.parent
    require(parent is not None and parent.children is not None, "a node has no parent")
    if parent is None or parent.children is None:
        return
    require(node.key and not len(node.key) % tree.unit, "a node is not whole pages long")
    require(node.head == tree.head(node.key, 0), "a node's first page is wrong")
    require(parent.children.get(node.head) is node, "a node hangs by a wrong page")
    require(node.depth == parent.depth + len(node.key), "a depth is wrong")
    require(node.history >= node.depth, "a branch was never as deep as it is")
    require(node.children is None or node.children, "a leaf has an empty table of children")
    require(node.last_access <= tree.clock + 2, "a node was used in the future")


def check_locks(node: Node) -> None:
    """Every lock below counts once above: a node holds at least the locks of its children."""
    below = sum(child.locks for child in (node.children or {}).values())
    require(node.locks >= below, "a node has fewer locks than its children")
    require(node.locks >= 0, "a node was unlocked too often")


def check_queue(tree: "RadixTree", nodes: list[Node]) -> None:
    """Every candidate stands in the queue no later than its score says."""
    scores = [node.stored for node in tree.fresh]
    require(scores == sorted(scores), "the fresh leaves are out of order")
    first = {node.created: node.stored for node in tree.fresh}
    for entry in tree.queue:
        moment, stored = entry & MOMENT, entry >> MOMENT_BITS
        first[moment] = min(first.get(moment, stored), stored)
    for node in nodes:
        if node.evictable:
            require(node.created in first, "a candidate is missing from the queue")
            require(first[node.created] <= tree.score(node), "a candidate stands too far back")
    once = len(first) == len(tree.queue) + len(tree.fresh)
    require(once or not tree.policy.grows, "a node stands in the queue twice")
