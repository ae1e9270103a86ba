"""guidellm reports of three generations (@ee7a7745 and earlier): one benchmark a rate.

Statistics stand per status group; only the successful group is taken. A group or a metric with
count 0 is filled with 0.0, which means no data. Percentiles are the step inverse of the cumulated
probability (p50 of two samples is the smaller one). ``*_ms`` is milliseconds, ``request_latency``
seconds. Rates over time have no samples and are taken as distributions.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from calculators.measurements.record import Measurement, Note, Reading, measured
from calculators.measurements.shapes import at, below, first_at, has, mapping, sequence
from calculators.measurements.sheet import Sheet
from calculators.measurements.source import Source

FORMAT: Final = "guidellm"
METRICS: Final = {
    "time_to_first_token_ms": ("ttft", "ms"),
    "time_per_output_token_ms": ("tpot", "ms"),
    "inter_token_latency_ms": ("itl", "ms"),
    "request_latency": ("e2e", "s"),
    "requests_per_second": ("request_throughput", ""),
    "output_tokens_per_second": ("output_token_throughput", ""),
    "prompt_tokens_per_second": ("input_token_throughput", ""),
    "tokens_per_second": ("total_token_throughput", ""),
    "prompt_token_count": ("input_tokens", ""),
    "output_token_count": ("output_tokens", ""),
}
STATS: Final = {
    "mean": "mean",
    "median": "p50",
    "std_dev": "std",
    "min": "min",
    "max": "max",
    "total_sum": "total",
}
PERCENTILE: Final = re.compile(r"p\d{2,5}\Z", re.ASCII)


def claims(source: Source) -> bool:
    """Benchmarks with metrics per status."""
    first = at(source.value, "benchmarks", 0)
    return (has(first, "metrics") and isinstance(at(first, "metrics"), dict)) or (
        has(source.value, "benchmarks")
        and at(source.value, "metadata", "guidellm_version") is not None
    )


def read(source: Source) -> Reading:
    """One measurement a benchmark."""
    report = mapping(source.value)
    found = [
        benchmark(node, index, report)
        for index, node in enumerate(sequence(report.get("benchmarks")))
        if isinstance(node, dict)
    ]
    return measured(FORMAT, found, *generation(report))


def generation(report: Mapping[str, Any]) -> list[Note]:
    """A schema newer than the rules known here."""
    version = at(report, "metadata", "version")
    newer = isinstance(version, int) and version > 2  # noqa: PLR2004 -- the newest one read
    return [Note(code="schema_newer", data={"version": version})] if newer else []


def benchmark(node: Mapping[str, Any], index: int, report: Mapping[str, Any]) -> Measurement:
    """One rate."""
    sheet = Sheet(node, index, below("", "benchmarks", index))
    sheet.skip(
        "type_",
        "id_",
        "run_id",
        "config",
        "metrics",
        "requests",
        "scheduler_state",
        "scheduler_metrics",
        "scheduler",
        "backend",
        "environment",
        "start_time",
        "end_time",
        "warmup_duration",
        "cooldown_duration",
        "args",
        "run_stats",
        "worker",
        "request_loader",
        "benchmarker",
        "request_totals",
    )
    counts(sheet)
    for name, (quantity, unit) in METRICS.items():
        distribution(sheet, name, quantity, unit)
    duration(sheet)
    load(sheet)
    labels(sheet, report)
    samples(sheet)
    return sheet.finish(rule="step_cdf")


def counts(sheet: Sheet) -> None:
    """Requests by status."""
    totals = mapping(
        first_at(
            sheet.node,
            ("metrics", "request_totals"),
            ("run_stats", "requests_made"),
            ("scheduler_metrics", "requests_made"),
            ("request_totals",),
        )
    )
    for quantity, key in (
        ("n_success", "successful"),
        ("n_failure", "errored"),
        ("n_incomplete", "incomplete"),
        ("n_requests", "total"),
    ):
        if key in totals:
            sheet.put(totals[key], quantity, source=f"request_totals {key}")
    if sheet.value("n_incomplete"):
        sheet.note("incomplete_requests", incomplete=sheet.value("n_incomplete"))


def distribution(sheet: Sheet, name: str, quantity: str, unit: str) -> None:
    """The successful group of one metric."""
    group = mapping(at(sheet.node, "metrics", name, "successful"))
    given = {STATS[word]: raw for word, raw in group.items() if word in STATS}
    for word, raw in mapping(group.get("percentiles")).items():
        if PERCENTILE.match(word):
            given.setdefault(percentile(word), raw)
    empty = group.get("count") == 0
    for stat, raw in given.items():
        if empty:
            sheet.null(quantity, stat, none_because(sheet), f"{name} successful")
        else:
            sheet.put(raw, quantity, stat, unit, source=f"{name} successful {stat}")
    if empty and given:
        sheet.note("empty_group_filled_with_zeros", key=name)


def none_because(sheet: Sheet) -> Any:
    """Why a group is empty: everything failed, or this metric was not measured."""
    return "all_failed" if sheet.value("n_success") == 0 else "zero_means_missing"


def percentile(word: str) -> str:
    """``p05 → p5``, ``p001 → p0.1``, ``p999 → p99.9``."""
    digits = word.removeprefix("p")
    whole, part = digits[:2], digits[2:]
    return f"p{int(whole)}.{part}" if part else f"p{int(whole)}"


def duration(sheet: Sheet) -> None:
    """Stated, or the difference of the time stamps."""
    sheet.number("duration", "duration", unit="s")
    start, end = (
        first_at(sheet.node, (key,), ("run_stats", key)) for key in ("start_time", "end_time")
    )
    if not sheet.has("duration") and isinstance(start, float) and isinstance(end, float):
        sheet.put(
            end - start,
            "duration",
            None,
            "s",
            source="start_time, end_time",
            computed="end_time - start_time",
        )


def load(sheet: Sheet) -> None:
    """The rate or the streams that were asked for; a scheduler's own ceiling is neither."""
    strategy = mapping(
        first_at(
            sheet.node,
            ("config", "strategy"),
            ("scheduler", "strategy"),
            ("args", "strategy"),
            ("strategy",),
        )
    )
    kind = str(first_at(strategy, ("type_",), ("kind",)))
    if "rate" in strategy:
        sheet.put(strategy["rate"], "request_rate", source="strategy rate", null="not_applicable")
    elif kind in {"throughput", "concurrent", "synchronous"}:
        sheet.null("request_rate", None, "not_applicable", "strategy")
    if "streams" in strategy:
        sheet.put(strategy["streams"], "concurrency", source="strategy streams")
    elif kind == "synchronous":
        sheet.put(1, "concurrency", source="strategy type_")
    else:
        cap = mapping(first_at(sheet.node, ("config", "profile"), ("args", "profile")))
        if "max_concurrency" in cap:
            sheet.put(
                cap["max_concurrency"],
                "concurrency",
                source="profile max_concurrency",
                null="not_applicable",
            )
    sheet.label("scenario", first_at(strategy, ("type_",), ("kind",)))


