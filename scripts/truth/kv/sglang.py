"""SGLang's lines: cell, pool and printed sizes."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from calculators.kv.dtypes import dtype
from calculators.kv.engines import sglang
from calculators.kv.engines.steps import GIB
from calculators.kv.layers import Stack
from scripts.truth.kv.given import Case, Figures, first, gib_range, kv_dtype
from scripts.truth.kv.shapes import stack_of


def sglang_figures(case: Case) -> Iterator[Figures]:
    """Cell, pool and printed sizes."""
    given, facts = case["given"], case["config_facts"]
    ratios = {
        name: Fraction(str(first({**facts, **given}, name)))
        for name in ("swa_full_tokens_ratio", "mamba_full_memory_ratio")
        if name in {**facts, **given}
    }
    options = sglang.Options(
        kv_cache_dtype=kv_dtype(case),
        dtype=dtype("", "bf16"),
        tp_size=case["tp"] or 1,
        dp_attention_size=given.get("dp_size", 1),
        pp_size=case["pp"] or 1,
        page_size=first(given, "page_size", default=case["block_size"] or 1),
        **ratios,
    )
    stack = stack_of(case)
    if "available_gib" in given:
        for memory in gib_range(given["available_gib"]):
            tokens = sglang.pool(stack, options, memory).max_total_num_tokens
            yield sglang_sizes(stack, options, tokens)
        return
    yield sglang_sizes(stack, options, first(given, "max_total_num_tokens", "full_tokens"))


def sglang_sizes(stack: Stack, options: sglang.Options, tokens: int | None) -> Figures:
    """The lines for a pool of so many tokens."""
    figures: dict[str, Any] = {}
    if stack.layers:
        figures["cell_size_bytes"] = as_int(sglang.cell_of(stack, options).bytes)
    if tokens is None:
        return figures
    figures |= {"max_total_num_tokens": tokens, "swa_tokens": sglang.swa_tokens(tokens, options)}
    if stack.layers:
        whole = Fraction(sglang.kv_bytes(stack, options, tokens), GIB)
        figures |= {
            "K_size_gb": Fraction(sglang.k_bytes(stack, options, tokens), GIB),
            "V_size_gb": Fraction(sglang.v_bytes(stack, options, tokens), GIB),
            "kv_size_gb": whole,
            "kv_size_gb_with_index": whole,
        }
    return {name: number(value) for name, value in figures.items()}


def as_int(value: Fraction) -> int | Fraction:
    """A whole number as an int."""
    return value.numerator if value.denominator == 1 else value


def number(value: Any) -> Any:
    """Fractions as floats, for the report."""
    return float(value) if isinstance(value, Fraction) else value
