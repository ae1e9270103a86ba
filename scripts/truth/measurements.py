"""Case files of result files (an ``index.json``) and facts of the statistics."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from calculators.form.errors import ParameterError
from calculators.measurements.read import read_source
from calculators.measurements.record import Figure, Measurement, Reading
from calculators.measurements.siblings import links
from calculators.measurements.source import Source
from scripts.archive import statistics_facts
from scripts.archive.opening import open_file
from scripts.truth.verdict import Outcome, Verdict

ENTRY_KEYS = {
    "file",
    "format",
    "kind",
    "origin",
    "licence",
    "generator_version",
    "bytes",
    "sha256",
    "redacted",
    "odd",
    "outcome",
    "needs",
    "same_run_as",
    "percentile_rule",
    "must_warn",
    "notes",
    "labels",
    "checks",
}
CHECK_KEYS = {"measurement", "quantity", "stat", "unit", "value", "reason", "computed"}
LABEL_KEYS = {"measurement", "label", "value", "reason"}
OUTCOMES = {
    "import": "measurements",
    "import_or_refuse": "measurements",
    "no_measurement": "no_measurement",
    "attach": "attachment",
}
TOLERANCE = 1e-6
NUMBERS = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")
KEY_NAMES = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+")


def recognises(document: object, path: Path) -> bool:
    """A list of entries with a file and checks beside it, or facts of the statistics."""
    del path
    return statistics_facts.is_facts(document) or (
        isinstance(document, list)
        and bool(document)
        and all(
            isinstance(entry, dict) and {"file", "outcome"} <= entry.keys() for entry in document
        )
    )


def verdicts(document: object, path: Path) -> Iterator[Verdict]:
    """The verdicts of every entry, or of every fact."""
    if statistics_facts.is_facts(document):
        yield from statistics_facts.verdicts(document)
    entries: list[Mapping[str, Any]] = document if isinstance(document, list) else []
    for entry in entries:
        yield from entry_verdicts(entry, path.parent)


def entry_verdicts(entry: Mapping[str, Any], folder: Path) -> Iterator[Verdict]:
    """The verdicts of one file."""
    if strange := unknown_keys(entry):
        yield verdict(entry, "keys", None, None, "not run", f"unknown keys: {strange}")
        return
    try:
        source = opened(entry, folder)
    except OSError as error:
        yield verdict(entry, "file", None, None, "not run", str(error))
        return
    try:
        reading = read_source(source)
        reading.check()
    except ParameterError as error:
        allowed = entry["outcome"] == "import_or_refuse"
        yield verdict(
            entry,
            "outcome",
            entry["outcome"],
            f"refused: {error}",
            "passed" if allowed else "failed",
        )
        return
    yield same(entry, "outcome", OUTCOMES.get(entry["outcome"]), reading.outcome)
    yield from figures(entry, reading)
    yield from labels(entry, reading)
    yield from warnings(entry, reading)
    yield from siblings(entry, reading, folder)


def opened(entry: Mapping[str, Any], folder: Path) -> Source:
    """The entry's file with the companions that it needs."""
    needs = [open_file(folder / name) for name in entry.get("needs") or ()]
    return open_file(folder / entry["file"], companions=tuple(needs))


def unknown_keys(entry: Mapping[str, Any]) -> str:
    """Keys that this adapter does not know, listed."""
    found = set(entry) - ENTRY_KEYS
    for check in entry.get("checks") or ():
        found |= set(check) - CHECK_KEYS
    for label in entry.get("labels") or ():
        found |= set(label) - LABEL_KEYS
    return ", ".join(sorted(found))


def figures(entry: Mapping[str, Any], reading: Reading) -> Iterator[Verdict]:
    """Every check of an entry."""
    for check in entry.get("checks") or ():
        key, stat = check.get("measurement"), check.get("stat")
        name = f"{key} {check['quantity']} {stat}"
        holder = holder_of(reading, key)
        if holder is None:
            yield verdict(entry, name, expected(check), "no such measurement", "failed")
            continue
        figure = holder.figure(check["quantity"], stat)
        trouble = judge(check, figure)
        yield verdict(
            entry, name, expected(check), shown(figure), "failed" if trouble else "passed", trouble
        )


