"""vLLM's lines: every pool that printed memory, blocks or tokens allow.

What a case leaves open is tried in each way that vLLM knows: both generations of the token line
between the releases in which it changed, its own defaults of ``max_num_batched_tokens``, and
state pages with and without prefix caching.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

from calculators.kv.dtypes import Dtype, dtype
from calculators.kv.engines import vllm
from calculators.kv.engines.steps import GIB
from calculators.kv.engines.turboquant import PRESETS, with_boundaries
from calculators.kv.engines.vllm_pages import Options as VllmOptions
from calculators.kv.engines.vllm_pages import page_bytes
from calculators.kv.engines.vllm_refusal import (
    estimated_max_model_len,
    needed_bytes,
    specs_by_rank,
)
from calculators.kv.layers import CrossAttention, FullAttention, SlidingAttention, Stack, State
from scripts.truth.kv.given import Case, Figures, dtype_name, gib_range, kv_dtype
from scripts.truth.kv.shapes import draft_of, stack_of

LAST_GROUPS, FIRST_CONCURRENCY = (0, 19), (0, 24)  # releases seen with either token line
BATCHED_DEFAULTS = (8192, 2048, 16384)  # by GPU and entry point
PLAIN_BITS = 16


def vllm_figures(case: Case) -> Iterator[Figures]:
    """Every pool that the inputs allow."""
    given = case["given"]
    stack = layers_of(case)
    for chosen in settings(case, stack):
        if not stack.layers:
            yield from ratio_figures(chosen, given)
        elif not MEMORY & {*given}:
            yield block_figures(stack, chosen)
        else:
            for blocks in blocks_allowed(stack, chosen, given):
                yield pool_figures(stack, chosen, blocks, given)


MEMORY = {
    "num_gpu_blocks", "gpu_kv_cache_tokens", "available_kv_cache_memory_gib", "available_bytes",
}  # fmt: skip
VLLM_OPTIONS = (
    "max_model_len", "max_num_batched_tokens", "mamba_cache_mode", "num_speculative_tokens",
    "kernel_block_size", "decode_context_parallel_size", "prefill_context_parallel_size",
    "max_encoder_tokens", "disable_hybrid_kv_cache_manager",
)  # fmt: skip


def layers_of(case: Case) -> Stack:
    """The layers, with draft layers where it speculates, as TurboQuant leaves them."""
    stack = stack_of(case)
    if case["given"].get("num_speculative_tokens"):
        stack = Stack((*stack.layers, *draft_of(case)))
    return with_boundaries(stack) if dtype_name(case) in PRESETS else stack


def settings(case: Case, stack: Stack) -> Iterator[VllmOptions]:
    """The options that the case states, and each choice for those that it leaves open."""
    given, name = case["given"], dtype_name(case)
    options = VllmOptions(
        kv_cache_dtype=kv_dtype(case),
        dtype=model_dtype(case),
        ds_mla=name == "fp8_ds_mla",
        turboquant=PRESETS.get(name),
        block_size=case["block_size"] or 16,
        tensor_parallel_size=case["tp"] or 1,
        pipeline_parallel_size=case["pp"] or 1,
        **{name: given[name] for name in VLLM_OPTIONS if given.get(name) is not None},
    )
    open_choices = {
        "report": reports(case["engine_version"]),
        "max_num_batched_tokens": batches(stack, given),
        "mamba_cache_mode": modes(stack, given),
    }
    for chosen in product(*open_choices.values()):
        values: dict[str, Any] = dict(zip(open_choices, chosen, strict=True))
        yield replace(options, **values)


def model_dtype(case: Case) -> Dtype:
    """The model's type: the cache's own where that is a plain one."""
    kv = kv_dtype(case)
    return kv if kv.bits >= PLAIN_BITS else dtype("", "bf16")


def batches(stack: Stack, given: Case) -> tuple[int, ...]:
    """``max_num_batched_tokens`` as stated, or vLLM's defaults where it matters."""
    if given.get("max_num_batched_tokens") is not None:
        return (given["max_num_batched_tokens"],)
    matters = any(c.reach is not None or isinstance(c, CrossAttention) for c in stack.counts)
    return BATCHED_DEFAULTS if matters else BATCHED_DEFAULTS[:1]


def modes(stack: Stack, given: Case) -> tuple[str, ...]:
    """``mamba_cache_mode`` as stated, or with and without prefix caching."""
    if given.get("mamba_cache_mode") is not None:
        return (given["mamba_cache_mode"],)
    states = any(isinstance(cache, State) for cache in stack.counts)
    return ("none", "align", "all") if states else ("none",)


def reports(version: str | None) -> tuple[Any, ...]:
    """The generations of the token line that a release may print, the likelier first.

    Of one model on one GPU 0.20.0 printed about 55,000 tokens and 0.21.0 about 525,000
    (vllm-project/vllm #43308): blocks over groups, and concurrency times length. Up to 0.19 and
    from 0.24 it is sure; between them both are candidates.
    """
    numbers = tuple(int(part) for part in re.findall(r"\d{1,4}", str(version or ""))[:2])
    if len(numbers) == len(LAST_GROUPS):
        if numbers <= LAST_GROUPS:
            return ("groups",)
        if numbers >= FIRST_CONCURRENCY:
            return ("concurrency",)
    return ("groups", "concurrency")


