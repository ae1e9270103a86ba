"""llm-d Benchmark Report v0.1 to v0.2.1 (llm-d-benchmark @8bc9f1dd), as JSON or parsed YAML.

Every statistic carries its ``units``; percentile keys are ``p0p1`` … ``p99p9``. No raw samples, by
design. The percentile rule is that of the tool that measured. Sessions and requests count failures
on two levels; only requests are taken.
"""

import re
from typing import Any, Final

from calculators.measurements.record import Measurement, Note, Reading, measured
from calculators.measurements.shapes import at, first_at, has, mapping
from calculators.measurements.sheet import MISSING, Sheet
from calculators.measurements.source import Entry, Source, entries
from calculators.measurements.units import canonical, known

FORMAT: Final = "llm-d-report"
LATENCIES: Final = {
    "time_to_first_token": "ttft",
    "time_per_output_token": "tpot",
    "inter_token_latency": "itl",
    "request_latency": "e2e",
    "normalized_time_per_output_token": "ntpot",
}
RATES: Final = {
    "request_rate": "request_throughput",
    "requests_per_sec": "request_throughput",
    "output_token_rate": "output_token_throughput",
    "output_tokens_per_sec": "output_token_throughput",
    "input_token_rate": "input_token_throughput",
    "input_tokens_per_sec": "input_token_throughput",
    "total_token_rate": "total_token_throughput",
    "total_tokens_per_sec": "total_token_throughput",
}
LENGTHS: Final = {"input_length": "input_tokens", "output_length": "output_tokens"}
STATS: Final = {
    "mean": "mean",
    "min": "min",
    "max": "max",
    "std": "std",
    "stddev": "std",
    "median": "p50",
}
PERCENTILE: Final = re.compile(r"p\d+(p\d+)?\Z")
ISO_DURATION: Final = re.compile(r"P(?:(\d+)D)?T?(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?\Z")


def claims(source: Source) -> bool:
    """Version, scenario and results (0.2) or metrics (0.1)."""
    return has(source.value, "version", "scenario") and (
        has(at(source.value, "results"), "request_performance")
        or has(source.value, "metrics")
        or has(source.value, "results")
    )


def read(source: Source) -> Reading:
    """One report."""
    trouble: list[Note] = []
    found = [run(entry) for entry in entries(source, trouble)]
    return measured(FORMAT, found, *trouble)


def run(entry: Entry) -> Measurement:
    """The aggregate of one report."""
    sheet = Sheet(entry.node, entry.position, entry.pointer)
    sheet.skip("results", "metrics", "scenario", "run", "version")
    node = first_at(
        sheet.node, ("results", "request_performance", "aggregate"), ("metrics",), ("results",)
    )
    requests(sheet, mapping(at(node, "requests")))
    for names, place in ((LATENCIES, "latency"), (RATES, "throughput"), (LENGTHS, "requests")):
        for name, quantity in names.items():
            statistics(sheet, at(node, place, name), quantity, name)
    load(sheet)
    labels(sheet)
    if sheet.value("n_success") == 0:
        sheet.all_failed()
    sheet.missing_zeros()
    return sheet.finish()


def requests(sheet: Sheet, node: Any) -> None:
    """Requests in all and failed; the successes are the difference."""
    for key, quantity in (
        ("total", "n_requests"),
        ("failures", "n_failure"),
        ("incomplete", "n_incomplete"),
    ):
        if key in node:
            sheet.put(node[key], quantity, source=f"requests {key}")
    total, failed = sheet.value("n_requests"), sheet.value("n_failure")
    if total is not None and failed is not None and total >= failed:
        sheet.put(total - failed, "n_success", source="requests", computed="total - failures")


def statistics(sheet: Sheet, node: Any, quantity: str, name: str) -> None:
    """One statistic block with its unit; a bare number in old throughput blocks."""
    if isinstance(node, int | float):
        sheet.put(node, quantity, "mean", source=name)
        return
    block = mapping(node)
    unit = str(block.get("units", ""))
    target = canonical(quantity)
    if not unit and target not in {None, "count"}:
        unit = "?"
    if target == "count" and not known(unit, target):
        unit = "count"
    for word, raw in block.items():
        stat = STATS.get(word) or (word if PERCENTILE.match(word) else None)
        if stat is not None:
            sheet.put(
                raw,
                quantity,
                stat.replace("p", ".").replace(".", "p", 1) if PERCENTILE.match(stat) else stat,
                unit,
                source=f"{name} {word}",
            )


def load(sheet: Sheet) -> None:
    """The load that was asked for, and the run's duration."""
    asked = mapping(at(sheet.node, "scenario", "load", "standardized"))
    for key, quantity in (("rate_qps", "request_rate"), ("concurrency", "concurrency")):
        if asked.get(key, MISSING) is not MISSING:
            sheet.put(asked[key], quantity, source=key)
    raw = first_at(sheet.node, ("run", "time", "duration"), ("metrics", "time", "duration"))
    if raw is not None:
        sheet.put(seconds(raw), "duration", None, "s", source="run time duration")


def seconds(raw: Any) -> Any:
    """An ISO 8601 duration of days and less in seconds; other values as they are."""
    match = ISO_DURATION.match(raw) if isinstance(raw, str) else None
    if match is None or not any(match.groups()):
        return raw
    days, hours, minutes, rest = (float(part or 0) for part in match.groups())
    return days * 86_400 + hours * 3600 + minutes * 60 + rest


def labels(sheet: Sheet) -> None:
    """The first inference engine of the stack stands for the run; others are counted."""
    stack = at(sheet.node, "scenario", "stack")
    engines = (
        [node for node in stack if at(node, "standardized", "kind") == "inference_engine"]
        if isinstance(stack, list)
        else []
    )
    engine = engines[0] if engines else None
    sheet.label(
        "model",
        first_at(engine, ("standardized", "model", "name"))
        or at(sheet.node, "scenario", "model", "name"),
    )
    sheet.label(
        "device",
        first_at(engine, ("standardized", "accelerator", "model"))
        or at(sheet.node, "scenario", "host", "accelerator", 0, "model"),
    )
    sheet.label(
        "server_version",
        at(engine, "standardized", "tool_version")
        or at(sheet.node, "scenario", "platform", "engine", 0, "version"),
    )
    sheet.label("tool_version", at(sheet.node, "scenario", "load", "standardized", "tool_version"))
    sheet.label("schema_version", sheet.node.get("version"))
    sheet.label(
        "date", first_at(sheet.node, ("run", "time", "start"), ("metrics", "time", "start"))
    )
    if len(engines) > 1:
        sheet.note("several_engines", engines=len(engines))
    failed = at(sheet.node, "results", "session_performance", "sessions", "failed")
    if failed:
        sheet.note("sessions_failed", sessions=failed, requests=sheet.value("n_failure"))
