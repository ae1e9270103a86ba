"""The list of known models: layers, types and where each fact was read.

The text comes in as a parameter (the build reads ``data/models/models.json``); nothing here
reads a file. ``to_json`` gives the short form that a page carries.
"""

import json
from collections.abc import Iterable
from dataclasses import astuple, dataclass

from calculators.kv.layers import Stack
from calculators.kv.notation import from_text


@dataclass(frozen=True, slots=True)
class Model:
    """One model, its ``layers`` in the notation of ``notation``, ``draft`` its MTP layers likewise.

    ``repo``, ``path`` and ``commit`` say where its facts were read. ``dtype`` and ``kv_dtype`` are
    empty where no config says (so is ``draft``), ``max_position_embeddings`` is 0.
    """

    name: str
    layers: str
    draft: str
    dtype: str
    kv_dtype: str
    max_position_embeddings: int
    repo: str
    path: str
    commit: str

    @property
    def stack(self) -> Stack:
        """The layers as objects."""
        return from_text("model", self.layers)


def from_json(text: str) -> tuple[Model, ...]:
    """The models of either form: full records with facts, or the short rows of ``to_json``."""
    return tuple(
        Model(*record) if isinstance(record, list) else from_record(record)
        for record in json.loads(text)
    )


def from_record(record: dict[str, dict[str, str]]) -> Model:
    """The model of a full record of ``data/models/models.json``."""
    source, reading = record["source"], record["reading"]
    return Model(
        name=str(record["model"]),
        layers=reading["layers"],
        draft=reading["draft"],
        dtype=reading["dtype"],
        kv_dtype=reading["kv_dtype"],
        max_position_embeddings=int(reading["max_position_embeddings"]),
        repo=source["repo"],
        path=source["path"],
        commit=source["commit"],
    )


def to_json(models: Iterable[Model]) -> str:
    """The short form: a list of rows, small enough to stand in a page."""
    rows = [list(astuple(model)) for model in models]
    return json.dumps(rows, separators=(",", ":"), ensure_ascii=False)


def search(models: Iterable[Model], query: str) -> tuple[Model, ...]:
    """Models whose name has every word of the query, whatever the case; the closest first."""
    words = query.lower().split()
    found = [m for m in models if all(word in m.name.lower() for word in words)]
    return tuple(sorted(found, key=lambda m: m.name.lower().find(words[0]) if words else 0))
