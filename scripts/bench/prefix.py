"""Speed and memory of the prefix lab, as ``timeit`` measures: best of several, collector off.

The block trace is Mooncake's conversation trace where it lies beside the checkout, else a
generated one of about its size; the token workload follows its published recipe.
"""

import gc
import gzip
import random
import time
import tracemalloc
from array import array
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from calculators.prefix.ceiling import ceilings
from calculators.prefix.distances import lru_curve
from calculators.prefix.generate import Shape, generate
from calculators.prefix.keys import NO_NAMESPACE, TOKEN_BYTES, Key
from calculators.prefix.policies import LRU, Policy
from calculators.prefix.policy_choice import NAMES, policy
from calculators.prefix.radix import RadixTree
from calculators.prefix.radix_serve import Visit, serve_all
from calculators.prefix.readers.hashed import MOONCAKE, read_hashed
from calculators.prefix.replay import UNLIMITED
from calculators.prefix.segments import segments_of
from calculators.prefix.trace import Trace

TRACE = Path(__file__).parents[2].parent / "shared/traces/mooncake_conversation_trace.jsonl.gz"
REPEATS = 7
BLOCK_CAPACITIES = (None, 100_000, 50_000, 30_000, 10_000, 1_000)
TOKEN_CAPACITIES = (None, 300_000, 100_000)
SWEEP = 30

type Figure = tuple[str, float, str]
"""What was measured, the value, its unit."""


def best(work: Callable[[], object], repeats: int = REPEATS) -> float:
    """The shortest of several runs in seconds, without the garbage collector in between."""
    times = []
    for _ in range(repeats):
        gc.collect()
        gc.disable()
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
        gc.enable()
    return min(times)


def block_trace() -> Trace:
    """The conversation trace, or a stand-in of our own where it is not at hand."""
    if TRACE.is_file():
        return read_hashed(gzip.decompress(TRACE.read_bytes()).decode(), MOONCAKE)
    return generate(Shape(kind="chat", groups=2400, turns=5, shared=4, question=4, answer=6))


def serve(
    visits: Sequence[Visit],
    capacity: int | None,
    chosen: Policy,
    page_size: int = 1,
    width: int = 4,
) -> RadixTree:
    """A fresh tree after all visits; ``capacity`` in tokens."""
    fresh = RadixTree(policy=chosen, page_size=page_size, width=width)
    limit = UNLIMITED if capacity is None else capacity * fresh.width
    serve_all(fresh, visits, limit)
    return fresh


def figures() -> Iterator[Figure]:
    """Every figure of this module, in order."""
    trace = block_trace()
    yield from tree_figures(trace)
    yield from sweep_figures(trace)
    yield from token_figures()
    yield from growth_figures()


def named(name: str) -> Policy:
    """A policy with a budget that binds, where it has one."""
    return policy(name, threshold=64, next_prompt_estimate=16)


def tree_figures(trace: Trace) -> Iterator[Figure]:
    """SGLang's tree on the block trace: LRU at every capacity, the others at one, memory."""
    visits = trace.visits(keep_last=True)
    for capacity in BLOCK_CAPACITIES:
        seconds = best(lambda capacity=capacity: serve(visits, capacity, LRU))  # type: ignore[misc]
        yield f"tree, lru, {capacity or 'unlimited'} blocks", seconds, "s"
    for name in NAMES:
        seconds = best(lambda name=name: serve(visits, 30_000, named(name)))  # type: ignore[misc]
        yield f"tree, {name}, 30000 blocks", seconds, "s"
    tracemalloc.start()
    kept = serve(visits, None, LRU)
    yield "tree, memory, unlimited", tracemalloc.get_traced_memory()[0] / 2**20, "MiB"
    tracemalloc.stop()
    kept.check()


def sweep_figures(trace: Trace) -> Iterator[Figure]:
    """The sweep of a page: one pass for block LRU, thirty capacities for policies and ceiling."""
    visits = trace.visits(keep_last=True)
    segments = segments_of(trace)
    capacities = [segments.unique * (step + 1) // SWEEP for step in range(SWEEP)]
    yield "block lru, all capacities", best(lambda: lru_curve(trace), 3), "s"
    for name in ("lru", "lfu", "fifo"):
        chosen = named(name)
        seconds = best(lambda c=chosen: [serve(visits, size, c) for size in capacities], 1)  # type: ignore[misc]
        yield f"tree, {name}, {SWEEP} capacities", seconds, "s"
    seconds = best(lambda: list(ceilings(segments, capacities)), 1)
    yield f"ceiling, {SWEEP} capacities", seconds, "s"


def workload() -> list[list[int]]:
    """10,000 prompts: one of 64 system prompts of 2,000 tokens, then 200 of its own."""
    rng = random.Random(7)  # noqa: S311 # the recipe names this generator
    system = [[rng.randrange(32000) for _ in range(2000)] for _ in range(64)]
    return [
        system[rng.randrange(64)] + [rng.randrange(32000) for _ in range(200)]
        for _ in range(10_000)
    ]


def visits_of(keys: Sequence[Key], page_size: int, width: int) -> list[Visit]:
    """Visits of prompts that leave one token to compute, in whole pages."""
    unit = page_size * width
    return [
        (key[: len(key) // unit * unit], (len(key) - width) // unit * unit, NO_NAMESPACE)
        for key in keys
    ]


def token_figures() -> Iterator[Figure]:
    """Requests a second on the token workload, packed and from plain lists."""
    prompts = workload()
    packed = [array("I", prompt).tobytes() for prompt in prompts]
    for name, keys, width in (("packed", packed, TOKEN_BYTES), ("lists", prompts, 1)):
        for page_size in (1, 16):
            visits = visits_of(keys, page_size, width)
            for capacity in TOKEN_CAPACITIES:
                seconds = best(
                    lambda v=visits, c=capacity, p=page_size, w=width: serve(  # type: ignore[misc]
                        v, c, LRU, page_size=p, width=w
                    )
                )
                label = f"tokens, {name}, page {page_size}, {capacity or 'unlimited'}"
                yield label, len(prompts) / seconds, "requests/s"


def growth_figures() -> Iterator[Figure]:
    """Near linear to a million requests: time per request at growing sizes."""
    for groups in (2_000, 20_000, 200_000):
        trace = generate(Shape(groups=groups, turns=5, shared=8, question=2, answer=2))
        visits = trace.visits()
        seconds = best(lambda v=visits: serve(v, 50_000, LRU), 1)  # type: ignore[misc]
        yield f"tree, {len(trace)} requests", seconds / len(trace) * 1e6, "us/request"


if __name__ == "__main__":
    for label, value, unit in figures():
        print(f"{label:44} {value:12,.4f} {unit}", flush=True)
