"""Companion data without measurements: recognised, attached, never counted as a run."""

from collections.abc import Callable
from typing import Any, Final

from calculators.measurements.record import Note, Reading, attachment
from calculators.measurements.shapes import at, has
from calculators.measurements.source import Source

FORMAT: Final = "companion"


def first(value: Any) -> Any:
    """The first element of an array."""
    return at(value, 0)


KINDS: Final[dict[str, Callable[[Any], bool]]] = {
    "mlperf_system": lambda v: (
        has(v, "system_name")
        and (has(v, "accelerator_model_name") or has(v, "host_processor_model_name"))
    ),
    "mlperf_measurements": lambda v: has(v, "input_data_types", "weight_data_types"),
    "mlperf_accuracy": lambda v: has(first(v), "qsl_idx", "data"),
    "asv_benchmarks": lambda v: (
        isinstance(v, dict)
        and any(has(node, "code", "unit") or has(node, "code", "type") for node in v.values())
    ),
    "asv_machine": lambda v: has(v, "machine", "cpu", "ram"),
    "aiperf_inputs": lambda v: has(at(v, "data", 0), "session_id", "payloads"),
}


def kind_of(value: Any) -> str | None:
    """Which companion this is."""
    return next((name for name, test in KINDS.items() if test(value)), None)


def claims(source: Source) -> bool:
    """One of the kinds."""
    return source.first is not None and kind_of(source.value) is not None


def read(source: Source) -> Reading:
    """An attachment, named by its kind."""
    return attachment(FORMAT, Note(code="companion_data", data={"kind": kind_of(source.value)}))
