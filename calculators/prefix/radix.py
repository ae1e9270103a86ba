"""SGLang's radix tree over token ids: match, split, insert, lock, evict; logical time only.

Semantics are those of ``RadixCache`` in SGLang 0.5.23 (``mem_cache/radix_cache.py``): a lookup
refreshes what it passes and splits the node in which it ends, only whole unlocked leaves are
evicted, lowest score first. ``partial_refresh=False`` gives mini-sglang's tree instead (commit
20fcd7f): a match that ends inside a node refreshes neither half.

Left out: the KV indices themselves, page hashes and events, host tiers (HiCache), windows.

Lengths inside are in key elements: ``width`` elements a token (4 for packed bytes, 8 for packed
pairs, 1 for plain lists). What the public names return is in tokens.
"""

from collections.abc import Iterator
from heapq import heapify, heappop, heappush, heapreplace
from typing import Any

from calculators.form.errors import ParameterError
from calculators.prefix.invariants import BrokenInvariantError
from calculators.prefix.keys import NO_NAMESPACE, TOKEN_BYTES, Key, Namespace, shared_length
from calculators.prefix.node import Match, Node, head_of, raise_history
from calculators.prefix.policies import LRU, Policy
from calculators.prefix.radix_check import check

TICKS = 3  # moments of an operation: its walk, the upper half of its split, its new leaf
FEWEST_ENTRIES = 64


class RadixTree:
    """The tree of all namespaces; they share its capacity but no node.

    ``evicted`` and ``refused`` count tokens evicted and requests that did not fit, since the
    tree was made.
    """

    def __init__(
        self,
        *,
        page_size: int = 1,
        policy: Policy = LRU,
        width: int = TOKEN_BYTES,
        partial_refresh: bool = True,
    ) -> None:
        if page_size < 1:
            raise ParameterError("page_size", "too_small", text=str(page_size), minimum=1)
        self.page_size = page_size
        self.policy = policy
        self.width = width
        self.partial_refresh = partial_refresh
        self.unit = page_size * width
        self.head = head_of(self.unit, width)
        self.roots: dict[Namespace, Node] = {}
        self.queue: list[tuple[Any, int, Node]] = []
        self.clock = 0
        self.ticks = TICKS
        self.size = self.locked_size = self.nodes = 0
        self.evicted = self.refused = 0

    @property
    def total(self) -> int:
        """Tokens in the tree; always ``evictable + protected``."""
        return self.size // self.width

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

    def insert_below(
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
            raise ParameterError("lock", "not_locked")
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
            raise ParameterError("tokens", "more_than_evictable", maximum=self.evictable)
        return self.make_room(tokens * self.width) // self.width

    def make_room(self, amount: int) -> int:
        """As ``evict``, in elements."""
        gone = 0
        while gone < amount and (victim := self.evict_leaf()) is not None:
            gone += len(victim.key)
        return gone

    def evict_leaf(self) -> Node | None:
        """Evict the candidate with the lowest score; None if there is no candidate."""
        queue, score, grows = self.queue, self.policy.score, self.policy.grows
        while queue:
            stored, _, node = queue[0]
            if node.children is None and not node.locks and node.parent is not None:
                actual = score(node)
                if stored == actual:
                    heappop(queue)
                    self.remove(node)
                    return node
                if grows:  # its one entry is out of date: put it where it belongs now
                    heapreplace(queue, (actual, node.created, node))
                    continue
            heappop(queue)
            node.queued = False
        return None

    def serve(
        self,
        key: Key,
        usable: int,
        capacity: int,
        namespace: Namespace = NO_NAMESPACE,
    ) -> int:
        """One request at zero service time: match, lock, evict, insert, unlock, in one walk.

        Takes and returns elements, in whole pages: the first ``usable`` may be reused, all of
        ``key`` is stored, and never more than ``capacity`` are held. Returns what was reused. The
        tree afterwards is the one that the five calls leave (a test compares them). What the walk
        passed is locked until the end, so nobody sees that it is refreshed once and not twice.
        """
        # One function, longer than others here: calls would take a third of its time.
        self.clock = now = self.clock + 2 * TICKS
        head = self.head
        node = self.roots.get(namespace) or self.root(namespace)
        at = 0
        while at < usable and node.children is not None:
            child = node.children.get(head(key, at))
            if child is None:
                break
            span = child.key
            end = at + len(span)
            if end <= usable and key[at:end] == span:
                node, at = child, end
            else:
                node, at = self.enter(child, key, at, usable, now)
            node.last_access = now + TICKS
            node.hits += 1
        reused = at
        fresh = len(key) - at
        excess = self.size + fresh - capacity
        if fresh and excess > 0:
            node.locks += 1
            excess -= self.make_room(excess)
            node.locks -= 1
        if fresh and excess > 0:
            self.refused += 1
        elif fresh and node.children is None:
            node = self.add_leaf(node, key[at:], now + TICKS + 2)
            node.hits = 1
        elif fresh:
            node = self.insert_below(node, key, at, now + TICKS, 0, 0).node
        self.offer(node)
        return reused

    def tick(self) -> int:
        """The moment of a new operation; its split and its leaf come one and two later."""
        self.clock += TICKS
        return self.clock

    def root(self, namespace: Namespace) -> Node:
        """The root of a namespace: empty, always locked, never evicted."""
        found = self.roots.get(namespace)
        if found is None:
            found = self.roots[namespace] = Node(b"" if self.width > 1 else [], None, 0, 0)
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
        upper = Node(child.key[:length], parent, child.depth, now)
        upper.depth -= (len(child.key) - length) // self.width
        upper.history, upper.hits = child.history, child.hits
        upper.locks, upper.priority = child.locks, child.priority
        if not self.partial_refresh:
            upper.last_access = child.last_access
        child.key = child.key[length:]
        child.parent = upper
        upper.children = {self.head(child.key, 0): child}
        parent.children[self.head(upper.key, 0)] = upper
        self.nodes += 1
        if not self.policy.grows:
            self.offer(child)
        return upper

    def add_leaf(self, parent: Node, key: Key, now: int) -> Node:
        """Hang a new leaf under a node."""
        leaf = Node(key, parent, parent.depth + len(key) // self.width, now)
        if parent.children is None:
            parent.children = {}
        parent.children[self.head(key, 0)] = leaf
        self.nodes += 1
        self.size += len(key)
        if self.policy.history:
            raise_history(leaf)
        self.offer(leaf)
        return leaf

    def remove(self, leaf: Node) -> None:
        """Take an unlocked leaf out; its parent may become a candidate."""
        parent = leaf.parent
        if parent is None or parent.children is None:
            raise BrokenInvariantError("a root or an evicted node cannot be evicted")
        del parent.children[self.head(leaf.key, 0)]
        leaf.parent = None
        leaf.queued = False
        self.nodes -= 1
        self.size -= len(leaf.key)
        self.evicted += len(leaf.key) // self.width
        if not parent.children:
            parent.children = None
            self.offer(parent)

    def offer(self, node: Node) -> None:
        """Queue a node if it is a candidate; under a growing score at most once."""
        if node.children is None and not node.locks and not node.queued:
            grows = self.policy.grows
            node.queued = grows
            heappush(self.queue, (self.policy.score(node), node.created, node))
            if not grows and len(self.queue) > 2 * self.nodes + FEWEST_ENTRIES:
                self.rebuild_queue()

    def rebuild_queue(self) -> None:
        """Drop the entries that newer ones have replaced."""
        leaves = [node for node in self.walk() if node.evictable]
        self.queue = [(self.policy.score(node), node.created, node) for node in leaves]
        heapify(self.queue)

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
