"""The archive for programs: ``measurements/index.json`` and an Atom feed of each language."""

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from calculators.show.labels import Language
from scripts.site.archive_cite import page_url
from scripts.site.archive_conditions import lines
from scripts.site.archive_records import Entry
from scripts.site.archive_words import title, words

VERSION = 1


def index_json(entries: Mapping[str, Entry], root: str) -> str:
    """Every measurement with its addresses, hashes and bounds; absent bounds are null."""
    listed = [item(entry, root) for entry in newest(entries)]
    about = {"schema": "critical-path/measurements-index", "version": VERSION, "items": listed}
    return json.dumps(about, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def item(entry: Entry, root: str) -> dict[str, Any]:
    """One measurement."""
    row, record = entry.row, entry.record
    return {
        "id": entry.id,
        "title": {lang: title(entry, words(lang)) for lang in ("en", "zh")},
        "page": {lang: page_url(entry, root, lang) for lang in ("en", "zh")},
        "record": f"{root}{entry.record_path}",
        "record_sha256": entry.record_sha256,
        "artefact": f"{root}{entry.artefact_path}",
        "artefact_sha256": record["stored"]["sha256"],
        "original_sha256": record["identity"]["original_sha256"],
        "pointer": record["identity"]["pointer"],
        "kind": entry.kind,
        "format": record["format"],
        "boundary": entry.boundary,
        "model": entry.model,
        "timing_only": entry.timing_only,
        "prompt_tokens": entry.prompt_tokens,
        "encoded_tokens": entry.given.get("encoded_tokens"),
        "quantity": row.quantity,
        "unit": entry.measurement.figure(row.quantity, "p50").unit,
        "n": row.n,
        "p50": row.p50,
        "p50_interval_95": [row.p50_span.low, row.p50_span.high],
        "p95": row.p95,
        "p95_interval_95": [row.p95_span.low, row.p95_span.high],
        "percentile_rule": record["percentile_rule"],
        "min": row.low,
        "max": row.high,
        "first_call": row.cold,
        "first_call_unit": entry.measurement.figure("first_call").unit,
        "samples_absent": record["samples_absent"],
        "supersedes": record["supersedes"],
        "superseded_by": list(entry.superseded_by),
        "added": record["added"],
    }


def newest(entries: Mapping[str, Entry]) -> Sequence[Entry]:
    """All entries, those added last first."""
    return sorted(entries.values(), key=lambda entry: entry.record["added"], reverse=True)


def atom(entries: Mapping[str, Entry], *, lang: Language, root: str) -> str:
    """The feed: an entry never changes, so it is updated on the day it was added."""
    labels = words(lang)
    home = f"{root}{'' if lang == 'en' else f'{lang}/'}measurements/"
    found = newest(entries)
    latest = found[0].record["added"] if found else "1970-01-01"
    items = "".join(entry_xml(entry, lang, root) for entry in found)
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="{lang}">\n'
        f"<title>{escape(labels.text('feed.title'))}</title>\n<id>{escape(home)}</id>\n"
        f'<link rel="self" href="{escape(home)}feed.xml"/>\n<link href="{escape(home)}"/>\n'
        f"<updated>{latest}T00:00:00Z</updated>\n"
        f"<author><name>Critical Path</name></author>\n{items}</feed>\n"
    )


def entry_xml(entry: Entry, lang: Language, root: str) -> str:
    """One measurement."""
    labels = words(lang)
    url = escape(page_url(entry, root, lang))
    summary = "; ".join(f"{name}: {value}" for name, value in lines(entry, labels))
    return (
        f"<entry><title>{escape(title(entry, labels))}</title><id>{url}</id>"
        f'<link href="{url}"/><updated>{entry.record["added"]}T00:00:00Z</updated>'
        f"<summary>{escape(summary)}</summary></entry>\n"
    )
