"""The conditions of a measurement as lines: every one is listed, also those that nobody stated."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from calculators.show.blocks import Message
from calculators.show.labels import Labels
from scripts.site.archive_records import Entry
from scripts.site.archive_words import absence, boundary, model_name, remark, rule_name

COMMA = {"en": ", ", "zh": "、"}
MARKS = {"en": ("; ", ": "), "zh": ("；", "：")}  # between parts, and after the name of one
# What is asked of every measurement, in reading order; a silent record says so in its line.
ASKED = (
    "checkpoint",
    "dtype",
    "device_asked",
    "device_used",
    "device_name",
    "machine",
    "software",
    "pool",
    "router_max_tokens",
    "iterations",
    "warmups",
    "cold",
    "load",
    "command",
    "date",
)
SHA256 = re.compile(r"[0-9a-f]{64}")
SHOWN_DIGITS = 12  # of a hash; the record holds all of them
DEVICE = ("asked", "used", "name")
ELSEWHERE = {"device", "model", "source", "remarks", "characters"}  # lines of their own or prose

type Line = tuple[str, str]  # name of the condition, what is stated


def lines(entry: Entry, labels: Labels) -> tuple[Line, ...]:
    """Every condition with what is stated of it."""
    return tuple((name_of(key, labels), text) for key, text in stated(entry, labels))


def name_of(key: str, labels: Labels) -> str:
    """A condition's name; one that only this file has keeps its key."""
    return labels.text(f"condition.{key}") if labels.has(f"condition.{key}") else key


def stated(entry: Entry, labels: Labels) -> Iterator[Line]:
    """Conditions by key in reading order."""
    given = entry.given
    silent = labels.text("reason.not_stated")
    yield "kind", labels.text(f"kind.{entry.kind}")
    if given.get("source"):
        yield "source", remark(str(given["source"]), labels)
    yield "boundary", boundary(entry, labels) or silent
    yield "model", model_name(entry, labels) or silent
    values = flat(given)
    for key in ASKED:
        yield key, words_of(key, values.pop(key, None), labels) or silent
    yield "percentile_rule", rule_name(entry, labels)
    yield "samples", samples(entry, labels)
    for key, value in values.items():
        yield key, words_of(key, value, labels) or silent
    yield "format", labels.text(f"format.{entry.record['format']}")


def flat(given: Mapping[str, Any]) -> dict[str, Any]:
    """The conditions by key, the device asked for apart from the one used."""
    values = {key: value for key, value in given.items() if key not in ELSEWHERE}
    device = given.get("device")
    own = dict(device) if isinstance(device, Mapping) else {"used": device}
    values |= {f"device_{part}": own.pop(part, None) for part in DEVICE}
    return values | ({"device_more": own} if own else {})


def samples(entry: Entry, labels: Labels) -> str:
    """How many samples the record keeps, or why it keeps none."""
    why = absence(entry)
    if why is not None:
        return labels.plain(why)
    kept = {one.quantity: len(one.values) for one in entry.measurement.samples}
    count = COMMA[labels.lang].join(f"{n:,}" for n in dict.fromkeys(kept.values()))
    return labels.text("samples.kept", {"count": count})


def words_of(key: str, value: Any, labels: Labels) -> str:
    """A stated value as text; empty when nothing is stated."""
    if isinstance(value, str):
        if SHA256.fullmatch(value):
            return f"{value[:SHOWN_DIGITS]}…"
        slug = f"{key}.{re.sub(r'[^a-z0-9]+', '_', value.lower())}"
        return labels.text(slug) if labels.has(slug) else value
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, Mapping):
        parts = ((name, words_of(name, inner, labels)) for name, inner in value.items())
        between, after = MARKS[labels.lang]
        return between.join(f"{name}{after}{text}" for name, text in parts if text)
    if isinstance(value, list):
        return COMMA[labels.lang].join(words_of(key, inner, labels) for inner in value)
    return "" if value is None else json.dumps(value)


def shared(entries: Sequence[Entry], labels: Labels) -> tuple[Line, ...]:
    """The conditions that all rows of a table state alike."""
    first, *others = [dict(lines(entry, labels)) for entry in entries]
    return tuple(
        (name, text)
        for name, text in first.items()
        if all(other.get(name) == text for other in others)
    )


def cold(entry: Entry, labels: Labels) -> Message:
    """What the first call found cold."""
    found = entry.given.get("cold")
    if not found:
        return Message("note.cold_unknown")
    return Message("note.what_was_cold", {"what": words_of("cold", found, labels)})
