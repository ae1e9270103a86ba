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
from scripts.truth.kv.given import GIVEN, Case, Figures
from scripts.truth.kv.llamacpp import llamacpp_figures
from scripts.truth.kv.names import canonical, with_spellings
from scripts.truth.kv.sglang import sglang_figures
from scripts.truth.kv.shapes import unread
from scripts.truth.kv.tensorrt_llm import tensorrt_figures
from scripts.truth.kv.vllm import vllm_figures
from scripts.truth.verdict import Verdict

KNOWN = {
    "id", "source", "engine", "engine_version", "model", "config_facts", "config_facts_from", "tp",
    "pp", "kv_dtype", "block_size", "given", "expected", "derivation", "status", "checks",
    "config_verified", "evidence", "note", "notes", "allowed_by_print", "dp", "doubtful",
    "written",
}  # fmt: skip
MOST_CANDIDATES = 100_000
ONE_DECIMAL = 0.04  # a case that allows more than this was printed with one decimal
COARSEST = 0.06


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


def verdicts_of(written: Case) -> Iterator[Verdict]:
    """The figures of one case; "not run" for a key that the adapter does not know."""
    case = canonical(written)
    expected = flat(case["expected"])
    reader = next((f for name, f in ENGINES.items() if case["engine"].startswith(name)), None)
    unknown = sorted({*case} - KNOWN | {*case["given"]} - GIVEN | unread(case))
    if reader is None or unknown:
        reason = f"unknown: {', '.join(unknown) or case['engine']}"
        yield not_run(case, expected, reason)
        return
    try:
        allowed = tolerances(case)
        best = closest(map(with_spellings, reader(case)), expected, allowed)
    except (ParameterError, KeyError, TypeError, ValueError) as error:
        yield not_run(case, expected, f"cannot be computed: {error}")
        return
    missing = sorted(set(expected) - set(best))
    if missing:
        yield not_run(case, expected, f"unknown: {', '.join(missing)}")
        return
    for name, printed in expected.items():
        outcome: Any = "passed" if prints(best[name], printed, allowed) else "failed"
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


def tolerances(case: Case) -> Mapping[Any, float]:
    """How coarsely a case says that each of its figures was printed."""
    return {
        check["printed"]: check["tolerance"]
        for check in case.get("checks") or ()
        if isinstance(check.get("printed"), float) and check.get("tolerance", 1) <= COARSEST
    }


def closest(
    candidates: Iterable[Figures], expected: Figures, allowed: Mapping[Any, float]
) -> Figures:
    """The candidate that gives most of the printed figures; the first among equals."""
    best: Figures = {}
    most = -1
    for count, found in enumerate(candidates):
        right = sum(
            n in found and prints(found[n], value, allowed) for n, value in expected.items()
        )
        if right > most:
            best, most = found, right
        if most == len(expected) or count > MOST_CANDIDATES:
            break
    return best


def prints(computed: Any, printed: Any, allowed: Mapping[Any, float]) -> bool:
    """Whether a value prints so: whole numbers exactly, others to their decimals.

    Two decimals at least, since JSON drops zeros, unless the case itself says that one was printed.
    """
    if isinstance(printed, str) and printed.rstrip("x%").replace(".", "", 1).isdigit():
        printed = float(printed.rstrip("x%"))
    if computed is None or isinstance(printed, str):
        return bool(computed == printed)
    if isinstance(printed, int) and isinstance(computed, int):
        return computed == printed
    written = -int(Decimal(str(printed)).as_tuple().exponent)
    decimals = max(1 if allowed.get(printed, 0) > ONE_DECIMAL else 2, written)
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
