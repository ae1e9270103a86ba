"""vLLM's prefix cache as an engine uses it, and a trace through it.

Source: vLLM ``v1/core/kv_cache_manager.py`` at 003df29.
"""

from calculators.prefix.blocks import BlockPool
from calculators.prefix.cache import Lease, Prompt, Sizes
from calculators.prefix.identity import block_identities
from calculators.prefix.invariants import MisuseError
from calculators.prefix.limits import at_least
from calculators.prefix.node import Node

BLOCK_SIZE = 16


class VllmCache:
    """Full blocks with chained identities; at least one token of a prompt is computed."""

    def __init__(
        self, num_gpu_blocks: int, *, block_size: int = BLOCK_SIZE, unhashed_first: bool = False
    ) -> None:
        at_least("block_size", block_size, 1)
        self.pool = BlockPool(num_gpu_blocks, unhashed_first=unhashed_first)
        self.block_size = block_size

    def hits(self, prompt: Prompt) -> list[int]:
        """The blocks that a lookup finds, short of the block of the last token."""
        usable = max(len(prompt) - 1, 0) // self.block_size
        return self.pool.find(list(block_identities(prompt, self.block_size))[:usable])

    def lookup(self, prompt: Prompt) -> int:
        """Tokens found, in whole blocks; changes nothing."""
        return len(self.hits(prompt)) * self.block_size

    def begin(self, prompt: Prompt) -> Lease | None:
        """Hold the hits, take new blocks for the rest, publish the full ones."""
        hits = self.hits(prompt)
        new = -(-len(prompt) // self.block_size) - len(hits)
        if self.pool.shortage(hits, new):
            return None
        evictions = self.pool.evictions
        self.pool.hold(hits)
        blocks = hits + self.pool.take(new)
        self.publish(prompt, blocks)
        return Lease(
            prompt=prompt,
            reused=len(hits) * self.block_size,
            evicted=(self.pool.evictions - evictions) * self.block_size,
            held=tuple(blocks),
        )

    def publish(self, prompt: Prompt, blocks: list[int]) -> None:
        """Make the full blocks of a sequence findable."""
        identities = list(block_identities(prompt, self.block_size))
        self.pool.publish(blocks[: len(identities)], identities)

    def grow(self, lease: Lease, output: bytes) -> Lease | None:
        """A lease on the prompt with ``output`` after it; None if no block is left for it."""
        longer = Prompt(
            tokens=lease.prompt.tokens + output,
            namespace=lease.prompt.namespace,
            images=lease.prompt.images,
        )
        blocks = self.blocks_of(lease)
        new = -(-len(longer) // self.block_size) - len(blocks)
        if self.pool.shortage((), new):
            return None
        evictions = self.pool.evictions
        blocks += self.pool.take(new)
        self.publish(longer, blocks)
        evicted = (self.pool.evictions - evictions) * self.block_size
        return Lease(
            prompt=longer, reused=lease.reused, evicted=lease.evicted + evicted, held=tuple(blocks)
        )

    def finish(self, lease: Lease, output: bytes = b"") -> None:
        """Store the output as far as blocks are left for it, then free everything, last first."""
        grown = self.grow(lease, output) if output else lease
        self.pool.release(self.blocks_of(grown or lease))

    @staticmethod
    def blocks_of(lease: Lease) -> list[int]:
        """The blocks of a lease of this cache."""
        if isinstance(lease.held, Node):
            raise MisuseError("a lease of another cache")
        return list(lease.held)

    def sizes(self) -> Sizes:
        """The pool in tokens."""
        pool = self.pool
        evictable = sum(pool.identities[block] is not None for block in pool.free)
        return Sizes(
            capacity=len(pool.references) * self.block_size,
            free=(len(pool.free) - evictable) * self.block_size,
            evictable=evictable * self.block_size,
            protected=(len(pool.references) - len(pool.free)) * self.block_size,
        )

    def check(self) -> None:
        """The pool's invariants."""
        self.pool.check()
