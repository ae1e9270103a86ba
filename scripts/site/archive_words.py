"""Names of measurements and words of their pages in one language."""

import re
import tomllib
from dataclasses import replace
from functools import cache
from html import escape
from pathlib import Path
from types import MappingProxyType

from calculators import labels as label_files
from calculators.measurements.record import Figure, Number
from calculators.measurements.result_file import quantity
from calculators.show.blocks import Message
from calculators.show.labels import Labels, Language, flatten
from scripts.site.archive_records import Entry

WORDING = Path(__file__).with_name("archive_labels.toml")
MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|!])")


@cache
def words(lang: Language) -> Labels:
    """The wording of the pages over that of result files, whose quantities and rules they share."""
    own = flatten(tomllib.loads(WORDING.read_text(encoding="utf-8")), lang)
    shared = label_files.load("result-file", lang).texts
    return Labels(lang, MappingProxyType({**shared, **own}))


def boundary(entry: Entry, labels: Labels) -> str | None:
    """The boundary in words; one that has none is shown as it stands."""
    key = f"boundary.{entry.boundary}"
    return labels.text(key) if labels.has(key) else entry.boundary


def what(entry: Entry, labels: Labels) -> str:
    """What was timed: boundary and prompt length, else the name that the file gives."""
    if entry.record["format"] == "bench":
        return labels.text("subject.bench", {"name": entry.row.name})
    bound, tokens = boundary(entry, labels), entry.prompt_tokens
    if tokens is not None:
        count = {"count": f"{tokens:,}"}
        if bound is None:
            return labels.text("subject.prompt", count)
        return labels.text("subject.bounded", {"what": bound, **count})
    return bound or entry.row.name


def subject(entry: Entry, labels: Labels) -> str:
    """What was timed and how often."""
    n = entry.row.n
    plain = what(entry, labels)
    return plain if n is None else labels.text("subject.n", {"what": plain, "count": f"{n:,}"})


def title(entry: Entry, labels: Labels) -> str:
    """The heading of the page: what, how often, which model, and when we ran it."""
    plain, model = subject(entry, labels), model_name(entry, labels)
    if model is not None and entry.model != entry.row.name:
        plain = labels.text("subject.model", {"what": plain, "model": model})
    run = moment(entry)
    return plain if run is None else labels.text("subject.run", {"what": plain, "date": run})


def model_name(entry: Entry, labels: Labels) -> str | None:
    """The model as the file names it; random weights never go without saying so."""
    if entry.model is None or not entry.timing_only:
        return entry.model
    return labels.text("subject.timing_only", {"model": entry.model})


def moment(entry: Entry) -> str | None:
    """When a run of ours began, to the minute: two runs alike in all else differ in it."""
    date = entry.given.get("date")
    if entry.kind != "measured_here" or not isinstance(date, str):
        return None
    return date[:16].replace("T", " ")


def remark(text: str, labels: Labels) -> str:
    """A remark that records keep in English, in the reader's language where it is worded.

    A wording belongs to one remark, character by character; another one stays as it is.
    """
    texts = words("en").texts
    keys = (key for key, wording in texts.items() if wording == text and key.startswith("remark."))
    key = next(keys, None)
    return text if key is None else labels.text(key)


def rule_name(entry: Entry, labels: Labels) -> str:
    """The percentile rule, short where it has a short name."""
    rule = entry.measurement.percentile_rule or "unknown"
    return labels.text(f"short.{rule}" if labels.has(f"short.{rule}") else f"rule.{rule}")


def amount(figure: Figure, value: Number | None, labels: Labels) -> str:
    """A value in the figure's unit as HTML, a dash where there is none."""
    if value is None:
        return escape(labels.text("cell.none"))
    return labels.html(quantity(replace(figure, value=value, reason=None)))


def amount_text(figure: Figure, value: Number | None, labels: Labels) -> str:
    """The same as plain text."""
    if value is None:
        return labels.text("cell.none")
    return labels.quantity(quantity(replace(figure, value=value, reason=None)))


def absence(entry: Entry) -> Message | None:
    """Why a record holds no samples."""
    why = entry.record["samples_absent"]
    return None if why is None else Message(f"samples.{why}")


def in_markdown(text: str) -> str:
    """Data within Markdown: no character of it is markup."""
    return MARKDOWN.sub(r"\\\1", text)
