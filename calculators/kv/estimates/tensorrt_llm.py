"""TensorRT-LLM's estimate: one pool, or an older build's pool for each window size."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from calculators.form.errors import ParameterError
from calculators.kv.capacity import Fit
from calculators.kv.engine_params import EngineParams
from calculators.kv.engines import tensorrt_llm
from calculators.kv.engines.rows import token_bytes
from calculators.kv.engines.steps import GIB, Line
from calculators.kv.engines.tensorrt_llm import Options
from calculators.kv.estimates.common import (
    Cause,
    Estimate,
    Types,
    named_causes,
    payload_of,
    plain_number,
    rank_payload_bits,
    types_of,
)
from calculators.kv.layers import Cache, CrossAttention, Stack
from calculators.kv.payload import Bytes
from calculators.kv.shape import Shape


def options_of(params: EngineParams, types: Types) -> Options:
    """``KvCacheConfig`` and the mapping of the form."""
    return Options(
        kv_cache_dtype=types.kv,
        tokens_per_block=params.tokens_per_block,
        free_gpu_memory_fraction=params.free_gpu_memory_fraction,
        max_tokens=params.max_tokens,
        tp_size=params.tp_size,
        pp_size=params.pp_size,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Lot:
    """Equal layers of all ranks: the pool that they are in, and what one sequence takes of it."""

    cache: Cache
    token_bytes: int
    plain_bytes: Fraction
    pool_tokens: int
    kept: int
    slack: int
    rounding: int

    @property
    def held(self) -> int:
        """Tokens that a sequence takes."""
        return self.kept + self.slack + self.rounding


def estimate(shape: Shape, params: EngineParams, available: int, length: int) -> Estimate:
    """TensorRT-LLM's answer for ``available`` free bytes on each rank."""
    types = types_of(shape, params)
    options = options_of(params, types)
    if not tensorrt_llm.bytes_per_token(shape.stack, options):
        raise ParameterError("stack", "nothing_cached")
    pools = pool_tokens(shape, options, params, available)
    lots = lots_of(shape, options, pools, length)
    tokens = max(pools.values())
    sequences = min(lot.pool_tokens // lot.held for lot in lots)
    held = payload_of(shape, types, length, sequences)
    paged = payload_of(replace(shape, stack=rows_only(shape.stack)), types, length, sequences)
    return Estimate(
        engine="tensorrt_llm",
        fit=Fit(tokens=tokens, sequences=sequences, limit="blocks"),
        ranks=params.tp_size * params.pp_size,
        replicas=1,
        payload_bytes=held,
        allocated_bytes=sum(lot.pool_tokens * lot.token_bytes for lot in lots),
        causes=(*named_causes(kept_elsewhere=paged - held), *causes(lots, paged, sequences)),
        steps=tuple(steps(shape, options, params, available)),
        printed="\n".join(printed_lines(shape, options, params, available)),
        flags=flags(params),
        holding=lambda at: {
            lot.cache: lot.held * lot.token_bytes // params.tp_size
            for lot in lots_of(shape, options, pools, at)
        },
        tokens_at=lambda memory: max(pool_tokens(shape, options, params, memory).values()),
    )


def rows_only(stack: Stack) -> Stack:
    """The layers that the pool holds: states and an encoder's rows are kept elsewhere."""
    return Stack(
        tuple(
            tuple(c for c in layer if c.rows and not isinstance(c, CrossAttention))
            for layer in stack.layers
        )
    )


def pool_tokens(
    shape: Shape, options: Options, params: EngineParams, available: int
) -> Mapping[int | None, int]:
    """Tokens of the pool of each window; None is the one pool of all layers."""
    if params.windows == "full":
        result = tensorrt_llm.pool(shape.stack, options, available)
        return {None: result.pool_tokens}
    pools = tensorrt_llm.window_pools(shape.stack, options, available, params.max_seq_len)
    return {pool.window: pool.blocks * options.tokens_per_block for pool in pools}


def lots_of(
    shape: Shape, options: Options, pools: Mapping[int | None, int], length: int
) -> tuple[Lot, ...]:
    """A lot for every kind of layer that keeps rows; those of an encoder are left out."""
    counts = shape.stack.on_rank(options.tp_size).counts.items()
    return tuple(
        lot_of(cache, count, options, pools, length)
        for cache, count in counts
        if cache.rows and not isinstance(cache, CrossAttention)
    )


def lot_of(
    cache: Cache, count: int, options: Options, pools: Mapping[int | None, int], length: int
) -> Lot:
    """One kind's lot: in the common pool windows are not used."""
    longest = max((window for window in pools if window is not None), default=0)
    window = None if None in pools else min(cache.reach or longest, longest)
    kept = cache.retained(length)
    reserved = length if window is None or cache.reach is None else kept
    blocks = -(-reserved // options.tokens_per_block)
    each = count * options.tp_size
    return Lot(
        cache=cache,
        token_bytes=each * token_bytes(cache, options.kv_cache_dtype),
        plain_bytes=Fraction(each * rank_payload_bits(cache, options.kv_cache_dtype), 8),
        pool_tokens=pools[window],
        kept=kept,
        slack=reserved - kept,
        rounding=blocks * options.tokens_per_block - reserved,
    )


def causes(lots: tuple[Lot, ...], held: Bytes, sequences: int) -> tuple[Cause, ...]:
    """From the payload of ``sequences`` to the pools; zeros are left out."""
    plain = sum((lot.plain_bytes * lot.kept for lot in lots), Fraction(0))
    rows = sum(lot.token_bytes * lot.kept for lot in lots)
    return named_causes(
        replicas=sequences * plain - held,
        row_format=sequences * (rows - plain),
        windows_as_full=sequences * sum(lot.token_bytes * lot.slack for lot in lots),
        block_rounding=sequences * sum(lot.token_bytes * lot.rounding for lot in lots),
        idle_blocks=sum(lot.token_bytes * (lot.pool_tokens - sequences * lot.held) for lot in lots),
    )


def steps(shape: Shape, options: Options, params: EngineParams, available: int) -> Iterator[Line]:
    """The computation, of the one pool or of each window's."""
    if params.windows == "full":
        result = tensorrt_llm.pool(shape.stack, options, available)
        yield from tensorrt_llm.derivation(shape.stack, options, result, available)
        return
    pools = tensorrt_llm.window_pools(shape.stack, options, available, params.max_seq_len)
    total = " + ".join(f"{pool.window} × {pool.bytes_per_token}" for pool in pools)
    fraction = float(options.free_gpu_memory_fraction)
    for pool in pools:
        share = f"{pool.window} × {pool.bytes_per_token} ÷ ({total})"
        yield Line("window_share", share, 100 * pool.share, "percent")
        size = f"{pool.bytes_per_token} × {options.tokens_per_block}"
        blocks = f"⌊{available} × {fraction:g} × {float(pool.share):.6f} ÷ ({size})⌋"
        yield Line("window_blocks", blocks, pool.blocks)


def printed_lines(
    shape: Shape, options: Options, params: EngineParams, available: int
) -> Iterator[str]:
    """The lines of ``kvCacheManager.cpp``."""
    if params.windows == "pools":
        pools = tensorrt_llm.window_pools(shape.stack, options, available, params.max_seq_len)
        for pool in pools:
            yield (
                f"[window size={pool.window}], tokens per block={options.tokens_per_block}, "
                f"primary blocks={pool.blocks}"
            )
        return
    result = tensorrt_llm.pool(shape.stack, options, available)
    yield f"Number of blocks in KV cache primary pool: {result.blocks}"
    yield f"Number of tokens per block: {result.tokens_per_block}."
    yield (
        f"[MemUsageChange] Allocated {result.pool_bytes / GIB:.2f} GiB for max tokens in paged "
        f"KV cache ({result.pool_tokens})."
    )


def flags(params: EngineParams) -> str:
    """The part of an ``extra_llm_api_options`` file that sizes the cache."""
    lines = [
        "kv_cache_config:",
        f"  free_gpu_memory_fraction: {plain_number(params.free_gpu_memory_fraction)}",
        f"  tokens_per_block: {params.tokens_per_block}",
    ]
    if params.kv_cache_dtype != "auto":
        lines.append(f"  dtype: {params.kv_cache_dtype}")
    if params.max_tokens is not None:
        lines.append(f"  max_tokens: {params.max_tokens}")
    lines += [
        f"tensor_parallel_size: {params.tp_size}",
        f"pipeline_parallel_size: {params.pp_size}",
    ]
    return "\n".join(lines)