def holder_of(reading: Reading, key: Any) -> Reading | Measurement | None:
    """The reading itself for null, else the measurement."""
    return reading if key is None else reading.measurement(key)


def expected(check: Mapping[str, Any]) -> object:
    """The expected value, or its reason."""
    return check.get("reason") if check.get("value") is None else check["value"]


def shown(figure: Figure) -> object:
    """The computed value, or its reason; a computed number is marked."""
    if figure.value is None:
        return figure.reason
    return f"{figure.value} (computed)" if figure.computed else figure.value


def judge(check: Mapping[str, Any], figure: Figure) -> str:
    """Why a figure does not hold; empty when it does."""
    value, reason = figure.value, figure.reason
    if "computed" in check and check.get("value") is not None:
        if value is None:
            return "" if reason == "not_stated" else f"reason {reason}"
        marked = figure.computed is not None
        return "" if marked and near(check["value"], figure, check) else "wrong or not marked"
    if figure.computed is not None:
        value, reason = None, "not_stated"
    if check.get("value") is None:
        return "" if value is None and reason == check.get("reason") else f"reason {reason}"
    return "" if value is not None and near(check["value"], figure, check) else "differs"


def near(wanted: float, figure: Figure, check: Mapping[str, Any]) -> bool:
    """Equal within the tolerance, counts exactly, and in the unit asked for."""
    value = figure.value
    if value is None or (check.get("unit") not in {None, figure.unit}):
        return False
    if wanted == 0 or check.get("unit") == "count":
        return value == wanted
    return abs(value - wanted) <= TOLERANCE * abs(wanted)


def labels(entry: Mapping[str, Any], reading: Reading) -> Iterator[Verdict]:
    """Every label of an entry, character by character."""
    for wanted in entry.get("labels") or ():
        key = wanted.get("measurement")
        name = f"{key} label {wanted['label']}"
        holder = (
            reading.measurements[0]
            if key is None and reading.measurements
            else (reading.measurement(key))
        )
        if holder is None:
            yield verdict(entry, name, wanted.get("value"), "no such measurement", "failed")
            continue
        found = holder.label(wanted["label"])
        good = found.value == wanted.get("value") and found.reason == wanted.get("reason")
        yield verdict(
            entry,
            name,
            wanted.get("value") or wanted.get("reason"),
            found.value or found.reason,
            "passed" if good else "failed",
        )


def warnings(entry: Mapping[str, Any], reading: Reading) -> Iterator[Verdict]:
    """Every fact that needs a warning is named by one: by its numbers or by a key."""
    for line in entry.get("must_warn") or ():
        said = [str(note) for note in reading.all_notes]
        good = any(names(text, line) for text in said)
        yield verdict(entry, "warning", line, "; ".join(said), "passed" if good else "failed")


def names(said: str, line: str) -> bool:
    """Whether a warning is about a line: the same numbers, or one of its key names."""
    numbers = set(NUMBERS.findall(line))
    keys = set(KEY_NAMES.findall(line))
    if keys & set(KEY_NAMES.findall(said)):
        return True
    return numbers <= set(NUMBERS.findall(said)) if numbers or keys else True


def siblings(entry: Mapping[str, Any], reading: Reading, folder: Path) -> Iterator[Verdict]:
    """The other files of the run are linked."""
    for other in entry.get("same_run_as") or ():
        if not (folder / other).exists():
            yield verdict(entry, f"sibling {other}", "linked", None, "not run", "file is missing")
            continue
        beside = read_source(open_file(folder / other))
        found = links([(entry["file"], reading), (other, beside)])
        yield same(entry, f"sibling {other}", "linked", "linked" if found else "not linked")


def same(entry: Mapping[str, Any], figure: str, wanted: object, found: object) -> Verdict:
    """Passed when equal."""
    return verdict(entry, figure, wanted, found, "passed" if wanted == found else "failed")


def verdict(  # noqa: PLR0913, PLR0917 -- the fields of a verdict
    entry: Mapping[str, Any],
    figure: str,
    wanted: object,
    found: object,
    outcome: Outcome,
    reason: str = "",
) -> Verdict:
    """A verdict of this entry."""
    return Verdict(
        case=entry["file"],
        figure=figure,
        expected=wanted,
        computed=found,
        outcome=outcome,
        reason=reason,
    )
