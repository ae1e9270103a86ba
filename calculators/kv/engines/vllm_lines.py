"""The lines that vLLM logs about a pool, in its own wording (``kv_cache_utils.py``, ``config.py``).

Left out: what stands before a message (time, file, rank), and lines that do not depend on the
cache.
"""

from collections.abc import Iterator

from calculators.kv.engines import vllm
from calculators.kv.engines.steps import GIB
from calculators.kv.layers import State


def printed(result: vllm.Pool, refusal: str | None = None) -> str:
    """All lines, in the order of a log; a refusal is the last one."""
    last = report_lines(result) if refusal is None else (refusal,)
    return "\n".join((*hybrid_lines(result), *memory_lines(result), *last))


def hybrid_lines(result: vllm.Pool) -> Iterator[str]:
    """What is said of enlarged attention blocks and padded states."""
    specs = [group.spec for group in result.groups]
    attention = [spec.block_size for spec in specs if not isinstance(spec.cache, State)]
    if len(attention) == len(specs) or not attention:
        return
    if min(attention) != result.options.block_size:
        yield (
            f"Setting attention block size to {min(attention)} tokens to ensure that attention "
            "page size is >= mamba page size."
        )
    if percent := vllm.state_padding_percent(result.groups):
        yield (
            f"Padding mamba page size by {percent:.2f}% to ensure that mamba page size and "
            "attention page size are exactly equal."
        )


def memory_lines(result: vllm.Pool) -> Iterator[str]:
    """The memory, and a warning for every bucket of layers that does not fill its groups."""
    if result.available_bytes is not None:
        yield f"Available KV cache memory: {result.available_bytes / GIB:.2f} GiB"
    buckets = {group.spec: (0, 0) for group in result.groups}
    for group in result.groups:
        layers, empty = buckets[group.spec]
        buckets[group.spec] = (layers + group.layers, empty + group.padding_layers)
    for layers, empty in buckets.values():
        if empty:
            yield (
                f"Add {empty} padding layers, may waste at most {empty / layers * 100:.2f}% "
                "KV cache memory"
            )


def report_lines(result: vllm.Pool) -> Iterator[str]:
    """The tokens, and the concurrency where a length is known."""
    yield f"GPU KV cache size: {result.tokens:,} tokens"
    if result.concurrency is not None:
        yield (
            f"Maximum concurrency for {result.options.max_model_len:,} tokens per request: "
            f"{result.concurrency:.2f}x"
        )
