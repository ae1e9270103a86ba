"""The archive's records as the pages need them: with their rows, hashes and what replaced them."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from calculators.measurements.record import Measurement
from scripts.archive.record import from_json
from scripts.archive.store import ROOT, Archive
from scripts.archive.tabulate import Row, row, timing_only


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One record of the archive and what follows from it."""

    record: Mapping[str, Any]
    record_sha256: str
    measurement: Measurement
    row: Row
    superseded_by: tuple[str, ...]

    @property
    def id(self) -> str:
        """The permanent identity, and the page's address."""
        return str(self.record["id"])

    @property
    def kind(self) -> str:
        """Measured here, published elsewhere, or imported."""
        return str(self.record["kind"])

    @property
    def boundary(self) -> str | None:
        """From where to where time was taken, if that is stated."""
        return self.measurement.boundary

    @property
    def given(self) -> Mapping[str, Any]:
        """The conditions as the record has them."""
        return self.measurement.provenance

    @property
    def model(self) -> str | None:
        """The model's name as the file has it."""
        return self.measurement.label("model").value

    @property
    def timing_only(self) -> bool:
        """Whether the weights were random."""
        return timing_only(self.measurement)

    @property
    def seen_tokens(self) -> int | None:
        """How much of a longer prompt the encoder saw; None when it saw all of it."""
        cut = (n.data["encoded"] for n in self.measurement.notes if n.code == "prompt_cut")
        return next(cut, None)

    @property
    def prompt_tokens(self) -> int | float | None:
        """The length of the prompt."""
        return self.measurement.figure("input_tokens", "total").value

    @property
    def artefact_path(self) -> str:
        """The stored file below the site's root."""
        return f"archive/artefacts/{self.record['stored']['file']}"

    @property
    def record_path(self) -> str:
        """The normalised record below the site's root."""
        return f"archive/records/{self.id}.json"

    @property
    def page_path(self) -> str:
        """The page below the root of its language."""
        return f"measurements/{self.id}/"


@cache
def shelf(root: Path = ROOT) -> Mapping[str, Entry]:
    """Every entry by id, those of one artefact in the artefact's order."""
    archive = Archive(root=root)
    records = list(archive.all())
    return {
        record["id"]: Entry(
            record=record,
            record_sha256=hashlib.sha256(
                (archive.records / f"{record['id']}.json").read_bytes()
            ).hexdigest(),
            measurement=from_json(record),
            row=row(record),
            superseded_by=tuple(r["id"] for r in records if r["supersedes"] == record["id"]),
        )
        for record in sorted(records, key=in_order)
    }


def in_order(record: Mapping[str, Any]) -> tuple[str, str, list[Any]]:
    """Kind, then artefact, then the pointer with its numbers as numbers."""
    parts = record["identity"]["pointer"].split("/")
    keys = [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]
    return record["kind"], record["identity"]["original_sha256"], keys
