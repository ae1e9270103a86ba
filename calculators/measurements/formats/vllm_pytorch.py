"""The PyTorch-format companion of vLLM's benchmarks (``*.pytorch.json``, lib/utils.py @07bf28ea).

One record a metric; the only vLLM output with the whole argument namespace. Each array element is
one measurement of one figure. Values are lists; infinities are text.
"""

from typing import Any, Final

from calculators.measurements.formats.serve_keys import KEY, QUANTITIES, stat_of
from calculators.measurements.record import Measurement, Reading, measured
from calculators.measurements.shapes import at, has, sequence
from calculators.measurements.sheet import Sheet
from calculators.measurements.source import Source

FORMAT: Final = "vllm-pytorch"
OTHERS: Final = {
    "request_throughput": ("request_throughput", None, ""),
    "output_throughput": ("output_token_throughput", None, ""),
    "total_token_throughput": ("total_token_throughput", None, ""),
    "latency": ("batch_latency", None, "s"),
    "requests_per_second": ("request_throughput", None, ""),
    "tokens_per_second": ("total_token_throughput", None, ""),
}


def claims(source: Source) -> bool:
    """An array of records with ``benchmark``, ``model`` and ``metric``."""
    return has(at(sequence(source.value), 0), "benchmark", "model", "metric")


def read(source: Source) -> Reading:
    """One measurement a record."""
    found = [record(item, index) for index, item in enumerate(sequence(source.value))]
    return measured(FORMAT, found)


def record(item: Any, index: int) -> Measurement:
    """One metric."""
    sheet = Sheet(item if isinstance(item, dict) else {}, index, f"/{index}")
    sheet.skip("benchmark", "model", "metric")
    name = at(item, "metric", "name")
    values = sequence(at(item, "metric", "benchmark_values"))
    sheet.label("name", name)
    sheet.label("model", at(item, "model", "name"))
    quantity, stat, unit = meaning(str(name))
    if len(values) == 1:
        sheet.put(values[0], quantity, stat, unit, source=str(name))
    else:
        sheet.sample(values, quantity, unit, source=str(name), expected=None)
        sheet.compute()
    return sheet.finish(rule="r7")


def meaning(name: str) -> tuple[str, str | None, str]:
    """Quantity, stat and unit of a metric's name; a bare value for a name that says neither."""
    match = KEY.match(name)
    if match is not None and match[3]:
        return QUANTITIES[match[2]], stat_of(match[1]), "ms"
    return OTHERS.get(name, ("value", None, ""))
