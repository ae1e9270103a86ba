"""vLLM's KV-cache pool: page bytes, groups, blocks, and the two lines it prints.

Read in ``vllm/v1/kv_cache_interface.py`` and ``vllm/v1/core/kv_cache_utils.py`` @001cabc;
``docs`` of the hybrid alignment in ``vllm/model_executor/models/config.py``. The step from
memory to the pool: layers on a rank → specs (bytes of a page, pages of a request) → groups of
equal layer number → blocks that all groups share.

Left out: TurboQuant slots, KV transfer, how much memory profiling leaves (an input), and which
release switched the token line (between 0.19 and 0.24; ``report`` chooses).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from calculators.form.errors import ParameterError
from calculators.kv.dtypes import Dtype, dtype
from calculators.kv.engines.rows import token_bytes
from calculators.kv.engines.steps import Line
from calculators.kv.layers import (
    Cache,
    ChunkedAttention,
    CrossAttention,
    FullAttention,
    IndexKeys,
    LatentAttention,
    SlidingAttention,
    Stack,
    State,
)
from calculators.kv.notation import cache_text

LARGEST_OVER_SMALLEST = 1.5  # up to this the largest bucket sets the group size


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """vLLM's options, spelled as vLLM does; ``kernel_block_size`` is the attention backend's step.

    ``max_encoder_tokens`` is the encoder budget of cross attention (None: the batched tokens).
    ``report`` says how the "GPU KV cache size" line counts: ``groups`` divides the blocks by
    the groups (seen up to 0.19), ``concurrency`` multiplies concurrency by length (from 0.24).
    """

    kv_cache_dtype: Dtype
    dtype: Dtype
    ds_mla: bool = False
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """Layers of one spec that share block tables, with the places left empty."""

    spec: Spec
    layers: int
    padding_layers: int


@dataclass(frozen=True, kw_only=True)
class Pool:
    """What vLLM allocates for some memory, or for a stated number of blocks."""

    options: Options
    groups: tuple[Group, ...]
    bytes_per_block: int
    num_blocks: int
    available_bytes: int | None = None

    @cached_property
    def pages_per_request(self) -> tuple[int, ...]:
        """Pages that one request of ``max_model_len`` can need, by group."""
        return tuple(pages(group.spec, self.options) for group in self.groups)

    @property
    def concurrency(self) -> float | None:
        """The "Maximum concurrency" line; None without ``max_model_len``."""
        if self.options.max_model_len is None:
            return None
        return self.num_blocks / max(1, sum(self.pages_per_request))

    @property
    def tokens(self) -> int:
        """The "GPU KV cache size" line."""
        concurrency = self.concurrency
        if self.options.report == "concurrency" and concurrency is not None:
            return int(concurrency * (self.options.max_model_len or 0))
        smallest = min(group.spec.block_size for group in self.groups)
        shared = self.num_blocks // len(self.groups) * smallest
        return shared * self.options.context_parallel

    @property
    def usable_blocks(self) -> int:
        """Blocks that requests can have: block 0 is the null block."""
        return self.num_blocks - 1

    @property
    def allocated_bytes(self) -> int:
        """Bytes of all blocks on the fullest rank."""
        return self.num_blocks * self.bytes_per_block

    @property
    def padding_layers(self) -> int:
        """Places for layers that do not exist; the log warns of them."""
        return sum(group.padding_layers for group in self.groups)


def groups_of(stack: Stack, options: Options) -> tuple[Group, ...]:
    """The groups that the layers of a whole model form.

    Raises ParameterError ``pages_differ`` where no block size makes the pages equal, and
    ``nothing_cached`` for a model that keeps nothing.
    """
    ranked = stack.on_rank(options.tensor_parallel_size)
    counts: dict[Cache, int] = {}
    for cache, count in ranked.counts.items():
        kept = as_full(cache) if options.disable_hybrid_kv_cache_manager else cache
        if kept.rows or isinstance(kept, State):
            counts[kept] = counts.get(kept, 0) + count
    if not counts:
        raise ParameterError("stack", "nothing_cached")
    if (uniform := uniform_group(counts, options)) is not None:
        return uniform
    specs = equal_pages([spec_of(cache, list(counts), options) for cache in counts])
    return tuple(split(specs, list(counts.values())))


def as_full(cache: Cache) -> Cache:
    """What a windowed layer counts as without the hybrid manager."""
    if isinstance(cache, SlidingAttention | ChunkedAttention):
        return FullAttention(heads=cache.heads, k_width=cache.k_width, v_width=cache.v_width)
    return cache


def uniform_group(counts: dict[Cache, int], options: Options) -> tuple[Group, ...] | None:
    """Layers of one kind but several widths: one group whose page is the sum of all of them."""
    kinds = {type(cache) for cache in counts}
    latent = kinds <= {LatentAttention, IndexKeys}
    if len(counts) == 1 or not (kinds == {FullAttention} or latent):
        return None
    page = sum(n * page_bytes(cache, options.block_size, options) for cache, n in counts.items())
    spec = Spec(cache=next(iter(counts)), block_size=options.block_size, page_bytes=page)
    return (Group(spec=spec, layers=1, padding_layers=0),)


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


def page_bytes(cache: Cache, block: int, options: Options) -> int:
    """Bytes of ``block`` tokens of one layer on one rank."""
    kept = cache
    if isinstance(cache, SlidingAttention | ChunkedAttention):
        kept = replace(cache, v_width=cache.k_width)  # these specs know one head size only
    return block * token_bytes(kept, options.kv_cache_dtype, ds_mla=options.ds_mla)


def equal_pages(specs: Sequence[Spec]) -> list[Spec]:
    """Blocks of smaller pages enlarged until all pages have the same bytes."""
    largest = max(spec.page_bytes for spec in specs)
    unequal = [spec for spec in specs if largest % spec.page_bytes]
    if unequal:
        raise ParameterError(
            "stack", "pages_differ", pages=", ".join(str(spec.page_bytes) for spec in specs)
        )
    return [
        replace(
            spec,
            block_size=spec.block_size * (largest // spec.page_bytes),
            page_bytes=largest,
        )
        for spec in specs
    ]


def split(specs: Sequence[Spec], counts: Sequence[int]) -> Iterator[Group]:
    """Buckets cut into groups of equal layer number; the last group of a bucket is padded."""
    size = group_size(counts)
    for spec, count in zip(specs, counts, strict=True):
        groups = -(-count // size)
        for index in range(groups):
            layers = len(range(index, count, groups))  # dealt out in turn
            yield Group(spec=spec, layers=layers, padding_layers=size - layers)


def group_size(counts: Sequence[int]) -> int:
    """The smallest bucket, or the largest where the buckets are of similar size."""
    similar = max(counts) < min(counts) * LARGEST_OVER_SMALLEST
    return max(counts) if similar else min(counts)


def pages(spec: Spec, options: Options) -> int:
    """Pages that one request of ``max_model_len`` tokens can need in one layer."""
    length = options.max_model_len or 0
    batch = options.max_num_batched_tokens
    match spec.cache:
        case State():
            return state_pages(spec, options, length)
        case SlidingAttention(window=window):
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


def bytes_per_block(groups: Sequence[Group]) -> int:
    """Bytes of one block: a page for every layer place of one group."""
    first = groups[0]
    return first.spec.page_bytes * (first.layers + first.padding_layers)


def pool(stack: Stack, options: Options, available_bytes: int | Sequence[int]) -> Pool:
    """The pool that fits the memory left for the cache on every rank.

    ``available_bytes`` is one figure, or one a pipeline rank; the smallest number of blocks
    counts for all.
    """
    groups = groups_of(stack, options)
    ranks = options.pipeline_parallel_size
    each = [available_bytes] * ranks if isinstance(available_bytes, int) else available_bytes
    per_block = [rank_block_bytes(stack, groups, options, rank) for rank in range(ranks)]
    blocks = [memory // size for memory, size in zip(each, per_block, strict=True) if size]
    return Pool(
        options=options,
        groups=groups,
        bytes_per_block=max(per_block),
        num_blocks=min(blocks),
        available_bytes=min(each),
    )


def rank_block_bytes(stack: Stack, groups: Sequence[Group], options: Options, rank: int) -> int:
    """Bytes of one block on one pipeline rank: groups are the whole model's, layers the rank's."""
    if options.pipeline_parallel_size == 1:
        return bytes_per_block(groups)
    part = stack.part(rank, options.pipeline_parallel_size)
    own = groups_of(part, options)
    if len(own) == 1 and len(groups) == 1:
        return bytes_per_block(own)
    number = {spec: sum(g.spec == spec for g in groups) for spec in {g.spec for g in groups}}
    counts = part.on_rank(options.tensor_parallel_size).counts
    places = max(
        ceil_div(counts.get(spec.cache, 0), groups_of_spec)
        for spec, groups_of_spec in number.items()
    )
    return groups[0].spec.page_bytes * places


def pool_of_blocks(stack: Stack, options: Options, num_blocks: int) -> Pool:
    """The pool of a printed or overridden number of blocks (``num_gpu_blocks_override``)."""
    groups = groups_of(stack, options)
    return Pool(
        options=options,
        groups=groups,
        bytes_per_block=bytes_per_block(groups),
        num_blocks=num_blocks,
    )


def blocks_of_tokens(stack: Stack, options: Options, tokens: int) -> range:
    """The numbers of blocks that print this token line (of the ``groups`` kind)."""
    groups = groups_of(stack, options)
    unit = min(group.spec.block_size for group in groups) * options.context_parallel
    if tokens % unit:
        return range(0)
    first = tokens // unit * len(groups)
    return range(first, first + len(groups))


def derivation(stack: Stack, result: Pool) -> Iterator[Line]:
    """The computation line by line, for a reader with a pencil."""
    options = result.options
    for spec in dict.fromkeys(group.spec for group in result.groups):
        yield from page_lines(spec, options)
    first = result.groups[0]
    places = first.layers + first.padding_layers
    yield Line("groups", group_text(result.groups), len(result.groups))
    size = f"{first.spec.page_bytes} × {places}"
    yield Line("block_bytes", size, result.bytes_per_block, "bytes")
    if result.available_bytes is not None:
        expression = f"⌊{result.available_bytes} ÷ {result.bytes_per_block}⌋"
        yield Line("num_blocks", expression, result.num_blocks)
    yield from report_lines(result)
    del stack


def page_lines(spec: Spec, options: Options) -> Iterator[Line]:
    """How one layer's page comes about."""
    if isinstance(spec.cache, State):
        state = state_bytes(spec.cache, options)
        yield Line("state_bytes", cache_text(spec.cache), state, "bytes")
        yield Line("state_padding", f"{spec.page_bytes} − {state}", spec.padding_bytes, "bytes")
        return
    per_token = spec.page_bytes // spec.block_size
    yield Line("token_bytes", cache_text(spec.cache), per_token, "bytes")
    yield Line("page_bytes", f"{spec.block_size} × {per_token}", spec.page_bytes, "bytes")


