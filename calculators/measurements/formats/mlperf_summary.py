"""MLPerf LoadGen ``mlperf_log_summary.txt`` (mlcommons/inference @b66003e1): text, nanoseconds.

The percentile is element floor(n p) of the sorted samples, counted from 0. The verdict, early
stopping included, is part of the result. Offline latencies count from the single issue of all
queries; its target rate only sizes the run. An accuracy run has no performance figures at all.
Left out: which model and hardware ran, which only the path and sibling files tell.
"""

import re
from typing import Final

from calculators.measurements.record import Note, Reading, measured
from calculators.measurements.sheet import Sheet
from calculators.measurements.source import Source

FORMAT: Final = "mlperf-summary"
LINE: Final = re.compile(r"\s*(.+?)\s*:\s*(\S.*?)?\s*\Z")
LATENCY: Final = re.compile(
    r"(?:(Min|Max|Mean)|(\d+(?:\.\d+)?)(?:st|nd|rd|th)? percentile) "
    r"(latency|first token latency|time (?:to|per) output token)(?: \((ns|us|ms|s)\))?\Z",
    re.IGNORECASE,
)
QUANTITIES: Final = {
    "latency": "e2e",
    "first token latency": "ttft",
    "time to output token": "tpot",
    "time per output token": "tpot",
}
RATES: Final = {
    "completed samples per second": "request_throughput",
    "samples per second": "request_throughput",
    "completed tokens per second": "output_token_throughput",
    "tokens per second": "output_token_throughput",
    "qps w/ loadgen overhead": "request_throughput",
}
LABELS: Final = {
    "sut name": "system",
    "scenario": "scenario",
    "mode": "mode",
    "result is": "result",
}
ENDINGS: Final = ("errors encountered during test", "warnings encountered", "See detailed log")


def claims(source: Source) -> bool:
    """The headline, or the closing sentences of an accuracy run."""
    if source.first is not None:
        return False
    return "MLPerf Results Summary" in source.head or (
        any(line in source.head for line in ENDINGS) and "encountered" in source.head
    )


def read(source: Source) -> Reading:
    """One measurement, or none for an accuracy run."""
    sheet = Sheet({}, 0, "")
    for line in source.text.splitlines():
        if match := LINE.match(line):
            take(sheet, match[1], match[2] or "")
    ending(sheet, source.text)
    load(sheet)
    performance = [
        figure
        for figure in sheet.figures
        if figure.value is not None and figure.quantity != "request_rate"
    ]
    if not performance:
        note = Note(code="no_performance_data")
        return Reading(format=FORMAT, outcome="no_measurement", notes=(note, *sheet.notes))
    return measured(FORMAT, [sheet.finish(rule="floor_index")])


def take(sheet: Sheet, name: str, text: str) -> None:
    """One line ``name : value``."""
    word = name.lower()
    if match := LATENCY.match(name):
        stat = (match[1] or "").lower() or f"p{float(match[2]):g}"
        sheet.put(text, QUANTITIES[match[3].lower()], stat, match[4] or "ns", source=name)
    elif word in RATES:
        sheet.put(text, RATES[word], source=name)
    elif word in LABELS:
        sheet.label(LABELS[word], text)
    elif word == "target_qps":
        sheet.put(text, "request_rate", source=name)
    elif word in {"schedule_rng_seed", "qsl_rng_seed", "sample_index_rng_seed"}:
        sheet.label(word, text)


def load(sheet: Sheet) -> None:
    """Only the Server scenario sends at a rate."""
    scenario = next((label.value for label in sheet.labels if label.name == "scenario"), None)
    if scenario in {"Offline", "SingleStream", "MultiStream"}:
        sheet.figures = [f for f in sheet.figures if f.quantity != "request_rate"]
        sheet.null("request_rate", None, "not_applicable", "target_qps")


def ending(sheet: Sheet, text: str) -> None:
    """What the run itself complains about."""
    for line in text.splitlines():
        count = re.match(r"\s*(\d+) (warnings?|errors?|ERRORS?) encountered", line)
        if count:
            sheet.note("tool_complains", count=int(count[1]), kind=count[2].lower())
    if re.search(r"Result is\s*:\s*INVALID", text):
        sheet.note("result_invalid")
    if "sample_concatenate_permutation was set to true" in text:
        sheet.note("samples_per_query_uncertain")
