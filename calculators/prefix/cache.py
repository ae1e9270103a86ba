"""The small interface that both engines' caches stand behind, and SGLang's side of it.

A request begins (look up, protect what was found, make room for the rest) and later finishes
(store what it computed, let go). Between the two other requests come and go. Left out: chunked
prefill, preemption, the scheduler's order.
"""

from dataclasses import dataclass
from typing import Protocol

from calculators.prefix.invariants import MisuseError
from calculators.prefix.keys import NO_NAMESPACE, TOKEN_BYTES, Namespace
from calculators.prefix.limits import at_least
from calculators.prefix.node import Node
from calculators.prefix.policies import LRU, Policy
from calculators.prefix.radix import RadixTree


@dataclass(frozen=True, kw_only=True, slots=True)
class Image:
    """A multimodal item: its placeholder tokens ``start`` up to ``start + length``."""

    identity: str
    start: int
    length: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """What a request brings: packed tokens, its namespace, its images."""

    tokens: bytes
    namespace: Namespace = NO_NAMESPACE
    images: tuple[Image, ...] = ()

    def __len__(self) -> int:
        return len(self.tokens) // TOKEN_BYTES


@dataclass(frozen=True, kw_only=True, slots=True)
class Sizes:
    """A pool in tokens. ``evictable`` is cached and held by nobody: it is free memory with a past.

    ``free`` was never used or was evicted; ``protected`` is held by running requests.
    """

    capacity: int
    free: int
    evictable: int
    protected: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Lease:
    """What a running request holds: ``reused`` tokens were found, ``evicted`` had to go."""

    prompt: Prompt
    reused: int
    evicted: int
    held: Node | tuple[int, ...]


class PrefixCache(Protocol):
    """A prefix cache with a fixed capacity in tokens."""

    def lookup(self, prompt: Prompt) -> int:
        """Tokens that a request would reuse now. SGLang's lookup refreshes what it passes."""

    def begin(self, prompt: Prompt) -> Lease | None:
        """Start a request; None, with nothing changed but recency, if it does not fit now."""

    def finish(self, lease: Lease, output: bytes = b"") -> None:
        """End a request that has generated ``output``; its prefix stays, evictable."""

    def sizes(self) -> Sizes:
        """The state of the pool."""

    def check(self) -> None:
        """Raise BrokenInvariantError if an invariant does not hold."""


class SglangCache:
    """SGLang's tree with a pool: what requests in flight computed is held beside the tree."""

    def __init__(self, capacity: int, *, page_size: int = 1, policy: Policy = LRU) -> None:
        at_least("capacity", capacity, page_size)
        self.tree = RadixTree(page_size=page_size, policy=policy)
        self.capacity = capacity
        self.in_flight = 0

    def lookup(self, prompt: Prompt) -> int:
        """At most all but the last token, in whole pages."""
        return self.tree.match(prompt.tokens[:-TOKEN_BYTES], prompt.namespace).tokens

    def begin(self, prompt: Prompt) -> Lease | None:
        """Match, lock, evict what is short."""
        tree = self.tree
        match = tree.match(prompt.tokens[:-TOKEN_BYTES], prompt.namespace)
        tree.lock(match.node)
        needed = self.paged(len(prompt)) - match.tokens
        short = tree.total + self.in_flight + needed - self.capacity
        if short > tree.evictable:
            tree.unlock(match.node)
            return None
        evicted = tree.evict(short) if short > 0 else 0
        self.in_flight += needed
        return Lease(prompt=prompt, reused=match.tokens, evicted=evicted, held=match.node)

    def finish(self, lease: Lease, output: bytes = b"") -> None:
        """Insert prompt and output in whole pages, drop the duplicates, unlock."""
        if not isinstance(lease.held, Node):
            raise MisuseError("a lease of another cache")
        self.in_flight -= self.paged(len(lease.prompt)) - lease.reused
        self.tree.insert(lease.prompt.tokens + output, lease.prompt.namespace)
        self.tree.unlock(lease.held)

    def paged(self, tokens: int) -> int:
        """Tokens in whole pages, as the pool hands them out."""
        return -(-tokens // self.tree.page_size) * self.tree.page_size

    def sizes(self) -> Sizes:
        """The pool; what is being computed counts as protected."""
        tree = self.tree
        return Sizes(
            capacity=self.capacity,
            free=self.capacity - tree.total - self.in_flight,
            evictable=tree.evictable,
            protected=tree.protected + self.in_flight,
        )

    def check(self) -> None:
        """The tree's invariants."""
        self.tree.check()
