"""llama-bench JSON, JSONL and CSV (ggml-org/llama.cpp tools/llama-bench).

Nanoseconds and tokens per second. A row is prompt processing (``pp``), generation (``tg``) or both
(``pg``): there is no TTFT, no request and no load in it. The spread is over repetitions inside one
process. A CSV row of another width than its head is refused: by position it would be read wrongly.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from calculators.measurements.record import Measurement, Note, Reading, measured
from calculators.measurements.shapes import has, mapping
from calculators.measurements.sheet import Sheet, from_text
from calculators.measurements.source import Source
from calculators.measurements.tables import head_of, rows_of

FORMAT: Final = "llama-bench"
ABSENT: Final = frozenset(
    {
        "ttft",
        "tpot",
        "itl",
        "ntpot",
        "e2e",
        "queue",
        "schedule_delay",
        "n_requests",
        "n_success",
        "n_failure",
        "concurrency",
        "request_rate",
        "request_throughput",
        "output_token_throughput",
        "input_token_throughput",
        "total_token_throughput",
    }
)


def claims(source: Source) -> bool:
    """A row, an array of rows, or a CSV with the columns of one."""
    value = source.value
    row = value[0] if isinstance(value, list) and value else value
    return has(row, "avg_ts", "n_prompt", "n_gen") or (source.first is None and is_csv(source))


def is_csv(source: Source) -> bool:
    """Whether the head line has the columns."""
    return {"avg_ns", "n_prompt", "n_gen"} <= set(head_of(head_line(source.head)))


def head_line(text: str) -> str:
    """The first line that names the columns: notices may precede it."""
    return next((line for line in text.splitlines() if "n_prompt" in line), "")


def read(source: Source) -> Reading:
    """One measurement a row."""
    trouble: list[Note] = []
    found = [
        row(node, index, pointer) for index, (pointer, node) in enumerate(nodes(source, trouble))
    ]
    return measured(FORMAT, found, *trouble)


def nodes(source: Source, trouble: list[Note]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The rows with their pointers, whichever of the three shapes the file has."""
    if source.first is None:
        before, _, _ = source.text.partition(head_line(source.head))
        start = before.count("\n") + 1
        for line in rows_of(source.text[len(before) :], start):
            yield f"L{line.line}", line.cells
        return
    for document in source.documents(trouble):
        if isinstance(document.value, list):
            for index, node in enumerate(document.value):
                yield f"{document.pointer}/{index}", mapping(node)
        else:
            yield document.pointer, mapping(document.value)


def row(node: Mapping[str, Any], index: int, pointer: str) -> Measurement:
    """One test."""
    sheet = Sheet(node, index, pointer)
    prompt, generated = (tokens(sheet.take(key)) for key in ("n_prompt", "n_gen"))
    rate = "generation_rate" if not prompt else "prompt_rate" if not generated else "value"
    unit = "tokens/s" if rate == "value" else ""
    sheet.number("avg_ts", rate, "mean", unit)
    sheet.number("stddev_ts", rate, "std", unit)
    sheet.number("avg_ns", "run_time", "mean", "ns")
    sheet.number("stddev_ns", "run_time", "std", "ns")
    repetitions(sheet, rate)
    labels(sheet, prompt, generated)
    others = {"prompt_rate", "generation_rate"} - {rate}
    return sheet.finish(inapplicable=ABSENT | others, rule="r7")


def tokens(raw: Any) -> int:
    """A count of tokens, also as text."""
    number = from_text(raw) if isinstance(raw, str) else raw
    return int(number) if isinstance(number, int | float) and abs(number) < 2**53 else 0


def repetitions(sheet: Sheet, rate: str) -> None:
    """The repetitions that the JSON forms keep."""
    times, speeds = sheet.take("samples_ns"), sheet.take("samples_ts")
    if isinstance(times, list):
        sheet.put(len(times), "n_samples", source="samples_ns")
        sheet.sample(times, "run_time", "ns", source="samples_ns", expected=None)
    if isinstance(speeds, list):
        unit = "tokens/s" if rate == "value" else "tokens_per_s"
        sheet.sample(speeds, rate, unit, source="samples_ts", expected=None)
    sheet.compute()


def labels(sheet: Sheet, prompt: int, generated: int) -> None:
    """Build, hardware, model and the test's usual name."""
    parts = [f"pp{prompt}" if prompt else "", f"tg{generated}" if generated else ""]
    depth = tokens(sheet.take("n_depth"))
    name = "+".join(filter(None, parts)) + (f" @ d{depth}" if depth else "")
    sheet.label("test", sheet.node.get("test") or name)
    for label, key in (
        ("model", "model_type"),
        ("device", "gpu_info"),
        ("device", "cpu_info"),
        ("commit", "build_commit"),
        ("date", "test_time"),
        ("backend", "backends"),
    ):
        sheet.label(label, sheet.take(key))
