"""pytest-benchmark JSON (@47d66c88): seconds; quartiles by Tukey, no p95.

``stats.data`` holds the rounds when asked for, and may be cut or replaced: a statistic is computed
from it only when it has as many numbers as ``rounds``. A dirty tree's commit does not identify the
code.
"""

from collections.abc import Mapping
from typing import Any, Final

from calculators.measurements.formats.micro import UNCOUNTED
from calculators.measurements.record import Measurement, Reading, measured
from calculators.measurements.shapes import at, below, has, mapping, sequence
from calculators.measurements.sheet import Sheet
from calculators.measurements.source import Source

FORMAT: Final = "pytest-benchmark"
STATS: Final = {
    "mean": "mean",
    "median": "p50",
    "stddev": "std",
    "min": "min",
    "max": "max",
    "total": "total",
}


def claims(source: Source) -> bool:
    """Benchmarks with rounds, under machine information."""
    return has(source.value, "benchmarks", "machine_info")


def read(source: Source) -> Reading:
    """One measurement a benchmark."""
    report = mapping(source.value)
    found = [
        benchmark(mapping(node), index, report)
        for index, node in enumerate(sequence(report.get("benchmarks")))
    ]
    return measured(FORMAT, found)


def benchmark(node: Mapping[str, Any], index: int, report: Mapping[str, Any]) -> Measurement:
    """One benchmark."""
    sheet = Sheet(node, index, below("", "benchmarks", index))
    stats = mapping(sheet.take("stats"))
    for word, stat in STATS.items():
        if word in stats:
            sheet.put(stats[word], "run_time", stat, "s", source=f"stats {word}")
    for word, quantity in (("rounds", "n_samples"), ("iterations", "n_iterations")):
        if word in stats:
            sheet.put(stats[word], quantity, source=f"stats {word}")
    rounds = sheet.value("n_samples")
    data = stats.get("data")
    if isinstance(data, list) and data:
        sheet.sample(
            data,
            "run_time",
            "s",
            source="stats.data",
            expected=rounds if isinstance(rounds, int) else len(data),
        )
        sheet.compute("stats.data, which holds all rounds")
    labels(sheet, report)
    return sheet.finish(inapplicable=UNCOUNTED, rule="tukey_quartiles")


def labels(sheet: Sheet, report: Mapping[str, Any]) -> None:
    """Name, commit, version and machine."""
    sheet.label("name", sheet.take("name"))
    sheet.label("commit", at(report, "commit_info", "id"))
    sheet.label("dirty", at(report, "commit_info", "dirty"))
    sheet.label("tool_version", report.get("version"))
    sheet.label("date", report.get("datetime"))
    cpu = at(report, "machine_info", "cpu")
    sheet.label("device", at(cpu, "brand_raw") or at(cpu, "brand"))
    sheet.keep("fullname", "group", "params", "param", "options", "extra_info")
    if at(report, "commit_info", "dirty") is True:
        sheet.note("commit_dirty", commit=at(report, "commit_info", "id"))
