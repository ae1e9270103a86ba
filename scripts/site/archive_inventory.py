"""What can be downloaded of a measurement, with the hashes by which to check it."""

from collections.abc import Iterator
from html import escape

from calculators.show.html import scroll
from calculators.show.labels import Labels
from scripts.site.archive_links import site
from scripts.site.archive_records import Entry


def files_html(entry: Entry, labels: Labels) -> str:
    """The table of files, then where in them the measurement stands."""
    heads = "".join(
        f'<th scope="col">{escape(labels.text(f"head.{name}"))}</th>'
        for name in ("file", "sha256", "bytes")
    )
    caption = escape(labels.text("table.files"))
    grid = f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(rows(entry, labels))}</tbody>"
    notes = "".join(f"<li>{escape(text)}</li>" for text in remarks(entry, labels))
    return f'{scroll(f"{grid}</table>", caption)}<ul class="cp-notes">{notes}</ul>'


def rows(entry: Entry, labels: Labels) -> Iterator[str]:
    """Artefact, the artefact before redaction, record."""
    stored = entry.record["stored"]
    original = entry.record["identity"]["original_sha256"]
    name = labels.text("files.artefact")
    yield row(linked(entry.artefact_path, name), stored["sha256"], f"{stored['bytes']:,}")
    if original != stored["sha256"]:
        yield row(escape(labels.text("files.original")), original, "–")
    record = linked(entry.record_path, labels.text("files.record"))
    yield row(record, entry.record_sha256, "–")


def row(name: str, sha256: str, size: str) -> str:
    """One file."""
    return (
        f'<tr><th scope="row">{name}</th><td><code class="cp-hash">{sha256}</code></td>'
        f'<td class="cp-num">{size}</td></tr>'
    )


def linked(path: str, name: str) -> str:
    """A link that saves the file."""
    return f'<a href="{site(path)}" download>{escape(name)}</a>'


def remarks(entry: Entry, labels: Labels) -> Iterator[str]:
    """Pointer, redaction, and what the address is made of."""
    pointer = entry.record["identity"]["pointer"] or "/"
    yield labels.text("files.pointer", {"pointer": pointer})
    counts = entry.record["stored"]["redacted"]
    if counts:
        what = ", ".join(f"{kind} × {count}" for kind, count in counts.items())
        yield labels.text("files.redacted", {"what": what})
    else:
        yield labels.text("files.untouched")
    yield labels.text("files.identity", {"id": entry.id})
