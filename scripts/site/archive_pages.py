"""The Markdown of a measurement's page: generated at build, one for each language.

The pages are Markdown like the written ones, with the ``measurements`` fence for all that comes
from the record; what needs the site's address (citation, description for machines) is written out.
"""

import json
from collections.abc import Iterator, Mapping

from calculators.show.labels import Labels, Language
from scripts.site.archive_cite import bibtex, dataset, page_url, text
from scripts.site.archive_records import Entry
from scripts.site.archive_words import in_markdown, remark, subject, title, words

# Sections by the anchor that they keep for ever, which is also the part that the fence shows.
SECTIONS = (
    "summary",
    "conditions",
    "samples",
    "cold",
    "failures",
    "intervals",
    "figures",
    "files",
)
UNSEARCHED = {"samples", "intervals", "figures", "files"}  # numbers that no one searches for


def page(entry: Entry, entries: Mapping[str, Entry], *, lang: Language, root: str) -> str:
    """The whole page."""
    labels = words(lang)
    url = page_url(entry, root, lang)
    parts = (
        *front(entry, labels, root=root, url=url),
        f"# {in_markdown(title(entry, labels))} {{#measurement}}",
        f"[{labels.text('page.up')}](../measurements.md#archive)",
        f"**{labels.text(f'lede.{entry.kind}')}**\n{{ .cp-lede }}",
        *superseded(entry, entries, labels),
        *(section(entry, name, labels) for name in SECTIONS),
        *remarks(entry, labels),
        *citation(entry, labels, url),
        *history(entry, entries, labels),
    )
    return "\n\n".join(parts) + "\n"


def front(entry: Entry, labels: Labels, *, root: str, url: str) -> Iterator[str]:
    """Title and description, and the description for machines; JSON is YAML."""
    name = title(entry, labels)
    about = {
        "title": name,
        "description": labels.text("page.description", {"title": name}),
        "added": entry.record["added"],
        "dataset": dataset(entry, labels, root=root, url=url),
    }
    lines = (f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in about.items())
    yield "---\n" + "\n".join(lines) + "\n---"


def superseded(entry: Entry, entries: Mapping[str, Entry], labels: Labels) -> Iterator[str]:
    """A warning on top when a later measurement replaced this one."""
    if entry.superseded_by:
        links = ", ".join(link(entries[name], labels) for name in entry.superseded_by)
        yield f'!!! warning ""\n    {labels.text("page.superseded_by")} {links}'


def section(entry: Entry, name: str, labels: Labels) -> str:
    """A heading and its part of the record."""
    hidden = " data-search-exclude" if name in UNSEARCHED else ""
    heading = f"## {labels.text(f'page.{name}')} {{#{name}{hidden}}}"
    return f"{heading}\n\n```measurements\nids = {entry.id}\nshow = {name}\n```"


def remarks(entry: Entry, labels: Labels) -> Iterator[str]:
    """What the person who kept the record wrote into it, word for word."""
    found = entry.given.get("remarks")
    if isinstance(found, list) and found:
        items = "\n".join(f"- {in_markdown(remark(str(item), labels))}" for item in found)
        yield f"## {labels.text('page.remarks')} {{#remarks}}\n\n{items}"


def citation(entry: Entry, labels: Labels, url: str) -> Iterator[str]:
    """Text and BibTeX to copy."""
    yield f"## {labels.text('page.cite')} {{#cite}}"
    yield f"> {in_markdown(text(entry, labels, url))}"
    yield f"```bibtex\n{bibtex(entry, labels, url)}\n```"


def history(entry: Entry, entries: Mapping[str, Entry], labels: Labels) -> Iterator[str]:
    """When it came, what it replaces, what belongs to it."""
    yield f"## {labels.text('page.history')} {{#history}}"
    added = labels.text("page.added", {"date": entry.record["added"]})
    yield f"{added} {labels.text('page.never')}"
    before = entry.record["supersedes"]
    same_file = [e.id for e in entries.values() if e.row.artefact == entry.row.artefact]
    groups = {
        "supersedes": [before] if before else [],
        "superseded_by": entry.superseded_by,
        "siblings": entry.record["siblings"],
        "same_file": [name for name in same_file if name != entry.id],
    }
    lines = [
        f"- {labels.text(f'page.{group}')}: {', '.join(link(entries[i], labels) for i in ids)}"
        for group, ids in groups.items()
        if ids
    ]
    if lines:
        yield "\n".join(lines)


def link(entry: Entry, labels: Labels) -> str:
    """A checked link to another measurement."""
    return f"[{in_markdown(subject(entry, labels))}]({entry.id}.md)"
