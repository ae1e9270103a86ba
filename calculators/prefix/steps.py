"""A scenario step by step: the tree after each operation, and why it is as it is.

Pure facts, ready to be drawn or told: what matched, where a node was split, who is locked, what
was evicted and with which score it stood first.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from calculators.prefix.invariants import BrokenInvariantError
from calculators.prefix.keys import Namespace, pack, unpack
from calculators.prefix.node import Node
from calculators.prefix.policies import LRU, Policy
from calculators.prefix.radix import RadixTree
from calculators.prefix.scenario import Operation, parse_scenario

type Words = tuple[str, ...]
type State = Literal["", "matched", "new", "split", "shortened", "evicted"]


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeView:
    """A node as it stands after a step. ``number`` stays with it; ``depth`` counts nodes.

    ``last_used`` is the step that last touched it (0: never), ``created`` the step that made it.
    ``state`` says what the step did to it: "new", "split" (the upper half), "shortened" (the lower
    half), "matched", "evicted" or nothing.
    """

    number: int
    parent: int | None
    depth: int
    words: Words
    namespace: str | None
    locks: int
    hits: int
    priority: int
    last_used: int
    created: int
    evictable: bool
    state: State


@dataclass(frozen=True, kw_only=True, slots=True)
class Split:
    """A node was cut: ``upper`` is what matched, ``lower`` what did not."""

    upper: Words
    lower: Words


@dataclass(frozen=True, kw_only=True, slots=True)
class Evicted:
    """A leaf that went, and why that one.

    ``path`` are all words from the root, ``own`` those of the leaf. It stood first among
    ``candidates`` unlocked leaves; ``last_used``, ``created``, ``hits`` and ``priority`` are what
    policies compare; ``runner_up`` would have gone next.
    """

    path: Words
    own: Words
    candidates: int
    last_used: int
    created: int
    hits: int
    priority: int
    runner_up: Words | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One operation and the tree after it; sizes in tokens.

    ``matched`` are the leading tokens that were there, ``added`` the new ones. ``asked`` is what
    an eviction should free; it may free more (whole leaves) or less (nothing left to take).
    ``drawn`` are ``nodes`` and, at their old places, those that the operation evicted.
    """

    operation: Operation
    matched: int = 0
    added: int = 0
    asked: int = 0
    split: Split | None = None
    evicted: tuple[Evicted, ...] = ()
    locks: tuple[str, ...] = ()
    nodes: tuple[NodeView, ...] = ()
    drawn: tuple[NodeView, ...] = ()
    total: int = 0
    evictable: int = 0
    protected: int = 0

    @property
    def freed(self) -> int:
        """Tokens that an eviction freed."""
        return sum(len(leaf.own) for leaf in self.evicted)


def play(text: str, *, page_size: int = 1, policy: Policy = LRU) -> tuple[Step, ...]:
    """Run a scenario. ParameterError names the line; then nothing at all has been run."""
    operations = parse_scenario(text)
    stage = Stage(page_size, policy)
    return tuple(stage.perform(operation) for operation in operations)


