"""inference-perf lifecycle and Prometheus reports (@7de5ef2e). Seconds, and no key says so.

Lifecycle: the client's samples. Prometheus: estimates from the server's histogram buckets over a
query window that may be wider than the stage; the two of one stage disagree in n and are linked as
siblings, never merged. ``median`` is written, ``p50`` never. An empty ``failures`` says nothing,
not zero. The normalised time per token gets a literal 0.0 for a request without token. A
``summary`` report pools all rates and is no operating point.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from calculators.measurements.record import Measurement, Note, Reading, measured
from calculators.measurements.shapes import at, has, mapping
from calculators.measurements.sheet import Sheet
from calculators.measurements.source import Entry, Source, entries

FORMAT: Final = "inference-perf"
LATENCIES: Final = {
    "request_latency": "e2e",
    "time_to_first_token": "ttft",
    "time_per_output_token": "tpot",
    "inter_token_latency": "itl",
    "normalized_time_per_output_token": "ntpot",
}
THROUGHPUTS: Final = {
    "requests_per_sec": "request_throughput",
    "output_tokens_per_sec": "output_token_throughput",
    "input_tokens_per_sec": "input_token_throughput",
    "total_tokens_per_sec": "total_token_throughput",
}
LENGTHS: Final = {"prompt_len": "input_tokens", "output_len": "output_tokens"}
STATS: Final = {
    "mean": "mean",
    "median": "p50",
    "min": "min",
    "max": "max",
    "std": "std",
    "std_dev": "std",
}


PERCENTILE: Final = re.compile(r"p\d+(\.\d+)?\Z", re.ASCII)


def claims(source: Source) -> bool:
    """The three blocks of a report."""
    return has(source.node, "successes", "failures", "load_summary")


def read(source: Source) -> Reading:
    """One measurement: a stage or a pooled summary."""
    trouble: list[Note] = []
    found = [run(entry) for entry in entries(source, trouble)]
    pooled = [Note(code="pools_all_rates")] if "summary" in source.name.rsplit("/", 1)[-1] else []
    return measured(FORMAT, found, *pooled, *trouble)


def is_prometheus(node: Mapping[str, Any]) -> bool:
    """The server's report states rates beside its lengths and has no latency block."""
    successes = mapping(node.get("successes"))
    return "latency" not in successes and ("rate" in successes or "request_latency" in successes)


def run(entry: Entry) -> Measurement:
    """One report."""
    node = entry.node
    sheet = Sheet(node, entry.position, entry.pointer)
    sheet.skip("load_summary", "successes", "failures")
    if is_prometheus(node):
        server_report(sheet, mapping(node.get("successes")))
        return sheet.finish(rule="histogram_estimate")
    client_report(sheet, mapping(node.get("successes")))
    return sheet.finish(rule="r7")


def client_report(sheet: Sheet, successes: Mapping[str, Any]) -> None:
    """The lifecycle report."""
    put(sheet, at(sheet.node, "load_summary"), "count", "n_requests")
    put(sheet, at(sheet.node, "load_summary"), "requested_rate", "request_rate")
    put(sheet, at(sheet.node, "load_summary"), "concurrency", "concurrency")
    put(sheet, successes, "count", "n_success")
    put(sheet, sheet.node.get("failures"), "count", "n_failure")
    statistics(sheet, at(sheet.node, "load_summary", "schedule_delay"), "schedule_delay", "s")
    for name, quantity in LATENCIES.items():
        statistics(sheet, at(successes, "latency", name), quantity, "s")
    for name, quantity in THROUGHPUTS.items():
        put(sheet, at(successes, "throughput"), name, quantity)
    for name, quantity in LENGTHS.items():
        statistics(sheet, successes.get(name), quantity, "")
    nothing_or_zeros(sheet)


def nothing_or_zeros(sheet: Sheet) -> None:
    """What a run without successes leaves; which zeros mean missing."""
    if sheet.value("n_success") == 0:
        sheet.all_failed()
        for quantity in LATENCIES.values():
            for stat in ("mean", "p50", "p90", "p95", "p99"):
                sheet.null(quantity, stat, "all_failed")
    if sheet.value("ntpot", "min") == 0:
        sheet.note("zeros_pull_percentiles_down", quantity="ntpot")
    sheet.missing_zeros()


def server_report(sheet: Sheet, successes: Mapping[str, Any]) -> None:
    """The Prometheus report."""
    sheet.note("server_histogram_estimates")
    put(sheet, successes, "count", "n_success")
    put(sheet, successes, "rate", "request_throughput")
    put(sheet, successes.get("prompt_len"), "rate", "input_token_throughput")
    put(sheet, successes.get("output_len"), "rate", "output_token_throughput")
    put(sheet, sheet.node.get("failures"), "count", "n_failure")
    put(sheet, at(sheet.node, "load_summary"), "count", "n_requests")
    for name, quantity in LATENCIES.items():
        statistics(sheet, successes.get(name), quantity, "s")
    for name, quantity in LENGTHS.items():
        statistics(sheet, successes.get(name), quantity, "")
    sheet.missing_zeros()
    consistency(sheet)


def consistency(sheet: Sheet) -> None:
    """Request rate times mean prompt against the prompt token rate of the same file."""
    rate, mean = sheet.value("request_throughput"), sheet.value("input_tokens", "mean")
    stated = sheet.value("input_token_throughput")
    if rate and mean and stated and not 0.5 < rate * mean / stated < 2:  # noqa: PLR2004
        sheet.note("inconsistent_within", rate=rate, mean=mean, stated=stated)


def put(sheet: Sheet, node: Any, key: str, quantity: str) -> None:
    """One plain number of a block, if it stands there."""
    if isinstance(node, dict) and key in node:
        sheet.put(node[key], quantity, source=key)


def statistics(sheet: Sheet, node: Any, quantity: str, unit: str) -> None:
    """A block of statistics; keys such as ``p99.9`` are taken as they are."""
    for word, raw in mapping(node).items():
        stat = STATS.get(word, word if PERCENTILE.match(word) else None)
        if stat is not None:
            sheet.put(raw, quantity, stat, unit, source=f"{quantity} {word}")
