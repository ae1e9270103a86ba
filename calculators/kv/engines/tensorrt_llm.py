"""TensorRT-LLM's paged KV cache: tokens and blocks from free memory.

Read in ``cpp/tensorrt_llm/batch_manager/kvCacheManager.cpp`` and
``tensorrt_llm/_torch/pyexecutor/_util.py`` @0004396. Windowed layers count as full, as the present
source does; an older split gave each window size a pool of its own (window x bytes of a token,
``calculateWindowSizeToShare``), which ``window_pools`` computes. Left out: host offloading, and
FP4 scale pools of other block sizes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from calculators.kv.dtypes import Dtype
from calculators.kv.engines.rows import token_bytes, token_expression
from calculators.kv.engines.steps import Line
from calculators.kv.layers import CrossAttention, Stack


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """``KvCacheConfig`` and the mapping, spelled as TensorRT-LLM does."""

    kv_cache_dtype: Dtype
    tokens_per_block: int = 32
    free_gpu_memory_fraction: Fraction = Fraction(9, 10)
    max_tokens: int | None = None
    cross_kv_cache_fraction: Fraction | None = None
    tp_size: int = 1
    pp_size: int = 1
    draft: Stack | None = None  # a draft model's layers, kept in the same pool


@dataclass(frozen=True, kw_only=True, slots=True)
class Pool:
    """What one rank's memory holds."""

    bytes_per_token: int
    max_tokens: int
    blocks: int
    tokens_per_block: int

    @property
    def pool_bytes(self) -> int:
        """Bytes of all blocks."""
        return self.blocks * self.tokens_per_block * self.bytes_per_token

    @property
    def pool_tokens(self) -> int:
        """Tokens that the blocks have room for."""
        return self.blocks * self.tokens_per_block


def bytes_per_token(stack: Stack, options: Options, rank: int = 0) -> int:
    """Bytes of one token over a rank's layers, and of the draft model's, if there is one."""
    own = sum(
        count * token_bytes(cache, options.kv_cache_dtype)
        for cache, count in stack.part(rank, options.pp_size)
        .on_rank(options.tp_size)
        .counts.items()
        if not isinstance(cache, CrossAttention)
    )
    if options.draft is None:
        return own
    return own + bytes_per_token(options.draft, _without_draft(options))


def _without_draft(options: Options) -> Options:
    """The options for a draft model, which sits whole on its rank."""
    return Options(kv_cache_dtype=options.kv_cache_dtype, tp_size=options.tp_size)


def pool(stack: Stack, options: Options, free_bytes: int) -> Pool:
    """The pool of a rank with ``free_bytes`` free (a pool already there counted as free)."""
    per_rank = [bytes_per_token(stack, options, rank) for rank in range(options.pp_size)]
    size = max(per_rank)
    budget = free_bytes * options.free_gpu_memory_fraction
    if options.cross_kv_cache_fraction is not None:
        budget *= 1 - options.cross_kv_cache_fraction
    tokens = int(budget / size)
    if options.max_tokens is not None:
        tokens = min(tokens, options.max_tokens)
    return Pool(
        bytes_per_token=size,
        max_tokens=tokens,
        blocks=-(-tokens // options.tokens_per_block),
        tokens_per_block=options.tokens_per_block,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class WindowPool:
    """The pool of one window size: ``window`` tokens, bytes of a token, blocks."""

    window: int
    bytes_per_token: int
    blocks: int
    share: Fraction


def window_pools(
    stack: Stack, options: Options, free_bytes: int, max_seq_len: int
) -> tuple[WindowPool, ...]:
    """A pool for each window size; what sees everything has the window ``max_seq_len``."""
    sizes: dict[int, int] = {}
    for cache, count in stack.part(0, options.pp_size).on_rank(options.tp_size).counts.items():
        if cache.rows and not isinstance(cache, CrossAttention):
            window = min(cache.reach or max_seq_len, max_seq_len)
            size = count * token_bytes(cache, options.kv_cache_dtype)
            sizes[window] = sizes.get(window, 0) + size
    budget = free_bytes * options.free_gpu_memory_fraction
    total = sum(window * size for window, size in sizes.items())
    return tuple(
        WindowPool(
            window=window,
            bytes_per_token=size,
            blocks=int(budget * Fraction(window * size, total) / size / options.tokens_per_block),
            share=Fraction(window * size, total),
        )
        for window, size in sorted(sizes.items())
    )


def blocks_in(stack: Stack, options: Options, pool_bytes: int) -> int:
    """Whole blocks in memory that is allocated already."""
    return pool_bytes // (bytes_per_token(stack, options) * options.tokens_per_block)


def derivation(stack: Stack, options: Options, result: Pool, free_bytes: int) -> Iterator[Line]:
    """The computation line by line, of the first pipeline rank."""
    for cache, count in stack.part(0, options.pp_size).on_rank(options.tp_size).counts.items():
        if cache.rows and not isinstance(cache, CrossAttention):
            expression = f"{count} × {token_expression(cache, options.kv_cache_dtype)}"
            size = count * token_bytes(cache, options.kv_cache_dtype)
            yield Line("token_layers", expression, size, "bytes", cache)
    share = f"{free_bytes} × {float(options.free_gpu_memory_fraction):g}"
    if options.cross_kv_cache_fraction is not None:
        share += f" × {float(1 - options.cross_kv_cache_fraction):g}"
    expression = f"⌊{share} ÷ {result.bytes_per_token}⌋"
    yield Line("max_tokens", expression, result.max_tokens, "tokens")
    expression = f"⌈{result.max_tokens} ÷ {result.tokens_per_block}⌉"
    yield Line("blocks", expression, result.blocks)
    expression = f"{result.blocks} × {result.tokens_per_block} × {result.bytes_per_token}"
    yield Line("pool_bytes", expression, result.pool_bytes, "bytes")
