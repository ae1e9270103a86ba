"""A node of the radix tree, and what a lookup finds."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from operator import getitem

from calculators.prefix.keys import Key, goes_on

MOMENT_BITS = 40  # of logical time: enough for 10^11 operations
MOMENT = (1 << MOMENT_BITS) - 1

type Head = Callable[[Key, int], Hashable]
"""The first page of a key at a place, as a dictionary key."""

type Agreement = Callable[[Key, Key, int], bool]
"""Whether a key holds the whole span at a place."""


class Node:
    """A run of tokens below its parent. ``depth`` and ``history`` are in key elements.

    ``children`` is None for a leaf: most nodes are leaves, and an empty dict is not free.
    ``parent`` is None for a root and for a node that was evicted. ``head`` is the first page, by
    which the parent holds the node. ``created`` is a moment that no other node shares. While
    ``queued``, the eviction queue holds the node under the score ``stored``. ``history`` is the
    largest depth that a branch through the node ever had.
    """

    __slots__ = (
        "children",
        "created",
        "depth",
        "head",
        "history",
        "hits",
        "key",
        "last_access",
        "locks",
        "parent",
        "priority",
        "queued",
        "stored",
    )

    def __init__(
        self, key: Key, head: Hashable, parent: "Node | None", depth: int, now: int
    ) -> None:
        self.key = key
        self.head = head
        self.parent = parent
        self.depth = self.history = depth
        self.last_access = self.created = now
        self.children: dict[Hashable, Node] | None = None
        self.hits = self.locks = self.priority = 0
        self.stored = 0
        self.queued = False

    @property
    def evictable(self) -> bool:
        """Whether the node may go now: an unlocked leaf that is still in its tree."""
        return self.children is None and not self.locks and self.parent is not None


@dataclass(frozen=True, slots=True)
class Match:
    """How many leading tokens are cached and the node in which they end."""

    tokens: int
    node: Node


def head_of(unit: int, width: int) -> Head:
    """The head function for pages of ``unit`` elements, ``width`` elements a token."""
    if width > 1:
        return lambda key, at: key[at : at + unit]  # type: ignore[return-value] # bytes here
    if unit == 1:
        return getitem
    return lambda key, at: tuple(key[at : at + unit])


def agreement(width: int) -> Agreement:
    """The function that says whether a key goes on with a span at a place."""
    if width > 1:
        return bytes.startswith  # type: ignore[return-value] # packed keys are bytes
    return goes_on  # type: ignore[return-value] # and lists here


def raise_history(leaf: Node) -> None:
    """Tell the ancestors of a new leaf how deep their branch has become."""
    node = leaf.parent
    while node is not None and node.history < leaf.depth:
        node.history = leaf.depth
        node = node.parent
