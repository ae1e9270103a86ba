"""Which format a file has, and what it says: the one entry of the package.

``read_text`` gives a :class:`Reading` or raises :class:`ParameterError` with one reason code; no
other exception leaves it, whatever the file holds.
"""

import re
from dataclasses import replace
from types import ModuleType
from typing import Final

from calculators.form.errors import ParameterError, excerpt
from calculators.measurements import yaml_subset
from calculators.measurements.formats import (
    action_benchmark,
    aiperf_jsonl,
    asv,
    bench,
    bencher,
    companions,
    genai_csv,
    genai_json,
    google_benchmark,
    guidellm,
    hyperfine,
    inference_perf,
    inferencex,
    k6,
    llama_bench,
    llmd_report,
    llmperf,
    lmbench,
    locust,
    mlperf_detail,
    mlperf_summary,
    published_table,
    pytest_benchmark,
    router_latency,
    sglang_one_batch,
    sglang_serving,
    vllm_offline,
    vllm_pytorch,
    vllm_serve,
)
from calculators.measurements.record import Note, Reading
from calculators.measurements.scan import Progress
from calculators.measurements.source import Source, open_text, open_value

# The order decides where key sets overlap: the more particular format comes first.
FORMATS: Final[tuple[ModuleType, ...]] = (
    router_latency,
    published_table,
    bench,
    mlperf_detail,
    mlperf_summary,
    action_benchmark,
    aiperf_jsonl,
    genai_csv,
    lmbench,
    locust,
    llmd_report,
    guidellm,
    pytest_benchmark,
    hyperfine,
    google_benchmark,
    asv,
    k6,
    llmperf,
    inference_perf,
    vllm_offline,
    vllm_pytorch,
    sglang_one_batch,
    inferencex,
    sglang_serving,
    vllm_serve,
    llama_bench,
    genai_json,
    companions,
    bencher,
)


# A report of llm-d as YAML begins its blocks like this.
YAML_REPORT: Final = re.compile(r"^(results|scenario|metrics):\s*$", re.MULTILINE)


def format_of(source: Source) -> ModuleType:
    """The format that claims the file. Raises ParameterError when none does."""
    for module in FORMATS:
        if module.claims(source):
            return module
    if source.refusal is not None:
        raise source.refusal
    if not source.text.strip():
        raise ParameterError("file", "empty")
    raise ParameterError("file", "format_unknown", text=excerpt(source.text))


def read_as(module: ModuleType, source: Source) -> Reading:
    """The reading by one format. Raises ParameterError for a file of another shape.

    A claim looks at a few keys only. Whatever else in the file is of another kind than the format
    has ends here in one sentence for the reader instead of a traceback.
    """
    try:
        reading: Reading = module.read(source)
    except (TypeError, KeyError, IndexError, AttributeError, OverflowError) as error:
        raise ParameterError("file", "other_shape", format=module.FORMAT) from error
    return reading


def read_source(source: Source) -> Reading:
    """The reading of an opened file."""
    reading = read_as(format_of(source), source)
    if reading.outcome == "measurements" and not reading.measurements:
        empty = Note(code="no_entries", data={"format": reading.format})
        return replace(reading, outcome="no_measurement").noted([*source.notes, empty])
    keys = sorted({key for m in reading.measurements for key in m.unknown})
    unknown = [Note(code="keys_unknown", data={"keys": ", ".join(keys)})] if keys else []
    return reading.noted([*source.notes, *unknown])


def read_text(text: str, name: str = "", *, progress: Progress | None = None) -> Reading:
    """The reading of a file's text. Raises ParameterError."""
    source = open_text(text, name, progress=progress)
    if source.first is None and source.refusal is None and YAML_REPORT.search(source.head):
        source = open_value(yaml_subset.read(source.text), source.text, name)
    return read_source(source)
