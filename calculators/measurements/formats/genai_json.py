"""genai-perf and aiperf summaries as JSON (``profile_export_genai_perf.json``, ``…_aiperf.json``).

Early genai-perf wrote min, max and std as text. The multi-run aggregate of aiperf has another shape
(mean, std, confidence bounds over runs) and is refused by name: it is no run.
"""

from typing import Any, Final

from calculators.form.errors import ParameterError
from calculators.measurements.formats.genai_keys import QUANTITIES, TOTALS, metric
from calculators.measurements.record import Measurement, Note, Reading, measured
from calculators.measurements.shapes import at, first_at, has, mapping, sequence
from calculators.measurements.sheet import Sheet
from calculators.measurements.source import Entry, Source, entries

FORMAT: Final = "genai-perf-json"


def claims(source: Source) -> bool:
    """An object of metrics with units, or aiperf's aggregate over runs."""
    return metrics_in(source.node) or is_aggregate(source.value)


def metrics_in(value: Any) -> bool:
    """Whether some metric is there with its unit."""
    return isinstance(value, dict) and any(
        has(value.get(name), "unit") and "avg" in value[name] for name in QUANTITIES
    )


def is_aggregate(value: Any) -> bool:
    """The confidence file over several runs."""
    return has(value, "metrics") and any(
        has(node, "mean", "cv") or has(node, "mean", "ci_low")
        for node in mapping(at(value, "metrics")).values()
    )


def read(source: Source) -> Reading:
    """One run. Raises ParameterError for an aggregate over runs."""
    if not metrics_in(source.node):
        raise ParameterError("file", "aggregate_of_runs")
    trouble: list[Note] = []
    found = [run(entry) for entry in entries(source, trouble)]
    return measured(FORMAT, found, *trouble)


def run(entry: Entry) -> Measurement:
    """The metrics of one run."""
    sheet = Sheet(entry.node, entry.position, entry.pointer)
    for name in (*QUANTITIES, *TOTALS):
        node = mapping(sheet.node.get(name))
        if "unit" in node:
            sheet.skip(name)
            metric(sheet, name, str(node["unit"]), node)
    config(sheet)
    errors(sheet)
    if sheet.value("n_success") == 0:
        sheet.all_failed()
    sheet.missing_zeros()
    return sheet.finish(rule="r7")


def config(sheet: Sheet) -> None:
    """What ``input_config`` says of model, load and endpoint."""
    given = sheet.take("input_config")
    sheet.label(
        "model",
        first_at(
            given,
            ("endpoint", "model_names", 0),
            ("model_names", 0),
            ("models", "items", 0, "name"),
            ("models", 0),
            ("model",),
        ),
    )
    sheet.label("command", first_at(given, ("cli_command",)))
    sheet.label("backend", first_at(given, ("endpoint", "backend"), ("backend",)))
    sheet.label("tool_version", sheet.take("aiperf_version"))
    sheet.label("schema_version", sheet.take("schema_version"))
    sheet.label("date", sheet.take("start_time"))
    sheet.skip("end_time", "was_cancelled", "telemetry_data", "telemetry_stats", "sessions")
    load = {
        "concurrency": (
            ("loadgen", "concurrency"),
            ("concurrency",),
            ("perf_analyzer", "stimulus", "concurrency"),
        ),
        "request_rate": (
            ("loadgen", "request_rate"),
            ("request_rate",),
            ("perf_analyzer", "stimulus", "request_rate"),
        ),
    }
    for quantity, paths in load.items():
        raw = first_at(given, *paths)
        if isinstance(raw, int | float | str):
            sheet.put(raw, quantity, source=f"input_config {quantity}")
    if sheet.node.get("was_cancelled") is True:
        sheet.note("run_cancelled")


def errors(sheet: Sheet) -> None:
    """The first error's type; the number of failures when only the summary lists them."""
    listed = sequence(sheet.take("error_summary"))
    sheet.label("error", first_at(listed, (0, "error_details", "type"), (0, "type")))
    counts = [node["count"] for node in listed if has(node, "count")]
    if counts and not sheet.has("n_failure") and all(isinstance(c, int) for c in counts):
        sheet.put(
            sum(counts), "n_failure", source="error_summary", computed="sum of error_summary counts"
        )
    if sheet.value("n_failure"):
        sheet.note("failures_outside_statistics", failed=sheet.value("n_failure"))
