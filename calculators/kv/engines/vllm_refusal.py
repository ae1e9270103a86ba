"""vLLM's refusal to start: what one request of the longest length needs, and which length fits.

``check_enough_kv_cache_memory`` and ``estimate_max_model_len`` of
``vllm/v1/core/kv_cache_utils.py`` @001cabc: pages of every layer of a rank, without groups and
padding layers. One release counted the layers of all pipeline ranks (#34076); that is left out.
"""

from dataclasses import replace

from calculators.kv.engines.steps import GIB
from calculators.kv.engines.vllm import paged_caches, settled
from calculators.kv.engines.vllm_pages import Options, Spec, pages, spec_of
from calculators.kv.layers import Stack

type Layers = tuple[tuple[Spec, int], ...]  # the specs of one rank, each with its layers


def specs_by_rank(stack: Stack, options: Options) -> tuple[Layers, ...]:
    """What each pipeline rank keeps, before anything is grouped."""
    options = settled(stack, options)
    found = []
    for rank in range(options.pipeline_parallel_size):
        part = stack.part(rank, options.pipeline_parallel_size)
        counts = paged_caches(part.on_rank(options.tensor_parallel_size))
        caches = list(counts)
        found.append(tuple((spec_of(cache, caches, options), n) for cache, n in counts.items()))
    return tuple(found)


def needed_bytes(ranks: tuple[Layers, ...], options: Options) -> int:
    """Bytes of one request of ``max_model_len`` on the rank that needs most."""
    return max(
        sum(count * pages(spec, options) * spec.page_bytes for spec, count in layers)
        for layers in ranks
    )


def estimated_max_model_len(
    ranks: tuple[Layers, ...], options: Options, available_bytes: int
) -> int:
    """The longest length up to ``max_model_len`` that fits; 0 where not even one token does."""
    low, high = 0, options.max_model_len or 0
    while low < high:
        middle = (low + high + 1) // 2
        fits = needed_bytes(ranks, replace(options, max_model_len=middle)) <= available_bytes
        low, high = (middle, high) if fits else (low, middle - 1)
    return low


def refusal(stack: Stack, options: Options, available_bytes: int) -> str | None:
    """The error that vLLM ends with in this memory; None where it starts."""
    ranks = specs_by_rank(stack, options)
    needed = needed_bytes(ranks, options)
    if needed <= available_bytes:
        return None
    length = estimated_max_model_len(ranks, options, available_bytes)
    estimate = f"the estimated maximum model length is {length}. " if length else ""
    based = f"Based on the available memory, {estimate}" if estimate else ""
    return (
        "ValueError: To serve at least one request with the models's max seq len "
        f"({options.max_model_len}), ({needed / GIB:.2f} GiB KV cache is needed, which is larger "
        f"than the available KV cache memory ({available_bytes / GIB:.2f} GiB). {based}"
        "Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing "
        "the engine."
    )
