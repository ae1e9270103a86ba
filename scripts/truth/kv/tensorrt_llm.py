"""TensorRT-LLM's lines: blocks and tokens of free or allocated memory."""

from collections.abc import Iterator
from fractions import Fraction

from calculators.kv.engines import tensorrt_llm
from calculators.kv.engines.steps import GIB
from calculators.kv.layers import Stack
from scripts.truth.kv.given import Case, Figures, first, gib_range, kv_dtype
from scripts.truth.kv.shapes import stack_of


def tensorrt_figures(case: Case) -> Iterator[Figures]:
    """Blocks and tokens, from memory that is free or allocated already."""
    given = case["given"]
    fraction = Fraction(str(given.get("free_gpu_memory_fraction", "0.9")))
    options = tensorrt_llm.Options(
        kv_cache_dtype=kv_dtype(case),
        tokens_per_block=first(given, "tokens_per_block", default=case["block_size"] or 32),
        free_gpu_memory_fraction=fraction,
        tp_size=case["tp"] or 1,
        pp_size=case["pp"] or 1,
        cross_kv_cache_fraction=cross_fraction(given),
    )
    stack = stack_of(case)
    per_token = tensorrt_llm.bytes_per_token(stack, options)
    if "allocated_gib" in given:
        low, high = gib_range(given["allocated_gib"])
        for blocks in range(
            tensorrt_llm.blocks_in(stack, options, low),
            tensorrt_llm.blocks_in(stack, options, high) + 1,
        ):
            tokens = blocks * options.tokens_per_block
            yield {"max_tokens": tokens, "blocks": blocks, "bytes_per_token": per_token}
        return
    if "max_tokens" in given:
        size = given["max_tokens"] * per_token
        yield {"allocated_gib": size / GIB, "bytes_per_token": per_token}
        return
    low, high = gib_range(first(given, "free_gib", "free_memory_gib", "available_gib"))
    middle = (low + high) // 2
    step = max(1, int(per_token / fraction))
    memories = {*range(low, high, step), middle, high}
    for memory in sorted(memories, key=lambda m: abs(m - middle)):
        yield pool_figures(stack, options, memory, given.get("max_model_len"))


def cross_fraction(given: Case) -> Fraction | None:
    """``crossKvCacheFraction``, where the model has cross attention."""
    stated = given.get("cross_kv_cache_fraction")
    return None if stated is None else Fraction(str(stated))


def pool_figures(
    stack: Stack, options: tensorrt_llm.Options, memory: int, length: int | None
) -> Figures:
    """One pool, and the pools by window that an older split makes of the same memory."""
    found = tensorrt_llm.pool(stack, options, memory)
    windows = tensorrt_llm.window_pools(stack, options, memory, length) if length else ()
    return {
        "max_tokens": found.max_tokens,
        "pool_tokens": found.pool_tokens,
        "blocks": found.blocks,
        "allocated_gib": found.pool_bytes / GIB,
        "bytes_per_token": found.bytes_per_token,
        **{f"window_blocks.{pool.window}": pool.blocks for pool in windows},
    }
