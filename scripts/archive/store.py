"""The archive's folders: artefacts by content hash, records by identity, and the ledger.

``artefacts/<sha256>.<ending>`` is the stored file (redacted), ``records/<id>.json`` one record a
measurement, ``ledger.jsonl`` the chain of all entries. Files are only ever added.
"""

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from calculators.form.errors import ParameterError
from calculators.measurements.read import read_source
from calculators.measurements.record import Reading
from calculators.measurements.scan import Progress
from calculators.measurements.source import decode
from scripts.archive.ledger import Entry, last_hash
from scripts.archive.opening import open_bytes
from scripts.archive.record import finite, strict, to_json, upgraded, violations
from scripts.archive.redact import redact

ROOT = Path(__file__).parents[2] / "data" / "measurements"
PIECE = 1 << 20  # characters that are encoded at once
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Stored:
    """A file as it will lie in the archive; ``path`` is where its bytes are until then."""

    path: Path
    name: str
    sha256: str
    size: int
    counts: Mapping[str, int]

    @property
    def place(self) -> dict[str, Any]:
        """What a record says about it."""
        return {
            "file": self.name,
            "sha256": self.sha256,
            "bytes": self.size,
            "redacted": dict(self.counts),
        }


def add(archive: Archive, addition: Addition, *, progress: Progress | None = None) -> list[str]:
    """Add every measurement of a file; the new ids. Raises ParameterError and OSError."""
    with TemporaryDirectory() as folder:
        original, stored = stored_form(addition.path, Path(folder))
        reading = reread(stored, addition, progress)
        if reading.outcome != "measurements":
            raise ParameterError("file", "no_measurement_in_file", format=reading.format)
        facts = facts_of(addition, reading)
        records = [
            finite(to_json(m, original_sha256=original, stored=stored.place, facts=facts))
            for m in reading.measurements
        ]
        refuse_bad(archive, records)
        write(archive, stored, records)
    return [record["id"] for record in records]


def stored_form(path: Path, folder: Path) -> tuple[str, Stored]:
    """The original's hash, and the file unchanged or, in ``folder``, redacted.

    Hashing and redacting end here, so that their texts are gone when the file is read.
    """
    original, text = opened(path)
    redacted = redact(text)
    suffix = path.suffix.lower()
    ending = suffix if suffix in ENDINGS else ""
    if not redacted.counts:
        size = path.stat().st_size
        return original, Stored(
            path=path, name=original + ending, sha256=original, size=size, counts={}
        )
    target = folder / "redacted"
    digest, size = hashlib.sha256(), 0
    with target.open("wb") as file:
        for start in range(0, len(redacted.text), PIECE):
            piece = redacted.text[start : start + PIECE].encode()
            digest.update(piece)
            size += file.write(piece)
    sha256 = digest.hexdigest()
    return original, Stored(
        path=target, name=sha256 + ending, sha256=sha256, size=size, counts=redacted.counts
    )


def opened(path: Path) -> tuple[str, str]:
    """A file's hash and its text."""
    data = path.read_bytes()
    return hashlib.sha256(data).hexdigest(), decode(data)


def reread(stored: Stored, addition: Addition, progress: Progress | None) -> Reading:
    """What the stored file says, so that the record is what anyone can read from the archive."""
    beside = tuple(open_bytes(path.read_bytes(), path.name) for path in addition.companions)
    source = open_bytes(
        stored.path.read_bytes(), addition.path.name, companions=beside, progress=progress
    )
    reading = read_source(source)
    reading.check()
    return reading


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


def write(archive: Archive, stored: Stored, records: list[dict[str, Any]]) -> None:
    """The artefact, its records and their ledger lines, in this order."""
    archive.artefacts.mkdir(parents=True, exist_ok=True)
    archive.records.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(stored.path, archive.artefacts / stored.name)
    for record in records:
        body = strict(record).encode()
        (archive.records / f"{record['id']}.json").write_bytes(body)
        entry = Entry(
            record=record["id"],
            record_sha256=hashlib.sha256(body).hexdigest(),
            artefact=stored.name,
            artefact_sha256=record["stored"]["sha256"],
            original_sha256=record["identity"]["original_sha256"],
            previous=last_hash(archive.ledger),
        )
        with archive.ledger.open("a", encoding="utf-8") as ledger:
            ledger.write(entry.line)
