"""Where blocks lie: a tier's blocks in eviction order, with a capacity.

The blocks of a request are used last to first, as vLLM frees them and LMCache touches them, so
that the end of a prefix goes before its head.
"""

from collections import deque
from collections.abc import Sequence
from heapq import heappop, heappush

from calculators.form.errors import ParameterError, excerpt
from calculators.prefix.block_policies import FrequencyCache
from calculators.prefix.invariants import require
from calculators.prefix.limits import at_least

POLICIES = ("lru", "fifo", "lfu")


class Place:
    """LRU, or with ``refresh`` off FIFO, a whole request at a time.

    ``blocks`` has the use that placed each block, ``queue`` the blocks that each use placed, the
    first to go last. A use that a later one has overtaken stays in the queue until its turn: so
    dictionaries and lists work on whole requests, which an ordered dictionary cannot.
    """

    def __init__(self, capacity: int | None, *, refresh: bool) -> None:
        if capacity is not None:
            at_least("capacity", capacity, 1)
        self.capacity = capacity
        self.refresh = refresh
        self.blocks: dict[int, int] = {}
        self.queue: deque[tuple[int, list[int]]] = deque()
        self.uses = 0

    def use(self, blocks: Sequence[int]) -> tuple[int, list[int]]:
        """Use what is there and put in the rest, last to first: (put in, evicted).

        What is too much goes afterwards, the oldest first; a request that is larger than the
        place loses its own end.
        """
        if not blocks:
            return 0, []
        cache, capacity = self.blocks, self.capacity
        before = len(cache)
        self.uses = use = self.uses + 1
        placed = list(blocks) if self.refresh else self.absent(blocks)
        for block in placed:
            cache[block] = use
        put_in = len(cache) - before
        if capacity is None:
            return put_in, []
        if put_in < len(placed):  # some were there, or stand twice in the request
            placed = list(dict.fromkeys(placed))
        self.queue.append((use, placed))
        excess = len(cache) - capacity
        return put_in, self.evict(excess) if excess > 0 else []

    def absent(self, blocks: Sequence[int]) -> list[int]:
        """The blocks that are not there; one that a request names twice stands at its end."""
        new = [block for block in dict.fromkeys(reversed(blocks)) if block not in self.blocks]
        return new[::-1]

    def evict(self, excess: int) -> list[int]:
        """Drop the ``excess`` oldest blocks; at least so many are there."""
        cache, queue = self.blocks, self.queue
        gone: list[int] = []
        use, placed = queue[0]
        while excess:
            while not placed:
                queue.popleft()
                use, placed = queue[0]
            block = placed.pop()
            if cache[block] == use:
                del cache[block]
                gone.append(block)
                excess -= 1
        return gone


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
