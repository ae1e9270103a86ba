"""The fence ``measurements``: a table, the index, or a part of one measurement's page.

Its lines are ``key = value``. Which rows: ``ids = a, b``, or any of ``artefact`` (the beginning of
its hash), ``kind``, ``boundary``, ``model`` and ``format``. What: ``show = table | index`` or a
part of a page (``summary, conditions, samples, cold, failures, intervals, figures, files``). For
tables:
``provenance = rows`` gives every row its origin, without which rows of several artefacts are
refused; ``order = p50`` is refused where intervals allow no order.
"""

from collections.abc import Callable, Iterable, Mapping
from html import escape
from typing import Final

from calculators.form.errors import ParameterError
from calculators.measurements import result_file
from calculators.show.blocks import Block
from calculators.show.html import block_html
from calculators.show.labels import Labels, Language
from scripts.archive.store import ROOT
from scripts.site import archive_parts as parts
from scripts.site.archive_index import index_html
from scripts.site.archive_inventory import files_html
from scripts.site.archive_links import here
from scripts.site.archive_records import Entry, shelf
from scripts.site.archive_table import Table, conditions_html, ordered
from scripts.site.archive_words import amount, title, words
from scripts.site.drawings import draw_plots

OPTIONS: Final = (
    "ids",
    "artefact",
    "kind",
    "boundary",
    "model",
    "format",
    "show",
    "provenance",
    "order",
)
PROVENANCE: Final = {"below": False, "rows": True}

type Part = Callable[[Entry, Labels], str]


def measurements_html(source: str, lang: Language) -> str:
    """The fence's HTML. Raises ParameterError and LookupError."""
    asked, labels = options(source), words(lang)
    show = asked.get("show", "table")
    entries = chosen(asked, shelf(ROOT))
    if show == "table":
        return table_html(entries, asked, labels)
    if show == "index":
        return index_html(entries, labels)
    if show not in PARTS or len(entries) != 1:
        raise ParameterError("show", "not_a_part", text=show, options=", ".join(PARTS))
    return PARTS[show](entries[0], labels)


def measured_html(source: str, lang: Language) -> str:
    """A figure within a line, linked to its measurement: ``ID quantity`` or ``ID quantity p50``."""
    name, quantity, *stat = source.split()
    [entry], labels = chosen({"ids": name}, shelf(ROOT)), words(lang)
    figure = entry.measurement.figure(quantity, *stat)
    if figure.value is None:
        raise LookupError(f"{name} states no {source.partition(' ')[2]}")
    shown = amount(figure, figure.value, labels)
    of = escape(title(entry, labels), quote=True)
    return f'<a class="cp-measured" href="{here(entry.page_path)}" title="{of}">{shown}</a>'


def options(source: str) -> dict[str, str]:
    """The ``key = value`` lines. Raises ParameterError for a key that does not exist."""
    pairs = [line.partition("=") for line in source.splitlines() if line.strip()]
    found = {key.strip(): value.strip() for key, _, value in pairs}
    unknown = [key for key in found if key not in OPTIONS]
    if unknown or len(found) != len(pairs):
        raise ParameterError("measurements", "unknown_option", text=", ".join(unknown or found))
    return found


def chosen(asked: Mapping[str, str], entries: Mapping[str, Entry]) -> tuple[Entry, ...]:
    """The entries that a fence names or asks for. Raises LookupError when there is none."""
    if "ids" in asked:
        names = [name.strip() for name in asked["ids"].split(",")]
        if missing := [name for name in names if name not in entries]:
            raise LookupError(f"no measurement {missing}; there are {list(entries)}")
        return tuple(entries[name] for name in names)
    found = tuple(entry for entry in entries.values() if matches(entry, asked))
    if not found:
        raise LookupError(f"no measurement for {dict(asked)}")
    return found


def matches(entry: Entry, asked: Mapping[str, str]) -> bool:
    """Whether an entry is what a query asks for."""
    facts = {
        "kind": entry.kind,
        "boundary": entry.boundary,
        "model": entry.model,
        "format": entry.record["format"],
    }
    artefact = entry.record["identity"]["original_sha256"].startswith(asked.get("artefact", ""))
    return artefact and all(facts[key] == asked[key] for key in facts if key in asked)


def table_html(entries: tuple[Entry, ...], asked: Mapping[str, str], labels: Labels) -> str:
    """Rows with their conditions below."""
    per_row = PROVENANCE.get(asked.get("provenance", "below"))
    if per_row is None:
        raise ParameterError("provenance", "not_an_option", options=", ".join(PROVENANCE))
    if "order" in asked:
        if asked["order"] != "p50":
            raise ParameterError("order", "not_an_option", options="p50")
        entries = ordered(entries)
    table = Table(entries=entries, labels=labels, origin_per_row=per_row)
    below = conditions_html(entries, labels)
    return f'<div class="cp-measurements">{table.html()}{below}</div>'


def summary(entry: Entry, labels: Labels) -> str:
    """The measurement as one honest row, or all its figures where it is about no single latency."""
    if entry.row.p50 is None and entry.row.cold is None:
        return of_blocks([result_file.figures(entry.measurement)], labels)
    return Table(entries=(entry,), labels=labels, linked=False).html()


def of_blocks(blocks: Iterable[Block], labels: Labels) -> str:
    """Blocks as HTML with their plots drawn."""
    return draw_plots("".join(block_html(block, labels) for block in blocks))


PARTS: Final[Mapping[str, Part]] = {
    "summary": summary,
    "conditions": lambda e, labels: of_blocks(parts.conditions(e, labels), labels),
    "samples": lambda e, labels: of_blocks(parts.samples(e), labels),
    "cold": lambda e, labels: of_blocks(parts.cold(e, labels), labels),
    "failures": lambda e, labels: of_blocks(parts.failures(e), labels),
    "intervals": lambda e, labels: of_blocks(parts.intervals(e), labels),
    "figures": lambda e, labels: of_blocks(parts.figures(e), labels),
    "files": files_html,
}