def labels(sheet: Sheet, report: Mapping[str, Any]) -> None:
    """Model and versions, wherever the generation puts them."""
    sheet.label(
        "model",
        first_at(
            sheet.node,
            ("config", "backend", "model"),
            ("backend", "model"),
            ("worker", "backend_model"),
            ("benchmarker", "backend", "model"),
            ("args", "backend", "model"),
        )
        or first_at(
            report,
            ("config", "spec", "backend", "model"),
            ("args", "model"),
            ("args", "backend_kwargs", "model"),
        ),
    )
    sheet.label("tool_version", at(report, "metadata", "guidellm_version"))
    sheet.label("schema_version", at(report, "metadata", "version"))
    sheet.label(
        "backend",
        first_at(
            sheet.node,
            ("config", "backend", "kind"),
            ("worker", "backend_type"),
            ("backend", "type_"),
        ),
    )


def samples(sheet: Sheet) -> None:
    """Requests that were kept; complete only when none was sampled away."""
    rows = sequence(at(sheet.node, "requests", "successful"))
    done = sheet.value("n_success")
    for name in ("time_to_first_token_ms", "inter_token_latency_ms", "request_latency"):
        quantity, unit = METRICS[name]
        values = [value for row in rows if (value := at(row, name)) is not None]
        if values:
            sheet.sample(
                values,
                quantity,
                unit,
                source=f"requests/successful {name}",
                expected=done if isinstance(done, int) else None,
            )
