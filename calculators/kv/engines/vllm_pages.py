"""vLLM's pages: options, the bytes of a layer's page, the pages of a request.

Read in ``vllm/v1/kv_cache_interface.py`` @001cabc; the hybrid alignment in
``vllm/model_executor/models/config.py`` @0144dd5. Left out: pages whose bytes depend on the
attention backend's own layout beyond the kernel's block step.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from calculators.kv.dtypes import Dtype, dtype
from calculators.kv.engines.rows import bits_text, token_bytes, token_expression
from calculators.kv.engines.turboquant import BoundaryAttention, TurboQuant
from calculators.kv.layers import (
    Cache,
    ChunkedAttention,
    CrossAttention,
    FullAttention,
    LatentAttention,
    SlidingAttention,
    State,
)

SCALE_BYTES = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """vLLM's options, spelled as vLLM does; ``kernel_block_size`` is the attention backend's step.

    ``max_encoder_tokens`` is the encoder budget of cross attention (None: the batched tokens).
    ``window_head_size_v`` is a release whose windowed specs know V's own width.
    ``report`` says how the "GPU KV cache size" line counts: ``groups`` divides the blocks by
    the groups (up to 0.20), ``concurrency`` multiplies concurrency by length (from 0.21).
    """

    kv_cache_dtype: Dtype
    dtype: Dtype
    ds_mla: bool = False
    turboquant: TurboQuant | None = None
    block_size: int = 16
    max_model_len: int | None = None
    max_num_batched_tokens: int = 8192
    max_encoder_tokens: int | None = None
    tensor_parallel_size: int = 1
    pipeline_parallel_size: int = 1
    decode_context_parallel_size: int = 1
    prefill_context_parallel_size: int = 1
    num_speculative_tokens: int = 0
    mamba_cache_mode: Literal["none", "align", "all"] = "none"
    kernel_block_size: int = 16
    disable_hybrid_kv_cache_manager: bool = False
    window_head_size_v: bool = False
    report: Literal["groups", "concurrency"] = "groups"

    @property
    def context_parallel(self) -> int:
        """Ranks that share one sequence's tokens."""
        return self.decode_context_parallel_size * self.prefill_context_parallel_size


@dataclass(frozen=True, kw_only=True, slots=True)
class Spec:
    """One layer's page: its tokens and bytes (padding included), and pages of one request."""

    cache: Cache
    block_size: int
    page_bytes: int
    padding_bytes: int = 0


def spec_of(cache: Cache, all_caches: Sequence[Cache], options: Options) -> Spec:
    """The page of one layer; beside state layers attention blocks are enlarged to hold a state."""
    block = attention_block(all_caches, options)
    if not isinstance(cache, State):
        return Spec(cache=cache, block_size=block, page_bytes=page_bytes(cache, block, options))
    state = state_bytes(cache, options)
    attention = [page_bytes(c, block, options) for c in all_caches if not isinstance(c, State)]
    page = max([state, *attention])
    length = options.max_model_len if options.mamba_cache_mode == "none" else block
    return Spec(
        cache=cache, block_size=length or block, page_bytes=page, padding_bytes=page - state
    )


