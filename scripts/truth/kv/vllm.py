"""vLLM's lines: every pool that printed memory, blocks or tokens allow."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

from calculators.kv.dtypes import dtype
from calculators.kv.engines import vllm
from calculators.kv.engines.steps import GIB
from calculators.kv.engines.vllm_pages import Options as VllmOptions
from calculators.kv.layers import FullAttention, SlidingAttention, Stack, State
from scripts.truth.kv.given import Case, Figures, gib_range, kv_dtype
from scripts.truth.kv.shapes import stack_of


def vllm_figures(case: Case) -> Iterator[Figures]:
    """Every pool that the inputs allow."""
    given = case["given"]
    model = dtype("dtype", case["kv_dtype"]) if kv_dtype(case).bits >= 16 else dtype("", "bf16")  # noqa: PLR2004
    options = VllmOptions(
        kv_cache_dtype=kv_dtype(case),
        dtype=model,
        block_size=case["block_size"] or 16,
        tensor_parallel_size=case["tp"] or 1,
        pipeline_parallel_size=case["pp"] or 1,
        **{name: given[name] for name in VLLM_OPTIONS if name in given},
    )
    stack = stack_of(case)
    for report in reports(case["engine_version"]):
        chosen = replace(options, report=report)
        if not stack.layers:
            yield from ratio_figures(chosen, given)
        elif "kernel_block_size" in given and "num_gpu_blocks" not in given:
            yield block_figures(stack, chosen)
        else:
            for blocks in blocks_allowed(stack, chosen, given):
                yield pool_figures(stack, chosen, blocks)


VLLM_OPTIONS = (
    "max_model_len", "max_num_batched_tokens", "mamba_cache_mode", "num_speculative_tokens",
    "kernel_block_size", "decode_context_parallel_size", "prefill_context_parallel_size",
    "max_encoder_tokens", "disable_hybrid_kv_cache_manager",
)  # fmt: skip


def reports(version: str | None) -> tuple[Any, ...]:
    """The generations of the token line that a release may print.

    Of one model on one GPU 0.20.0 printed about 55,000 tokens and 0.21.0 about 525,000
    (vllm-project/vllm #43308): blocks over groups, and concurrency times length.
    """
    if version is None:
        return ("groups", "concurrency")
    major, minor = (int(part) for part in version.lstrip("v").split(".")[:2])
    return ("groups",) if (major, minor) <= (0, 20) else ("concurrency",)


def blocks_allowed(stack: Stack, options: VllmOptions, given: Case) -> Iterable[int]:
    """Block counts that a stated count, printed memory or printed tokens allow."""
    if "num_gpu_blocks" in given:
        return (given["num_gpu_blocks"],)
    if "gpu_kv_cache_tokens" in given:
        return vllm.blocks_of_tokens(stack, options, given["gpu_kv_cache_tokens"])
    exact = int(Fraction(str(given["available_kv_cache_memory_gib"])) * GIB)
    low, high = (
        vllm.pool(stack, options, memory).num_blocks
        for memory in gib_range(given["available_kv_cache_memory_gib"])
    )
    middle = vllm.pool(stack, options, exact).num_blocks
    return sorted(range(low, high + 1), key=lambda blocks: abs(blocks - middle))


def pool_figures(stack: Stack, options: VllmOptions, blocks: int) -> Figures:
    """What vLLM prints for a number of blocks."""
    result = vllm.pool_of_blocks(stack, options, blocks)
    figures: dict[str, Any] = {
        "num_gpu_blocks": blocks,
        "gpu_kv_cache_tokens": result.tokens,
        "max_concurrency": result.concurrency,
        "groups": len(result.groups),
        "padding_layers": result.padding_layers,
        "max_concurrency_after_fix": result.concurrency,
        **block_figures(stack, options),
    }
    if any(isinstance(cache, SlidingAttention) for cache in stack.counts):
        full = Stack(tuple(tuple(map(vllm.as_full, layer)) for layer in stack.layers))
        before = vllm.pool_of_blocks(full, options, blocks).concurrency
        figures["max_concurrency_before_fix"] = before
    return figures


def block_figures(stack: Stack, options: VllmOptions) -> Figures:
    """The enlarged attention block of a hybrid model and the padding of its state page."""
    groups = vllm.groups_of(stack, options)
    attention = [g.spec.block_size for g in groups if not isinstance(g.spec.cache, State)]
    padding = vllm.state_padding_percent(groups)
    figures: dict[str, Any] = {"attention_block_size": min(attention, default=None)}
    return figures if padding is None else {**figures, "mamba_page_padding_percent": padding}


def ratio_figures(options: VllmOptions, given: Case) -> Iterator[Figures]:
    """Of a model that is not named: full attention in one group, whatever its width."""
    one = Stack(((FullAttention(heads=1, k_width=1, v_width=1),),))
    for blocks in blocks_allowed(one, options, given):
        yield pool_figures(one, options, blocks)
