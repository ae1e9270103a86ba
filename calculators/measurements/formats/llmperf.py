"""llmperf summary and individual responses (llmperf @f1d6bed4, schema date 2023-08-31).

Seconds in ``_s``. What the tool calls inter-token latency is end-to-end time over output tokens and
so contains the TTFT. A row with an error code still carries latencies, and its inter-token field is
an undivided sum: such rows stay out of every statistic. "Errors" may be short answers.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from calculators.measurements.record import Measurement, Reading, measured
from calculators.measurements.shapes import at, has, mapping, sequence
from calculators.measurements.sheet import Sheet
from calculators.measurements.source import Source

FORMAT: Final = "llmperf"
QUANTITIES: Final = {
    "inter_token_latency_s": ("itl", "s"),
    "ttft_s": ("ttft", "s"),
    "end_to_end_latency_s": ("e2e", "s"),
    "request_output_throughput_token_per_s": ("per_request_output_rate", ""),
    "number_input_tokens": ("input_tokens", ""),
    "number_output_tokens": ("output_tokens", ""),
}
STATS: Final = {"mean": "mean", "min": "min", "max": "max", "stddev": "std"}
KEY: Final = re.compile(
    rf"results_({'|'.join(QUANTITIES)})_(?:quantiles_(p\d+)|(mean|min|max|stddev))\Z"
)
ROW: Final = ("error_code", "ttft_s", "end_to_end_latency_s")
LATENCIES: Final = ("ttft", "itl", "e2e", "per_request_output_rate")


def claims(source: Source) -> bool:
    """The flat summary, or an array of responses."""
    return (
        has(source.value, "results_num_requests_started")
        or has(source.value, "results_number_errors")
        or has(at(sequence(source.value), 0), *ROW)
    )


def read(source: Source) -> Reading:
    """One measurement: a run's summary, or its rows as samples."""
    if isinstance(source.value, list):
        return measured(FORMAT, [individual(source.value)])
    return measured(FORMAT, [summarised(mapping(source.value))])


def summarised(node: Mapping[str, Any]) -> Measurement:
    """The summary file."""
    sheet = Sheet(node, 0, "")
    for key in list(node):
        if match := KEY.match(key):
            quantity, unit = QUANTITIES[match[1]]
            sheet.number(key, quantity, match[2] or STATS[match[3]], unit)
    counts(sheet)
    sheet.label("model", sheet.take("model"))
    sheet.label("schema_version", sheet.take("version"))
    sheet.label("backend", sheet.take("framework"))
    sheet.label("name", sheet.take("name"))
    sheet.label("date", sheet.take("timestamp"))
    if sheet.value("n_success") == 0:
        nothing(sheet)
    sheet.missing_zeros()
    return sheet.finish(rule="r7")


def counts(sheet: Sheet) -> None:
    """Requests, rates and the duration that follows from completed per minute."""
    sheet.number("results_num_requests_started", "n_requests")
    sheet.number("results_num_completed_requests", "n_success")
    sheet.number("results_number_errors", "n_failure")
    sheet.number("num_concurrent_requests", "concurrency")
    sheet.number("results_mean_output_throughput_token_per_s", "output_token_throughput")
    sheet.number(
        "results_num_completed_requests_per_min", "request_throughput", None, "requests/min"
    )
    done, rate = sheet.value("n_success"), sheet.value("request_throughput")
    if done and rate:
        sheet.put(
            done / rate,
            "duration",
            None,
            "s",
            source="results_num_completed_requests_per_min",
            computed="completed requests / completed per minute * 60",
        )
    if sheet.value("n_failure"):
        sheet.note("errors_may_be_short_answers", failed=sheet.value("n_failure"))


def nothing(sheet: Sheet) -> None:
    """Every request had an error code: the tool leaves the statistics out."""
    sheet.all_failed(LATENCIES)
    for quantity in LATENCIES:
        for stat in ("mean", "p50", "p90", "p95", "p99"):
            sheet.null(quantity, stat, "all_failed")


def individual(rows: list[Any]) -> Measurement:
    """The responses of one run; statistics only over rows without an error code."""
    good = [row for row in rows if isinstance(row, dict) and row.get("error_code") is None]
    bad = [row for row in rows if isinstance(row, dict) and row.get("error_code") is not None]
    sheet = Sheet({}, 0, "")
    sheet.put(len(rows), "n_requests", source="rows")
    sheet.put(len(good), "n_success", source="error_code")
    sheet.put(len(bad), "n_failure", source="error_code")
    if bad:
        sheet.label("error", first_error(bad[0]))
        sheet.note("rows_with_errors_left_out", rows=len(bad))
    for key, (quantity, unit) in QUANTITIES.items():
        values = [row.get(key) for row in good]
        if values:
            sheet.sample(values, quantity, unit, source=key, expected=len(good))
    if rows and not good:
        nothing(sheet)
    over = "rows with null error_code"
    sheet.missing_zeros()
    sheet.compute(over)
    return sheet.finish(rule="r7")


def first_error(row: Mapping[str, Any]) -> str:
    """The code of the first error."""
    return str(row.get("error_code"))
