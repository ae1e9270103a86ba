"""Bytes that a load moves, exactly and by kind of layer.

A layer with a window needs only the rows that the suffix can still look at; a store that knows no
windows moves every row. A recurrent state moves once, whatever the length: only the one at the
end of the prefix is of use. With tensor parallelism each rank loads its part, and latent rows,
which are equal on all ranks, as often as there are ranks unless they are stored once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from calculators.form.lengths import Lengths, Run
from calculators.kv.dtypes import Dtype, dtype
from calculators.kv.layers import Cache, CrossAttention, Layer, Stack, State
from calculators.kv.payload import BITS_PER_BYTE, Bytes, terms, whole_if_possible


@dataclass(frozen=True, kw_only=True, slots=True)
class Store:
    """How KV is stored and read: types, ranks, and whether windows are made use of.

    ``model`` is the type of states and convolution memories.
    """

    kv: Dtype
    model: Dtype | None = None
    tensor_parallel_size: int = 1
    every_row: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """All equal caches of a stack: rows moved in each layer, bytes over layers and ranks."""

    cache: Cache
    layers: int
    tokens: int
    bytes: Bytes


def parts(stack: Stack, store: Store, start: int, end: int) -> tuple[Part, ...]:
    """What is moved to have the KV of tokens ``start`` up to ``end``, by kind of cache."""
    if end <= start:
        return ()
    return tuple(
        Part(
            cache=cache,
            layers=layers,
            tokens=rows_moved(cache, store, start, end),
            bytes=whole_if_possible(cache_bytes(cache, store, start, end) * layers),
        )
        for cache, layers in stack.counts.items()
        if cache.rows or isinstance(cache, State)
    )


def total(stack: Stack, store: Store, start: int, end: int) -> Bytes:
    """All bytes of a load."""
    found = (Fraction(part.bytes) for part in parts(stack, store, start, end))
    return whole_if_possible(sum(found, Fraction(0)))


def rows_moved(cache: Cache, store: Store, start: int, end: int) -> int:
    """Rows of one layer that are moved."""
    if isinstance(cache, CrossAttention):
        return cache.retained(end) if start == 0 else 0
    if store.every_row and cache.rows:
        return end - start
    return max(0, end - max(start, end - cache.retained(end)))


def cache_bytes(cache: Cache, store: Store, start: int, end: int) -> Fraction:
    """Bytes of one layer over all ranks."""
    ranks = store.tensor_parallel_size
    mine = cache.on_rank(ranks)
    if isinstance(mine, State):
        model = store.model or dtype("model", "bfloat16")
        once = Lengths((Run(1, 1),))
        state = terms(mine, 1, store.kv, model, once)
        return ranks * sum((Fraction(term.bytes) for term in state), Fraction(0))
    bits = sum(count * store.kv.row_bits(width) for count, width in mine.rows)
    return Fraction(ranks * bits * rows_moved(cache, store, start, end), BITS_PER_BYTE)


def layer_runs(stack: Stack, store: Store, start: int, end: int) -> Iterator[tuple[int, Fraction]]:
    """Neighbouring equal layers: (how many, bytes of one), for what goes layer by layer."""
    for count, layer in stack.runs:
        yield count, layer_bytes(layer, store, start, end)


def layer_bytes(layer: Layer, store: Store, start: int, end: int) -> Fraction:
    """Bytes of a layer with all its caches."""
    if end <= start:
        return Fraction(0)
    return sum((cache_bytes(cache, store, start, end) for cache in layer), Fraction(0))
