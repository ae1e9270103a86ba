"""What attention costs at least: rows of cache that a step reads, pairs that a prompt multiplies.

By the kinds of layers of the ``kv`` package. Windows and chunks are honoured to the token; the
newest row of a step is written, not read, which moves as many bytes. Latent rows (MLA) are
multiplied in absorbed form in a decode step, ``2 rank + rope`` a pair and head, and in a prompt in
the cheaper of that and the expanded form. A recurrent state is read and written by every step. A
stack with an indexer (sparse attention) is counted as if each of its layers looked at no more than
the selected tokens. Left out: the indexer's own arithmetic, the arithmetic of recurrent layers
beyond their parameters, layers that read another layer's cache.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from calculators.form.lengths import Lengths, Run
from calculators.kv.dtypes import Dtype, dtype
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
from calculators.kv.payload import terms
from calculators.tiering.recompute import pair_width, pairs

# index_topk of DeepSeek-V3.2 and GLM-5, and the 16 blocks of 128 tokens of MiniMax-M3: their
# config.json (ai-dynamo/aiconfigurator aic-core/…/model_configs @095f58a).
SELECTED_TOKENS = 2048
# qk_nope_head_dim + qk_rope_head_dim + v_head_dim of DeepSeek-V3 and Kimi K2 (ibidem): the
# narrowest of the latent models of the list, so that the bound holds for the others.
EXPANDED_WIDTH = 128 + 64 + 128
ONCE = Lengths((Run(1, 1),))

type Caches = dict[Cache, int]  # how many layers have it


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """All equal caches of a stack in one pass over one sequence, on one rank.

    ``rows`` are read in each layer, each of ``row_bytes``; ``pairs`` of a query and a key are
    multiplied in each layer and head, ``width`` multiply-adds a pair.
    """

    cache: Cache
    layers: int
    rows: int
    row_bytes: Fraction
    pairs: int
    width: int

    @property
    def bytes(self) -> Fraction:
        """Bytes read over all its layers."""
        return self.layers * self.rows * self.row_bytes

    @property
    def multiply_adds(self) -> int:
        """Multiply-adds of one query head over all its layers."""
        return self.layers * self.pairs * self.width


def caches_on_rank(stack: Stack, cards: int) -> Caches:
    """What one of so many tensor-parallel cards keeps, by kind and number of layers."""
    return summed((cache.on_rank(cards), count) for cache, count in stack.counts.items())


def summed(counted: Iterable[tuple[Cache, int]]) -> Caches:
    """Equal caches together."""
    found: Caches = {}
    for cache, count in counted:
        found[cache] = found.get(cache, 0) + count
    return found


def decode_kinds(caches: Caches, kv: Dtype, own: Dtype, context: int) -> tuple[Kind, ...]:
    """One decode step of a sequence whose newest token is its ``context``-th."""
    return tuple(
        Kind(
            cache=cache,
            layers=layers,
            rows=2 if isinstance(cache, State) else seen(cache, context),
            row_bytes=row_bytes(cache, kv, own),
            pairs=seen(cache, context),
            width=pair_width(cache),
        )
        for cache, layers in selecting(caches).items()
        if cache.rows or isinstance(cache, State)
    )


def prefill_kinds(caches: Caches, kv: Dtype, own: Dtype, start: int, end: int) -> tuple[Kind, ...]:
    """A prompt's tokens after the first ``start``, which are cached, up to ``end``."""
    return tuple(
        Kind(
            cache=cache,
            layers=layers,
            rows=rows_before(cache, start),
            row_bytes=row_bytes(cache, kv, own),
            pairs=all_pairs(cache, start, end),
            width=prefill_width(cache),
        )
        for cache, layers in selecting(caches).items()
        if cache.rows or isinstance(cache, State)
    )


def selecting(caches: Caches) -> Caches:
    """Layers of a model with an indexer as they look at the selected tokens only."""
    if not any(isinstance(cache, IndexKeys) for cache in caches):
        return caches
    return summed((selected(cache), count) for cache, count in caches.items())


def selected(cache: Cache) -> Cache:
    """One cache with the selection as its window."""
    match cache:
        case FullAttention() if type(cache) is FullAttention:
            return SlidingAttention(
                heads=cache.heads,
                k_width=cache.k_width,
                v_width=cache.v_width,
                window=SELECTED_TOKENS,
            )
        case LatentAttention():
            return replace(cache, window=min(cache.window or SELECTED_TOKENS, SELECTED_TOKENS))
        case _:
            return cache


def seen(cache: Cache, context: int) -> int:
    """Rows that the ``context``-th token looks at, its own included."""
    if isinstance(cache, ChunkedAttention):
        return (context - 1) % cache.chunk + 1
    return cache.retained(context)


def rows_before(cache: Cache, start: int) -> int:
    """Cached rows, or the one state, that a prompt's first new token looks at."""
    if isinstance(cache, State):
        return min(start, 1)
    if isinstance(cache, CrossAttention):
        return cache.retained(start) if start else 0
    return seen(cache, start + 1) - 1


def all_pairs(cache: Cache, start: int, end: int) -> int:
    """Pairs of a query and a key of one layer for the tokens after ``start`` up to ``end``."""
    if isinstance(cache, CrossAttention):
        return (end - start) * cache.retained(end)
    return pairs(cache, end) - pairs(cache, start)


def prefill_width(cache: Cache) -> int:
    """Multiply-adds of a pair and head: of latent rows, the cheaper form."""
    width = pair_width(cache)
    return min(width, EXPANDED_WIDTH) if isinstance(cache, LatentAttention) else width


def row_bytes(cache: Cache, kv: Dtype, own: Dtype) -> Fraction:
    """Bytes of what one token adds to a layer, or of a layer's whole state."""
    if isinstance(cache, State):
        return sum((Fraction(term.bytes) for term in terms(cache, 1, kv, own, ONCE)), Fraction(0))
    return Fraction(sum(count * kv.row_bits(width) for count, width in cache.rows), 8)


def kept_bytes(caches: Caches, kv: Dtype, own: Dtype, tokens: int) -> Fraction:
    """Bytes that a sequence of so many tokens keeps."""
    one = Lengths((Run(tokens, 1),))
    found = (
        Fraction(term.bytes)
        for cache, layers in caches.items()
        for term in terms(cache, layers, kv, own, one)
    )
    return sum(found, Fraction(0))


def own_type(own: Dtype | None) -> Dtype:
    """The type of states: the model's own, bfloat16 where it is not stated."""
    return own or dtype("model", "bfloat16")
