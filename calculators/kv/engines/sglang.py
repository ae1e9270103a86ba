"""SGLang's token pools: cell bytes, pool tokens, the printed sizes.

Read in ``python/sglang/srt/model_executor/model_runner_kv_cache_mixin.py`` @001ccef and
``memory_pool.py``. A cell is what one token takes over all layers of a rank. "GB" in its log
lines is GiB. Left out: host pools (HiCache) and what loading the weights leaves free (an input).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from calculators.kv.dtypes import Dtype, dtype
from calculators.kv.engines.rows import latent_fp8_row, token_bytes, token_expression
from calculators.kv.engines.steps import Line
from calculators.kv.layers import (
    Cache,
    FullAttention,
    IndexKeys,
    LatentAttention,
    Stack,
    State,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """SGLang's options, spelled as SGLang does. Ratios are exact fractions.

    ``trtllm_rows``: sparse attention by TensorRT-LLM's kernels keeps plain fp8 rows of rank + rope
    where FlashMLA's have scales (PR #30531 prints 132.43 GB of them). ``reserve_padding_state``:
    the state that padded batches write to is counted before memory is split (PR #32184).
    """

    kv_cache_dtype: Dtype
    dtype: Dtype
    tp_size: int = 1
    dp_attention_size: int = 1
    pp_size: int = 1
    page_size: int = 1
    swa_full_tokens_ratio: Fraction = Fraction(4, 5)
    mamba_full_memory_ratio: Fraction = Fraction(9, 10)
    trtllm_rows: bool = False
    reserve_padding_state: bool = False

    @property
    def padding_states(self) -> int:
        """States that memory is set aside for besides those of requests."""
        return int(self.reserve_padding_state)

    @property
    def attention_tp_size(self) -> int:
        """Ranks that split one sequence's heads: the data-parallel ones do not."""
        return max(1, self.tp_size // self.dp_attention_size)


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """Bytes of one token on one rank, in full and in windowed layers."""

    full: int
    sliding: int
    ratio: Fraction

    @property
    def profiled(self) -> int:
        """What memory is divided by first: every layer as if it kept every token."""
        return self.full + self.sliding

    @property
    def bytes(self) -> Fraction:
        """What one token of the full pool costs: windowed layers hold ``ratio`` as many."""
        return Fraction(self.full) + (self.ratio if self.full else 1) * self.sliding


@dataclass(frozen=True, kw_only=True, slots=True)
class Pool:
    """The pools of one rank: tokens of the full and of the windowed layers, and states."""

    options: Options
    cell: Cell
    max_total_num_tokens: int
    swa_tokens: int | None
    states: int | None


def ranked(stack: Stack, options: Options, rank: int = 0) -> Stack:
    """The layers of one rank."""
    part = stack.part(rank, options.pp_size)
    return part.on_rank(options.attention_tp_size)


def cell_of(stack: Stack, options: Options, rank: int = 0) -> Cell:
    """The cell of one rank, as the pool is sized by it: latent rows without their scales."""
    full = sliding = 0
    for cache, count in ranked(stack, options, rank).counts.items():
        size = count * token_bytes(cache, options.kv_cache_dtype)
        if cache.reach is not None:
            sliding += size
        else:
            full += size
    return Cell(full=full, sliding=sliding, ratio=options.swa_full_tokens_ratio)


def stored_bytes(cache: Cache, options: Options, *, sparse: bool) -> int:
    """A token's bytes as stored; sparse models keep FlashMLA rows when the cache is fp8."""
    kv = options.kv_cache_dtype
    scaled = sparse and not options.trtllm_rows and kv.bits == 8  # noqa: PLR2004
    if scaled and isinstance(cache, LatentAttention):
        return latent_fp8_row(cache)
    return token_bytes(cache, kv)


def pool(stack: Stack, options: Options, available_bytes: int) -> Pool:
    """The pools that fit the memory left for the cache; the smallest pipeline rank counts.

    ``available_bytes`` is free memory after the weights minus total x (1 - mem_fraction_static).
    """
    cells = [cell_of(stack, options, rank) for rank in range(options.pp_size)]
    sizes = [state_bytes(stack, options, rank) for rank in range(options.pp_size)]
    counts = [states_of(available_bytes, size, options) for size in sizes]
    profiled = min(
        (available_bytes - size * reserved_states(count, options)) // cell.profiled
        for cell, size, count in zip(cells, sizes, counts, strict=True)
        if cell.profiled
    )
    tokens = paged(profiled, options)
    cell = max(cells, key=lambda found: found.profiled)
    swa = None
    if cell.sliding:
        whole = int(tokens * cell.profiled / cell.bytes) if cell.full else tokens
        swa = paged(swa_tokens(whole, options) if cell.full else whole, options)
        tokens = paged(whole, options)
    states = min((count for count in counts if count is not None), default=None)
    return Pool(
        options=options, cell=cell, max_total_num_tokens=tokens, swa_tokens=swa, states=states
    )


def states_of(available_bytes: int, size: int, options: Options) -> int | None:
    """How many states of ``size`` bytes fit the share that ``mamba_full_memory_ratio`` gives."""
    if not size:
        return None
    share = options.mamba_full_memory_ratio / (1 + options.mamba_full_memory_ratio)
    return max(0, int(available_bytes * share // size) - options.padding_states)


def reserved_states(count: int | None, options: Options) -> int:
    """States that memory is set aside for: those of requests and the padding one."""
    return 0 if count is None else count + options.padding_states


def paged(tokens: int, options: Options) -> int:
    """Whole pages of tokens."""
    return tokens // options.page_size * options.page_size


def swa_tokens(full_tokens: int, options: Options) -> int:
    """Tokens of the windowed layers' pool: ``63987 × 0.8 → 51189``."""
    return int(full_tokens * options.swa_full_tokens_ratio)


def state_bytes(stack: Stack, options: Options, rank: int = 0) -> int:
    """Bytes of the states of one running request."""
    total = 0
    for cache, count in ranked(stack, options, rank).counts.items():
        if isinstance(cache, State):
            own = options.dtype if cache.dtype is None else dtype("dtype", cache.dtype)
            bits = cache.conv_elements * options.dtype.bits + cache.recurrent_elements * own.bits
            total += count * bits // 8
    return total


def pool_rows(tokens: int, options: Options) -> int:
    """Rows of a pool: one page more than tokens, where padded writes go."""
    return tokens + options.page_size


def k_bytes(stack: Stack, options: Options, tokens: int) -> int:
    """The "K size" of a pool of ``tokens``."""
    return pool_rows(tokens, options) * sum(side_bytes(stack, options, 0))


def v_bytes(stack: Stack, options: Options, tokens: int) -> int:
    """The "V size" of a pool of ``tokens``."""
    return pool_rows(tokens, options) * sum(side_bytes(stack, options, 1))


def side_bytes(stack: Stack, options: Options, side: int) -> Iterator[int]:
    """Bytes of one token's K rows (side 0) or V rows (side 1), layer kind by layer kind."""
    for cache, count in ranked(stack, options).counts.items():
        if isinstance(cache, FullAttention):
            heads, width = cache.rows[side]
            yield count * heads * options.kv_cache_dtype.row_bits(width) // 8


def kv_bytes(stack: Stack, options: Options, tokens: int) -> int:
    """The "KV size" of a pool of ``tokens``: everything, index keys included."""
    counts = ranked(stack, options).counts
    sparse = any(isinstance(cache, IndexKeys) for cache in counts)
    row = sum(
        count * stored_bytes(cache, options, sparse=sparse) for cache, count in counts.items()
    )
    return pool_rows(tokens, options) * row


def derivation(stack: Stack, result: Pool, available_bytes: int) -> Iterator[Line]:
    """The computation line by line, of the first pipeline rank."""
    options = result.options
    for cache, count in ranked(stack, options).counts.items():
        if cache.rows:
            expression = f"{count} × {token_expression(cache, options.kv_cache_dtype)}"
            size = count * token_bytes(cache, options.kv_cache_dtype)
            yield Line("cell_layers", expression, size, "bytes", cache)
    left = available_bytes
    if result.states is not None:
        size, ratio = state_bytes(stack, options), float(options.mamba_full_memory_ratio)
        spare = f" − {options.padding_states}" if options.padding_states else ""
        expression = f"⌊{available_bytes} × {ratio:g} ÷ {1 + ratio:g} ÷ {size}⌋{spare}"
        yield Line("states", expression, result.states)
        held = reserved_states(result.states, options)
        left -= size * held
        yield Line("left_bytes", f"{available_bytes} − {held} × {size}", left, "bytes")
    yield from token_lines(result, left)


def token_lines(result: Pool, left: int) -> Iterator[Line]:
    """From the memory left to the tokens of both pools."""
    cell, page = result.cell, result.options.page_size
    profiled = left // cell.profiled if cell.profiled else 0
    yield Line("profiled_tokens", f"⌊{left} ÷ {cell.profiled}⌋", profiled, "tokens")
    if cell.sliding and cell.full:
        ratio = float(cell.ratio)
        yield Line("cell", f"{cell.full} + {ratio:g} × {cell.sliding}", cell.bytes, "bytes")
        expression = f"⌊{profiled} × {cell.profiled} ÷ {float(cell.bytes):g}⌋ ÷ {page} × {page}"
    else:
        expression = f"⌊{profiled} ÷ {page}⌋ × {page}"
    yield Line("max_total_num_tokens", expression, result.max_total_num_tokens, "tokens")
    if result.swa_tokens is not None and cell.full:
        expression = f"⌊{result.max_total_num_tokens} × {float(cell.ratio):g}⌋"
        yield Line("swa_tokens", expression, result.swa_tokens, "tokens")
