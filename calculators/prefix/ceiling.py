"""The most that any eviction policy can reuse: Belady's rule on prefixes.

Evict what is used again last, and of equals what is deepest. A block is used whenever one below it
is, so its next use is never later: this order only ever takes ends of branches, every block it
keeps is reachable, and the hits of Belady's rule (optimal for single blocks) are prefix hits.

The ceiling may drop a request's own blocks at once; an engine has to hold them while it runs, so
no real policy reaches it at capacities near the longest request.
"""

from heapq import heappop, heappush

from calculators.prefix.limits import at_least
from calculators.prefix.segments import Segments

NEVER = 1 << 40


def ceiling(segments: Segments, capacity: int) -> tuple[int, ...]:
    """Blocks that each request reuses at best with ``capacity`` blocks."""
    at_least("capacity", capacity, 0)
    sizes = segments.sizes
    kept = [0] * len(sizes)
    coming = uses(segments)
    queue: list[tuple[int, int, int]] = []
    used = 0
    reused = []
    for index, path in enumerate(segments.paths):
        found = 0
        for depth, segment in enumerate(path):
            found += kept[segment]
            used += sizes[segment] - kept[segment]
            kept[segment] = sizes[segment]
            heappush(queue, (-coming[index][depth], -depth, segment))
        reused.append(found)
        while used > capacity:
            when, depth, segment = queue[0]
            if not kept[segment] or -when <= index:  # gone already, or used since
                heappop(queue)
                continue
            gone = min(kept[segment], used - capacity)
            kept[segment] -= gone
            used -= gone
    return tuple(reused)


def uses(segments: Segments) -> list[list[int]]:
    """For each request and each run of its path, the next request that uses the run."""
    upcoming: dict[int, int] = {}
    coming: list[list[int]] = []
    for index in range(len(segments.paths) - 1, -1, -1):
        path = segments.paths[index]
        coming.append([upcoming.get(segment, NEVER) for segment in path])
        upcoming.update(dict.fromkeys(path, index))
    return coming[::-1]