def blocks_allowed(stack: Stack, options: VllmOptions, given: Case) -> Iterable[int]:
    """Block counts that a stated count, printed memory or printed tokens allow."""
    if "num_gpu_blocks" in given:
        return (given["num_gpu_blocks"],)
    if "gpu_kv_cache_tokens" in given:
        return vllm.blocks_of_tokens(stack, options, given["gpu_kv_cache_tokens"])
    if "available_bytes" in given:
        return (vllm.pool(stack, options, given["available_bytes"]).num_blocks,)
    stated = given["available_kv_cache_memory_gib"]
    ranks = stated if isinstance(stated, list) else [stated]
    if len(ranks) != options.pipeline_parallel_size:
        ranks = [min(ranks)] * options.pipeline_parallel_size
    low, high, middle = (
        vllm.pool(stack, options, memory).num_blocks
        for memory in (
            [gib_range(value)[0] for value in ranks],
            [gib_range(value)[1] for value in ranks],
            [int(Fraction(str(value)) * GIB) for value in ranks],
        )
    )
    return sorted(range(low, high + 1), key=lambda blocks: abs(blocks - middle))


def pool_figures(stack: Stack, options: VllmOptions, blocks: int, given: Case) -> Figures:
    """What vLLM prints for a number of blocks."""
    result = vllm.pool_of_blocks(stack, options, blocks)
    figures: dict[str, Any] = {
        "num_gpu_blocks": blocks,
        "gpu_kv_cache_tokens": result.tokens,
        "max_concurrency": result.concurrency,
        "max_concurrency_after_fix": result.concurrency,
        **block_figures(stack, options),
        **refusal_figures(stack, options, given, blocks),
    }
    if any(isinstance(cache, SlidingAttention) for cache in stack.counts):
        full = Stack(tuple(tuple(map(vllm.as_full, layer)) for layer in stack.layers))
        before = vllm.pool_of_blocks(full, options, blocks).concurrency
        figures["max_concurrency_before_fix"] = before
    return figures


def refusal_figures(stack: Stack, options: VllmOptions, given: Case, blocks: int) -> Figures:
    """What one request needs, and the length that printed memory of so many blocks has room for."""
    if options.max_model_len is None:
        return {}
    ranks = specs_by_rank(stack, options)
    figures: dict[str, Any] = {"needed_gib": needed_bytes(ranks, options) / GIB}
    stated = given.get("available_kv_cache_memory_gib")
    if isinstance(stated, int | float):
        low, high = gib_range(stated)
        size = vllm.bytes_per_block(vllm.groups_of(stack, vllm.settled(stack, options)))
        memory = min(max(low, blocks * size), high)
        figures["estimated_max_model_len"] = estimated_max_model_len(ranks, options, memory)
    return figures


def block_figures(stack: Stack, options: VllmOptions) -> Figures:
    """Groups, pages, the enlarged attention block of a hybrid model, the padding of its state."""
    options = vllm.settled(stack, options)
    groups = vllm.groups_of(stack, options)
    attention = [g.spec.block_size for g in groups if not isinstance(g.spec.cache, State)]
    padding = vllm.state_padding_percent(groups)
    empty = sum(group.padding_layers for group in groups)
    padded = [group for group in groups if group.padding_layers]
    layers = sum(g.layers for g in groups if padded and g.spec == padded[0].spec)
    figures: dict[str, Any] = {
        "attention_block_size": min(attention, default=None),
        "groups": len(groups),
        "padding_layers": empty,
        "page_size_bytes": groups[0].spec.page_bytes,
        "page_bytes": groups[0].spec.page_bytes,
        "bytes_per_block": vllm.bytes_per_block(groups),
        "bytes_per_token": token_bytes(stack, options),
        "layers_per_group": groups[0].layers + groups[0].padding_layers,
    }
    if empty and layers:
        figures["padding_percent"] = 100 * empty / layers
    return figures if padding is None else {**figures, "mamba_page_padding_percent": padding}


def token_bytes(stack: Stack, options: VllmOptions) -> int:
    """Bytes of a token in all layers of a rank that keep tokens."""
    counts = stack.on_rank(options.tensor_parallel_size).counts
    return sum(
        count * page_bytes(cache, 1, options)
        for cache, count in counts.items()
        if not isinstance(cache, State)
    )


def ratio_figures(options: VllmOptions, given: Case) -> Iterator[Figures]:
    """Of a model that is not named: full attention in one group, whatever its width."""
    one = Stack(((FullAttention(heads=1, k_width=1, v_width=1),),))
    for blocks in blocks_allowed(one, options, given):
        yield pool_figures(one, options, blocks, given)
