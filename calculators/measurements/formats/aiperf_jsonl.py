"""aiperf ``profile_export.jsonl``: one record a request, with the unit beside every value.

Time stamps in nanoseconds exceed 2^53 and are kept as text, digit by digit. A record with an error
has no TTFT. The metric is ``ttft`` in early files and ``time_to_first_token`` later. Warm-ups stay
out. Rows are folded into columns while reading, so the file never stands as objects at once.
"""

from collections.abc import Mapping
from typing import Any, Final

from calculators.measurements.formats.genai_keys import QUANTITIES, unit_of
from calculators.measurements.record import Note, Reading, measured
from calculators.measurements.shapes import at, first_at, has, mapping
from calculators.measurements.sheet import Sheet
from calculators.measurements.source import Source
from calculators.measurements.units import canonical

FORMAT: Final = "aiperf-jsonl"
SAMPLED: Final = (
    "ttft",
    "itl",
    "e2e",
    "per_request_output_rate",
    "input_tokens",
    "output_tokens",
    "reasoning_tokens",
)
TIMES: Final = (("timestamp_ns",), ("request_start_ns",))


def claims(source: Source) -> bool:
    """A record of a request."""
    return is_record(source.value)


def is_record(value: Any) -> bool:
    """Metadata with metrics; a log line between the records is none."""
    return has(value, "metadata", "metrics") and isinstance(value["metadata"], dict)


class Columns:
    """The requests of a run, column by column."""

    def __init__(self) -> None:
        self.series: dict[tuple[str, str], list[Any]] = {}
        self.good = self.bad = self.warmups = self.cancelled = 0
        self.first_ns: int | None = None
        self.last_ns: int | None = None
        self.error: str | None = None

    def add(self, row: Mapping[str, Any]) -> None:
        """One record."""
        metadata = mapping(row.get("metadata"))
        if metadata.get("benchmark_phase") == "warmup":
            self.warmups += 1
            return
        self.stamp(first_at(metadata, *TIMES))
        if row.get("error"):
            self.bad += 1
            self.cancelled += metadata.get("was_cancelled") is True
            self.error = self.error or str(
                first_at(row, ("error", "type"), ("error", "code")) or row["error"]
            )
            return
        self.good += 1
        for name, node in mapping(row.get("metrics")).items():
            quantity = QUANTITIES.get(name)
            if quantity in SAMPLED:
                unit = str(at(node, "unit") or "")
                self.series.setdefault((quantity, unit), []).append(at(node, "value"))

    def stamp(self, time_ns: Any) -> None:
        """The earliest and the latest time stamp."""
        if isinstance(time_ns, int) and not isinstance(time_ns, bool):
            self.first_ns = time_ns if self.first_ns is None else min(self.first_ns, time_ns)
            self.last_ns = time_ns if self.last_ns is None else max(self.last_ns, time_ns)


def read(source: Source) -> Reading:
    """All records as one run."""
    trouble: list[Note] = []
    columns = Columns()
    others = 0
    for document in source.documents(trouble):
        if is_record(document.value):
            columns.add(document.value)
        else:
            others += 1
    if others:
        trouble.append(Note(code="objects_skipped", data={"objects": others}))
    sheet = Sheet({}, 0, "")
    describe(sheet, columns)
    if columns.bad and not columns.good:
        for quantity in ("ttft", "itl", "e2e"):
            for stat in ("mean", "p50", "p90", "p95", "p99", "min", "max"):
                sheet.null(quantity, stat, "all_failed")
    sheet.compute("records without error")
    sheet.missing_zeros()
    return measured(FORMAT, [sheet.finish(rule="r7")], *trouble)


def describe(sheet: Sheet, columns: Columns) -> None:
    """Counts, time stamps and samples."""
    sheet.put(columns.good + columns.bad, "n_requests", source="records")
    sheet.put(columns.good, "n_success", source="error")
    sheet.put(columns.bad, "n_failure", source="error")
    sheet.label("first_timestamp_ns", columns.first_ns)
    sheet.label("last_timestamp_ns", columns.last_ns)
    sheet.label("error", columns.error)
    if columns.warmups:
        sheet.note("warmups_left_out", records=columns.warmups)
    for (quantity, unit), values in columns.series.items():
        expected = columns.good if canonical(quantity) != "count" else None
        sheet.sample(values, quantity, unit_of(quantity, unit), source=quantity, expected=expected)
        if canonical(quantity) == "count" and len(values) == columns.good:
            total = sum(value for value in values if isinstance(value, int | float))
            sheet.put(total, quantity, "total", source=quantity, computed="sum over records")
