"""The printed figures that LMCache's formula can be asked for, as a module of ``calculators``.

A case of ``data/truth/kv.json`` is taken where ``data/truth/lmcache.json`` says what its model is
asked as, and where it states memory, tokens or a context. Left out: ratios, and figures that a
reader could not look up.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from calculators.kv.notation import to_text
from scripts.paths import DATA
from scripts.truth.kv.given import kv_dtype
from scripts.truth.kv.shapes import stack_of

HEAD = '''# ruff: noqa: E501 - a program writes it
"""Printed figures, and what LMCache's calculator is told of their models.

Written by ``python -m scripts.models`` from data/truth; not by hand. A figure is a number of
tokens, or GiB or MiB of ``tokens`` in ``sequences``.
"""

from dataclasses import dataclass
from typing import Literal

from calculators.kv.lmcache import Asked


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """One printed figure with the inputs that it was printed for."""

    id: str
    source: str
    engine: str
    layers: str
    kv_dtype: str
    figure: Literal["tokens", "gib", "mib"]
    printed: str
    asked: Asked
    memory_gib: str = "0"
    tokens: int = 0
    sequences: int = 1
    parts: int = 1
    tp: int = 1
    max_model_len: int | None = None
    max_num_batched_tokens: int = 8192
    page_size: int = 1
    slots: int = 1
    kv_unified: bool = True


CASES: tuple[Case, ...] = (
'''
KEPT = ("max_model_len", "max_num_batched_tokens", "kv_unified")
TOKENS = ("max_total_num_tokens", "n_ctx", "context", "max_tokens")
SIZES = ("kv_size_gb_with_index", "kv_gb", "kv_gib", "kv_mib", "kv_mb", "allocated_gib")
BLOCK_TOKENS = 16
NOWHERE = "public file, address not recorded"


def source() -> str:
    """The text of the module."""
    cases = {case["id"]: case for case in read("kv")}
    asked = read("lmcache")
    found = (call(cases[name], facts) for name, facts in asked.items() if name in cases)
    return HEAD + "".join(text for text in found if text) + ")\n"


def read(name: str) -> Any:
    """A file of ``data/truth``."""
    return json.loads((DATA / "truth" / f"{name}.json").read_text(encoding="utf-8"))


def call(case: Mapping[str, Any], facts: Mapping[str, Any]) -> str:
    """One case as a call; nothing where its figure is a ratio only or cannot be looked up."""
    figure = figure_of(case)
    if figure is None or case["source"] == NOWHERE:
        return ""
    about = {
        "id": case["id"],
        "source": case["source"],
        "engine": case["engine"].split(" ")[0],
        "layers": to_text(stack_of(case)),
        "kv_dtype": kv_dtype(case).name,
        **figure,
        **{name: case["given"][name] for name in KEPT if name in case["given"]},
        **counts(case),
    }
    lines = "".join(f"        {name}={literal(value)},\n" for name, value in about.items())
    inner = "".join(f"            {n}={literal(v)},\n" for n, v in asked_of(facts))
    return f"    Case(\n{lines}        asked=Asked(\n{inner}        ),\n    ),\n"


def literal(value: object) -> str:
    """A value as Python."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def asked_of(facts: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What LMCache's calculator is told; where it was read stays in the data."""
    for name, value in facts.items():
        if name != "source":
            yield ("name" if name == "asked_as" else name), value


def counts(case: Mapping[str, Any]) -> dict[str, int]:
    """Ranks, SGLang's page size and llama.cpp's slots, where they are not 1."""
    found: dict[str, int] = {"tp": case["tp"]} if case["tp"] > 1 else {}
    if case["engine"] == "sglang" and (case["block_size"] or 1) > 1:
        found["page_size"] = case["block_size"]
    if isinstance(case["given"].get("slots"), int):
        found["slots"] = case["given"]["slots"]
    return found


def figure_of(case: Mapping[str, Any]) -> dict[str, Any] | None:
    """The figure that is compared, and the memory or tokens that it is printed for."""
    given, expected = case["given"], case["expected"]
    if "available_kv_cache_memory_gib" in given:
        tokens = expected.get("gpu_kv_cache_tokens")
        if tokens is None:
            tokens = expected["num_gpu_blocks"] * BLOCK_TOKENS
        memory = str(given["available_kv_cache_memory_gib"])
        return {"figure": "tokens", "printed": str(tokens), "memory_gib": memory}
    size = next((name for name in SIZES if name in {**given, **expected}), None)
    return size_figure(case, size)


def size_figure(case: Mapping[str, Any], size: str | None) -> dict[str, Any] | None:
    """A size in GiB of so many tokens."""
    both = {**case["given"], **case["expected"]}
    tokens = next((both[name] for name in TOKENS if name in both), None)
    if "K_size_gb" in both:
        return {"figure": "gib", "printed": str(both["K_size_gb"]), "tokens": tokens, "parts": 2}
    if {"full_mib", "swa_mib"} <= both.keys():
        mib = both["full_mib"] + both["swa_mib"]
        return {"figure": "mib", "printed": f"{mib:g}", "tokens": tokens}
    if size is None or tokens is None:
        return None
    return {
        "figure": "mib" if "_m" in size else "gib",
        "printed": f"{both[size]}",
        "tokens": tokens,
    }
