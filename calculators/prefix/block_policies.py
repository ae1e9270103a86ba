"""Block caches without a tree: any block may go, whatever hangs on it.

These are the caches of the published simulations (Mooncake, arXiv 2407.00079, Table 1): one pool,
requests in order, zero service time; look up all blocks, then touch or insert each. A head can be
lost while its tail stays, so "anywhere" and "prefix" hits differ. Left out: locking, and what a
running request must hold.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from typing import Literal

from calculators.form.errors import ParameterError, excerpt
from calculators.prefix.keys import TOKEN_BYTES, unpack
from calculators.prefix.limits import at_least
from calculators.prefix.rates import Outcome
from calculators.prefix.trace import Trace

type TouchOrder = Literal["first_to_last", "last_to_first"]

POLICIES = ("lru", "fifo", "lfu", "length_aware")
TIME_BITS = 40
ONE_TOUCH = 1 << TIME_BITS


class BlockCache:
    """Blocks in eviction order; ``touch`` uses or inserts the blocks of a request in order."""

    def __init__(self, capacity: int | None) -> None:
        if capacity is not None:
            at_least("capacity", capacity, 1)
        self.capacity = capacity
        self.evictions = 0

    blocks: dict[int, int]

    def touch(self, blocks: Iterable[int]) -> None:
        """Use the blocks that are present, insert the others, evict what is too much."""
        raise NotImplementedError


class RecencyCache(BlockCache):
    """LRU; with ``refresh`` off FIFO: hits do not move a block."""

    def __init__(self, capacity: int | None, *, refresh: bool) -> None:
        super().__init__(capacity)
        self.refresh = refresh
        self.blocks: OrderedDict[int, int] = OrderedDict()

    def touch(self, blocks: Iterable[int]) -> None:
        """Move what is present to the end, append the rest."""
        cache, refresh, capacity = self.blocks, self.refresh, self.capacity
        for block in blocks:
            if block not in cache:
                if capacity is not None and len(cache) >= capacity:
                    cache.popitem(last=False)
                    self.evictions += 1
                cache[block] = 0
            elif refresh:
                cache.move_to_end(block)


class FrequencyCache(BlockCache):
    """LFU: least touches since insertion, then the oldest touch.

    ``length_aware`` settles equal counts by the place of the block in its request, the latest
    first: one reading of Mooncake's LengthAwareCache, whose rule is not published in full.
    """

    def __init__(self, capacity: int | None, *, length_aware: bool) -> None:
        super().__init__(capacity)
        self.length_aware = length_aware
        self.blocks = {}
        self.queue: list[tuple[int, int]] = []
        self.clock = 0

    def touch(self, blocks: Iterable[int]) -> None:
        """Count what is present, insert the rest with a count of one."""
        cache = self.blocks
        for place, block in enumerate(blocks):
            self.clock += 1
            moment = ONE_TOUCH // 2 - place if self.length_aware else self.clock
            if block in cache:
                cache[block] = (cache[block] >> TIME_BITS << TIME_BITS) + ONE_TOUCH + moment
                continue
            if self.capacity is not None and len(cache) >= self.capacity:
                self.evict()
            cache[block] = ONE_TOUCH + moment
            heappush(self.queue, (cache[block], block))

    def evict(self) -> None:
        """Scores only grow, so one entry a block is enough: put it back where it belongs."""
        while True:
            stored, block = heappop(self.queue)
            score = self.blocks[block]
            if stored == score:
                del self.blocks[block]
                self.evictions += 1
                return
            heappush(self.queue, (score, block))


MAKERS: dict[str, Callable[[int | None], BlockCache]] = {
    "lru": lambda capacity: RecencyCache(capacity, refresh=True),
    "fifo": lambda capacity: RecencyCache(capacity, refresh=False),
    "lfu": lambda capacity: FrequencyCache(capacity, length_aware=False),
    "length_aware": lambda capacity: FrequencyCache(capacity, length_aware=True),
}


def replay_blocks(
    trace: Trace,
    policy: str,
    capacity: int | None,
    *,
    touch_order: TouchOrder = "first_to_last",
    partial: bool = True,
) -> Outcome:
    """Replay a trace; ``capacity`` in blocks, None without limit."""
    if policy not in MAKERS:
        raise ParameterError(
            "policy", "not_an_option", text=excerpt(policy), options=", ".join(POLICIES)
        )
    cache = MAKERS[policy](capacity)
    runs, anywhere, lookups = [], [], []
    for key in trace.stored_keys(partial=partial):
        blocks = unpack(key)
        present = sum(map(cache.blocks.__contains__, blocks))
        anywhere.append(present)
        runs.append(leading(cache.blocks, blocks, present))
        lookups.append(len(key) // TOKEN_BYTES)
        cache.touch(blocks if touch_order == "first_to_last" else reversed(blocks))
    return Outcome(
        runs=tuple(runs),
        anywhere=tuple(anywhere),
        lookups=tuple(lookups),
        evictions=cache.evictions,
        resident=len(cache.blocks),
    )


def leading(cache: dict[int, int], blocks: list[int], present: int) -> int:
    """The leading run of present blocks, of which there are ``present`` in all."""
    if all(map(cache.__contains__, blocks[:present])):
        return present
    return next(index for index, block in enumerate(blocks) if block not in cache)
