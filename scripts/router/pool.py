"""The candidates among which a router chooses, read from YAML and checked whole."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from calculators.form.errors import ParameterError, excerpt

SCHEMA = 1
MOST_TOKENS = 100_000_000
MOST_PRICE = 1_000_000.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A model that may be chosen; prices are per million tokens."""

    id: str
    descriptor: str
    context_tokens: int
    input_per_million: float
    output_per_million: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Pool:
    """All candidates, and whether their prices are made up for the example."""

    name: str
    sha256: str
    example: bool
    currency: str
    candidates: tuple[Candidate, ...]


def load(path: Path) -> Pool:
    """The pool of a YAML file. Raises ParameterError and OSError."""
    data = path.read_bytes()
    try:
        document = yaml.safe_load(data)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise ParameterError("pool", "yaml_broken", text=excerpt(str(error))) from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise ParameterError("pool", "schema_unknown", known=SCHEMA)
    listed = document.get("candidates")
    if not isinstance(listed, list) or not listed:
        raise ParameterError("pool", "no_candidates")
    candidates = tuple(candidate(node, place) for place, node in enumerate(listed, 1))
    refuse_twins(candidates)
    return Pool(
        name=text(document, "name", 0),
        sha256=hashlib.sha256(data).hexdigest(),
        example=document.get("example") is True,
        currency=text(document, "currency", 0),
        candidates=candidates,
    )


def candidate(node: Any, place: int) -> Candidate:
    """One entry of the list, counted from 1."""
    if not isinstance(node, dict):
        raise ParameterError("candidates", "not_an_object", row=place)
    known = set(Candidate.__dataclass_fields__)
    if unknown := sorted(str(key) for key in node if key not in known):
        raise ParameterError("candidates", "unknown_field", row=place, text=unknown[0])
    return Candidate(
        id=text(node, "id", place),
        descriptor=text(node, "descriptor", place),
        context_tokens=int(number(node, "context_tokens", place, MOST_TOKENS)),
        input_per_million=number(node, "input_per_million", place, MOST_PRICE),
        output_per_million=number(node, "output_per_million", place, MOST_PRICE),
    )


def text(node: Mapping[str, Any], field: str, place: int) -> str:
    """A text that is not empty."""
    value = node.get(field)
    if not isinstance(value, str) or not value.strip():
        raise ParameterError(field, "empty", row=place)
    return value.strip()


def number(node: Mapping[str, Any], field: str, place: int, maximum: float) -> float:
    """A number from 0 to the maximum."""
    value = node.get(field)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= maximum:
        raise ParameterError(field, "out_of_range", row=place, minimum=0, maximum=maximum)
    return float(value)


def refuse_twins(candidates: tuple[Candidate, ...]) -> None:
    """Two candidates of one id cannot be told apart in a decision."""
    seen: set[str] = set()
    for place, one in enumerate(candidates, 1):
        if one.id in seen:
            raise ParameterError("id", "twice", row=place, text=one.id)
        seen.add(one.id)
