"""SGLang's lines: cell, pool and printed sizes.

Printed memory stands for a range, and every pool in it is a candidate. A sparse model prints the
latent rows alone first, then everything: "KV size" may mean either.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

from calculators.kv.dtypes import dtype
from calculators.kv.engines import sglang
from calculators.kv.engines.steps import GIB
from calculators.kv.layers import Cache, IndexKeys, Stack
from scripts.truth.kv.given import Case, Figures, first, gib_range, kv_dtype
from scripts.truth.kv.shapes import stack_of


def sglang_figures(case: Case) -> Iterator[Figures]:
    """Cell, pool and printed sizes."""
    given, facts = case["given"], case["config_facts"]
    ratios: dict[str, Any] = {
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
    for rows, reserve in product((False, True), repeat=2):
        chosen = replace(options, trtllm_rows=rows, reserve_padding_state=reserve)
        yield from settled_figures(stack, chosen, given)


def settled_figures(stack: Stack, options: sglang.Options, given: Case) -> Iterator[Figures]:
    """Of one kind of kernel's rows and one way of counting the padding state."""
    if (memory := memory_range(given)) is not None:
        for pool in pools(stack, options, *memory):
            sized = sglang_sizes(stack, options, pool.max_total_num_tokens)
            swa = {} if pool.swa_tokens is None else {"swa_tokens": pool.swa_tokens}
            yield {**sized, **swa, "states": pool.states}
        return
    figures = sglang_sizes(stack, options, first(given, "max_total_num_tokens", "full_tokens"))
    yield figures
    if "kv_size_gb_without_index" in figures:
        yield {**figures, "kv_size_gb": figures["kv_size_gb_without_index"]}


def memory_range(given: Case) -> tuple[int, int] | None:
    """Bytes for the cache: printed, or what is free less the part that stays so."""
    if "available_gib" in given:
        return gib_range(given["available_gib"])
    if "free_after_weights_gib" not in given:
        return None
    low, high = gib_range(given["free_after_weights_gib"])
    kept = 1 - Fraction(str(given["mem_fraction_static"]))
    less, more = gib_range(given["total_gib"])
    return int(low - more * kept), int(high - less * kept)


def pools(stack: Stack, options: sglang.Options, low: int, high: int) -> Iterator[sglang.Pool]:
    """Every pool that the memory allows, the middle one first."""
    step = max(1, sglang.cell_of(stack, options).profiled * options.page_size // 2)
    middle = (low + high) // 2
    for memory in sorted({*range(low, high, step), middle, high}, key=lambda m: abs(m - middle)):
        yield sglang.pool(stack, options, memory)


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
            "KV_size_gb": whole,
        }
        figures |= part_sizes(stack, options, tokens)
    return {name: number(value) for name, value in figures.items()}


def part_sizes(stack: Stack, options: sglang.Options, tokens: int) -> Figures:
    """The pools of full and windowed layers apart, and a sparse model without its index."""
    figures: dict[str, Any] = {}
    swa = sglang.swa_tokens(tokens, options)
    for name, part, size in (
        ("full", kept(stack, lambda c: c.reach is None), tokens),
        ("swa", kept(stack, lambda c: c.reach is not None), swa),
    ):
        for side, sizes in (("K", sglang.k_bytes), ("V", sglang.v_bytes)):
            figures[f"{name}_{side}_size_gb"] = Fraction(sizes(part, options, size), GIB)
    if any(isinstance(cache, IndexKeys) for cache in stack.counts):
        index = kept(stack, lambda c: isinstance(c, IndexKeys))
        whole = sglang.kv_bytes(stack, options, tokens)
        rows = whole - sglang.kv_bytes(index, options, tokens)
        figures["kv_size_gb_without_index"] = Fraction(rows, GIB)
    return figures


def kept(stack: Stack, wanted: Callable[[Cache], bool]) -> Stack:
    """The layers with some of their caches."""
    return Stack(tuple(tuple(filter(wanted, layer)) for layer in stack.layers))


def as_int(value: Fraction) -> int | Fraction:
    """A whole number as an int."""
    return value.numerator if value.denominator == 1 else value


def number(value: Any) -> Any:
    """Fractions as floats, for the report."""
    return float(value) if isinstance(value, Fraction) else value
