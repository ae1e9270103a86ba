"""Where blocks lie: a tier's blocks in eviction order, with a capacity.

The blocks of a request are used last to first, as vLLM frees them and LMCache touches them, so
that the end of a prefix goes before its head.
"""

from collections.abc import Sequence
from heapq import heappop, heappush

from calculators.form.errors import ParameterError, excerpt
from calculators.prefix.block_policies import FrequencyCache, RecencyCache
from calculators.prefix.invariants import require

POLICIES = ("lru", "fifo", "lfu")


class Place(RecencyCache):
    """LRU, or with ``refresh`` off FIFO, a whole request at a time."""

    def use(self, blocks: Sequence[int]) -> tuple[int, list[int]]:
        """Use what is there and put in the rest, last to first: (put in, evicted).

        What is too much goes afterwards, the oldest first; a request that is larger than the
        place loses its own end.
        """
        if not blocks:
            return 0, []
        cache, move = self.blocks, self.blocks.move_to_end
        before = len(cache)
        if self.refresh:
            for block in reversed(blocks):
                if block in cache:
                    move(block)
                else:
                    cache[block] = 0
        else:
            for block in reversed(blocks):
                cache.setdefault(block, 0)
        held = len(cache)
        if self.capacity is None or held <= self.capacity:
            return held - before, []
        take = cache.popitem
        gone = [take(False)[0] for _ in range(held - self.capacity)]  # noqa: FBT003 - faster
        self.evictions += len(gone)
        return held - before, gone


class CountedPlace(FrequencyCache):
    """LFU: the block used least often goes first, of equal ones the longest unused."""

    def __init__(self, capacity: int | None) -> None:
        super().__init__(capacity, length_aware=False)
        self.gone: list[int] = []

    def use(self, blocks: Sequence[int]) -> tuple[int, list[int]]:
        """As :meth:`Place.use`, but room is made before a block comes, never for itself."""
        cache = self.blocks
        new = [block for block in blocks if block not in cache]
        self.gone = []
        self.touch([block for block in reversed(blocks) if block in cache])
        self.touch(reversed(new))
        return len(new), self.gone

    def evict(self) -> None:
        """The parent's rule, with a note of what went."""
        while True:
            stored, block = heappop(self.queue)
            score = self.blocks[block]
            if stored == score:
                del self.blocks[block]
                self.evictions += 1
                self.gone.append(block)
                return
            heappush(self.queue, (score, block))


type AnyPlace = Place | CountedPlace


def place(policy: str, capacity: int | None) -> AnyPlace:
    """An empty place; ParameterError for a policy that is none and for a capacity below 1."""
    match policy:
        case "lru" | "fifo":
            return Place(capacity, refresh=policy == "lru")
        case "lfu":
            return CountedPlace(capacity)
    options = ", ".join(POLICIES)
    raise ParameterError("policy", "not_an_option", text=excerpt(policy), options=options)


def check(of: AnyPlace) -> None:
    """Raise BrokenInvariantError where a place holds more than fits."""
    require(of.capacity is None or len(of.blocks) <= of.capacity, "a tier is overfull")
