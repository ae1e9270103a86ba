"""SGLang's estimate: pools of one attention group, printed lines, flags, where every byte goes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from calculators.kv.capacity import sglang_fit
from calculators.kv.engine_params import EngineParams
from calculators.kv.engines import sglang
from calculators.kv.engines.sglang import Options, Pool
from calculators.kv.engines.steps import GIB
from calculators.kv.estimates.common import (
    Cause,
    Estimate,
    Types,
    flag_lines,
    model_name,
    named_causes,
    payload_of,
    plain_number,
    rank_payload_bits,
    types_of,
)
from calculators.kv.layers import Cache, FullAttention, IndexKeys, Stack, State
from calculators.kv.payload import Bytes
from calculators.kv.shape import Shape


def options_of(params: EngineParams, types: Types) -> Options:
    """SGLang's options of the form."""
    return Options(
        kv_cache_dtype=types.kv,
        dtype=types.model,
        tp_size=params.tp_size,
        dp_attention_size=params.dp_size,
        pp_size=params.pp_size,
        page_size=params.page_size,
        swa_full_tokens_ratio=params.swa_full_tokens_ratio,
        mamba_full_memory_ratio=params.mamba_full_memory_ratio,
        trtllm_rows=params.trtllm_rows,
        reserve_padding_state=params.reserve_padding_state,
    )


