"""SGLang's radix tree over token ids: match, split, insert, lock, evict; logical time only.

Semantics are those of ``RadixCache`` in SGLang 0.5.23 (``mem_cache/radix_cache.py``): a lookup
refreshes what it passes and splits the node in which it ends, only whole unlocked leaves are
evicted, lowest score first. ``partial_refresh=False`` gives mini-sglang's tree instead (commit
20fcd7f): a match that ends inside a node refreshes neither half.

Left out: the KV indices themselves, page hashes and events, host tiers (HiCache), windows.

Lengths inside are in key elements: ``width`` elements a token (4 for packed bytes, 8 for packed
pairs, 1 for plain lists). What the public names return is in tokens.
"""

from collections import deque
from collections.abc import Iterator
from heapq import heappush

from calculators.prefix.invariants import BrokenInvariantError, MisuseError
from calculators.prefix.keys import NO_NAMESPACE, TOKEN_BYTES, Key, Namespace, cut, shared_length
from calculators.prefix.limits import at_least
from calculators.prefix.node import (
    MOMENT_BITS,
    Match,
    Node,
    agreement,
    head_of,
    raise_history,
)
from calculators.prefix.policies import LRU, Policy
from calculators.prefix.radix_check import check
from calculators.prefix.radix_evict import make_room
from calculators.prefix.radix_serve import TICKS, serve_all

FEWEST_ENTRIES = 64


