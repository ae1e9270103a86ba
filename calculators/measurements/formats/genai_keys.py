"""Metric names and statistics that genai-perf and aiperf share (json_exporter.py @263c5f6e).

aiperf keeps genai-perf's shape on purpose: each metric is an object with its ``unit``. TPOT does
not exist by name; ``inter_token_latency`` is a per-request mean.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from calculators.measurements.sheet import Sheet
from calculators.measurements.units import canonical, known

# metric name → (quantity, the stat of a metric that has only an average)
QUANTITIES: Final[dict[str, str]] = {
    "time_to_first_token": "ttft",
    "ttft": "ttft",
    "inter_token_latency": "itl",
    "request_latency": "e2e",
    "output_token_throughput_per_user": "per_request_output_rate",
    "output_token_throughput_per_request": "per_request_output_rate",
    "output_token_throughput": "output_token_throughput",
    "total_token_throughput": "total_token_throughput",
    "request_throughput": "request_throughput",
    "benchmark_duration": "duration",
    "request_count": "n_success",
    "error_request_count": "n_failure",
    "input_sequence_length": "input_tokens",
    "output_sequence_length": "output_tokens",
    "reasoning_token_count": "reasoning_tokens",
}
TOTALS: Final[dict[str, str]] = {
    "total_input_sequence_length": "input_tokens",
    "total_isl": "input_tokens",
    "total_output_sequence_length": "output_tokens",
    "total_osl": "output_tokens",
    "total_reasoning_tokens": "reasoning_tokens",
}
PERCENTILE: Final = re.compile(r"p\d+(\.\d+)?\Z", re.ASCII)
STATS: Final = {
    "avg": "mean",
    "mean": "mean",
    "min": "min",
    "max": "max",
    "std": "std",
    "sum": "total",
}


def stat_of(word: str) -> str | None:
    """``avg → mean``; None for what is no statistic (``unit``, ``count``)."""
    return word if PERCENTILE.match(word) else STATS.get(word)


def metric(sheet: Sheet, name: str, unit: str, stats: Mapping[str, Any]) -> None:
    """The figures of one metric. A metric with an average alone is a plain number."""
    if name in TOTALS:
        sheet.put(
            stats.get("avg"), TOTALS[name], "total", unit_of("input_tokens", unit), source=name
        )
        return
    quantity = QUANTITIES[name]
    given = {word: raw for word, raw in stats.items() if raw is not None and stat_of(word)}
    plain = set(given) <= {"avg", "sum"} and quantity not in {"input_tokens", "output_tokens"}
    for word, raw in given.items():
        stat = None if plain and word == "avg" and not is_latency(quantity) else stat_of(word)
        if not (plain and word == "sum"):
            sheet.put(raw, quantity, stat, unit_of(quantity, unit), source=f"{name} {word}")


def is_latency(quantity: str) -> bool:
    """Whether a lone average is a mean over requests."""
    return canonical(quantity) == "ms" or quantity == "per_request_output_rate"


def unit_of(quantity: str, unit: str) -> str:
    """The unit as stated; tools count tokens and requests in many words."""
    target = canonical(quantity)
    return "count" if target == "count" and not known(unit, target) else unit
