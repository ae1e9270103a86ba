"""The archive's ledger: one line an entry, each naming the line before by hash.

A line that was changed, removed or put elsewhere breaks the chain; the last line vouches for
itself. What the chain alone cannot show is a cut end: ``verify`` therefore also compares with the
last committed ledger, which must be the beginning of the present one.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

START = "0" * 64


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One record that was added: the hashes of its file and of its stored artefact."""

    record: str
    record_sha256: str
    artefact: str
    artefact_sha256: str
    original_sha256: str
    previous: str

    @property
    def sha256(self) -> str:
        """The hash of the entry's content."""
        body = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(body.encode()).hexdigest()

    @property
    def line(self) -> str:
        """The entry as a line of the ledger."""
        return json.dumps({**asdict(self), "sha256": self.sha256}, sort_keys=True) + "\n"


def entries(path: Path) -> Iterator[tuple[int, Entry | None]]:
    """Each line's number and entry; None for a line that is none or is not as it was written."""
    if not path.exists():
        return
    lines = path.read_bytes().decode("utf-8", "replace").splitlines(keepends=True)
    for number, line in enumerate(lines, 1):
        yield number, entry_of(line)


def entry_of(line: str) -> Entry | None:
    """A line's entry, if the line is exactly what the entry writes."""
    try:
        fields: dict[str, Any] = json.loads(line)
        fields.pop("sha256")
        entry = Entry(**fields)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    return entry if entry.line == line else None


def chain_problems(found: Iterable[tuple[int, Entry | None]]) -> list[str]:
    """Lines that are damaged or out of order."""
    problems, previous = [], START
    for number, entry in found:
        if entry is None:
            problems.append(f"ledger line {number} is damaged")
            previous = "?"
        else:
            if previous not in {"?", entry.previous}:
                problems.append(f"ledger line {number} does not follow the line before it")
            previous = entry.sha256
    return problems


def last_hash(path: Path) -> str:
    """The hash that the next entry names."""
    found = [entry for _, entry in entries(path) if entry is not None]
    return found[-1].sha256 if found else START
