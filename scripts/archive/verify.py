"""Every problem of an archive in one report: nothing is repaired, nothing is passed over.

Checked: each stored file and record against the ledger's hashes, the ledger's chain and its last
committed state, missing, extra and duplicate files, schemas, identities, links between records, and
that the stored artefact still gives the figures of its records.
"""

import hashlib
import json
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from calculators.form.errors import ParameterError
from calculators.measurements.read import read_source
from scripts.archive.ledger import Entry, chain_problems, entries
from scripts.archive.opening import open_bytes
from scripts.archive.record import finite, identity, to_json, upgraded, violations
from scripts.archive.store import Archive


def problems(archive: Archive) -> list[str]:
    """All problems, sorted by kind of file."""
    found = list(entries(archive.ledger))
    listed = [entry for _, entry in found if entry is not None]
    records = dict(readable_records(archive))
    lines = [
        *chain_problems(found),
        *committed_problems(archive),
        *missing_and_changed(archive, listed),
        *extra_files(archive, listed),
        *duplicates(archive, listed),
        *(line for name, record in records.items() for line in record_problems(name, record)),
        *link_problems(records),
        *figure_problems(archive, records),
    ]
    return list(dict.fromkeys(lines))  # a file that several records share is named once


def sha256(path: Path) -> str:
    """A file's hash."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def readable_records(archive: Archive) -> Iterator[tuple[str, Any]]:
    """Each record file's name and content; None when it is no JSON."""
    for path in sorted(archive.records.glob("*.json")):
        try:
            yield path.stem, json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError):
            yield path.stem, None


def missing_and_changed(archive: Archive, listed: list[Entry]) -> Iterator[str]:
    """Files that the ledger names and that are gone or not as they were."""
    for entry in listed:
        record = archive.records / f"{entry.record}.json"
        artefact = archive.artefacts / entry.artefact
        for path, wanted in ((record, entry.record_sha256), (artefact, entry.artefact_sha256)):
            if not path.is_file():
                yield f"{path.parent.name}/{path.name} is missing"
            elif sha256(path) != wanted:
                yield f"{path.parent.name}/{path.name} was changed"


def extra_files(archive: Archive, listed: list[Entry]) -> Iterator[str]:
    """Files that no line of the ledger names."""
    known = {archive.ledger}
    known |= {archive.records / f"{entry.record}.json" for entry in listed}
    known |= {archive.artefacts / entry.artefact for entry in listed}
    for path in sorted(archive.root.rglob("*")):
        if path.is_file() and path not in known:
            yield f"{path.relative_to(archive.root)} is in no line of the ledger"


def duplicates(archive: Archive, listed: list[Entry]) -> Iterator[str]:
    """Records entered twice, and stored files with the same content."""
    for name, times in Counter(entry.record for entry in listed).items():
        if times > 1:
            yield f"record {name} is in the ledger {times} times"
    contents: dict[str, list[str]] = {}
    for path in sorted(archive.artefacts.glob("*")):
        contents.setdefault(sha256(path), []).append(path.name)
    for names in contents.values():
        if len(names) > 1:
            yield f"artefacts hold the same bytes: {', '.join(names)}"


def record_problems(name: str, record: Any) -> Iterator[str]:
    """What a record says against its schema and its own name."""
    if record is None:
        yield f"records/{name}.json is no JSON"
        return
    broken = violations(record)
    yield from (f"records/{name}.json: {line}" for line in broken)
    if broken:
        return
    made = identity(record["identity"]["original_sha256"], record["identity"]["pointer"])
    if not record["id"] == name == made:
        yield f"records/{name}.json does not have the identity of its artefact and pointer"


def link_problems(records: dict[str, Any]) -> Iterator[str]:
    """Links to records that do not exist, and chains of supersession that do not end."""
    for name, record in records.items():
        links = linked(record)
        for other in links:
            if other not in records:
                yield f"records/{name}.json links to {other}, which does not exist"
        if name in links:
            yield f"records/{name}.json links to itself"


def linked(record: Any) -> list[str]:
    """The ids that a record names."""
    if not isinstance(record, dict):
        return []
    siblings = record.get("siblings")
    return [
        *(siblings if isinstance(siblings, list) else []),
        *filter(None, [record.get("supersedes")]),
    ]


def figure_problems(archive: Archive, records: dict[str, Any]) -> Iterator[str]:
    """Records whose figures the stored artefact does not give."""
    for name, record in records.items():
        if record is None or violations(record):
            continue
        path = archive.artefacts / record["stored"]["file"]
        if path.is_file() and sha256(path) == record["stored"]["sha256"]:
            yield from figures_again(name, upgraded(record), path)


def figures_again(name: str, record: dict[str, Any], path: Path) -> Iterator[str]:
    """Read the artefact once more and compare."""
    try:
        reading = read_source(open_bytes(path.read_bytes(), path.name))
    except ParameterError as error:
        yield f"records/{name}.json: its artefact cannot be read: {error}"
        return
    pointer = record["identity"]["pointer"]
    again = next((m for m in reading.measurements if m.pointer == pointer), None)
    if again is None:
        yield f"records/{name}.json: its artefact has nothing at {pointer!r}"
        return
    facts = {"format": reading.format, "kind": record["kind"], "added": record["added"]}
    made = finite(
        to_json(
            again,
            original_sha256=record["identity"]["original_sha256"],
            stored=record["stored"],
            facts=facts,
        )
    )
    for part in ("figures", "samples", "labels"):
        if made[part] != record[part] and "unit_in_other_file" not in str(made["notes"]):
            yield f"records/{name}.json: {part} differ from what its artefact says"


def committed_problems(archive: Archive) -> Iterator[str]:
    """A ledger that does not begin with the last committed one: lines were taken away."""
    before = committed(archive.ledger)
    now = archive.ledger.read_bytes() if archive.ledger.exists() else b""
    if before is not None and not now.startswith(before):
        yield "the ledger does not begin with the last committed ledger"


def committed(path: Path) -> bytes | None:
    """The file's last committed content, if it is in a repository and was ever committed."""
    git = shutil.which("git")
    if git is None or not path.parent.is_dir():
        return None
    done = subprocess.run(
        [git, "show", f"HEAD:./{path.name}"], cwd=path.parent, capture_output=True, check=False
    )
    return done.stdout if done.returncode == 0 else None
