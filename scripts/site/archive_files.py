"""All that the build adds to the site from the archive, by its path; pure but for reading it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from calculators.show.labels import LANGUAGES
from scripts.archive.record import SCHEMAS
from scripts.archive.store import ROOT, Archive
from scripts.archive.verify import problems
from scripts.site.archive_feed import atom, index_json
from scripts.site.archive_pages import page
from scripts.site.archive_records import shelf


@dataclass(frozen=True, kw_only=True, slots=True)
class Added:
    """A file of the site: text that was written now, or a file that is copied."""

    path: str
    text: str | None = None
    copied: Path | None = None


class ArchiveDamagedError(Exception):
    """The archive is not as it was written: no page is built from it."""


def require_whole(root: Path = ROOT) -> None:
    """Raise ArchiveDamagedError with every problem of the archive."""
    if found := problems(Archive(root=root)):
        raise ArchiveDamagedError("the archive of measurements: " + "; ".join(found))


def added(*, second: bool, root: str, archive: Path = ROOT) -> Iterator[Added]:
    """Pages and feed of a language; with the first one also what has no language."""
    lang = LANGUAGES[second]
    entries = shelf(archive)
    for entry in entries.values():
        text = page(entry, entries, lang=lang, root=root)
        yield Added(path=f"measurements/{entry.id}.md", text=text)
    yield Added(path="measurements/feed.xml", text=atom(entries, lang=lang, root=root))
    if not second:
        yield Added(path="measurements/index.json", text=index_json(entries, root))
        yield from copies(archive)


def copies(archive: Path) -> Iterator[Added]:
    """The archive itself, so that a download of its folder verifies, and the records' schemas."""
    for path in sorted(archive.rglob("*")):
        if path.is_file():
            yield Added(path=f"archive/{path.relative_to(archive).as_posix()}", copied=path)
    for path in sorted(SCHEMAS.glob("*.json")):
        yield Added(path=f"measurements/schema/{path.name}", copied=path)
