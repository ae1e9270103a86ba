"""What a block of vLLM's pool holds, and how it stands after a step of a script."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from calculators.prefix.cache import Prompt
from calculators.prefix.identity import Identity
from calculators.prefix.invariants import BrokenInvariantError

type BlockState = Literal["", "matched", "new", "grown", "released", "evicted"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """What a block holds. ``stamp`` is its own for ever, the number is used again.

    ``identity`` is None while the block is not full; ``parent`` is the identity of the block before
    it, None at the start of a prompt, and ``before`` the stamp of that block for the request that
    wrote this one. ``extra`` are adapter and salt as they stand in the hash.
    """

    stamp: int
    number: int
    words: tuple[str, ...]
    extra: tuple[str, ...]
    identity: Identity | None
    parent: Identity | None
    before: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockView:
    """A block with content after a step; ``above`` is the place of its parent in the sequence.

    ``place`` counts from 1 at the head of the free queue and is None for a block that is held.
    ``state`` says what the step did: "matched", "new", "grown" (tokens were added), "released", or
    "evicted", which is what a block held that has other content now.
    """

    content: Content
    above: int | None
    references: int
    place: int | None
    state: BlockState

    @property
    def cached(self) -> bool:
        """Whether a lookup can find it."""
        return self.content.identity is not None and self.state != "evicted"


def parent_of(content: Content, live: Sequence[Content], left: Sequence[Content]) -> int | None:
    """The stamp of the block with the hash before: its own neighbour if it is there, else a copy.

    A block is freed after those behind it and held as long as one of them, so it outlives them.
    """
    if content.parent is None:
        return None
    for group in (live, left):
        holders = [other.stamp for other in group if other.identity == content.parent]
        if holders:
            return content.before if content.before in holders else holders[0]
    raise BrokenInvariantError("a block outlived the one before it")


def extra_of(prompt: Prompt, *, first: bool) -> tuple[str, ...]:
    """Extra keys as a reader writes them: the adapter in every block, the salt in the first."""
    adapter, salt = prompt.namespace
    return (
        *(() if adapter is None else (f"@{adapter}",)),
        *(() if salt is None or not first else (f"salt={salt}",)),
    )
