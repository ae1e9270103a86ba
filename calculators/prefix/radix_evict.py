"""Eviction from a radix tree: whole unlocked leaves, the lowest score first.

Candidates wait in two places. ``fresh`` are leaves in the order in which they were made, each with
a higher score than the one before it; all others are in the heap ``queue``. Scores were noted when
a node was queued and may be out of date; what comes to the front is checked then. Where scores
only grow, one entry a node is enough for the exact order: a node whose score has grown goes back
to its place. SGLang heaps all leaves anew at each call, with the same result.
"""

from heapq import heappop
from typing import TYPE_CHECKING

from calculators.prefix.invariants import BrokenInvariantError
from calculators.prefix.node import MOMENT, MOMENT_BITS, Node

if TYPE_CHECKING:
    from calculators.prefix.radix import RadixTree


def make_room(tree: "RadixTree", amount: int, victims: list[Node] | None = None) -> int:
    """Evict leaves until at least ``amount`` elements are gone; how many went.

    What goes is added to ``victims``.
    """
    evict = evict_growing if tree.policy.grows else evict_any
    size, count = evict(tree, amount, victims)
    tree.size -= size
    tree.evicted_size += size
    tree.nodes -= count
    return size


def evict_growing(tree: "RadixTree", amount: int, victims: list[Node] | None) -> tuple[int, int]:
    """Under a score that never falls; the elements and the nodes that went."""
    # Longer than others here: it runs once a request, and a call a leaf would show.
    queue, fresh, queued, score = tree.queue, tree.fresh, tree.queued, tree.score
    first = queue[0] >> MOMENT_BITS if queue else 0  # the lowest score of the heap
    size = count = 0
    while size < amount:
        if fresh and (not queue or fresh[0].stored <= first):
            node = fresh.popleft()
        elif queue:
            node = queued.pop(heappop(queue) & MOMENT)
            first = queue[0] >> MOMENT_BITS if queue else 0
        else:
            break
        if node.children is not None or node.locks:
            node.queued = False
            continue
        if score(node) != node.stored:
            tree.enqueue(node)
            first = queue[0] >> MOMENT_BITS
            continue
        parent = node.parent
        if parent is None or (children := parent.children) is None:
            raise BrokenInvariantError("a root or an evicted node cannot be evicted")
        del children[node.head]
        node.parent = None
        size += len(node.key)
        count += 1
        if victims is not None:
            victims.append(node)
        if not children:
            parent.children = None
            if not parent.locks and not parent.queued:
                tree.enqueue(parent)
                first = queue[0] >> MOMENT_BITS
    return size, count


def evict_any(tree: "RadixTree", amount: int, victims: list[Node] | None) -> tuple[int, int]:
    """Under any score: a node has an entry for each score it had, and the right one counts."""
    queue, queued = tree.queue, tree.queued
    size = count = 0
    while size < amount and queue:
        entry = heappop(queue)
        node = queued.get(entry & MOMENT)
        if node is None:
            continue
        if node.children is not None or node.locks:
            del queued[node.created]
            node.queued = False
            continue
        if tree.score(node) != entry >> MOMENT_BITS:
            continue
        parent = node.parent
        if parent is None or parent.children is None:
            raise BrokenInvariantError("a root or an evicted node cannot be evicted")
        del parent.children[node.head], queued[node.created]
        node.parent = None
        size += len(node.key)
        count += 1
        if victims is not None:
            victims.append(node)
        if not parent.children:
            parent.children = None
            tree.offer(parent)
    return size, count
