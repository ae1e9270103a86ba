"""llama.cpp's lines: cells and sizes, as each build that a case may be of prints them."""

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product

from calculators.kv.dtypes import Dtype, dtype
from calculators.kv.engines import llamacpp
from calculators.kv.engines.steps import MIB
from scripts.truth.kv.given import Case, Figures, dtype_name, first
from scripts.truth.kv.shapes import stack_of


def llamacpp_figures(case: Case) -> Iterator[Figures]:
    """Cells and MiB; for several slot counts each under its own name."""
    given = case["given"]
    for stated in ("f16", "q8_0", "q4_0"):
        if f"kv_mib_{stated}" in given:
            yield converted(Fraction(str(given[f"kv_mib_{stated}"])), stated)
            return
    slots = given.get("slots", 1)
    for options in builds(case):
        if isinstance(slots, list):
            sized = ((n, llamacpp_sizes(case, replace(options, parallel=n))) for n in slots)
            yield {f"{count}_slots.{n}": v for count, found in sized for n, v in found.items()}
        else:
            yield llamacpp_sizes(case, replace(options, parallel=slots))


def converted(mib: Fraction, stated: str) -> Figures:
    """A printed cache of one type in every other."""
    names = ("f16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl", "f32", "bf16")
    mib_f16 = mib / llamacpp.as_type(Fraction(1), dtype("type", stated))
    return {
        f"kv_mib_{name}": float(llamacpp.as_type(mib_f16, dtype("type", name))) for name in names
    }


def builds(case: Case) -> Iterator[llamacpp.Options]:
    """What differs between builds where the case does not say which one it is.

    The order of padding, a unified cache, and whether the sliding cache stays f16 (PR #21277).
    """
    given = case["given"]
    k_type, v_type = types_of(case)
    unified = (given["kv_unified"],) if given.get("kv_unified") is not None else (True, False)
    windows = (None,) if k_type.name == "float16" else (None, dtype("type", "f16"))
    for old_order, one_cache, swa in product((False, True), unified, windows):
        yield llamacpp.Options(
            ctx_size=first(given, "n_ctx_requested", "n_ctx", "context"),
            cache_type_k=k_type,
            cache_type_v=v_type,
            kv_unified=one_cache,
            ubatch_size=given.get("n_ubatch", 512),
            swa_full=given.get("swa_full", False),
            pad_before_minimum=old_order,
            swa_type_k=swa,
            swa_type_v=swa,
            n_rs_seq=given.get("n_rs_seq", 0),
        )


def types_of(case: Case) -> tuple[Dtype, Dtype]:
    """K's and V's type: ``type_k`` and ``type_v``, ``q8_0/q4_0``, or one for both."""
    given = case["given"]
    names = [part.strip() for part in re.split(r"[/,]", dtype_name(case))]
    key = first(given, "type_k", default=names[0].removeprefix("k "))
    value = first(given, "type_v", default=names[-1].removeprefix("v "))
    return dtype("type_k", key), dtype("type_v", value)


def llamacpp_sizes(case: Case, options: llamacpp.Options) -> Figures:
    """The buffer lines of one setting."""
    found = llamacpp.allocate(stack_of(case), options)
    total = Fraction(found.full.bytes + found.swa.bytes, MIB)
    return {
        "n_ctx": found.full.cells,
        "n_ctx_seq": found.full.cells // (1 if options.kv_unified else options.parallel),
        "cells": found.full.cells,
        "full_cells": found.full.cells,
        "swa_cells": found.swa.cells,
        "full_mib": found.full.bytes / MIB,
        "swa_mib": found.swa.bytes / MIB,
        "recurrent_mib": found.recurrent.bytes / MIB,
        "mib": float(total),
        "kv_mib": float(total),
        "kv_mb": float(total),
        "total_mib": found.bytes / MIB,
        "kv_gib": float(total / 1024),
        "k_mib": (found.full.k_bytes + found.swa.k_bytes) / MIB,
        "v_mib": (found.full.v_bytes + found.swa.v_bytes) / MIB,
    }
