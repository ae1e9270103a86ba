"""MLPerf LoadGen ``mlperf_log_detail.txt``: lines of ``:::MLLOG`` and JSON, one event each.

Every event with a number is a measurement named by its line, counted from 0, with the bare value;
result keys add the quantity that they mean (nanoseconds in ``*_ns``). Numbers of 64 bits keep all
digits. Configuration events give labels: LoadGen version and seeds.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from calculators.form.nesting import nests_deeper
from calculators.measurements.record import Measurement, Note, Reading, measured
from calculators.measurements.shapes import at
from calculators.measurements.sheet import Sheet
from calculators.measurements.source import Source

FORMAT: Final = "mlperf-detail"
MARK: Final = ":::MLLOG"
LATENCY: Final = re.compile(
    r"result_(?:(first_token|token|time_per_output_token|time_to_output_token)_)?"
    r"(?:(min|max|mean)(?:_query)?_latency_ns"
    r"|(\d+(?:\.\d+)?)_percentile(?:_per_query)?_latency_ns"
    r"|(min|max|mean)|(\d+(?:\.\d+)?)_percentile)(?:_ns)?\Z"
)
QUANTITIES: Final = {
    None: "e2e",
    "first_token": "ttft",
    "token": "tpot",
    "time_per_output_token": "tpot",
    "time_to_output_token": "tpot",
}
PLAIN: Final = {
    "result_completed_samples_per_sec": "request_throughput",
    "result_samples_per_second": "request_throughput",
    "result_completed_tokens_per_second": "output_token_throughput",
    "result_tokens_per_second": "output_token_throughput",
    "result_qps_with_loadgen_overhead": "request_throughput",
    "result_query_count": "n_requests",
    "effective_target_qps": "request_rate",
}
LABELS: Final = {
    "loadgen_version": "tool_version",
    "result_validity": "result",
    "effective_scenario": "scenario",
    "requested_scenario": "scenario",
    "effective_test_mode": "mode",
    "sut_name": "system",
    "loadgen_git_commit_hash": "commit",
    "test_datetime": "date",
    "power_begin": "date",
    "effective_schedule_rng_seed": "schedule_rng_seed",
    "requested_schedule_rng_seed": "schedule_rng_seed",
}


def claims(source: Source) -> bool:
    """Event lines."""
    return MARK in source.head


def read(source: Source) -> Reading:
    """One measurement an event line with a value."""
    broken: list[int] = []
    found = []
    for number, event in events(source.text, broken):
        if isinstance(event.get("key"), str):
            found.append(row(number, event))
    notes = [Note(code="lines_broken", data={"lines": len(broken)})] if broken else []
    return measured(FORMAT, shared_labels(found), *notes)


def events(text: str, broken: list[int]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Each event with its line number counted from 0."""
    for number, line in enumerate(text.splitlines()):
        before, mark, body = line.partition(MARK)
        if not mark or before.strip() or nests_deeper(body):
            continue
        try:
            event = json.loads(body)
        except (ValueError, RecursionError):
            broken.append(number)
            continue
        if isinstance(event, dict):
            yield number, event


def row(number: int, event: Mapping[str, Any]) -> Measurement:
    """One event."""
    key, value = str(event["key"]), event.get("value")
    sheet = Sheet({}, number, f"L{number + 1}")
    sheet.label("name", key)
    if isinstance(value, int | float) and not isinstance(value, bool):
        sheet.put(value, "value", source=key)
        meaning(sheet, key, value)
    if key in LABELS:
        sheet.label(LABELS[key], value)
    if at(event, "metadata", "is_error") is True:
        sheet.note("tool_error", key=key)
    return sheet.finish(rule="floor_index")


def meaning(sheet: Sheet, key: str, value: Any) -> None:
    """The quantity that a result key means, under its own statistic and under none."""
    match = LATENCY.match(key)
    if match is not None:
        percent = match[3] or match[5]
        stat = match[2] or match[4] or f"p{float(percent):g}"
        for name in (stat, None):
            sheet.put(value, QUANTITIES[match[1]], name, "ns", source=key)
    elif key in PLAIN:
        sheet.put(value, PLAIN[key], source=key)


def shared_labels(rows: list[Measurement]) -> list[Measurement]:
    """The run's own labels on its first event, where a reader looks for them."""
    if not rows:
        return rows
    names = {label.name for label in rows[0].labels}
    more = [label for row in rows[1:] for label in row.labels if label.name != "name"]
    unique = {label.name: label for label in reversed(more) if label.name not in names}
    first = Sheet({}, rows[0].key, rows[0].pointer)
    first.figures, first.labels = list(rows[0].figures), [*rows[0].labels, *unique.values()]
    first.notes = list(rows[0].notes)
    return [first.finish(rule="floor_index"), *rows[1:]]