class RadixTree:
    """The tree of all namespaces; they share its capacity but no node.

    ``refused`` counts the requests that did not fit, since the tree was made.
    """

    def __init__(
        self,
        *,
        page_size: int = 1,
        policy: Policy = LRU,
        width: int = TOKEN_BYTES,
        partial_refresh: bool = True,
    ) -> None:
        at_least("page_size", page_size, 1)
        self.page_size = page_size
        self.policy = policy
        self.score = policy.score_in(width)
        self.width = width
        self.partial_refresh = partial_refresh
        self.unit = page_size * width
        self.head = head_of(self.unit, width)
        self.agrees = agreement(width)
        self.roots: dict[Namespace, Node] = {}
        self.queue: list[int] = []
        self.fresh: deque[Node] = deque()
        self.queued: dict[int, Node] = {}
        self.clock = 0
        self.size = self.locked_size = self.nodes = 0
        self.evicted_size = self.refused = 0

    @property
    def total(self) -> int:
        """Tokens in the tree; always ``evictable + protected``."""
        return self.size // self.width

    @property
    def evicted(self) -> int:
        """Tokens evicted since the tree was made."""
        return self.evicted_size // self.width

    @property
    def protected(self) -> int:
        """Tokens in locked nodes."""
        return self.locked_size // self.width

    @property
    def evictable(self) -> int:
        """Tokens in nodes that no request holds, whether or not they can go right now."""
        return (self.size - self.locked_size) // self.width

    def aligned(self, length: int) -> int:
        """A length in elements, cut to whole pages."""
        return length - length % self.unit

    def match(self, key: Key, namespace: Namespace = NO_NAMESPACE) -> Match:
        """The longest cached prefix in whole pages. Refreshes the path and may split its end."""
        root = self.root(namespace)
        end = self.aligned(len(key))
        if not end:
            return Match(0, root)
        now = self.tick()
        node, at = root, 0
        while at < end and (child := self.child(node, key, at)) is not None:
            node, at = self.enter(child, key, at, end, now)
        return Match(at // self.width, node)

    def insert(
        self,
        key: Key,
        namespace: Namespace = NO_NAMESPACE,
        *,
        priority: int = 0,
        inserted: int = 0,
    ) -> Match:
        """Add a key in whole pages; the match says how much of it was there already.

        The part that is new becomes one leaf. ``inserted`` tokens were added by the same request
        before (an earlier chunk of its prefill) and raise no hit count again.
        """
        return self.insert_below(
            self.root(namespace), key, 0, self.tick(), priority, inserted * self.width
        )

    def insert_below(  # noqa: PLR0913, PLR0917 # the state of a walk
        self, node: Node, key: Key, at: int, now: int, priority: int, inserted: int
    ) -> Match:
        """Add ``key[at:]`` under a node that stands for ``key[:at]``; see ``insert``."""
        end = self.aligned(len(key))
        while at < end and (child := self.child(node, key, at)) is not None:
            node, at = self.enter(child, key, at, end, now)
            node.hits += at > inserted
            node.priority = max(node.priority, priority)
        present = at // self.width
        if at < end:
            node = self.add_leaf(node, key[at:end], now + 2)
            node.hits = int(end > inserted)
            node.priority = priority
            self.enqueue(node)
        return Match(present, node)

    def lock(self, node: Node) -> int:
        """Protect a node and its ancestors; the change of ``evictable`` in tokens (≤ 0)."""
        before = self.locked_size
        while node.parent is not None:
            if not node.locks:
                self.locked_size += len(node.key)
            node.locks += 1
            node = node.parent
        return (before - self.locked_size) // self.width

    def unlock(self, node: Node) -> int:
        """Undo one ``lock``; the change of ``evictable`` in tokens (≥ 0)."""
        if not node.locks:
            raise MisuseError("unlock of a node that is not locked")
        before = self.locked_size
        while node.parent is not None:
            node.locks -= 1
            if not node.locks:
                self.locked_size -= len(node.key)
                self.offer(node)
            node = node.parent
        return (before - self.locked_size) // self.width

    def evict(self, tokens: int) -> int:
        """Evict leaves until at least ``tokens`` are gone; how many went, more or fewer."""
        if not self.partial_refresh and tokens > self.evictable:
            raise MisuseError(f"only {self.evictable} tokens are evictable")
        return make_room(self, tokens * self.width) // self.width

    def evict_leaf(self) -> Node | None:
        """Evict the candidate with the lowest score; None if there is no candidate."""
        victims: list[Node] = []
        make_room(self, 1, victims)
        return victims[0] if victims else None

    def serve(
        self, key: Key, usable: int, capacity: int, namespace: Namespace = NO_NAMESPACE
    ) -> int:
        """One request at zero service time; see ``serve_all``."""
        return serve_all(self, [(key, usable, namespace)], capacity)[0]

    def tick(self) -> int:
        """The moment of a new operation; its split and its leaf come one and two later."""
        self.clock += TICKS
        return self.clock

    def root(self, namespace: Namespace) -> Node:
        """The root of a namespace: empty, always locked, never evicted."""
        found = self.roots.get(namespace)
        if found is None:
            found = self.roots[namespace] = Node(b"" if self.width > 1 else [], None, None, 0, 0)
            found.locks = 1
        return found

    def child(self, node: Node, key: Key, at: int) -> Node | None:
        """The child that begins with the page at ``at``."""
        return None if node.children is None else node.children.get(self.head(key, at))

    def enter(self, child: Node, key: Key, at: int, end: int, now: int) -> tuple[Node, int]:
        """Walk into a child as far as it agrees with ``key[at:end]``; split it where it parts."""
        shared = shared_length(child.key, key, at, end, self.unit)
        if shared == len(child.key) or self.partial_refresh:
            child.last_access = now
        if shared < len(child.key):
            child = self.split(child, shared, now + 1)
        elif not self.policy.grows:
            self.offer(child)
        return child, at + shared

    def split(self, child: Node, length: int, now: int) -> Node:
        """Put a new node over ``child`` that takes its first ``length`` elements."""
        parent = child.parent
        if parent is None or parent.children is None:
            raise BrokenInvariantError("a root or an evicted node cannot be split")
        upper_key, lower_key = cut(child.key, length)
        upper = Node(upper_key, child.head, parent, child.depth, now)
        upper.depth -= len(lower_key)
        upper.history, upper.hits = child.history, child.hits
        upper.locks, upper.priority = child.locks, child.priority
        if not self.partial_refresh:
            upper.last_access = child.last_access
        child.key = lower_key
        child.head = self.head(child.key, 0)
        child.parent = upper
        upper.children = {child.head: child}
        parent.children[upper.head] = upper
        self.nodes += 1
        if not self.policy.grows:
            self.offer(child)
        return upper

    def add_leaf(self, parent: Node, key: Key, now: int) -> Node:
        """Hang a new leaf under a node; the caller queues it, once its score is known."""
        head = self.head(key, 0)
        leaf = Node(key, head, parent, parent.depth + len(key), now)
        if parent.children is None:
            parent.children = {head: leaf}
        else:
            parent.children[head] = leaf
        self.nodes += 1
        self.size += len(key)
        if self.policy.beyond is not None:
            raise_history(leaf)
        return leaf

    def offer(self, node: Node) -> None:
        """Queue a node if it is a candidate; under a growing score at most once."""
        if node.children is None and not node.locks:
            if not self.policy.grows:
                self.enqueue(node)
                if len(self.queue) > 2 * len(self.queued) + FEWEST_ENTRIES:
                    self.rebuild_queue()
            elif not node.queued:
                self.enqueue(node)

    def enqueue(self, node: Node) -> None:
        """Add an entry: the score above, the node's moment of creation below, in one integer."""
        node.stored = self.score(node)
        node.queued = True
        self.queued[node.created] = node
        heappush(self.queue, node.stored << MOMENT_BITS | node.created)

    def rebuild_queue(self) -> None:
        """Drop the entries that newer ones have replaced."""
        self.queue.clear()
        self.queued.clear()
        for node in self.walk():
            if node.evictable:
                self.enqueue(node)

    def check(self) -> None:
        """Raise BrokenInvariantError if an invariant does not hold."""
        check(self)

    def walk(self) -> Iterator[Node]:
        """Every node except the roots, parents first."""
        stack = list(self.roots.values())
        while stack:
            children = list((stack.pop().children or {}).values())
            yield from children
            stack += children