def estimate(shape: Shape, params: EngineParams, available: int, length: int) -> Estimate:
    """SGLang's answer for ``available`` bytes on each rank and sequences of ``length``."""
    types = types_of(shape, params)
    options = options_of(params, types)
    result = sglang.pool(shape.stack, options, available)
    window = min((c.reach for c in shape.stack.counts if c.reach is not None), default=None)
    fit = sglang_fit(result, length, window)
    held = payload_of(shape, types, length, fit.sequences)
    lots = lots_of(shape.stack, result, length)
    return Estimate(
        engine="sglang",
        fit=fit,
        ranks=options.attention_tp_size * options.pp_size,
        replicas=params.dp_size,
        payload_bytes=held,
        allocated_bytes=options.attention_tp_size * sum(lot.allocated for lot in lots),
        causes=causes(lots, options, held, fit.sequences),
        steps=tuple(sglang.derivation(shape.stack, result, available)),
        printed=printed(shape.stack, result),
        flags=flags(shape, params),
        holding=lambda at: holding(lots_of(shape.stack, result, at)),
        tokens_at=lambda memory: sglang.pool(shape.stack, options, memory).max_total_num_tokens,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Lot:
    """Equal layers on one rank: their pool, and what one sequence takes of it.

    ``row_bytes`` are one token's (of a state: one state's) over all the layers, ``plain_bytes``
    the same in the plain element type. ``rows`` is the pool's size, ``spare`` of them a page for
    padded writes; a sequence keeps ``kept`` rows and reserves ``reserved``.
    """

    cache: Cache
    row_bytes: int
    plain_bytes: Fraction
    rows: int
    spare: int
    kept: int
    reserved: int

    @property
    def allocated(self) -> int:
        """Bytes of the pool, the spare page included."""
        return self.rows * self.row_bytes

    def idle(self, sequences: int) -> int:
        """Bytes of rows that so many sequences leave."""
        return (self.rows - self.spare - sequences * self.reserved) * self.row_bytes


def lots_of(stack: Stack, result: Pool, length: int) -> tuple[Lot, ...]:
    """The lots of all layers with something to keep; pipeline ranks taken together."""
    options = result.options
    counts = stack.on_rank(options.attention_tp_size).counts
    sparse = any(isinstance(cache, IndexKeys) for cache in counts)
    return tuple(
        lot
        for cache, count in counts.items()
        for lot in lot_of(cache, count, result, length, sparse=sparse)
    )


def lot_of(cache: Cache, count: int, result: Pool, length: int, *, sparse: bool) -> Iterator[Lot]:
    """One kind's lot: a state's pool has slots, an attention layer's rows."""
    options, page = result.options, result.options.page_size
    if isinstance(cache, State):
        size = sglang.state_bytes(Stack(((cache,),)), Options(
            kv_cache_dtype=options.kv_cache_dtype, dtype=options.dtype
        )) * count  # fmt: skip
        yield Lot(
            cache=cache, row_bytes=size, plain_bytes=Fraction(size), rows=result.states or 0,
            spare=0, kept=1, reserved=1,
        )  # fmt: skip
    elif cache.rows:
        windowed = cache.reach is not None and result.swa_tokens is not None
        tokens = (result.swa_tokens or 0) if windowed else result.max_total_num_tokens
        kept = cache.retained(length)
        yield Lot(
            cache=cache,
            row_bytes=count * sglang.stored_bytes(cache, options, sparse=sparse),
            plain_bytes=Fraction(count * rank_payload_bits(cache, options.kv_cache_dtype), 8),
            rows=sglang.pool_rows(tokens, options),
            spare=page,
            kept=kept,
            reserved=-(-kept // page) * page,
        )


def causes(
    lots: tuple[Lot, ...], options: Options, held: Bytes, sequences: int
) -> tuple[Cause, ...]:
    """From the payload of ``sequences`` to the allocation; zeros are left out."""
    tp = options.attention_tp_size
    plain = sum((lot.plain_bytes * lot.kept for lot in lots), Fraction(0))
    rows = sum(lot.row_bytes * lot.kept for lot in lots)
    rounding = sum(lot.row_bytes * (lot.reserved - lot.kept) for lot in lots)
    return named_causes(
        replicas=sequences * tp * plain - held,
        row_format=sequences * tp * (rows - plain),
        block_rounding=sequences * tp * rounding,
        spare_page=tp * sum(lot.spare * lot.row_bytes for lot in lots),
        idle_rows=tp * idle(lots, sequences, "rows"),
        idle_window_rows=tp * idle(lots, sequences, "window_rows"),
        idle_states=tp * idle(lots, sequences, "states"),
    )


def idle(lots: tuple[Lot, ...], sequences: int, kind: str) -> int:
    """Bytes on one rank that so many sequences leave in the lots of a kind."""
    return sum(lot.idle(sequences) for lot in lots if kind_of(lot.cache) == kind)


def kind_of(cache: Cache) -> str:
    """Which pool a layer's lot is in."""
    if isinstance(cache, State):
        return "states"
    return "rows" if cache.reach is None else "window_rows"


def holding(lots: tuple[Lot, ...]) -> Mapping[Cache | str, int]:
    """What one sequence takes on one rank, by layer kind."""
    return {lot.cache: lot.reserved * lot.row_bytes for lot in lots}


def printed(stack: Stack, result: Pool) -> str:
    """SGLang's lines about its pools; its GB are GiB."""
    return "\n".join(printed_lines(stack, result))


def printed_lines(stack: Stack, result: Pool) -> Iterator[str]:
    """In the order of a log."""
    options, tokens = result.options, result.max_total_num_tokens
    windowed = result.swa_tokens is not None and result.cell.full
    if windowed:
        yield (
            f"Use sliding window memory pool. full_layer_tokens={tokens}, "
            f"swa_layer_tokens={result.swa_tokens}"
        )
        for reach, size in ((False, tokens), (True, result.swa_tokens or 0)):
            yield allocated_line(only(stack, windowed=reach), options, size)
    else:
        yield allocated_line(stack, options, tokens)
    if result.states is not None:
        yield f"max_mamba_cache_size: {result.states}"
    yield f"max_total_num_tokens={tokens}"


def only(stack: Stack, *, windowed: bool) -> Stack:
    """The layers with, or those without a window."""
    return Stack(
        tuple(
            tuple(cache for cache in layer if (cache.reach is not None) == windowed)
            for layer in stack.layers
        )
    )


def allocated_line(stack: Stack, options: Options, tokens: int) -> str:
    """One pool's line: K and V apart, or together where they are one row."""
    start = f"KV Cache is allocated. #tokens: {tokens}, "
    if any(isinstance(cache, FullAttention) for cache in stack.counts):
        k, v = (size(stack, options, tokens) / GIB for size in (sglang.k_bytes, sglang.v_bytes))
        return f"{start}K size: {k:.2f} GB, V size: {v:.2f} GB"
    return f"{start}KV size: {sglang.kv_bytes(stack, options, tokens) / GIB:.2f} GB"


def flags(shape: Shape, params: EngineParams) -> str:
    """The command with every option that is not SGLang's default."""
    given = {
        "--kv-cache-dtype": None if params.kv_cache_dtype == "auto" else params.kv_cache_dtype,
        "--dtype": None if params.dtype == "auto" else params.dtype,
        "--mem-fraction-static": (
            plain_number(params.mem_fraction_static) if params.memory == "gpu" else None
        ),
        "--tp-size": several(params.tp_size),
        "--pp-size": several(params.pp_size),
        "--dp-size": several(params.dp_size),
        "--enable-dp-attention": params.dp_size > 1,
        "--page-size": several(params.page_size),
        **ratio_flags(shape, params),
    }
    return flag_lines(f"python -m sglang.launch_server --model-path {model_name(shape)}", given)


def ratio_flags(shape: Shape, params: EngineParams) -> dict[str, str]:
    """The ratios, where the model has layers that they speak of."""
    counts = shape.stack.counts
    flags: dict[str, str] = {}
    if any(cache.reach is not None for cache in counts):
        flags["--swa-full-tokens-ratio"] = plain_number(params.swa_full_tokens_ratio)
    if any(isinstance(cache, State) for cache in counts):
        flags["--mamba-full-memory-ratio"] = plain_number(params.mamba_full_memory_ratio)
    return flags


def several(size: int) -> int | None:
    """A size, unless it is 1."""
    return size if size > 1 else None
