"""The index of all measurements: sorted and filtered by radio buttons and style alone.

Every order is a table of its own, of which style shows the chosen one; without style all of them
stand below each other. There is no order by speed: rows of different machines are not ranked.
"""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any, Final

from calculators.show.html import scroll
from calculators.show.labels import Labels
from scripts.archive.tabulate import require_provenance
from scripts.site.archive_links import here
from scripts.site.archive_records import Entry
from scripts.site.archive_table import Table, seen, short_hash
from scripts.site.archive_words import boundary, model_name, moment, subject

KINDS: Final = ("measured_here", "published_elsewhere", "imported")
COLUMNS: Final = ("measurement", "kind", "p50", "cold", "added", "artefact")


def by_length(entry: Entry) -> tuple[Any, ...]:
    """Boundary, then prompt length."""
    return entry.boundary or "", entry.prompt_tokens or 0, entry.row.n or 0


def by_model(entry: Entry) -> tuple[Any, ...]:
    """Model, then boundary and length."""
    return (entry.model or "").lower(), *by_length(entry)


ORDERS: Final[Mapping[str, Callable[[Sequence[Entry]], list[Entry]]]] = {
    "newest": lambda entries: sorted(entries, key=lambda e: e.record["added"], reverse=True),
    "boundaries": lambda entries: sorted(entries, key=by_length),
    "models": lambda entries: sorted(entries, key=by_model),
}


def index_html(entries: Sequence[Entry], labels: Labels) -> str:
    """Two rows of radio buttons and a table an order."""
    require_provenance([entry.row for entry in entries], shown_per_row=True)
    kinds = [("all", labels.text("index.all")), *((k, labels.text(f"kind.{k}")) for k in KINDS)]
    orders = [(name, labels.text(f"table.{name}")) for name in ORDERS]
    tables = "".join(table(name, sort(entries), labels) for name, sort in ORDERS.items())
    files = len({entry.row.artefact for entry in entries})
    count = labels.text("index.count", {"count": len(entries), "files": files})
    return (
        f'<div class="cp-index"><p class="cp-intro">{escape(count)}</p>'
        f"{radios('kind', labels.text('index.kind'), kinds)}"
        f"{radios('order', labels.text('index.order'), orders)}{tables}</div>"
    )


def radios(name: str, legend: str, options: Sequence[tuple[str, str]]) -> str:
    """A choice; the first option is chosen."""
    items = "".join(
        f'<label><input type="radio" name="cp-index-{name}" value="{value}"'
        f"{' checked' if number == 0 else ''}> {escape(text)}</label>"
        for number, (value, text) in enumerate(options)
    )
    return (
        f'<fieldset class="cp-field cp-radios"><legend>{escape(legend)}</legend>{items}</fieldset>'
    )


def table(order: str, entries: Sequence[Entry], labels: Labels) -> str:
    """All rows in one order."""
    head = "".join(
        f'<th scope="col">{escape(labels.text(f"head.{name}"))}</th>' for name in COLUMNS
    )
    body = "".join(line(entry, labels) for entry in entries)
    caption = escape(labels.text(f"table.{order}"))
    grid = f'<table class="cp-honest"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return (
        f'<div class="cp-order" data-order="{order}"><p class="cp-caption">{caption}</p>'
        f"{scroll(grid, caption)}</div>"
    )


def line(entry: Entry, labels: Labels) -> str:
    """One measurement with its kind, date and artefact."""
    honest = Table(entries=(entry,), labels=labels)
    bound = boundary(entry, labels)
    name = subject(entry, labels)
    named = model_name(entry, labels)
    under = [named if bound != named else None, moment(entry)]
    model = "".join(f"<small>{escape(text)}</small>" for text in under if text)
    cells = (
        escape(labels.text(f"kind.{entry.kind}")),
        honest.cell(entry, "p50"),
        honest.cell(entry, "cold"),
        f"<time>{escape(entry.record['added'])}</time>",
        f'<code class="cp-hash">{short_hash(entry)}</code>',
    )
    marked = f"<small>{escape(labels.text('cell.superseded'))}</small>" * bool(entry.superseded_by)
    link = (
        f'<a href="{here(entry.page_path)}">{escape(name)}</a>{seen(entry, labels)}{model}{marked}'
    )
    return (
        f'<tr data-kind="{entry.kind}"><th scope="row">{link}</th>'
        f"{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
    )
