"""The archive's folders: artefacts by content hash, records by identity, and the ledger.

``artefacts/<sha256>.<ending>`` is the stored file (redacted), ``records/<id>.json`` one record a
measurement, ``ledger.jsonl`` the chain of all entries. Files are only ever added.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from calculators.form.errors import ParameterError
from calculators.measurements.read import read_source
from calculators.measurements.record import Reading
from calculators.measurements.source import Progress, decode
from scripts.archive.ledger import Entry, last_hash
from scripts.archive.opening import open_bytes
from scripts.archive.record import finite, strict, to_json, upgraded, violations
from scripts.archive.redact import redact

ROOT = Path(__file__).parents[2] / "data" / "measurements"
ENDINGS = {".json", ".jsonl", ".csv", ".txt", ".yaml", ".yml", ".js"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Archive:
    """An archive at a folder."""

    root: Path = ROOT

    @property
    def artefacts(self) -> Path:
        """Where stored files lie."""
        return self.root / "artefacts"

    @property
    def records(self) -> Path:
        """Where records lie."""
        return self.root / "records"

    @property
    def ledger(self) -> Path:
        """The chain of entries."""
        return self.root / "ledger.jsonl"

    def load(self, record_id: str) -> dict[str, Any]:
        """A record in the present schema version. Raises ParameterError."""
        path = self.records / f"{record_id}.json"
        if not path.exists():
            raise ParameterError("id", "unknown_measurement", text=record_id)
        return upgraded(json.loads(path.read_text(encoding="utf-8")))

    def all(self) -> Iterator[dict[str, Any]]:
        """Every record, in the order of the file names."""
        for path in sorted(self.records.glob("*.json")):
            yield upgraded(json.loads(path.read_text(encoding="utf-8")))

    def find(self, prefix: str) -> dict[str, Any]:
        """The record whose id begins so. Raises ParameterError when none or several do."""
        names = [path.stem for path in self.records.glob(f"{prefix}*.json")]
        if len(names) != 1:
            raise ParameterError("id", "unknown_measurement", text=prefix, found=len(names))
        return self.load(names[0])


@dataclass(frozen=True, kw_only=True, slots=True)
class Addition:
    """A file to be added and what only the person adding it knows."""

    path: Path
    kind: str = "imported"
    boundary: str | None = None
    provenance: Mapping[str, Any] | None = None
    supersedes: str | None = None
    siblings: tuple[str, ...] = ()
    companions: tuple[Path, ...] = ()


def add(archive: Archive, addition: Addition, *, progress: Progress | None = None) -> list[str]:
    """Add every measurement of a file; the new ids. Raises ParameterError and OSError."""
    data = addition.path.read_bytes()
    original = hashlib.sha256(data).hexdigest()
    redacted = redact(decode(data))
    stored = redacted.text.encode()
    if not redacted.counts and stored != data:
        stored = data  # a byte order mark or other encoding stays as it is
    reading = reread(stored, addition, progress)
    if reading.outcome != "measurements":
        raise ParameterError("file", "no_measurement_in_file", format=reading.format)
    name = stored_name(stored, addition.path.suffix)
    facts = facts_of(addition, reading)
    place = {
        "file": name,
        "sha256": hashlib.sha256(stored).hexdigest(),
        "bytes": len(stored),
        "redacted": redacted.counts,
    }
    records = [
        finite(to_json(m, original_sha256=original, stored=place, facts=facts))
        for m in reading.measurements
    ]
    refuse_bad(archive, records)
    write(archive, name, stored, records)
    return [record["id"] for record in records]


def reread(stored: bytes, addition: Addition, progress: Progress | None) -> Reading:
    """What the stored bytes say, so that the record is what anyone can read from the archive."""
    beside = tuple(open_bytes(path.read_bytes(), path.name) for path in addition.companions)
    source = open_bytes(stored, addition.path.name, companions=beside, progress=progress)
    reading = read_source(source)
    reading.check()
    return reading


def stored_name(stored: bytes, suffix: str) -> str:
    """The file's name in the archive."""
    ending = suffix.lower() if suffix.lower() in ENDINGS else ""
    return hashlib.sha256(stored).hexdigest() + ending


def facts_of(addition: Addition, reading: Reading) -> dict[str, Any]:
    """What the record says beyond the file's own figures."""
    return {
        "format": reading.format,
        "kind": addition.kind,
        "boundary": addition.boundary,
        "provenance": dict(addition.provenance or {}),
        "supersedes": addition.supersedes,
        "siblings": addition.siblings,
        "notes": reading.notes,
        "added": datetime.now(tz=UTC).date().isoformat(),
    }


def refuse_bad(archive: Archive, records: list[dict[str, Any]]) -> None:
    """Refuse what is in the archive already, breaks the schema, or supersedes nothing."""
    for record in records:
        if (archive.records / f"{record['id']}.json").exists():
            raise ParameterError("file", "already_archived", id=record["id"])
        if problems := violations(record):
            raise ParameterError("file", "schema_violation", detail="; ".join(problems[:3]))
        links = [*record["siblings"], *filter(None, [record["supersedes"]])]
        for other in links:
            archive.load(other)


def write(archive: Archive, name: str, stored: bytes, records: list[dict[str, Any]]) -> None:
    """The artefact, its records and their ledger lines, in this order."""
    archive.artefacts.mkdir(parents=True, exist_ok=True)
    archive.records.mkdir(parents=True, exist_ok=True)
    (archive.artefacts / name).write_bytes(stored)
    for record in records:
        body = strict(record).encode()
        (archive.records / f"{record['id']}.json").write_bytes(body)
        entry = Entry(
            record=record["id"],
            record_sha256=hashlib.sha256(body).hexdigest(),
            artefact=name,
            artefact_sha256=record["stored"]["sha256"],
            original_sha256=record["identity"]["original_sha256"],
            previous=last_hash(archive.ledger),
        )
        with archive.ledger.open("a", encoding="utf-8") as ledger:
            ledger.write(entry.line)
