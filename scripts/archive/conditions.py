"""The conditions of a record that decide whether it may be compared with another."""

import json
from collections.abc import Mapping
from typing import Any


def conditions(record: Mapping[str, Any]) -> dict[str, str | None]:
    """Each condition as text, None where the record does not state it."""
    labels = {label["name"]: label["value"] for label in record["labels"]}
    given = record["provenance"]
    device = given.get("device") or {}
    return {
        "boundary": record["boundary"],
        "hardware": text(device.get("name") or given.get("machine") or labels.get("device")),
        "software": text(given.get("software") or labels.get("server_version")),
        "model": text(given.get("checkpoint") or labels.get("model")),
        "dtype": text(given.get("dtype")),
        "load": text(given.get("load")) or load_of(record),
        "percentile_rule": record["percentile_rule"],
    }


def text(value: Any) -> str | None:
    """A condition as comparable text."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def load_of(record: Mapping[str, Any]) -> str | None:
    """The load from figures, when the file states a rate or a cap."""
    stated = {
        figure["quantity"]: figure.get("value", None)
        if figure.get("value") is not None
        else figure.get("reason")
        for figure in record["figures"]
        if figure["quantity"] in {"request_rate", "concurrency"}
    }
    return json.dumps(stated, sort_keys=True) if stated else None