@dataclass
class Stage:
    """The tree with what the reader calls things."""

    page_size: int
    policy: Policy
    words: dict[str, int] = field(default_factory=dict)
    moments: list[int] = field(default_factory=list)
    locks: dict[str, Node] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tree = RadixTree(page_size=self.page_size, policy=self.policy)

    def perform(self, operation: Operation) -> Step:
        """Run one operation and describe it."""
        before = {node.created: len(node.key) for node in self.tree.walk()}
        earlier = tuple(self.views(before)) if operation.kind == "evict" else ()
        matched = added = 0
        evicted: tuple[Evicted, ...] = ()
        match operation.kind:
            case "insert":
                size = self.tree.total
                matched = self.insert(operation)
                added = self.tree.total - size
            case "unlock":
                self.tree.unlock(self.locks.pop(operation.name))
            case "evict":
                evicted = tuple(self.evict(operation.tokens))
            case _:
                matched = self.look_up(operation)
        self.moments.append(self.tree.clock + 2)
        nodes = tuple(self.views(before))
        return Step(
            operation=operation,
            matched=matched,
            added=added,
            asked=operation.tokens,
            split=self.split_since(before),
            evicted=evicted,
            locks=tuple(self.locks),
            nodes=nodes,
            drawn=with_evicted(earlier, nodes),
            total=self.tree.total,
            evictable=self.tree.evictable,
            protected=self.tree.protected,
        )

    def key(self, operation: Operation) -> bytes:
        """The tokens of an operation; a new word gets the next number."""
        return pack([self.words.setdefault(word, len(self.words)) for word in operation.words])

    def insert(self, operation: Operation) -> int:
        """Insert; what was there already."""
        space = Namespace(operation.namespace)
        return self.tree.insert(self.key(operation), space, priority=operation.priority).tokens

    def look_up(self, operation: Operation) -> int:
        """Match, and lock if the operation says so."""
        found = self.tree.match(self.key(operation), Namespace(operation.namespace))
        if operation.kind == "lock":
            self.tree.lock(found.node)
            self.locks[operation.name] = found.node
        return found.tokens

    def evict(self, tokens: int) -> Iterator[Evicted]:
        """Evict leaf by leaf until enough is gone."""
        freed = 0
        while freed < tokens:
            candidates = sorted(
                (node for node in self.tree.walk() if node.evictable), key=self.tree.score
            )
            if not candidates:
                return
            leaf, path = candidates[0], self.path(candidates[0])
            if self.tree.evict_leaf() is not leaf:
                raise BrokenInvariantError("the queue took another leaf than the lowest score")
            freed += len(leaf.key) // self.tree.width
            yield Evicted(
                path=path,
                own=self.spelled(leaf),
                candidates=len(candidates),
                last_used=self.step_of(leaf.last_access),
                created=self.step_of(leaf.created),
                hits=leaf.hits,
                priority=leaf.priority,
                runner_up=self.path(candidates[1]) if len(candidates) > 1 else None,
            )

    def spelled(self, node: Node) -> Words:
        """The words of a node."""
        names = list(self.words)
        return tuple(names[token] for token in unpack(bytes(node.key)))

    def path(self, node: Node) -> Words:
        """The words from the root to the end of a node."""
        above = self.path(node.parent) if node.parent is not None else ()
        return above + self.spelled(node)

    def step_of(self, moment: int) -> int:
        """The step of a logical moment, counted from 1."""
        return 1 + sum(moment > end for end in self.moments)

    def split_since(self, before: dict[int, int]) -> Split | None:
        """The cut that an operation made: a node that it shortened, and what is above it now."""
        for node in self.tree.walk():
            if len(node.key) < before.get(node.created, 0) and node.parent is not None:
                return Split(upper=self.spelled(node.parent), lower=self.spelled(node))
        return None

    def views(self, before: dict[int, int]) -> Iterator[NodeView]:
        """Every node, parents before children, siblings in order of creation."""
        for space, root in self.tree.roots.items():
            yield from self.views_below(root, None, 0, space.extra_key, before)

    def views_below(
        self,
        above: Node,
        parent: int | None,
        depth: int,
        namespace: str | None,
        before: dict[int, int],
    ) -> Iterator[NodeView]:
        """The nodes under one node."""
        children = sorted((above.children or {}).values(), key=lambda node: node.created)
        for node in children:
            yield NodeView(
                number=node.created,
                parent=parent,
                depth=depth,
                words=self.spelled(node),
                namespace=namespace,
                locks=node.locks,
                hits=node.hits,
                priority=node.priority,
                last_used=self.step_of(node.last_access),
                created=self.step_of(node.created),
                evictable=node.evictable,
                state=self.state(node, before),
            )
            yield from self.views_below(node, node.created, depth + 1, namespace, before)

    def state(self, node: Node, before: dict[int, int]) -> State:
        """What the last step did to a node."""
        if node.created not in before:
            return "split" if node.children else "new"
        if len(node.key) < before[node.created]:
            return "shortened"
        return "matched" if self.step_of(node.last_access) == len(self.moments) else ""


type Nodes = tuple[NodeView, ...]


def with_evicted(earlier: Nodes, nodes: Nodes) -> Nodes:
    """The nodes as they stand, and where an eviction took some, those among them as gone."""
    left = {node.number: node for node in nodes}
    return (
        tuple(
            left.get(node.number) or replace(node, state="evicted", evictable=False)
            for node in earlier
        )
        or nodes
    )
