"""Which format a file has, and what it says: the one entry of the package.

``read_text`` gives a :class:`Reading` or raises :class:`ParameterError` with one reason code; no
other exception leaves it, whatever the file holds.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
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
from calculators.measurements.record import Measurement, Note, Reading
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
    sglang_serving,
    inferencex,
    vllm_serve,
    llama_bench,
    genai_json,
    companions,
    bencher,
)


# A report of llm-d as YAML begins its blocks like this.
YAML_REPORT: Final = re.compile(r"^(results|scenario|metrics):\s*$", re.MULTILINE)


# Formats whose reader takes one document; in a file of several each is read by itself.
ONE_A_FILE: Final = frozenset(
    {asv, bench, bencher, google_benchmark, guidellm, hyperfine, llmperf, pytest_benchmark}
)
MOST_LOG_OBJECTS: Final = 100  # JSON log lines before the result


def claimed(source: Source) -> tuple[ModuleType, Source]:
    """The format and the source from the document on that it claims: JSON log lines may precede.

    Raises ParameterError when no format claims it.
    """
    for candidate in beginnings(source):
        for module in FORMATS:
            if module.claims(candidate):
                return module, candidate
    if source.refusal is not None:
        raise source.refusal
    if not source.text.strip():
        raise ParameterError("file", "empty")
    raise ParameterError("file", "format_unknown", text=excerpt(source.text))


def beginnings(source: Source) -> Iterator[Source]:
    """The source as it is, then from each of its next objects on."""
    yield source
    if source.first is not None and not source.first.alone:
        for document in islice(source.documents([]), 1, MOST_LOG_OBJECTS):
            note = Note(code="objects_skipped", data={"objects": document.position})
            yield replace(source, first=document, notes=(*source.notes, note))


def read_as(module: ModuleType, source: Source) -> Reading:
    """The reading by one format. Raises ParameterError for a file of another shape.

    A claim looks at a few keys only. Whatever else in the file is of another kind than the format
    has ends here in one sentence for the reader instead of a traceback.
    """
    try:
        several = source.first is not None and not source.first.alone
        reading: Reading = (
            read_each(module, source) if several and module in ONE_A_FILE else module.read(source)
        )
    except (TypeError, KeyError, IndexError, AttributeError, OverflowError) as error:
        raise ParameterError("file", "other_shape", format=module.FORMAT) from error
    return reading


def read_each(module: ModuleType, source: Source) -> Reading:
    """All documents of a file by a format that takes one: positions go on, pointers name lines."""
    trouble: list[Note] = []
    readings: list[Reading] = []
    found: list[Measurement] = []
    others = 0
    for document in source.documents(trouble):
        single = replace(source, first=document)
        if not module.claims(single):
            others += 1
            continue
        readings.append(module.read(single))
        found += [moved(m, len(found), document.pointer) for m in readings[-1].measurements]
    first = {str(note): note for reading in readings for note in reading.notes}
    if others:
        trouble.append(Note(code="objects_skipped", data={"objects": others}))
    return replace(
        readings[0],
        measurements=tuple(found),
        figures=readings[0].figures if len(readings) == 1 else (),
        notes=(*first.values(), *trouble),
    )


def moved(measurement: Measurement, before: int, pointer: str) -> Measurement:
    """A document's measurement behind those of earlier documents."""
    key = measurement.key
    return replace(
        measurement,
        key=key + before if isinstance(key, int) else key,
        pointer=pointer + measurement.pointer,
    )


def filled(reading: Reading) -> Reading:
    """The reading without objects that state nothing at all, such as log lines between results."""
    kept = tuple(m for m in reading.measurements if m.figures or m.labels or m.samples)
    empty = len(reading.measurements) - len(kept)
    if not empty or not kept:
        return reading
    note = Note(code="objects_skipped", data={"objects": empty})
    return replace(reading, measurements=kept, notes=(*reading.notes, note))


def read_source(source: Source) -> Reading:
    """The reading of an opened file."""
    module, source = claimed(source)
    reading = filled(read_as(module, source))
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
