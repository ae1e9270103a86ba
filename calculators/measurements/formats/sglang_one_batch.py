"""SGLang ``bench_one_batch`` JSONL (bench_one_batch.py @00944150): one timing of one batch a row.

Seconds. ``overall_throughput`` counts input tokens too. Sizes above the memory limit leave no row,
silently. ``bench_one_batch_server`` writes ``latency`` and the time of the batch's first token.
Prefill latency is the time of the whole batch's prefill, not a TTFT of a request.
"""

from typing import Final

from calculators.measurements.record import Measurement, Note, Reading, measured
from calculators.measurements.shapes import has
from calculators.measurements.sheet import Sheet
from calculators.measurements.source import Entry, Source, entries

FORMAT: Final = "sglang-bench-one-batch"
BATCH: Final = frozenset(
    {
        "ttft",
        "tpot",
        "itl",
        "ntpot",
        "e2e",
        "queue",
        "schedule_delay",
        "n_success",
        "n_failure",
        "request_rate",
        "concurrency",
    }
)


def claims(source: Source) -> bool:
    """A row with the batch's prefill."""
    node = source.node
    return has(node, "prefill_latency", "batch_size") or (
        has(node, "run_name", "batch_size") and ("total_latency" in node or "latency" in node)
    )


def read(source: Source) -> Reading:
    """One measurement a row."""
    trouble: list[Note] = []
    found = [run(entry) for entry in entries(source, trouble)]
    return measured(FORMAT, found, *trouble)


def run(entry: Entry) -> Measurement:
    """One batch size."""
    sheet = Sheet(entry.node, entry.position, entry.pointer)
    sheet.label("name", sheet.take("run_name"))
    sheet.label("device", sheet.take("device"))
    sheet.number("total_latency", "batch_latency", unit="s")
    sheet.number("latency", "batch_latency", unit="s")
    sheet.number("prefill_throughput", "prompt_rate")
    sheet.number("input_throughput", "prompt_rate")
    sheet.number("median_decode_throughput", "generation_rate", "p50")
    sheet.number("output_throughput", "generation_rate")
    sheet.number("overall_throughput", "total_token_throughput")
    sheet.keep(
        "batch_size",
        "input_len",
        "output_len",
        "prefill_latency",
        "median_decode_latency",
        "ttft",
        "last_ttft",
        "last_gen_throughput",
        "acc_length",
        "cache_hit_rate",
    )
    sheet.missing_zeros()
    sheet.note("single_timing")
    return sheet.finish(inapplicable=BATCH)
