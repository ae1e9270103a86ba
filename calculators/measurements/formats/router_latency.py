"""Our own timing of a router's decisions, written by ``scripts/bench_decide.py``.

One measurement a boundary and prompt length: warm calls as samples, the first call of the process
apart as a single value. One-off costs (checkpoint load, encoder initialisation) are measurements of
one value each. Milliseconds throughout. The file states all its conditions.
"""

from collections.abc import Mapping
from typing import Any, Final

from calculators.measurements.formats.micro import UNCOUNTED
from calculators.measurements.record import Measurement, Reading, measured
from calculators.measurements.shapes import at, below, has, mapping, sequence
from calculators.measurements.sheet import Sheet
from calculators.measurements.source import Source

FORMAT: Final = "router-latency"
SCHEMA: Final = "critical-path/router-latency"


def claims(source: Source) -> bool:
    """The schema's name."""
    return has(source.value, "schema", "runs") and source.value["schema"] == SCHEMA


def read(source: Source) -> Reading:
    """The runs, then the one-off costs."""
    report = mapping(source.value)
    found = [
        run(mapping(node), index, report) for index, node in enumerate(sequence(report.get("runs")))
    ]
    for name, value in mapping(report.get("one_off_ms")).items():
        found.append(one_off(name, value, len(found), report))
    return measured(FORMAT, found)


def run(node: Mapping[str, Any], index: int, report: Mapping[str, Any]) -> Measurement:
    """Warm calls and the first call at one prompt length."""
    sheet = Sheet(node, index, below("", "runs", index))
    sheet.number("cold_ms", "first_call", None, "ms")
    warm = sheet.take("warm_ms")
    if isinstance(warm, list):
        sheet.put(len(warm), "n_samples", source="warm_ms")
        sheet.sample(warm, "run_time", "ms", source="warm_ms", expected=None)
    sheet.number("prompt_tokens", "input_tokens", "total")
    sheet.skip("characters")
    sheet.compute()
    sheet.label("name", f"{node.get('boundary')} {node.get('prompt_tokens')} tokens")
    sheet.boundary = str(sheet.take("boundary"))
    encoded = sheet.take("encoded_tokens")
    cut(sheet, encoded)
    more = {"characters": node.get("characters"), "encoded_tokens": encoded}
    return described(sheet, report, {name: whole(value) for name, value in more.items()})


def cut(sheet: Sheet, encoded: Any) -> None:
    """Note a prompt of which the encoder saw only a part: its time is not that of its length."""
    asked = sheet.value("input_tokens", "total")
    if whole(encoded) is not None and asked is not None and encoded < asked:
        sheet.note("prompt_cut", encoded=encoded, prompt=asked)


def whole(raw: Any) -> int | None:
    """A whole number that the file states, else None."""
    return raw if isinstance(raw, int) and not isinstance(raw, bool) else None


def one_off(name: str, value: Any, index: int, report: Mapping[str, Any]) -> Measurement:
    """A cost that a process pays once: one value, so neither percentile nor interval."""
    sheet = Sheet({}, index, below("", "one_off_ms", name))
    sheet.put(value, "first_call", None, "ms", source=name)
    sheet.put(1, "n_samples", source=name)
    sheet.label("name", name)
    sheet.boundary = name
    return described(sheet, report, {})


def described(sheet: Sheet, report: Mapping[str, Any], more: Mapping[str, Any]) -> Measurement:
    """The measurement with the conditions that all of the file share."""
    for label, path in (
        ("device", ("device", "name")),
        ("model", ("checkpoint", "model")),
        ("date", ("date",)),
        ("tool_version", ("version",)),
    ):
        sheet.label(label, at(report, *path))
    if at(report, "checkpoint", "weights") == "random":
        sheet.note("random_weights")
    names = (
        "command",
        "date",
        "machine",
        "software",
        "device",
        "dtype",
        "checkpoint",
        "pool",
        "router_max_tokens",
        "iterations",
        "warmups",
        "cold",
        "load",
    )
    kept = {name: report[name] for name in names if name in report}
    sheet.provenance = kept | dict(more)
    return sheet.finish(inapplicable=UNCOUNTED - {"input_tokens"}, rule="r7")
