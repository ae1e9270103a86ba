"""Where blocks lie: a tier's blocks in eviction order, with a capacity.

The blocks of a request are used last to first, as vLLM frees them and LMCache touches them, so
that the end of a prefix goes before its head.
"""

from collections import deque
from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import filterfalse

from calculators.form.errors import ParameterError, excerpt
from calculators.prefix.block_policies import FrequencyCache
from calculators.prefix.invariants import require
from calculators.prefix.limits import at_least

POLICIES = ("lru", "fifo", "lfu")


class Place:
    """LRU, or with ``refresh`` off FIFO, for whole requests at a time.

    ``blocks`` maps a block to its last use. Instead of one long order of blocks there is a queue
    of uses: a block of the oldest use goes unless a later use has overtaken it, the last block of
    a use first. That is the order of a list to whose end each block moves, at a third of the work.
    """

    def __init__(self, capacity: int | None, *, refresh: bool) -> None:
        if capacity is not None:
            at_least("capacity", capacity, 1)
        self.capacity = capacity
        self.refresh = refresh
        self.blocks: dict[int, int] = {}
        self.uses: deque[tuple[int, Sequence[int]]] = deque()
        self.now = 0

    def use(self, blocks: Sequence[int]) -> tuple[list[int], list[int]]:
        """Use what is there and put in the rest, last to first: (put in, evicted).

        What is too much goes afterwards, the oldest first; a request that is larger than the
        place loses its own end.
        """
        if not blocks:
            return [], []
        self.now = now = self.now + 1
        held = self.blocks
        new = list(filterfalse(held.__contains__, blocks))
        used = blocks if self.refresh else new
        held.update(dict.fromkeys(used, now))
        self.uses.append((now, used))
        if self.capacity is None or len(held) <= self.capacity:
            return new, []
        return new, self.make_room(len(held) - self.capacity)

    def make_room(self, excess: int) -> list[int]:
        """Evict so many blocks."""
        held, uses = self.blocks, self.uses
        gone: list[int] = []
        while excess > 0:
            moment, used = uses.popleft()
            stale = [block for block in used if held.get(block) == moment]
            if len(stale) > excess:
                uses.appendleft((moment, stale[:-excess]))
                stale = stale[-excess:]
            stale.reverse()
            for block in stale:
                del held[block]
            excess -= len(stale)
            gone += stale
        return gone


class CountedPlace(FrequencyCache):
    """LFU: the block used least often goes first, of equal ones the longest unused."""

    def __init__(self, capacity: int | None) -> None:
        super().__init__(capacity, length_aware=False)
        self.gone: list[int] = []

    def use(self, blocks: Sequence[int]) -> tuple[list[int], list[int]]:
        """As :meth:`Place.use`, but room is made before a block comes, never for itself."""
        cache = self.blocks
        new = [block for block in blocks if block not in cache]
        self.gone = []
        self.touch([block for block in reversed(blocks) if block in cache])
        self.touch(reversed(new))
        return new, self.gone

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
