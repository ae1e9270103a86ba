"""Speed of the tiering lab, as ``timeit`` measures: best of several, collector off, CPU seconds.

The trace is Mooncake's conversation trace where it lies beside the checkout, else a generated one
of about its size. A block LRU of the prefix lab on the same trace is measured in turn, so that a
busy machine shows in both.
"""

import gc
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from calculators.form.parse import parse
from calculators.prefix.block_policies import replay_blocks
from calculators.prefix.trace import Trace
from calculators.registry import find
from calculators.tiering.hierarchy import NS_PER_S, Level, PrefetchPolicy, Setup, WritePolicy
from calculators.tiering.recompute import ClosedForm, Prefill
from calculators.tiering.simulate import simulate
from calculators.tiering.tier import BYTES_PER_GB
from scripts.bench.prefix import block_trace

REPEATS = 7
TOKEN_BYTES = 327_680  # Llama 3.1 70B, bfloat16
PREFILL = Prefill(work=ClosedForm(layers=80, hidden_size=8192), per_s=Fraction(8 * 312 * 10**12))
WRITES: tuple[WritePolicy, ...] = ("write_through", "write_through_selective", "write_back")

type Figure = tuple[str, float, str]
"""What was measured, the value, its unit."""


def best(work: Callable[[], object], repeats: int = REPEATS) -> float:
    """The least CPU seconds of several runs, without the garbage collector in between."""
    times = []
    for _ in range(repeats):
        gc.collect()
        gc.disable()
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
        gc.enable()
    return min(times)


def level(name: str, capacity: int, gb_per_s: int, write: WritePolicy, size: int) -> Level:
    """A tier of the bench."""
    return Level(
        name=name,
        capacity=capacity,
        ns_per_block=Fraction(size * NS_PER_S, gb_per_s * BYTES_PER_GB),
        latency_ns=50_000,
        parallel=16,
        write=write,
        prefetched=name != "host",
        shared=name == "remote",
    )


def setup(
    trace: Trace, write: WritePolicy, *, instances: int = 1, prefetch: PrefetchPolicy = "timeout"
) -> Setup:
    """Three tiers: GPU memory of 3,000 blocks, host memory of 12,000, disk of 50,000."""
    size = trace.block_tokens * TOKEN_BYTES
    return Setup(
        gpu_blocks=3_000,
        levels=(
            level("host", 12_000, 64, write, size),
            level("remote" if instances > 1 else "ssd", 50_000, 8, write, size),
        ),
        prefill=PREFILL,
        instances=instances,
        prefetch=prefetch,
        timeout_base_ns=50_000_000,
        timeout_ns_per_1024=10_000_000,
    )


def figures() -> Iterator[Figure]:
    """Every figure of this module, in order."""
    trace = block_trace()
    yield (
        "block lru of the prefix lab, 30000 blocks",
        best(lambda: replay_blocks(trace, "lru", 30_000)),
        "s",
    )
    for write in WRITES:
        chosen = setup(trace, write)
        seconds = best(lambda c=chosen: simulate(trace, c))  # type: ignore[misc]
        yield f"three tiers, {write}", seconds, "s"
    shared = setup(trace, "write_through", instances=4)
    yield "three tiers, 4 instances, shared store", best(lambda: simulate(trace, shared)), "s"
    for name in ("tiering", "tiering-trace", "tiering-transfer"):
        calculator = find(name)
        params: Any = parse(calculator.params, {})
        seconds = best(lambda c=calculator, p=params: c.solve(p, lambda _done: None))  # type: ignore[misc]
        yield f"default answer, {name}", seconds * 1000, "ms"


if __name__ == "__main__":
    for label, value, unit in figures():
        print(f"{label:44} {value:12,.4f} {unit}", flush=True)
