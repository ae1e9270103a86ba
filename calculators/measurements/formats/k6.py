"""k6 summaries (``handleSummary`` and ``--summary-export``) and its point stream (``--out json``).

Milliseconds by default. ``http_req_failed`` is a rate whose *passes* are the failed requests.
``http_req_waiting`` is time to the first byte of the answer, no TTFT. Request times include failed
requests. Nothing is said about the server.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from calculators.measurements.record import Measurement, Note, Reading, measured
from calculators.measurements.shapes import at, has, mapping
from calculators.measurements.sheet import Sheet
from calculators.measurements.source import Source

FORMAT: Final = "k6"
PERCENTILE: Final = re.compile(r"p\((\d+(?:\.\d+)?)\)\Z", re.ASCII)
STATS: Final = {"avg": "mean", "min": "min", "max": "max", "med": "p50"}


def claims(source: Source) -> bool:
    """A summary with k6's built-in metrics, or a stream of points."""
    metrics = at(source.value, "metrics")
    return (
        isinstance(metrics, dict)
        and any(
            name in metrics for name in ("http_req_duration", "iteration_duration", "iterations")
        )
    ) or (
        has(source.value, "type", "metric", "data") and source.value["type"] in {"Metric", "Point"}
    )


def read(source: Source) -> Reading:
    """One run."""
    if has(source.value, "type"):
        return points(source)
    return measured(FORMAT, [summarised(mapping(source.value))])


def values(node: Any) -> Mapping[str, Any]:
    """A metric's numbers in either shape."""
    return mapping(at(node, "values")) or mapping(node)


def summarised(report: Mapping[str, Any]) -> Measurement:
    """A summary."""
    sheet = Sheet(report, 0, "")
    metrics = mapping(sheet.take("metrics"))
    sheet.skip("root_group", "options", "state")
    for word, raw in values(metrics.get("http_req_duration")).items():
        stat = STATS.get(word) or percentile(word)
        if stat is not None:
            sheet.put(raw, "e2e", stat, unit_of(report), source=f"http_req_duration {word}")
    reqs, failed = values(metrics.get("http_reqs")), values(metrics.get("http_req_failed"))
    if "count" in reqs:
        sheet.put(reqs["count"], "n_requests", source="http_reqs count")
    if "rate" in reqs:
        sheet.put(reqs["rate"], "request_throughput", source="http_reqs rate")
    if "passes" in failed:
        sheet.put(failed["passes"], "n_failure", source="http_req_failed passes")
        sheet.put(failed.get("fails"), "n_success", source="http_req_failed fails")
    if (length := at(report, "state", "testRunDurationMs")) is not None:
        sheet.put(length, "duration", None, "ms", source="state testRunDurationMs")
    notes(sheet)
    return sheet.finish(rule="r7")


def unit_of(report: Mapping[str, Any]) -> str:
    """The summary's time unit when the options change it, else milliseconds."""
    unit = at(report, "options", "summaryTimeUnit")
    return unit if isinstance(unit, str) and unit else "ms"


def percentile(word: str) -> str | None:
    """``p(99.9) → p99.9``."""
    match = PERCENTILE.match(word)
    return f"p{match[1]}" if match else None


def notes(sheet: Sheet) -> None:
    """What the request times contain."""
    failed = sheet.value("n_failure")
    if failed and failed == sheet.value("n_requests"):
        sheet.all_failed()
    elif failed:
        sheet.note("times_include_failures", failed=failed)


def points(source: Source) -> Reading:
    """The point stream: request times in order, failures beside them."""
    trouble: list[Note] = []
    times: list[Any] = []
    failed = 0
    for document in source.documents(trouble):
        node = document.value
        if has(node, "type", "metric") and node["type"] == "Point":
            value = at(node, "data", "value")
            if node["metric"] == "http_req_duration":
                times.append(value)
            elif node["metric"] == "http_req_failed":
                failed += value == 1
    sheet = Sheet({}, 0, "")
    sheet.put(len(times), "n_requests", source="http_req_duration")
    sheet.put(failed, "n_failure", source="http_req_failed")
    sheet.sample(times, "e2e", "ms", source="http_req_duration", expected=None)
    notes(sheet)
    if not failed:
        sheet.compute()
    return measured(FORMAT, [sheet.finish(rule="r7")], *trouble)
