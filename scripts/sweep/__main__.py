"""``python -m scripts.sweep``: load × policy × chunk size × P/D split × seeds, to a JSON file.

    python -m scripts.sweep --rates 1,2,4,8 --systems v1,orca,chunked,pd --chunks 512,2048 \
        --splits 1+1,1+2 --seeds 5 --requests 1000 --out sweep.json

Local processes by default; ``--scheduler ADDRESS`` computes the same points on a Dask cluster.
The file has every point and, by system, the largest rate that meets the service level.
"""

import argparse
import itertools
import json
import os
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from calculators import labels as label_files
from calculators.form.errors import ParameterError
from calculators.serving import traces
from calculators.serving.costs import Linear
from calculators.serving.settings import Settings
from calculators.web import sentence
from scripts.sweep import pools
from scripts.sweep.capacity import capacities
from scripts.sweep.point import Load, Point, run

FORMAT = "serving-sweep/1"
CHUNKED = ("chunked", "v1")
POLICIES = ("static", "orca", "prefill_first", "chunked", "v1", "pd")
USAGE_STATUS = 2
OWN_LENGTHS = ((1020, 129), (512, 32), (2048, 256), (256, 400), (1500, 64), (3000, 100))


def main(arguments: Sequence[str]) -> int:
    """Run a sweep; a mistake in the input is one sentence and status 2."""
    options = parser().parse_args(arguments)
    try:
        load = load_of(options)
        found = sweep(options, load)
    except ParameterError as error:
        sys.stderr.write(f"{sentence(error, label_files.load('serving-load', 'en'))}\n")
        return USAGE_STATUS
    except (OSError, pools.DaskMissingError) as error:
        sys.stderr.write(f"{error}\n")
        return USAGE_STATUS
    text = json.dumps(document(options, load, found), ensure_ascii=False, indent=1) + "\n"
    if options.out is None:
        sys.stdout.write(text)
    else:
        options.out.write_text(text, encoding="utf-8")
    return 0


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = argparse.ArgumentParser(prog="python -m scripts.sweep", description=__doc__)
    made.add_argument("--rates", type=floats, default=[1.0, 2.0, 4.0, 6.0, 8.0])
    made.add_argument("--systems", type=names, default=["v1", "orca", "prefill_first", "pd"])
    made.add_argument("--chunks", type=whole_numbers, default=[2048])
    made.add_argument("--splits", type=splits, default=[(1, 1)])
    made.add_argument("--seeds", type=int, default=5)
    made.add_argument("--requests", type=int, default=1000)
    made.add_argument("--trace", type=Path, help="lengths from this file; default: six shapes")
    made.add_argument("--slo-ttft-ms", type=int, default=2000)
    made.add_argument("--slo-tpot-ms", type=int, default=100)
    made.add_argument("--share", type=float, default=0.99)
    made.add_argument("--cost", type=whole_numbers, default=[6600, 45, 150], metavar="A,B,C")
    made.add_argument("--max-num-seqs", type=int, default=256)
    made.add_argument("--block-size", type=int, default=16)
    made.add_argument("--num-blocks", type=int)
    made.add_argument("--workers", type=int, default=os.process_cpu_count() or 1)
    made.add_argument("--scheduler", metavar="ADDRESS")
    made.add_argument("--out", type=Path)
    return made


def floats(text: str) -> list[float]:
    """``"1,2.5" → [1.0, 2.5]``."""
    return [float(part) for part in text.split(",")]


def whole_numbers(text: str) -> list[int]:
    """``"512,2048" → [512, 2048]``."""
    return [int(part) for part in text.split(",")]


def names(text: str) -> list[str]:
    """Policies by name."""
    found = text.split(",")
    for name in found:
        if name not in POLICIES:
            raise argparse.ArgumentTypeError(f"{name} is none of {', '.join(POLICIES)}")
    return found


def splits(text: str) -> list[tuple[int, int]]:
    """``"1+1,1+2" → [(1, 1), (1, 2)]``: prefill and decode workers."""
    pairs = [part.split("+") for part in text.split(",")]
    return [(int(prefill), int(decode)) for prefill, decode in pairs]


def load_of(options: argparse.Namespace) -> Load:
    """Lengths from a trace, or six plain shapes."""
    lengths: tuple[tuple[int, int], ...] = OWN_LENGTHS
    if options.trace is not None:
        rows = traces.read(options.trace.read_text(encoding="utf-8"))
        lengths = tuple((row.prompt, row.output) for row in rows)
    return Load(
        lengths=lengths,
        count=options.requests,
        slo_ttft_us=options.slo_ttft_ms * 1000,
        slo_tpot_us=options.slo_tpot_ms * 1000,
    )


def points(options: argparse.Namespace) -> Iterator[Point]:
    """The grid. Chunks belong to the chunking policies, splits to P/D."""
    for rate, policy, seed in itertools.product(
        options.rates, options.systems, range(options.seeds)
    ):
        if policy == "pd":
            yield from (Point(policy=policy, rate=rate, seed=seed, split=s) for s in options.splits)
        elif policy in CHUNKED:
            yield from (Point(policy=policy, rate=rate, seed=seed, chunk=c) for c in options.chunks)
        else:
            yield Point(policy=policy, rate=rate, seed=seed)


def sweep(options: argparse.Namespace, load: Load) -> list[dict[str, Any]]:
    """All points, in order of the grid whatever the order in which they were done."""
    grid = list(points(options))
    base = Settings(
        policy="orca",
        max_num_seqs=options.max_num_seqs,
        block_size=options.block_size,
        num_blocks=options.num_blocks,
    )
    a, b, c = options.cost
    job = partial(run, load=load, cost=Linear(a=a, b=b, c=c), base=base)
    if options.scheduler:
        coming = pools.dask(job, grid, options.scheduler)
    else:
        coming = pools.local(job, grid, options.workers)
    done: dict[int, dict[str, Any]] = {}
    for index, result in coming:
        done[index] = result
        sys.stderr.write(f"\r{len(done)}/{len(grid)}")
    sys.stderr.write("\n")
    return [done[index] for index in range(len(grid))]


def document(
    options: argparse.Namespace, load: Load, found: list[dict[str, Any]]
) -> dict[str, Any]:
    """The file: how it was made, the answer, every point."""
    return {
        "format": FORMAT,
        "cost_us": dict(zip("abc", options.cost, strict=True)),
        "requests": load.count,
        "slo": {"ttft_ms": options.slo_ttft_ms, "tpot_ms": options.slo_tpot_ms},
        "capacity": capacities(found, options.share),
        "points": found,
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
