"""A measurement as the archive stores it: strict JSON of a stated schema version, and its identity.

Old versions are upgraded on loading in single steps N to N + 1; a record newer than this code is
refused by name. Nothing on disk is rewritten.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

from calculators.form.errors import ParameterError
from calculators.measurements.record import Figure, Label, Measurement, Note, Samples

VERSION = 1
MOST_SAMPLES = 20_000  # of a quantity in a record; longer series stay in the artefact alone
SCHEMAS = Path(__file__).parent / "schema"
UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}  # version → the next one


def identity(original_sha256: str, pointer: str) -> str:
    """The address of a measurement: 16 hexadecimal digits of its artefact's hash and pointer."""
    return hashlib.sha256(f"{original_sha256}#{pointer}".encode()).hexdigest()[:16]


def to_json(
    measurement: Measurement,
    *,
    original_sha256: str,
    stored: Mapping[str, Any],
    facts: Mapping[str, Any],
) -> dict[str, Any]:
    """The record of a measurement. ``facts`` are what only the person adding it knows."""
    samples = [s for s in measurement.samples if len(s.values) <= MOST_SAMPLES]
    return {
        "schema": VERSION,
        "id": identity(original_sha256, measurement.pointer),
        "identity": {"original_sha256": original_sha256, "pointer": measurement.pointer},
        "stored": dict(stored),
        "format": facts["format"],
        "kind": facts["kind"],
        "boundary": facts.get("boundary") or measurement.boundary,
        "figures": [figure_json(figure) for figure in measurement.figures],
        "labels": [{"name": label.name, "value": label.value} for label in measurement.labels],
        "samples": [samples_json(one) for one in samples],
        "samples_absent": None if samples else absence(measurement, facts["kind"]),
        "percentile_rule": measurement.percentile_rule,
        "inapplicable": sorted(measurement.inapplicable),
        "provenance": {**measurement.provenance, **facts.get("provenance", {})},
        "extra": dict(measurement.extra),
        "notes": [
            {"code": note.code, "data": dict(note.data)}
            for note in (*facts.get("notes", ()), *measurement.notes)
        ],
        "siblings": list(facts.get("siblings", ())),
        "supersedes": facts.get("supersedes"),
        "added": facts["added"],
    }


def absence(measurement: Measurement, kind: str) -> str:
    """Why a record holds no samples."""
    if measurement.samples:
        return "in_artefact"
    return "not_published" if kind == "published_elsewhere" else "not_in_file"


def samples_json(samples: Samples) -> dict[str, Any]:
    """A series with its values as a list."""
    names = ("quantity", "unit", "source", "complete")
    return {name: getattr(samples, name) for name in names} | {"values": list(samples.values)}


def figure_json(figure: Figure) -> dict[str, Any]:
    """A figure without the members that say nothing."""
    required = ("quantity", "stat", "unit", "value")
    return {
        name: value
        for name, value in asdict(figure).items()
        if name in required or value not in {None, ""}
    }


def from_json(record: Mapping[str, Any]) -> Measurement:
    """The measurement of a record of the present version."""
    return Measurement(
        key=record["id"],
        pointer=record["identity"]["pointer"],
        figures=tuple(Figure(**figure) for figure in record["figures"]),
        labels=tuple(Label(**label) for label in record["labels"]),
        samples=tuple(
            Samples(**{**samples, "values": tuple(samples["values"])})
            for samples in record["samples"]
        ),
        inapplicable=frozenset(record["inapplicable"]),
        percentile_rule=record["percentile_rule"],
        boundary=record["boundary"],
        provenance=record["provenance"],
        extra=record["extra"],
        notes=tuple(Note(**note) for note in record["notes"]),
    )


def strict(value: Any) -> str:
    """JSON text of a record; raises ValueError for NaN and infinities."""
    return json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def finite(value: Any) -> Any:
    """A value in strict JSON's words: NaN and infinities as text, no half of a character pair."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, float) and value - value != 0:
        return str(value)
    if isinstance(value, dict):
        return {finite(str(name)): finite(item) for name, item in value.items()}
    return [finite(item) for item in value] if isinstance(value, list) else value


@cache
def validator(version: int) -> jsonschema.Draft202012Validator:
    """The validator of a schema version."""
    schema = json.loads((SCHEMAS / f"record-{version}.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def violations(record: Any) -> list[str]:
    """Every way in which a record breaks its version's schema."""
    version = record.get("schema") if isinstance(record, dict) else None
    if not isinstance(version, int) or not (SCHEMAS / f"record-{version}.json").exists():
        return [f"schema version {version!r} is not known"]
    errors = validator(version).iter_errors(record)
    return [f"{error.json_path}: {error.message[:200]}" for error in errors]


def upgraded(
    record: dict[str, Any],
    steps: Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]] = UPGRADES,
    target: int = VERSION,
) -> dict[str, Any]:
    """The record in the present version, step by step. Raises ParameterError for a newer one."""
    while (version := record.get("schema")) != target:
        if not isinstance(version, int) or version > target:
            raise ParameterError("schema", "version_newer", version=version, known=target)
        if version not in steps:
            raise ParameterError("schema", "no_upgrade", version=version)
        record = steps[version](record)
    return record
