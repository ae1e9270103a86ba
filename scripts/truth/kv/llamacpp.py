"""llama.cpp's lines: cells and sizes, in both orders of padding."""

from collections.abc import Iterator
from fractions import Fraction

from calculators.kv.dtypes import dtype
from calculators.kv.engines import llamacpp
from calculators.kv.engines.steps import MIB
from scripts.truth.kv.given import Case, Figures, first, kv_dtype
from scripts.truth.kv.shapes import stack_of


def llamacpp_figures(case: Case) -> Iterator[Figures]:
    """Cells and MiB; for several slot counts each under its own name."""
    given = case["given"]
    if "kv_mib_f16" in given:
        yield converted(Fraction(str(given["kv_mib_f16"])))
        return
    slots = given.get("slots", 1)
    for old_order in (False, True):
        if isinstance(slots, list):
            sized = ((count, llamacpp_sizes(case, count, old_order=old_order)) for count in slots)
            yield {f"{count}_slots.{n}": v for count, found in sized for n, v in found.items()}
        else:
            yield llamacpp_sizes(case, slots, old_order=old_order)


def converted(mib_f16: Fraction) -> Figures:
    """A printed f16 cache in every block-quantised type."""
    types = ("q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl", "f32", "bf16")
    return {
        f"kv_mib_{name}": float(llamacpp.as_type(mib_f16, dtype("type", name))) for name in types
    }


def llamacpp_sizes(case: Case, slots: int, *, old_order: bool) -> Figures:
    """The buffer lines of one setting."""
    given = case["given"]
    options = llamacpp.Options(
        ctx_size=first(given, "n_ctx_requested", "n_ctx"),
        cache_type_k=kv_dtype(case),
        cache_type_v=kv_dtype(case),
        parallel=slots,
        kv_unified=given.get("kv_unified", True),
        ubatch_size=given.get("n_ubatch", 512),
        swa_full=given.get("swa_full", False),
        pad_before_minimum=old_order,
    )
    found = llamacpp.allocate(stack_of(case), options)
    total = found.bytes / MIB
    return {
        "n_ctx": found.full.cells,
        "cells": found.full.cells,
        "full_cells": found.full.cells,
        "swa_cells": found.swa.cells,
        "full_mib": found.full.bytes / MIB,
        "swa_mib": found.swa.bytes / MIB,
        "mib": total,
        "kv_mib": total,
        "kv_mb": total,
        "k_mib": (found.full.k_bytes + found.swa.k_bytes) / MIB,
        "v_mib": (found.full.v_bytes + found.swa.v_bytes) / MIB,
    }
