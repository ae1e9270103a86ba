"""Hit rate by capacity: each policy run at each capacity, and the ceiling of any policy.

SGLang's tree evicts whole nodes, so its LRU is no stack algorithm and one pass cannot give all
capacities exactly; ``distances.lru_curve`` does that for block LRU. Every run here is exact.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache

from calculators.prefix.ceiling import ceilings
from calculators.prefix.policies import Policy
from calculators.prefix.rates import Definition, Outcome, rate
from calculators.prefix.replay import replay_pool, runs_at
from calculators.prefix.segments import Segments, segments_of
from calculators.prefix.trace import Trace
from calculators.show.progress import Progress

CEILING = "ceiling"


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """What to run. No policies stand for vLLM's block pool, which has LRU only."""

    trace: Trace
    policies: tuple[Policy, ...]
    page_size: int
    points: int
    progress: Progress = field(compare=False)


@dataclass(frozen=True, slots=True)
class Curve:
    """Hit rates in percent by capacity in tokens; the name is a policy's or ``CEILING``."""

    name: str
    points: tuple[tuple[float, float], ...]


@lru_cache(maxsize=1)  # a new capacity or warm-up in the form asks for the same curves
def curves(job: Sweep) -> tuple[Curve, ...]:
    """One curve a policy and the ceiling; progress is told after every run."""
    segments = segments_of(job.trace)
    sizes = capacities(job.trace, segments, job.points)
    rows = [
        *(
            (policy.name, runs_at(job.trace, policy, sizes, job.page_size))
            for policy in job.policies
        ),
        *([] if job.policies else [("lru", pool_runs(job.trace, sizes))]),
        (CEILING, ceilings(segments, sizes)),
    ]
    found = []
    for done, (name, runs) in enumerate(rows):
        points = []
        for at, (size, reused) in enumerate(zip(sizes, runs, strict=True), 1):
            points.append(point(job.trace, size, reused))
            job.progress((done + at / len(sizes)) / len(rows))
        found.append(Curve(name, tuple(points)))
    return tuple(found)


def capacities(trace: Trace, segments: Segments, points: int) -> list[int]:
    """Evenly spaced from the longest request to all that the trace ever holds."""
    longest = max(trace.block_counts) + 1
    span = max(segments.unique - longest, 0)
    return sorted({longest + span * i // points for i in range(points + 1)})


def pool_runs(trace: Trace, sizes: list[int]) -> Iterator[tuple[int, ...]]:
    """VLLM's pool at each capacity."""
    for size in sizes:
        yield replay_pool(trace, size).runs


def point(trace: Trace, size: int, reused: tuple[int, ...]) -> tuple[float, float]:
    """A capacity and its rate by tokens, at least one token of a request computed."""
    nothing = Outcome(runs=(), anywhere=(), lookups=(), evictions=0, resident=0)
    found = rate(trace, replace(nothing, runs=reused), Definition()) or Fraction(0)
    return float(size * trace.block_tokens), float(100 * found)