def attention_block(caches: Sequence[Cache], options: Options) -> int:
    """``block_size``, or the smallest multiple of the kernel's step whose page holds a state."""
    states = [state_bytes(cache, options) for cache in caches if isinstance(cache, State)]
    per_token = [page_bytes(cache, 1, options) for cache in caches if not isinstance(cache, State)]
    if not states or not per_token:
        return options.block_size
    step = options.kernel_block_size
    return max(options.block_size, step * -(-max(states) // (step * max(per_token))))


def state_bytes(cache: State, options: Options) -> int:
    """A state page before padding: convolution in the model's type, recurrent part in its own."""
    conv = replace(cache, conv_kernel=cache.conv_kernel + options.num_speculative_tokens)
    own = options.dtype if cache.dtype is None else dtype("dtype", cache.dtype)
    return (conv.conv_elements * options.dtype.bits + cache.recurrent_elements * own.bits) // 8


def state_expression(cache: State, options: Options) -> str:
    """``(4 − 1) × 10240 × 2 + 48 × 128 × 128 × 4``."""
    own = options.dtype if cache.dtype is None else dtype("dtype", cache.dtype)
    drafts = f" + {options.num_speculative_tokens}" if options.num_speculative_tokens else ""
    kernel = f"({cache.conv_kernel} − 1{drafts})"
    conv = f"{kernel} × {cache.conv_channels} × {bits_text(options.dtype.bits)}"
    shape = f"{cache.heads} × {cache.head_rows} × {cache.head_columns}"
    return f"{conv} + {shape} × {bits_text(own.bits)}"


def page_bytes(cache: Cache, block: int, options: Options) -> int:
    """Bytes of ``block`` tokens of one layer on one rank."""
    if (slot := slot_of(cache, options)) is not None:
        return block * slot[0] * slot[1]
    kept, kv = as_stored(cache, options)
    per_token = token_bytes(kept, kv, ds_mla=options.ds_mla)
    if isinstance(cache, LatentAttention) and kv.scale_bits and kv.block is None:
        per_token += SCALE_BYTES  # scales for a K and for a V row
    return block * per_token


def page_expression(cache: Cache, options: Options) -> str:
    """How the bytes of one token in one layer come about."""
    if (slot := slot_of(cache, options)) is not None:
        return f"{slot[0]} × {slot[1]}"
    kept, kv = as_stored(cache, options)
    return token_expression(kept, kv, ds_mla=options.ds_mla)


def slot_of(cache: Cache, options: Options) -> tuple[int, int] | None:
    """(heads, bytes of a TurboQuant slot) of a layer that has such slots."""
    if options.turboquant is None or type(cache) is not FullAttention:
        return None
    return cache.heads, options.turboquant.slot_bytes(cache.k_width)


def as_stored(cache: Cache, options: Options) -> tuple[Cache, Dtype]:
    """Windowed and cross layers as their specs see them: K's width for both, nothing packed.

    Later releases give ``SlidingWindowSpec`` a ``head_size_v`` (``window_head_size_v``).
    """
    kv = options.kv_cache_dtype
    if isinstance(cache, BoundaryAttention):
        return cache, options.dtype
    if not isinstance(cache, SlidingAttention | ChunkedAttention | CrossAttention):
        return cache, kv
    if kv.block is not None:
        kv = Dtype(name=kv.name, bits=8)  # packed four-bit rows exist for full attention only
    if options.window_head_size_v:
        return cache, kv
    return replace(cache, v_width=cache.k_width), kv


def pages(spec: Spec, options: Options) -> int:
    """Pages that one request of ``max_model_len`` tokens can need in one layer."""
    length = options.max_model_len or 0
    batch = options.max_num_batched_tokens
    match spec.cache:
        case State():
            return state_pages(spec, options, length)
        case SlidingAttention(window=window) | LatentAttention(window=int(window)):
            return ceil_div(min(window - 1 + batch, length), spec.block_size) + 1
        case ChunkedAttention(chunk=chunk):
            return ceil_div(min(chunk + batch, length), spec.block_size)
        case CrossAttention():
            return ceil_div(options.max_encoder_tokens or batch, spec.block_size)
        case _:
            return ceil_div(ceil_div(length, options.context_parallel), spec.block_size)


def state_pages(spec: Spec, options: Options, length: int) -> int:
    """State pages of one request, by ``mamba_cache_mode``."""
    match options.mamba_cache_mode:
        case "all":
            return ceil_div(length, spec.block_size)
        case "align":
            return 2 + options.num_speculative_tokens
        case "none":
            return 1 + options.num_speculative_tokens


def ceil_div(number: int, divisor: int) -> int:
    """Whole pages of a number of tokens."""
    return -(-number // divisor)