def group_text(groups: Sequence[Group]) -> str:
    """``10 + 9 + 9``: layers in each group."""
    return " + ".join(str(group.layers) for group in groups)


def report_lines(result: Pool) -> Iterator[Line]:
    """The two printed lines."""
    concurrency = result.concurrency
    if concurrency is not None:
        needed = " + ".join(map(str, result.pages_per_request))
        yield Line("request_pages", needed, sum(result.pages_per_request))
        expression = f"{result.num_blocks} ÷ {sum(result.pages_per_request)}"
        yield Line("concurrency", expression, concurrency, "times")
    if result.options.report == "concurrency" and concurrency is not None:
        expression = f"⌊{concurrency:.6f} × {result.options.max_model_len}⌋"
    else:
        smallest = min(group.spec.block_size for group in result.groups)
        expression = f"⌊{result.num_blocks} ÷ {len(result.groups)}⌋ × {smallest}"
        if result.options.context_parallel > 1:
            expression += f" × {result.options.context_parallel}"
    yield Line("tokens", expression, result.tokens, "tokens")


def state_padding_percent(result: Sequence[Group]) -> float | None:
    """How much larger than the state its page is, in per cent; None without state layers."""
    for group in result:
        spec = group.spec
        if isinstance(spec.cache, State):
            return 100 * spec.padding_bytes / (spec.page_bytes - spec.padding_bytes)
    return None
