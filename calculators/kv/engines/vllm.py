"""vLLM's KV-cache pool: groups, blocks, and the two lines it prints.

Read in ``vllm/v1/core/kv_cache_utils.py`` @001cabc. From memory to the pool: layers on a rank →
specs (``vllm_pages``: bytes of a page, pages of a request) → groups of equal layer number →
blocks that all groups share.

The token line divided blocks by groups up to 0.20 and multiplies concurrency by length from 0.21
on (``report``; issue #43308 prints both for one model). Left out: KV transfer, and how much
memory profiling leaves (an input).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from calculators.form.errors import ParameterError
from calculators.kv.engines.vllm_pages import (
    Options,
    Spec,
    ceil_div,
    pages,
    spec_of,
)
from calculators.kv.layers import (
    Cache,
    ChunkedAttention,
    CrossAttention,
    FullAttention,
    LatentAttention,
    SlidingAttention,
    Stack,
    State,
)

LARGEST_OVER_SMALLEST = 1.5  # up to this the largest bucket sets the group size


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """Layers of one spec that share block tables, with the places left empty.

    ``widths`` writes out the page of layers of several widths; empty where all are equal.
    """

    spec: Spec
    layers: int
    padding_layers: int
    widths: str = ""


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
        """Blocks that requests can have: block 0, where there is one, is the null block."""
        return max(0, self.num_blocks - 1)

    @property
    def allocated_bytes(self) -> int:
        """Bytes of all blocks on the fullest rank."""
        return self.num_blocks * self.bytes_per_block

    @property
    def padding_layers(self) -> int:
        """Places for layers that do not exist; the log warns of them."""
        return sum(group.padding_layers for group in self.groups)


def settled(stack: Stack, options: Options) -> Options:
    """The options of a release that takes the model.

    Windowed specs had K's width for V as well; a model whose pages cannot be made equal so
    (MiMo-V2-Flash: 192 and 128) starts only where they know V's own.
    """
    counts = stack.on_rank(options.tensor_parallel_size).counts
    if not any(isinstance(c, SlidingAttention) and c.v_width != c.k_width for c in counts):
        return options
    try:
        groups_of(stack, options)
    except ParameterError:
        return replace(options, window_head_size_v=True)
    return options


def groups_of(stack: Stack, options: Options) -> tuple[Group, ...]:
    """The groups that the layers of a whole model form.

    Raises ParameterError ``pages_differ`` where no block size makes the pages equal, and
    ``nothing_cached`` for a model that keeps nothing.
    """
    counts = kept_caches(stack.on_rank(options.tensor_parallel_size))
    if options.disable_hybrid_kv_cache_manager:
        counts = without_windows(counts)
    if len(counts) > 1 and len({kind_of(cache) for cache in counts}) == 1:
        return (uniform_group(counts, options),)
    specs = equal_pages([spec_of(cache, list(counts), options) for cache in counts])
    return tuple(split(specs, list(counts.values())))


def paged_caches(ranked: Stack) -> dict[Cache, int]:
    """The caches of a rank that take pages."""
    return {c: n for c, n in ranked.counts.items() if c.rows or isinstance(c, State)}


def kept_caches(ranked: Stack) -> dict[Cache, int]:
    """The caches that take pages; ParameterError ``nothing_cached`` where there are none."""
    counts = paged_caches(ranked)
    if not counts:
        raise ParameterError("stack", "nothing_cached")
    return counts


def without_windows(counts: dict[Cache, int]) -> dict[Cache, int]:
    """What ``disable_hybrid_kv_cache_manager`` makes of a mixed model: windows count as full.

    ParameterError ``hybrid_disabled`` where layers stay that are not attention, as in vLLM.
    """
    if len({kind_of(cache) for cache in counts}) == 1:
        return counts
    merged: dict[Cache, int] = {}
    for cache, count in counts.items():
        merged[as_full(cache)] = merged.get(as_full(cache), 0) + count
    if len({kind_of(cache) for cache in merged}) > 1:
        raise ParameterError("disable_hybrid_kv_cache_manager", "hybrid_disabled")
    return merged


def as_full(cache: Cache) -> Cache:
    """A windowed layer as full attention; its spec knew one head size only."""
    if isinstance(cache, SlidingAttention | ChunkedAttention):
        return FullAttention(heads=cache.heads, k_width=cache.k_width, v_width=cache.k_width)
    if isinstance(cache, LatentAttention):
        return replace(cache, window=None)
    return cache


def kind_of(cache: Cache) -> tuple[str, int | None]:
    """Layers of one kind always need the same number of token slots: one group holds them all."""
    match cache:
        case SlidingAttention(window=window):
            return ("sliding", window)
        case LatentAttention(window=int(window)):
            return ("sliding mla", window)
        case ChunkedAttention(chunk=chunk):
            return ("chunked", chunk)
        case CrossAttention() | State():
            return (cache.kind, None)
        case _:
            return ("full", None)


def uniform_group(counts: dict[Cache, int], options: Options) -> Group:
    """Layers of one kind but several widths: one group whose page is the sum of all of them."""
    specs = [spec_of(cache, [cache], options) for cache in counts]
    page = sum(spec.page_bytes * n for spec, n in zip(specs, counts.values(), strict=True))
    widths = " + ".join(
        f"{n} × {spec.page_bytes}" for spec, n in zip(specs, counts.values(), strict=True)
    )
    spec = replace(specs[0], page_bytes=page)
    return Group(spec=spec, layers=1, padding_layers=0, widths=widths)


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


def bytes_per_block(groups: Sequence[Group]) -> int:
    """Bytes of one block: a page for every layer place of one group."""
    first = groups[0]
    return first.spec.page_bytes * (first.layers + first.padding_layers)


def pool(stack: Stack, options: Options, available_bytes: int | Sequence[int]) -> Pool:
    """The pool that fits the memory left for the cache on every rank.

    ``available_bytes`` is one figure, or one a pipeline rank; the smallest number of blocks
    counts for all.
    """
    options = settled(stack, options)
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
    counts = part.on_rank(options.tensor_parallel_size).counts
    if groups[0].widths:
        own = [spec_of(cache, [cache], options).page_bytes * n for cache, n in counts.items()]
        return sum(own)
    number: dict[Cache, int] = {}
    for group in groups:
        number[group.spec.cache] = number.get(group.spec.cache, 0) + 1
    places = max(ceil_div(counts.get(cache, 0), n) for cache, n in number.items())
    return groups[0].spec.page_bytes * places


def pool_of_blocks(stack: Stack, options: Options, num_blocks: int) -> Pool:
    """The pool of a printed or overridden number of blocks (``num_gpu_blocks_override``)."""
    options = settled(stack, options)
    groups = groups_of(stack, options)
    return Pool(
        options=options,
        groups=groups,
        bytes_per_block=bytes_per_block(groups),
        num_blocks=num_blocks,
    )


def blocks_of_tokens(stack: Stack, options: Options, tokens: int) -> range:
    """The numbers of blocks that print this token line, in either way of counting."""
    options = settled(stack, options)
    groups = groups_of(stack, options)
    if options.report == "concurrency" and options.max_model_len is not None:
        needed = sum(pages(group.spec, options) for group in groups)
        first, last = (ceil_div(t * needed, options.max_model_len) for t in (tokens, tokens + 1))
        return range(first, last)
    unit = min(group.spec.block_size for group in groups) * options.context_parallel
    if tokens % unit:
        return range(0)
    first = tokens // unit * len(groups)
    return range(first, first + len(groups))


def state_padding_percent(result: Sequence[Group]) -> float | None:
    """How much larger than the state its page is, in per cent; None without state layers."""
    for group in result:
        spec = group.spec
        if isinstance(spec.cache, State):
            return 100 * spec.padding_bytes / (spec.page_bytes - spec.padding_bytes)
    return None
