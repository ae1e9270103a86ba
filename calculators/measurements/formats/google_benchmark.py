"""google-benchmark JSON (@267a1115): the unit stands in each row, names repeat.

An iteration row is a mean over its iterations. Aggregate rows take the statistic that they name;
a cv row is a ratio whatever its unit says; a row without a unit (RMS, complexity) has no time. NaN
and Infinity are printed bare. ``error_occurred`` means that nothing was measured.
"""

from collections.abc import Mapping
from typing import Any, Final

from calculators.measurements.formats.micro import SERVING
from calculators.measurements.record import Measurement, Note, Reading, measured
from calculators.measurements.shapes import at, below, has, mapping, sequence
from calculators.measurements.sheet import Sheet
from calculators.measurements.source import Source

FORMAT: Final = "google-benchmark"
AGGREGATES: Final = {"mean": "mean", "median": "p50", "stddev": "std", "cv": "cv"}


def claims(source: Source) -> bool:
    """A context and rows with times."""
    first = at(source.value, "benchmarks", 0)
    return has(source.value, "context", "benchmarks") and (
        not isinstance(first, dict)
        or any(
            key in first for key in ("real_time", "error_occurred", "run_type", "rms", "cpu_time")
        )
    )


def read(source: Source) -> Reading:
    """One measurement a row."""
    report = mapping(source.value)
    rows = [mapping(node) for node in sequence(report.get("benchmarks"))]
    found = [row(node, index, mapping(report.get("context"))) for index, node in enumerate(rows)]
    return measured(FORMAT, found, *repeats(rows))


def repeats(rows: list[Mapping[str, Any]]) -> list[Note]:
    """Names that several iteration rows share."""
    names = [node.get("name") for node in rows if node.get("run_type") != "aggregate"]
    again = sorted({str(name) for name in names if names.count(name) > 1})
    return [Note(code="names_repeat", data={"names": ", ".join(again)})] if again else []


def row(node: Mapping[str, Any], index: int, context: Mapping[str, Any]) -> Measurement:
    """One row."""
    sheet = Sheet(node, index, below("", "benchmarks", index))
    stat = "mean"
    if sheet.take("run_type") == "aggregate":
        stat = AGGREGATES.get(str(sheet.node.get("aggregate_name")))  # type: ignore[assignment]
    sheet.keep(
        "aggregate_name",
        "aggregate_unit",
        "run_name",
        "time_unit",
        "threads",
        "repetition_index",
        "family_index",
        "per_family_instance_index",
    )
    unit = str(node.get("time_unit") or "")
    for key, quantity in (("real_time", "run_time"), ("cpu_time", "cpu_time")):
        if node.get("aggregate_unit") == "percentage" and stat != "cv":
            sheet.keep(key)  # a share whatever time_unit says, of nothing that has a name here
        elif unit or stat == "cv":
            sheet.number(key, quantity, stat, unit)
        elif key in node:
            sheet.note("unit_missing", key=key)
    sheet.number("iterations", "n_iterations")
    if node.get("repetitions") != 0:  # 0: the option was not given
        sheet.number("repetitions", "n_samples")
    sheet.skip("repetitions")
    failed(sheet)
    labels(sheet, context)
    return sheet.finish(inapplicable=SERVING)


def failed(sheet: Sheet) -> None:
    """A row that reports an error, or that was skipped, measured nothing."""
    if sheet.take("error_occurred") is True:
        for quantity in ("run_time", "cpu_time"):
            sheet.null(quantity, "mean", "all_failed", "error_occurred")
        sheet.all_failed(("run_time", "cpu_time"))
    sheet.label("error", sheet.take("error_message"))
    if sheet.take("skipped") is True:
        for quantity in ("run_time", "cpu_time"):
            sheet.null(quantity, "mean", "not_applicable", "skipped")


def labels(sheet: Sheet, context: Mapping[str, Any]) -> None:
    """Name, date and the library's build."""
    sheet.label("name", sheet.take("name"))
    sheet.label("label", sheet.take("label"))
    sheet.label("date", context.get("date"))
    sheet.label("tool_version", context.get("library_version"))
    if context.get("library_build_type") == "debug":
        sheet.note("debug_build")
    if context.get("cpu_scaling_enabled") is True:
        sheet.note("cpu_scaling")
