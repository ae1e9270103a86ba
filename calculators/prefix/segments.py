"""A trace compressed to runs of blocks that always come together, for sweeps in one pass.

In the tree of all requests, cut at every branch and every end, each request is a path of whole
runs, so all blocks of a run have one history: 288,500 block visits of a chat trace become some
60,000 visits of runs, whatever the capacity.
"""

from dataclasses import dataclass

from calculators.prefix.keys import TOKEN_BYTES, Key
from calculators.prefix.node import Node
from calculators.prefix.radix import RadixTree
from calculators.prefix.radix_serve import serve_all
from calculators.prefix.replay import UNLIMITED
from calculators.prefix.trace import Trace


@dataclass(frozen=True, slots=True)
class Segments:
    """``sizes`` in blocks (tokens of a token trace); ``paths`` are the runs of each request."""

    sizes: tuple[int, ...]
    paths: tuple[tuple[int, ...], ...]

    @property
    def unique(self) -> int:
        """Different blocks in all."""
        return sum(self.sizes)


def segments_of(trace: Trace, *, page_size: int = 1, partial: bool = True) -> Segments:
    """The runs of a trace, in whole pages."""
    tree = RadixTree(page_size=page_size)
    visits = trace.visits(page_size=page_size, keep_last=True, partial=partial)
    serve_all(tree, visits, UNLIMITED)
    numbers: dict[int, int] = {}
    sizes: list[int] = []
    paths = []
    for key, _, namespace in visits:
        path = []
        for node in path_of(tree, tree.root(namespace), key):
            number = numbers.setdefault(node.created, len(numbers))
            if number == len(sizes):
                sizes.append(len(node.key) // TOKEN_BYTES)
            path.append(number)
        paths.append(tuple(path))
    return Segments(tuple(sizes), tuple(paths))


def path_of(tree: RadixTree, node: Node, key: Key) -> list[Node]:
    """The nodes that a stored key consists of."""
    path = []
    at = 0
    while at < len(key):
        child = tree.child(node, key, at)
        if child is None:
            break
        path.append(child)
        node, at = child, child.depth
    return path
