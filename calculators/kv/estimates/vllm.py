"""vLLM's estimate: the pool, its printed lines, its flags, and where every byte goes.

Causes are exact: what one request of the asked length needs in each group is taken apart into
rows, slack of windows, rounding to blocks, padding of states and places of layers that do not
exist; blocks that make up no whole request, and the null block, are the rest.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from calculators.kv.capacity import vllm_fit
from calculators.kv.engine_params import EngineParams
from calculators.kv.engines import vllm
from calculators.kv.engines.turboquant import PRESETS, with_boundaries
from calculators.kv.engines.vllm_lines import printed
from calculators.kv.engines.vllm_pages import Options, Spec, ceil_div, spec_of, state_bytes
from calculators.kv.engines.vllm_refusal import refusal
from calculators.kv.engines.vllm_steps import derivation
from calculators.kv.estimates.common import (
    PADDING,
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
from calculators.kv.layers import (
    Cache,
    ChunkedAttention,
    CrossAttention,
    LatentAttention,
    SlidingAttention,
    Stack,
    State,
)
from calculators.kv.payload import Bytes
from calculators.kv.shape import Shape

DEFAULT_BLOCK = 16


def options_of(params: EngineParams, types: Types) -> Options:
    """The form's options as vLLM's."""
    return Options(
        kv_cache_dtype=types.kv,
        dtype=types.model,
        ds_mla=params.kv_cache_dtype == "fp8_ds_mla",
        turboquant=PRESETS.get(params.kv_cache_dtype),
        block_size=params.block_size,
        max_model_len=params.max_model_len,
        max_num_batched_tokens=params.max_num_batched_tokens,
        max_encoder_tokens=params.max_encoder_tokens,
        tensor_parallel_size=params.tensor_parallel_size,
        pipeline_parallel_size=params.pipeline_parallel_size,
        decode_context_parallel_size=params.decode_context_parallel_size,
        num_speculative_tokens=params.num_speculative_tokens,
        mamba_cache_mode=params.mamba_cache_mode,  # type: ignore[arg-type]
        disable_hybrid_kv_cache_manager=params.disable_hybrid_kv_cache_manager,
        report=params.report,  # type: ignore[arg-type]
    )


def stack_of(shape: Shape, options: Options) -> Stack:
    """The layers: draft layers join them when it speculates; TurboQuant leaves both ends alone."""
    stack = shape.stack
    if options.num_speculative_tokens:
        stack = Stack((*stack.layers, *shape.draft.layers))
    return stack if options.turboquant is None else with_boundaries(stack)


def pool_of(stack: Stack, options: Options, params: EngineParams, available: int) -> vllm.Pool:
    """The pool of the memory, or of the blocks that an override states."""
    if params.num_gpu_blocks_override is not None:
        return vllm.pool_of_blocks(stack, options, params.num_gpu_blocks_override)
    return vllm.pool(stack, options, available)


def estimate(shape: Shape, params: EngineParams, available: int, length: int) -> Estimate:
    """The answer for ``available`` bytes on each rank and sequences of ``length``."""
    types = types_of(shape, params)
    options = options_of(params, types)
    stack = stack_of(shape, options)
    result = pool_of(stack, options, params, available)
    fit = vllm_fit(result, length)
    held = payload_of(shape, types, length, fit.sequences)
    drafted = payload_of(replace(shape, stack=stack), types, length, fit.sequences)
    return Estimate(
        engine="vllm",
        fit=fit,
        ranks=params.tensor_parallel_size * params.pipeline_parallel_size,
        replicas=params.data_parallel_size,
        payload_bytes=held,
        allocated_bytes=allocated(stack, result),
        causes=(
            *named_causes(draft_layers=drafted - held),
            *causes(stack, at_length(result, length), drafted, fit.sequences),
        ),
        steps=tuple(derivation(result)),
        printed=printed(result, refused(stack, result)),
        flags=flags(shape, params),
        holding=lambda at: holding(stack, result, at),
        tokens_at=lambda memory: with_memory(result, memory).tokens,
    )


def refused(stack: Stack, result: vllm.Pool) -> str | None:
    """What vLLM says in place of its report where one request of ``max_model_len`` does not fit."""
    if result.available_bytes is None:  # blocks were stated: nothing is compared
        return None
    if result.concurrency is not None and result.concurrency >= 1:
        return None
    return refusal(stack, result.options, result.available_bytes)


def with_memory(result: vllm.Pool, memory: int) -> vllm.Pool:
    """The same pool in other memory; blocks that were stated stay as many."""
    if result.available_bytes is None:
        return result
    blocks = memory // result.bytes_per_block
    return replace(result, num_blocks=blocks, available_bytes=memory)


def at_length(result: vllm.Pool, length: int) -> vllm.Pool:
    """The same pool, asked about requests of another length than ``max_model_len``."""
    return replace(result, options=replace(result.options, max_model_len=length))


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """What one request holds in equal layers of one group on one rank, taken apart.

    ``page_bytes`` are one page's without the padding of a state. Tokens are those kept, those
    reserved beyond them (a window's slack), and what rounding to blocks adds.
    """

    cache: Cache
    layers: int
    token_bytes: Fraction
    payload_bytes: Fraction
    kept: int
    slack: int
    rounding: int
    state_bytes: int = 0
    state_extra: int = 0
    state_padding: int = 0


def request_parts(stack: Stack, request: vllm.Pool) -> Iterator[Part]:
    """The parts of one request."""
    options = request.options
    ranked = stack.on_rank(options.tensor_parallel_size)
    for group, number in zip(request.groups, request.pages_per_request, strict=True):
        if group.widths:
            for cache, count in vllm.kept_caches(ranked).items():
                spec = spec_of(cache, [cache], options)
                yield part_of(spec, count, number, options)
        else:
            yield part_of(group.spec, group.layers, number, options)


def part_of(spec: Spec, layers: int, number: int, options: Options) -> Part:
    """One spec's part: rows of attention, or a state."""
    cache = spec.cache
    if isinstance(cache, State):
        return state_part(cache, spec, (layers, number), options)
    length = options.max_model_len or 0
    kept = ceil_div(cache.retained(length), share_of(cache, options))
    reserved = max(kept, reserved_tokens(cache, options, length))
    token = Fraction(spec.page_bytes, spec.block_size)
    return Part(
        cache=cache,
        layers=layers,
        token_bytes=token,
        payload_bytes=Fraction(rank_payload_bits(cache, options.kv_cache_dtype), 8) * kept,
        kept=kept,
        slack=reserved - kept,
        rounding=number * spec.block_size - reserved,
    )


def share_of(cache: Cache, options: Options) -> int:
    """Ranks that share the tokens of a layer: windows are not shared."""
    if isinstance(cache, CrossAttention) or cache.reach is not None:
        return 1
    return options.context_parallel


def reserved_tokens(cache: Cache, options: Options, length: int) -> int:
    """Tokens that pages are reserved for, before rounding."""
    batch = options.max_num_batched_tokens
    match cache:
        case SlidingAttention(window=window) | LatentAttention(window=int(window)):
            return min(window - 1 + batch, length)
        case ChunkedAttention(chunk=chunk):
            return min(chunk + batch, length)
        case CrossAttention():
            return options.max_encoder_tokens or batch
        case _:
            return ceil_div(length, options.context_parallel)


def state_part(cache: State, spec: Spec, counts: tuple[int, int], options: Options) -> Part:
    """A state: one for the payload; more pages for drafts and checkpoints; padding to a page."""
    layers, number = counts
    plain = state_bytes(cache, replace(options, num_speculative_tokens=0))
    stored = spec.page_bytes - spec.padding_bytes
    return Part(
        cache=cache,
        layers=layers,
        token_bytes=Fraction(0),
        payload_bytes=Fraction(plain),
        kept=0,
        slack=0,
        rounding=0,
        state_bytes=plain,
        state_extra=number * stored - plain,
        state_padding=number * spec.padding_bytes,
    )


def causes(stack: Stack, request: vllm.Pool, held: Bytes, sequences: int) -> tuple[Cause, ...]:
    """From the payload of ``sequences`` requests to the allocation; zeros are left out."""
    parts = tuple(request_parts(stack, request))
    tp = request.options.tensor_parallel_size
    block = vllm.bytes_per_block(request.groups)
    each = sequences * tp
    rows = sum(((p.token_bytes * p.kept + p.state_bytes) * p.layers for p in parts), Fraction(0))
    plain = sum((p.payload_bytes * p.layers for p in parts), Fraction(0))
    idle = request.usable_blocks - sequences * sum(request.pages_per_request)
    return named_causes(
        replicas=each * plain - held,
        row_format=each * (rows - plain),
        window_slack=each * tokens_of(parts, "slack"),
        block_rounding=each * tokens_of(parts, "rounding"),
        state_pages=each * sum(p.state_extra * p.layers for p in parts),
        state_padding=each * sum(p.state_padding * p.layers for p in parts),
        padding_layers=each * empty_places(request),
        idle_blocks=tp * idle * block,
        null_block=tp * (request.num_blocks - request.usable_blocks) * block,
        pipeline=allocated(stack, request) - tp * request.num_blocks * block,
    )


def tokens_of(parts: tuple[Part, ...], name: Literal["slack", "rounding"]) -> Fraction:
    """Bytes of one request's tokens of a kind on one rank."""
    return sum(
        (p.token_bytes * (p.slack if name == "slack" else p.rounding) * p.layers for p in parts),
        Fraction(0),
    )


def empty_places(request: vllm.Pool) -> int:
    """Bytes of one request's pages for layers that do not exist, on one rank."""
    return sum(
        number * group.spec.page_bytes * group.padding_layers
        for number, group in zip(request.pages_per_request, request.groups, strict=True)
    )


def allocated(stack: Stack, result: vllm.Pool) -> int:
    """Bytes of all blocks on all ranks."""
    options = result.options
    ranks = range(options.pipeline_parallel_size)
    block = sum(vllm.rank_block_bytes(stack, result.groups, options, rank) for rank in ranks)
    return result.num_blocks * block * options.tensor_parallel_size


def holding(stack: Stack, result: vllm.Pool, length: int) -> Mapping[Cache | str, int]:
    """What one sequence's pages take on one rank, by layer kind."""
    request = at_length(result, length)
    found: dict[Cache | str, int] = {}
    for part in request_parts(stack, request):
        tokens = part.kept + part.slack + part.rounding
        state = part.state_bytes + part.state_extra + part.state_padding
        size = int(part.token_bytes * tokens + state) * part.layers
        found[part.cache] = found.get(part.cache, 0) + size
    empty = empty_places(request)
    return {**found, PADDING: empty} if empty else found


def flags(shape: Shape, params: EngineParams) -> str:
    """The command with every option that is not vLLM's default."""
    given = {
        "--kv-cache-dtype": None if params.kv_cache_dtype == "auto" else params.kv_cache_dtype,
        "--dtype": None if params.dtype == "auto" else params.dtype,
        "--max-model-len": params.max_model_len,
        "--max-num-batched-tokens": params.max_num_batched_tokens,
        "--gpu-memory-utilization": utilization(params),
        "--tensor-parallel-size": several(params.tensor_parallel_size),
        "--pipeline-parallel-size": several(params.pipeline_parallel_size),
        "--data-parallel-size": several(params.data_parallel_size),
        "--decode-context-parallel-size": several(params.decode_context_parallel_size),
        "--block-size": None if params.block_size == DEFAULT_BLOCK else params.block_size,
        "--num-gpu-blocks-override": params.num_gpu_blocks_override,
        "--disable-hybrid-kv-cache-manager": params.disable_hybrid_kv_cache_manager,
    }
    return flag_lines(f"vllm serve {model_name(shape)}", given)


def utilization(params: EngineParams) -> str | None:
    """The share of a GPU, where the memory comes from one."""
    return plain_number(params.gpu_memory_utilization) if params.memory == "gpu" else None


def several(size: int) -> int | None:
    """A degree of parallelism, unless it is 1."""
    return size if size > 1 else None
