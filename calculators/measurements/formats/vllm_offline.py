"""vLLM ``bench latency`` (latency.py @00cae075) and ``bench throughput`` (throughput.py @02028314).

latency: the time of a whole batch in seconds, neither of a request nor a TTFT; all iterations are
kept. throughput: tokens are prompt and output together, the split is printed but not saved.
Neither file states model, lengths, batch size, device, version or warm-ups.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from calculators.measurements.record import Measurement, Note, Reading, measured
from calculators.measurements.shapes import has, mapping, sequence
from calculators.measurements.sheet import Sheet
from calculators.measurements.source import Entry, Source, entries

PERCENT: Final = re.compile(r"\d+(\.\d+)?\Z", re.ASCII)
FORMAT: Final = "vllm-bench-offline"
# A batch has no first token of a request; how many requests failed the file could say, but does not
BATCH: Final = frozenset(
    {"ttft", "tpot", "itl", "ntpot", "e2e", "queue", "schedule_delay", "n_success"}
)


def is_latency(value: Any) -> bool:
    """The key set of ``bench latency``."""
    return has(value, "avg_latency", "latencies")


def is_throughput(value: Any) -> bool:
    """The key set of ``bench throughput``."""
    return has(value, "elapsed_time", "num_requests") and "tokens_per_second" in value


def claims(source: Source) -> bool:
    """Either of the two."""
    return is_latency(source.node) or is_throughput(source.node)


def read(source: Source) -> Reading:
    """One measurement an object."""
    trouble: list[Note] = []
    found = [run(entry) for entry in entries(source, trouble)]
    return measured(FORMAT, found, *trouble)


def run(entry: Entry) -> Measurement:
    """One object of either kind."""
    node = entry.node
    sheet = Sheet(node, entry.position, entry.pointer)
    return latency(sheet, node) if is_latency(node) else throughput(sheet)


def latency(sheet: Sheet, node: Mapping[str, Any]) -> Measurement:
    """Iterations of one batch."""
    sheet.number("avg_latency", "batch_latency", "mean", "s")
    sheet.number("std_latency", "batch_latency", "std", "s")
    sheet.skip("percentiles", "latencies")
    for percent, value in mapping(node.get("percentiles")).items():
        if not PERCENT.match(percent):
            continue
        sheet.put(value, "batch_latency", f"p{percent}", "s", source=f"percentiles/{percent}")
    times = sequence(node.get("latencies"))
    sheet.sample(times, "batch_latency", "s", source="latencies", expected=None)
    sheet.put(len(times), "n_samples", source="latencies")
    sheet.missing_zeros()
    sheet.compute()
    return sheet.finish(inapplicable=BATCH, rule="r7")


def throughput(sheet: Sheet) -> Measurement:
    """One offline run."""
    sheet.number("elapsed_time", "duration", unit="s")
    sheet.number("num_requests", "n_requests")
    sheet.number("total_num_tokens", "total_tokens", "total")
    sheet.number("requests_per_second", "request_throughput")
    sheet.number("tokens_per_second", "total_token_throughput")
    return sheet.finish()
