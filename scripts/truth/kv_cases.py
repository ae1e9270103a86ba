"""Figures that engines printed, against what ``calculators.kv`` computes from the same inputs.

A printed input such as ``19.53 GiB`` stands for every value that prints so; each block count in
that range is a candidate, and a case passes when one candidate gives all its printed figures at
once. Where the release that a log is from is not known, both generations of vLLM's token line
are candidates. Nothing is computed from what is expected.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from calculators.form.errors import ParameterError
from scripts.truth.kv.document import document_figures
from scripts.truth.kv.given import FACTS, GIVEN, Case, Figures
from scripts.truth.kv.llamacpp import llamacpp_figures
from scripts.truth.kv.sglang import sglang_figures
from scripts.truth.kv.tensorrt_llm import tensorrt_figures
from scripts.truth.kv.vllm import vllm_figures
from scripts.truth.verdict import Verdict

KNOWN = {
    "id", "source", "engine", "engine_version", "model", "config_facts", "config_facts_from", "tp",
    "pp", "kv_dtype", "block_size", "given", "expected", "derivation", "status", "checks",
    "config_verified", "evidence", "note", "allowed_by_print",
}  # fmt: skip
MOST_CANDIDATES = 100_000


def recognises(document: object, path: Path) -> bool:
    """A list of cases with an engine, inputs and printed figures."""
    del path
    return (
        isinstance(document, list)
        and bool(document)
        and all(isinstance(c, dict) and {"engine", "given", "expected"} <= set(c) for c in document)
    )


def verdicts(document: object, path: Path) -> Iterator[Verdict]:
    """One verdict for each figure of each case."""
    del path
    if isinstance(document, list):
        for case in document:
            yield from verdicts_of(case)


def verdicts_of(case: Case) -> Iterator[Verdict]:
    """The figures of one case; "not run" for a key that the adapter does not know."""
    expected = flat(case["expected"])
    reader = next((f for name, f in ENGINES.items() if case["engine"].startswith(name)), None)
    unknown = sorted({*case} - KNOWN | {*case["given"]} - GIVEN | {*case["config_facts"]} - FACTS)
    if reader is None or unknown:
        reason = f"unknown: {', '.join(unknown) or case['engine']}"
        yield not_run(case, expected, reason)
        return
    try:
        best = closest(reader(case), expected)
    except (ParameterError, KeyError) as error:
        yield not_run(case, expected, f"cannot be computed: {error}")
        return
    missing = sorted(set(expected) - set(best))
    if missing:
        yield not_run(case, expected, f"unknown: {', '.join(missing)}")
        return
    for name, printed in expected.items():
        outcome: Any = "passed" if prints(best[name], printed) else "failed"
        yield Verdict(
            case=case["id"], figure=name, expected=printed, computed=best[name], outcome=outcome
        )


def not_run(case: Case, expected: Figures, reason: str) -> Verdict:
    """A case of which no figure counts."""
    return Verdict(
        case=case["id"],
        figure=", ".join(expected),
        expected=list(expected.values()),
        computed=None,
        outcome="not run",
        reason=reason,
    )


def closest(candidates: Iterable[Figures], expected: Figures) -> Figures:
    """The candidate that gives most of the printed figures; the first among equals."""
    best: Figures = {}
    most = -1
    for count, found in enumerate(candidates):
        right = sum(n in found and prints(found[n], value) for n, value in expected.items())
        if right > most:
            best, most = found, right
        if most == len(expected) or count > MOST_CANDIDATES:
            break
    return best


def prints(computed: Any, printed: Any) -> bool:
    """Whether a value prints so: whole numbers exactly, others to their decimals (at least two)."""
    if computed is None or isinstance(printed, str):
        return bool(computed == printed)
    if isinstance(printed, int) and isinstance(computed, int):
        return computed == printed
    decimals = max(2, -int(Decimal(str(printed)).as_tuple().exponent))
    # Half a unit to either side, ends included: engines round half to even, documents half up.
    return abs(Fraction(computed) - Fraction(str(printed))) <= Fraction(1, 2 * 10**decimals)


def flat(expected: Figures, prefix: str = "") -> dict[str, Any]:
    """``{"3_slots": {"cells": 1536}}`` to ``{"3_slots.cells": 1536}``."""
    figures: dict[str, Any] = {}
    for name, value in expected.items():
        if isinstance(value, dict):
            figures |= flat(value, f"{prefix}{name}.")
        else:
            figures[prefix + name] = value
    return figures


ENGINES: Mapping[str, Callable[[Case], Iterator[Figures]]] = {
    "vllm": vllm_figures,
    "sglang": sglang_figures,
    "tensorrt": tensorrt_figures,
    "llama.cpp": llamacpp_figures,
    "document": document_figures,
}
