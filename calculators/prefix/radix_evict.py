"""Eviction from a radix tree: whole unlocked leaves, the lowest score first.

Candidates wait in two places. ``fresh`` are leaves in the order in which they were made, each with
a higher score than the one before it; all others are in the heap ``queue``. Scores were noted when
a node was queued and may be out of date; what comes to the front is checked then. Where scores
only grow, one entry a node is enough for the exact order: a node whose score has grown goes back
to its place. Else a node has an entry for each score it had, and the right one counts. SGLang
heaps all leaves anew at each call, with the same result.
"""

from heapq import heappop
from typing import TYPE_CHECKING

from calculators.prefix.invariants import BrokenInvariantError
from calculators.prefix.node import MOMENT, MOMENT_BITS, Node

if TYPE_CHECKING:
    from calculators.prefix.radix import RadixTree


def make_room(tree: "RadixTree", amount: int, victims: list[Node] | None = None) -> int:  # noqa: C901 # see below
    """Evict leaves of at least ``amount`` elements; how many went. They join ``victims``."""
    # Longer than others here: it runs once a request, and a call a leaf would show.
    queue, fresh, queued, score = tree.queue, tree.fresh, tree.queued, tree.score
    grows = tree.policy.grows
    take = queued.pop if grows else queued.get
    gone = removed = 0
    while gone < amount:
        if fresh and not (queue and queue[0] >> MOMENT_BITS < fresh[0].stored):
            node = fresh.popleft()
            stored = node.stored
        elif queue:
            entry = heappop(queue)
            stored = entry >> MOMENT_BITS
            found = take(entry & MOMENT, None)
            if found is None:
                continue
            node = found
        else:
            break
        if node.children is not None or node.locks:
            queued.pop(node.created, None)
            node.queued = False
            continue
        if score(node) != stored:
            if grows:  # its one entry was out of date
                tree.enqueue(node)
            continue
        parent = node.parent
        if parent is None or parent.children is None:
            raise BrokenInvariantError("a root or an evicted node cannot be evicted")
        del parent.children[node.head]
        if not grows:
            queued.pop(node.created, None)
        node.parent = None
        gone += len(node.key)
        removed += 1
        if not parent.children:
            parent.children = None
            tree.offer(parent)
        if victims is not None:
            victims.append(node)
    tree.size -= gone
    tree.evicted_size += gone
    tree.nodes -= removed
    return gone
