"""The most that any eviction policy can reuse: Belady's rule on prefixes.

Evict what is used again last, and of equals what is deepest. A block is used whenever one below it
is, so its next use is never later: this order only ever takes ends of branches, every block it
keeps is reachable, and the hits of Belady's rule (optimal for single blocks) are prefix hits.

The ceiling may drop a request's own blocks at once; an engine has to hold them while it runs, so
no real policy reaches it at capacities near the longest request.
"""

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush

from calculators.prefix.limits import at_least
from calculators.prefix.segments import Segments

NEVER = (1 << 40) - 1
DEPTH_BITS = PLACE_BITS = 30
PLACE = (1 << PLACE_BITS) - 1


def ceiling(segments: Segments, capacity: int) -> tuple[int, ...]:
    """Blocks that each request reuses at best with ``capacity`` blocks."""
    [reused] = ceilings(segments, [capacity])
    return reused


def ceilings(segments: Segments, capacities: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """The ceiling at each capacity; what is common to all of them is done once."""
    visits = ordered_visits(segments)
    for capacity in capacities:
        at_least("capacity", capacity, 0)
        yield best(segments.sizes, visits, capacity)


type Visits = list[tuple[tuple[int, ...], list[int], int]]
"""Of each request: its runs, an entry for each, and the bound of entries that are out of date."""


def best(sizes: tuple[int, ...], visits: Visits, capacity: int) -> tuple[int, ...]:
    """Blocks that each request reuses under Belady's rule."""
    kept = [0] * len(sizes)
    queue: list[int] = []
    used = 0
    reused = []
    for path, entries, outdated in visits:
        found = 0
        for segment, entry in zip(path, entries, strict=True):
            held, size = kept[segment], sizes[segment]
            found += held
            if held < size:
                used += size - held
                kept[segment] = size
            heappush(queue, entry)
        reused.append(found)
        while used > capacity:
            entry = queue[0]
            segment = entry & PLACE
            held = kept[segment]
            if not held or entry > outdated:  # gone already, or used since
                heappop(queue)
            elif used - held >= capacity:
                heappop(queue)
                kept[segment] = 0
                used -= held
            else:
                kept[segment] = held - used + capacity
                used = capacity
    return tuple(reused)


def ordered_visits(segments: Segments) -> Visits:
    """Each request with entries that sort what is used last first, and of equals the deepest.

    An entry is an integer: time until the end from the next use, height above the bottom, and the
    run. A run that was used since has a newer entry, and its old one is of a use that is past.
    """
    visits: Visits = []
    for index, (path, coming) in enumerate(zip(segments.paths, uses(segments), strict=True)):
        entries = [
            ((NEVER - after) << DEPTH_BITS | PLACE - depth) << PLACE_BITS | segment
            for depth, (segment, after) in enumerate(zip(path, coming, strict=True))
        ]
        visits.append((path, entries, (NEVER - index) << DEPTH_BITS + PLACE_BITS))
    return visits


def uses(segments: Segments) -> list[list[int]]:
    """For each request and each run of its path, the next request that uses the run."""
    upcoming: dict[int, int] = {}
    coming: list[list[int]] = []
    for index in range(len(segments.paths) - 1, -1, -1):
        path = segments.paths[index]
        coming.append([upcoming.get(segment, NEVER) for segment in path])
        upcoming.update(dict.fromkeys(path, index))
    return coming[::-1]
