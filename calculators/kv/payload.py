"""The logical payload: bytes of the elements that a model must keep for given sequences.

layers x rows x elements x bytes x retained tokens, exactly and written out. This is what every
engine needs at least. It leaves out whatever an engine adds (pages, groups, padding, replicas);
those are in ``engines/``.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

from calculators.form.lengths import Lengths
from calculators.kv.dtypes import Dtype, dtype
from calculators.kv.layers import (
    Cache,
    ChunkedAttention,
    FullAttention,
    LatentAttention,
    SlidingAttention,
    Stack,
    State,
)

BITS_PER_BYTE = 8
MOST_RUNS_WRITTEN = 6

type Bytes = int | Fraction


@dataclass(frozen=True, slots=True)
class Factor:
    """One factor of a product: what it is (a label's key), how it is written, its value."""

    name: str
    text: str
    value: Fraction | int


@dataclass(frozen=True, kw_only=True, slots=True)
class Term:
    """The bytes of all equal caches of a stack: a product whose factors can be read."""

    cache: Cache
    part: str  # "rows", or of a state layer "conv" and "recurrent"
    layers: int
    factors: tuple[Factor, ...]

    @property
    def bytes(self) -> Bytes:
        """The product; whole unless rows end within a byte."""
        return whole_if_possible(prod(factor.value for factor in self.factors))

    @property
    def expression(self) -> str:
        """``2 × 32 × 8 × 128 × 2 × 8192 × 4``."""
        return " × ".join(factor.text for factor in self.factors)


@dataclass(frozen=True, kw_only=True, slots=True)
class Payload:
    """All terms of a stack for some sequences."""

    terms: tuple[Term, ...]

    @property
    def bytes(self) -> Bytes:
        """The exact total."""
        return whole_if_possible(sum(term.bytes for term in self.terms))

    @property
    def expression(self) -> str:
        """The whole sum written out, ``… = 4294967296 bytes``."""
        return f"{' + '.join(term.expression for term in self.terms) or '0'} = {self.bytes} bytes"


def whole_if_possible(value: Bytes) -> Bytes:
    """An int where the value is one."""
    return value.numerator if value.denominator == 1 else value


def payload(stack: Stack, kv: Dtype, lengths: Lengths, *, model: Dtype | None = None) -> Payload:
    """The payload of ``lengths`` (tokens kept per sequence, with repeats).

    ``kv`` is the type of cached rows; ``model`` that of convolution memories and of recurrent
    states without a type of their own (default: bfloat16, since they stay unquantised).
    """
    unquantised = model or dtype("model", "bfloat16")
    return Payload(
        terms=tuple(
            term
            for cache, layers in stack.counts.items()
            for term in terms(cache, layers, kv, unquantised, lengths)
        )
    )


def curve(
    stack: Stack, kv: Dtype, spots: Iterable[int], sequences: int, *, model: Dtype | None = None
) -> list[Bytes]:
    """The totals of :func:`payload` for ``sequences`` of each length, without the written terms."""
    unquantised = model or dtype("model", "bfloat16")
    fixed = sum(
        term.bytes
        for cache, layers in stack.counts.items()
        if isinstance(cache, State)
        for term in state_terms(cache, layers, unquantised, sequences)
    )
    rows = [
        (cache, sequences * layers * sum(heads * kv.row_bits(width) for heads, width in cache.rows))
        for cache, layers in stack.counts.items()
        if cache.rows
    ]
    return [
        fixed + Fraction(sum(bits * cache.retained(spot) for cache, bits in rows), BITS_PER_BYTE)
        for spot in spots
    ]


def as_transformers(stack: Stack) -> Stack:
    """The layers as Hugging Face ``transformers`` keeps them between two forward passes.

    A full window keeps one token less (the next one joins it), a convolution one input more than
    its next step needs (transformers 5.24 ``cache_utils.py``: ``DynamicSlidingWindowLayer``,
    ``LinearAttentionLayer``).
    """
    return Stack(tuple(tuple(map(between_passes, layer)) for layer in stack.layers))


def between_passes(cache: Cache) -> Cache:
    """One cache of :func:`as_transformers`."""
    match cache:
        case SlidingAttention(window=window) | LatentAttention(window=int(window)):
            return replace(cache, window=max(1, window - 1))
        case ChunkedAttention(chunk=chunk):
            return replace(cache, chunk=max(1, chunk - 1))
        case State() if cache.conv_elements:
            return replace(cache, conv_kernel=cache.conv_kernel + 1)
        case _:
            return cache


def per_token(stack: Stack, kv: Dtype) -> Bytes:
    """Bytes that one more token adds while no window is full, over all layers."""
    bits = sum(
        count * heads * kv.row_bits(width)
        for cache, count in stack.counts.items()
        for heads, width in cache.rows
    )
    return whole_if_possible(Fraction(bits, BITS_PER_BYTE))


def terms(cache: Cache, layers: int, kv: Dtype, model: Dtype, lengths: Lengths) -> Iterator[Term]:
    """The products of one kind of cache."""
    if isinstance(cache, State):
        yield from state_terms(cache, layers, model, lengths.sequences)
    elif cache.rows:
        factors = (
            *row_factors(cache, layers, kv),
            *token_factors(cache, lengths),
        )
        yield Term(cache=cache, part="rows", layers=layers, factors=factors)


def row_factors(cache: Cache, layers: int, kv: Dtype) -> Iterator[Factor]:
    """The factors up to the bytes of one token."""
    times_layers = Factor("layers", str(layers), layers)
    if not isinstance(cache, FullAttention):
        yield times_layers
        yield from width_factors(cache.elements_per_token, kv)
        return
    heads = Factor("kv_heads", str(cache.heads), cache.heads)
    if cache.k_width == cache.v_width:
        yield from (Factor("k_and_v", "2", 2), times_layers, heads)
        yield from width_factors(cache.k_width, kv)
        return
    yield from (times_layers, heads)
    if kv.scale_bits:
        row_bits = kv.row_bits(cache.k_width) + kv.row_bits(cache.v_width)
        yield byte_factor("row_bytes", row_bits)
    else:
        widths = cache.k_width + cache.v_width
        yield Factor("k_plus_v", f"({cache.k_width} + {cache.v_width})", widths)
        yield byte_factor("element_bytes", kv.bits)


def width_factors(width: int, kv: Dtype) -> Iterator[Factor]:
    """Elements and their bytes, or the bytes of a whole row where scales belong to it."""
    if kv.scale_bits:
        yield byte_factor("row_bytes", kv.row_bits(width))
    else:
        yield Factor("row_elements", str(width), width)
        yield byte_factor("element_bytes", kv.bits)


def byte_factor(name: str, bits: int) -> Factor:
    """Bits as bytes, ``4/8`` where they are a part of one."""
    whole = bits % BITS_PER_BYTE == 0
    text = str(bits // BITS_PER_BYTE) if whole else f"{bits}/{BITS_PER_BYTE}"
    return Factor(name, text, whole_if_possible(Fraction(bits, BITS_PER_BYTE)))


def token_factors(cache: Cache, lengths: Lengths) -> Iterator[Factor]:
    """Retained tokens: length × sequences, or the sum over different lengths."""
    kept = [(cache.retained(run.length), run.count) for run in lengths.runs]
    if len({tokens for tokens, _ in kept}) == 1:
        yield Factor("tokens", str(kept[0][0]), kept[0][0])
        yield Factor("sequences", str(lengths.sequences), lengths.sequences)
        return
    total = sum(tokens * count for tokens, count in kept)
    parts = [f"{tokens} × {count}" if count > 1 else str(tokens) for tokens, count in kept]
    written = f"({' + '.join(parts)})" if len(parts) <= MOST_RUNS_WRITTEN else str(total)
    yield Factor("tokens", written, total)


def state_terms(cache: State, layers: int, model: Dtype, sequences: int) -> Iterator[Term]:
    """A state layer's two parts; each sequence has them once."""
    recurrent = model if cache.dtype is None else dtype("dtype", cache.dtype)
    parts = (
        ("conv", cache.conv_elements, model),
        ("recurrent", cache.recurrent_elements, recurrent),
    )
    for part, elements, stored in parts:
        if elements:
            factors = (
                Factor("layers", str(layers), layers),
                Factor(f"{part}_elements", str(elements), elements),
                byte_factor("element_bytes", stored.bits),
                Factor("sequences", str(sequences), sequences),
            )
            yield Term(cache=cache, part=part, layers=layers, factors=factors)
