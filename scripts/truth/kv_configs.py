"""Architecture facts of models against the reading of a config that states them.

A record holds a model's facts, with long lists given as counts, as a repeating period or as runs;
they are written out again to the keys of a ``config.json`` and read by ``calculators.kv.config``.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from calculators.form.errors import ParameterError
from calculators.kv.config import Reading, read_config
from calculators.kv.layers import (
    Cache,
    ChunkedAttention,
    FullAttention,
    LatentAttention,
    SlidingAttention,
    State,
)
from scripts.truth.verdict import Verdict

RECORD = {"model", "source", "facts", "notes", "doubtful", "reading"}
UNDECIDED = "cannot be computed from these facts"
STATED = ("derived_not_in_source", "figures")  # as handed over, and in data/models


def recognises(document: object, path: Path) -> bool:
    """A list of records with facts."""
    del path
    return (
        isinstance(document, list)
        and bool(document)
        and all(isinstance(r, dict) and "facts" in r and "model" in r for r in document)
    )


def verdicts(document: object, path: Path) -> Iterator[Verdict]:
    """One verdict for each figure of each model."""
    del path
    if isinstance(document, list):
        for record in document:
            yield from verdicts_of(record)


def verdicts_of(record: Mapping[str, Any]) -> Iterator[Verdict]:
    """The figures of one model; without figures, that it ends in a reading or a named refusal."""
    model = str(record["model"])
    unknown = sorted({*record} - RECORD - {*STATED} | {*stated(record)} - {*FIGURES, "note"})
    if unknown:
        yield verdict(model, "keys", None, None, f"unknown keys: {', '.join(unknown)}")
        return
    try:
        reading = read_config(json.dumps(config_of(record["facts"])))
    except ParameterError as error:
        yield refused(record, error)
        return
    for name, expected in stated(record).items():
        if name != "note":
            computed = FIGURES[name](reading)
            yield figure(record, name, expected, computed)
    if not stated(record):
        yield verdict(model, "layers", "a reading or a refusal", len(reading.stack.layers))


def stated(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The figures that a record states for its facts."""
    return next((record[name] for name in STATED if name in record), {})


def figure(record: Mapping[str, Any], name: str, expected: object, computed: object) -> Verdict:
    """One figure; where the record says that its facts cannot give it, it is not run."""
    if computed != expected and UNDECIDED in record.get("doubtful", ""):
        return verdict(str(record["model"]), name, expected, computed, record["doubtful"])
    outcome: Any = "passed" if computed == expected else "failed"
    return Verdict(
        case=str(record["model"]),
        figure=name,
        expected=expected,
        computed=computed,
        outcome=outcome,
    )


def refused(record: Mapping[str, Any], error: ParameterError) -> Verdict:
    """A refusal is right only where the record has no figure, or says that none follows."""
    named = f"{error.reason} {error.limits}"
    if UNDECIDED in record.get("doubtful", ""):
        return verdict(str(record["model"]), "refusal", stated(record), named, record["doubtful"])
    return Verdict(
        case=str(record["model"]),
        figure="refusal",
        expected=stated(record) or "a refusal by name",
        computed=named,
        outcome="failed" if stated(record) else "passed",
    )


def verdict(case: str, name: str, expected: object, computed: object, reason: str = "") -> Verdict:
    """A verdict that is "not run" when it has a reason."""
    outcome: Any = "not run" if reason else "passed"
    return Verdict(
        case=case, figure=name, expected=expected, computed=computed, outcome=outcome, reason=reason
    )


def elements(reading: Reading, *kinds: type[Cache]) -> int:
    """Elements that one token adds in layers of exactly these kinds."""
    return sum(
        count * cache.elements_per_token
        for cache, count in reading.stack.counts.items()
        if type(cache) in kinds
    )


def window(reading: Reading) -> int | None:
    """The one window or chunk of the model."""
    reaches = {c.window for c in reading.stack.counts if isinstance(c, SlidingAttention)}
    reaches |= {c.chunk for c in reading.stack.counts if isinstance(c, ChunkedAttention)}
    return reaches.pop() if len(reaches) == 1 else None


def states(reading: Reading) -> dict[str, int] | None:
    """The state layers: how many, and the elements of each part."""
    found = [(c, n) for c, n in reading.stack.counts.items() if isinstance(c, State)]
    if len(found) != 1:
        return None
    cache, count = found[0]
    return {
        "layers": count,
        "conv_elements_per_layer": cache.conv_elements,
        "recurrent_elements_per_layer": cache.recurrent_elements,
    }


FIGURES: Mapping[str, Any] = {
    "kv_elements_per_token_all_layers": lambda r: r.stack.elements_per_token,
    "bf16_bytes_per_token": lambda r: 2 * r.stack.elements_per_token,
    "kv_elements_per_token_full_layers": lambda r: elements(r, FullAttention, LatentAttention),
    "kv_elements_per_token_sliding_layers": lambda r: elements(r, SlidingAttention),
    "kv_elements_per_token_chunked_layers": lambda r: elements(r, ChunkedAttention),
    "window_tokens": window,
    "state_per_sequence": states,
}


def config_of(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts under a config's keys, lists written out."""
    config: dict[str, Any] = {}
    for key, value in facts.items():
        for suffix, expand in EXPANSIONS.items():
            if key.endswith(suffix):
                name = key.removesuffix(suffix)
                ordered = f"{name}_period" in facts or f"{name}_runs" in facts
                if suffix != "_counts" or not ordered:
                    config[name] = expand(value, facts.get(f"{name}_len", 0))
                break
        else:
            if not key.endswith("_len"):
                config[key] = written_out(value)
    nest = config.pop("nested_under", None)
    if nest is not None:
        inner_type = config.pop("text_model_type", None)
        outer = {"model_type": config.pop("model_type", None)}
        return {**outer, nest: {**config, "model_type": inner_type}}
    counts = config.pop("block_configs_attention", None)
    if counts is not None:
        config["block_configs"] = [{"attention": json.loads(block)} for block in counts]
    return config


def written_out(value: Any) -> Any:
    """Runs within an object, such as ``sparse_attention_config``."""
    return config_of(value) if isinstance(value, dict) else value


def from_counts(counts: Mapping[str, int], _: int) -> list[Any]:
    """Entries without their order."""
    return [int(name) if name.isdigit() else name for name, n in counts.items() for _ in range(n)]


EXPANSIONS: Mapping[str, Any] = {
    "_period": lambda period, length: [period[n % len(period)] for n in range(length)],
    "_runs": lambda runs, _: [value for value, count in runs for _ in range(count)],
    "_counts": from_counts,
}
