"""SGLang ``bench_serving`` JSONL (bench_serving.py @0033168f and the key sets since December 2024).

Appended rows, possibly of different servers: only the arguments in the row tell them apart. The
unlimited rate is a bare ``Infinity``. No row states failures, date or version; newer ones carry the
server's own information. The first rows of 2024 name milliseconds without a unit (``median_ttft``)
and totals otherwise. ITL is per streamed chunk in older rows, per token in newer ones, and the
row does not say which.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from calculators.measurements.formats.serve_keys import failures, latencies, settle_zeros
from calculators.measurements.record import Measurement, Note, Reading, measured
from calculators.measurements.shapes import at, first_at
from calculators.measurements.sheet import Sheet
from calculators.measurements.source import Entry, Source, entries

FORMAT: Final = "sglang-bench-serving"
ARGUMENTS: Final = (
    "backend",
    "dataset_name",
    "request_rate",
    "max_concurrency",
    "sharegpt_output_len",
    "random_input_len",
    "random_output_len",
    "random_range_ratio",
    "num_prompts",
)


def claims(source: Source) -> bool:
    """A row with the retokenised count or the dataset's arguments."""
    value = source.node
    timed = any(key in value for key in ("duration", "benchmark_duration"))
    own = ("total_output_tokens_retokenized", "total_output_retokenized", "random_input_len")
    return timed and "completed" in value and any(key in value for key in own)


def read(source: Source) -> Reading:
    """One measurement a row."""
    trouble: list[Note] = []
    rows = list(entries(source, trouble))
    return measured(FORMAT, [run(row) for row in rows], *trouble, *repeats(rows))


def repeats(rows: list[Entry]) -> list[Note]:
    """Rows with the same arguments: a repeat cannot be told from another server."""
    seen: dict[str, list[int]] = {}
    for row in rows:
        seen.setdefault(arguments(row.node), []).append(row.position)
    return [
        Note(code="same_arguments", data={"rows": ", ".join(map(str, same))})
        for same in seen.values()
        if len(same) > 1
    ]


def arguments(row: Mapping[str, Any]) -> str:
    """What the row says about how it was run."""
    return json.dumps([repr(row.get(name)) for name in ARGUMENTS])


def run(entry: Entry) -> Measurement:
    """One row."""
    sheet = Sheet(entry.node, entry.position, entry.pointer)
    setup(sheet)
    totals(sheet)
    latencies(sheet, bare_unit="ms")
    empty_texts(sheet)
    settle_zeros(sheet)
    details(sheet)
    return sheet.finish(rule="r7")


def setup(sheet: Sheet) -> None:
    """The arguments; the server's own information in newer rows."""
    for name, key in (
        ("backend", "backend"),
        ("dataset", "dataset_name"),
        ("label", "tag"),
        ("model", "model_id"),
        ("date", "date"),
    ):
        sheet.label(name, sheet.take(key))
    server = sheet.take("server_info")
    sheet.label("server_version", at(server, "version"))
    sheet.label("model", first_at(server, ("model_path",), ("internal_states", 0, "model_path")))
    sheet.number("request_rate", "request_rate")
    sheet.number("max_concurrency", "concurrency", null="not_applicable")
    sheet.number("num_prompts", "n_requests")
    sheet.keep(
        "sharegpt_output_len",
        "random_input_len",
        "random_output_len",
        "random_range_ratio",
        "accept_length",
        "concurrency",
        "total_input_text_tokens",
        "total_input_vision_tokens",
        "max_output_tokens_per_s",
        "max_concurrent_requests",
    )


def totals(sheet: Sheet) -> None:
    """The run as a whole; older rows leave out the request rate achieved."""
    sheet.number("completed", "n_success")
    failures(sheet)
    for key in ("duration", "benchmark_duration"):
        sheet.number(key, "duration", unit="s")
    sheet.keep("wall_duration")
    sheet.number("request_throughput", "request_throughput")
    sheet.number("input_throughput", "input_token_throughput")
    sheet.number("output_throughput", "output_token_throughput")
    sheet.number("total_throughput", "total_token_throughput")
    sheet.number("output_token_throughput", "output_token_throughput")
    for key, quantity in (
        ("total_input_tokens", "input_tokens"),
        ("total_input", "input_tokens"),
        ("total_output_tokens", "output_tokens"),
        ("total_output", "output_tokens"),
    ):
        sheet.number(key, quantity, "total")
    done, duration = sheet.value("n_success"), sheet.value("duration")
    if not sheet.has("request_throughput") and done is not None and duration:
        sheet.put(
            done / duration,
            "request_throughput",
            source="completed, duration",
            computed="completed / duration",
        )


def empty_texts(sheet: Sheet) -> None:
    """No retokenised token although requests completed: the answers were empty."""
    names = ("total_output_tokens_retokenized", "total_output_retokenized")
    sheet.keep(*names)
    again = first_at(sheet.node, *((name,) for name in names))
    if again == 0 and sheet.value("n_success"):
        sheet.note("answers_empty", completed=sheet.value("n_success"))


def details(sheet: Sheet) -> None:
    """``--output-details`` arrays, in seconds; a failed request has an error text."""
    ttfts, errors = sheet.take("ttfts"), sheet.take("errors")
    sheet.skip("itls", "input_lens", "output_lens", "generated_texts")
    if not isinstance(ttfts, list):
        return
    failed = errors if isinstance(errors, list) and len(errors) == len(ttfts) else [""] * len(ttfts)
    good = [value for value, error in zip(ttfts, failed, strict=True) if not error]
    done = sheet.value("n_success")
    sheet.sample(
        good, "ttft", "s", source="ttfts", expected=done if isinstance(done, int) else None
    )
    sheet.compute()
