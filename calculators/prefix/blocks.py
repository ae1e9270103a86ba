"""vLLM's block pool: reference counts, the free queue that is also the cache, duplicates.

Source: vLLM ``v1/core/block_pool.py`` at 002f349 and ``docs/design/prefix_caching.md`` at
01ff8bf; where freed blocks without a hash go, pull request 42656 (release 0.23). One group of
layers. Left out: sliding windows, hybrid groups, KV events, preemption.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence

from calculators.prefix.identity import Identity
from calculators.prefix.invariants import MisuseError, require
from calculators.prefix.limits import at_least


class BlockPool:
    """Blocks by number. The free queue holds never-used, evicted and cached free blocks alike.

    ``identities[b]`` is what a full block holds, None while it is not full or after eviction.
    ``cached`` maps an identity to the blocks that hold it, oldest first: two running requests
    may each hold a copy, and vLLM does not merge them. With ``unhashed_first`` a freed block that
    nobody can find goes to the head of the queue, as since 0.23.
    """

    def __init__(self, blocks: int, *, unhashed_first: bool = False) -> None:
        at_least("num_gpu_blocks", blocks, 1)
        self.references = [0] * blocks
        self.identities: list[Identity | None] = [None] * blocks
        self.free: OrderedDict[int, None] = OrderedDict.fromkeys(range(blocks))
        self.cached: dict[Identity, dict[int, None]] = {}
        self.evictions = 0
        self.unhashed_first = unhashed_first

    def find(self, identities: Iterable[Identity]) -> list[int]:
        """The blocks of the leading identities that are cached; stops at the first miss."""
        found = []
        for identity in identities:
            holders = self.cached.get(identity)
            if holders is None:
                break
            found.append(next(iter(holders)))
        return found

    def shortage(self, hits: Sequence[int], new: int) -> int:
        """How many blocks are lacking to hold ``hits`` and take ``new`` ones; 0 if none."""
        free = len(self.free) - sum(not self.references[block] for block in hits)
        return max(new - free, 0)

    def hold(self, hits: Sequence[int]) -> None:
        """Take a reference to each block; a free one leaves the queue, so nobody can evict it."""
        for block in hits:
            if not self.references[block]:
                del self.free[block]
            self.references[block] += 1

    def take(self, count: int) -> list[int]:
        """New blocks from the head of the queue; taking a cached one evicts it."""
        taken = []
        for _ in range(count):
            block, _ = self.free.popitem(last=False)
            self.forget(block)
            self.references[block] = 1
            taken.append(block)
        return taken

    def forget(self, block: int) -> None:
        """Drop what a block was cached as."""
        identity = self.identities[block]
        if identity is None:
            return
        self.identities[block] = None
        holders = self.cached[identity]
        del holders[block]
        if not holders:
            del self.cached[identity]
        self.evictions += 1

    def publish(self, blocks: Sequence[int], identities: Sequence[Identity]) -> None:
        """Make full blocks visible, also to requests of the same step."""
        for block, identity in zip(blocks, identities, strict=True):
            if self.identities[block] is None:
                self.identities[block] = identity
                self.cached.setdefault(identity, {})[block] = None

    def release(self, blocks: Sequence[int]) -> None:
        """Give up a request's blocks, last first, so that the end of a sequence goes first."""
        for block in reversed(blocks):
            if not self.references[block]:
                raise MisuseError(f"release of block {block}, which nobody holds")
            self.references[block] -= 1
            if not self.references[block]:
                self.free[block] = None
        if self.unhashed_first:
            self.prepend(block for block in blocks if self.identities[block] is None)

    def prepend(self, blocks: Iterable[int]) -> None:
        """Move free blocks to the head of the queue, so that the last of them is taken first."""
        for block in blocks:
            if block in self.free:
                self.free.move_to_end(block, last=False)

    @property
    def cached_blocks(self) -> int:
        """Blocks that hold something findable, copies counted."""
        return sum(identity is not None for identity in self.identities)

    def check(self) -> None:
        """Raise BrokenInvariantError if an invariant does not hold."""
        for block, count in enumerate(self.references):
            require(count >= 0, "a block was released too often")
            require((count == 0) == (block in self.free), "a block is free and held, or neither")
        require(len(self.free) <= len(self.references), "the queue holds unknown blocks")
        holders = {block: identity for identity, blocks in self.cached.items() for block in blocks}
        known = {b: i for b, i in enumerate(self.identities) if i is not None}
        require(holders == known, "the table of identities and the blocks disagree")
        require(all(self.cached.values()), "an identity has no block")
