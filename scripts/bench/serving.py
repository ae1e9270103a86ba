"""Speed of the serving lab: ``python -m scripts.bench.serving`` prints what ``figures`` yields.

The workload is the one of the study: lengths from the Azure conversation trace (rows with
1 ≤ prompt, 2 ≤ output, sum ≤ 4,096, in file order, from the start again where more are wanted),
Poisson arrivals from ``random.Random(20260101)``, a = 6,600 µs, b = 45 µs, c = 150 µs, budget
2,048, 256 sequences. A figure is the CPU time of the engine with all per-request metrics on one
core: the median and the least of some runs, since other work on the machine only adds to it.
Without the trace (third-party data, not kept here) six plain shapes stand in for it, and the
figures say so.
"""

import gzip
import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from calculators.serving import arrivals, fast, fast_disaggregated, traces
from calculators.serving.columns import Columns, of_trace
from calculators.serving.costs import Linear
from calculators.serving.disaggregated import Split
from calculators.serving.request import Request
from calculators.serving.settings import Settings

TRACE = Path(__file__).parents[2].parent / "shared" / "traces" / "azure_llm_2023_conv.csv.gz"
SEED = 20260101
LONGEST = 4096
COST = Linear(a=6600, b=45, c=150)
V1 = Settings(policy="v1", token_budget=2048, max_num_seqs=256)
OTHERS = {
    "static": Settings(policy="static", max_num_seqs=256),
    "orca": Settings(policy="orca", max_num_seqs=256),
    "prefill_first": Settings(
        policy="prefill_first", max_num_seqs=256, max_num_batched_tokens=LONGEST
    ),
    "chunked": Settings(policy="chunked", token_budget=2048, max_num_seqs=256),
}
SPLIT = Split(x0=50, x1=21, max_decode_seqs=256)
type Figure = tuple[str, float, str]

STAND_IN = ((1020, 129), (512, 32), (2048, 256), (256, 400), (1500, 64), (3000, 100))


def lengths() -> list[tuple[int, int]]:
    """(prompt, output) of the trace, or of the stand-in."""
    if not TRACE.exists():
        return list(STAND_IN)
    rows = traces.read(gzip.decompress(TRACE.read_bytes()).decode())
    pairs = ((row.prompt, row.output) for row in rows)
    return [(p, o) for p, o in pairs if o > 1 and p + o <= LONGEST]


def workload(count: int, rate: float) -> list[Request]:
    """The study's requests."""
    pairs = lengths()
    return [
        Request(
            id=f"{i:07}",
            arrival=at,
            prompt=pairs[i % len(pairs)][0],
            output=pairs[i % len(pairs)][1],
        )
        for i, at in enumerate(arrivals.poisson(count, rate, SEED))
    ]


def measured(columns: Columns) -> None:
    """Compute all per-request metrics."""
    for name in ("t_queue", "t_prompt_path", "ttft", "ttft_content", "e2e", "decode_time"):
        getattr(columns, name)


def timed(name: str, job: Callable[[], Columns], runs: int) -> Iterator[Figure]:
    """Median and least CPU seconds of some runs with their metrics."""
    times = []
    for _ in range(runs):
        start = time.process_time()
        measured(job())
        times.append(time.process_time() - start)
    yield name, statistics.median(times), "s (median)"
    yield name, min(times), "s (least)"


def peak_mib(job: Callable[[], Columns]) -> float:
    """Most memory allocated above what was there before, with the metrics."""
    tracemalloc.start()
    measured(job())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def figures() -> Iterator[Figure]:
    """(name, value, unit) of each figure."""
    base = workload(10_000, 2.0)
    v1 = v1_job(base, V1)
    yield "trace", float(TRACE.exists()), "1 = Azure, 0 = stand-in"
    yield from timed("v1, 10,000 requests", v1, 9)
    yield "v1, 10,000 requests", peak_mib(v1), "MiB above the input"
    doubled = [replace(request, output=2 * request.output) for request in base]
    yield from timed("v1, 10,000 requests, outputs doubled", v1_job(doubled, V1), 9)
    for name, settings in OTHERS.items():
        yield from timed(f"{name}, 10,000 requests", v1_job(base, settings), 5)
    yield from timed("pd 1+1, 10,000 requests", pd_job(base), 5)
    short = replace(V1, block_size=16, num_blocks=6970)
    crowded = workload(10_000, 10.4)
    found = fast.run(crowded, short, COST)
    yield "v1, 10.4/s, 6,970 blocks", float(found.preemptions.total()), "preemptions"
    yield from timed("v1, 10.4/s, 6,970 blocks", v1_job(crowded, short), 9)
    yield from timed("v1, 100,000 requests", v1_job(workload(100_000, 2.0), V1), 3)


def pd_job(requests: list[Request]) -> Callable[[], Columns]:
    """A run of the disaggregated system on the fast path."""
    return lambda: fast_disaggregated.run(requests, SPLIT, COST)


def v1_job(requests: list[Request], settings: Settings) -> Callable[[], Columns]:
    """A run on the fast path."""
    return lambda: of_trace(fast.run(requests, settings, COST))


if __name__ == "__main__":
    for figure in figures():
        print(*figure, sep="\t")
