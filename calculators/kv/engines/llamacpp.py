"""llama.cpp's KV cache: cells and bytes, as its start-up lines print them.

Read in ``src/llama-kv-cache-unified.cpp`` @06bb08a and ``llama-kv-cache-iswa.cpp``; PR #16653,
#21277; recurrent memory in ``src/llama-memory-recurrent.cpp`` @0054ee8, its rollback snapshots in
PR #22673; ``--fit`` in PR #18679. "MiB" (older logs: "MB") is 1,048,576 bytes. Left out: what
``--fit`` does once the context cannot shrink further (moving weights).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from calculators.form.errors import ParameterError
from calculators.kv.dtypes import Dtype
from calculators.kv.engines.steps import Line
from calculators.kv.layers import (
    Cache,
    FullAttention,
    LatentAttention,
    Stack,
    State,
)

PADDING = 256  # cells
FIT_MARGIN_BYTES = 1024**3  # ``--fit`` leaves this free on a device
FIT_LEAST_CTX = 4096  # and does not shrink the context below this
STATE_BYTES = 4  # recurrent memory is kept in f32


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """Options of ``llama-server``, by their long names.

    ``pad_before_minimum`` is the older order of padding the window's cells; ``padding`` of 1
    is a build from before contexts were padded. ``swa_type_k`` differs where a build keeps the
    sliding cache in f16 (PR #21277). ``n_rs_seq`` are the states that each slot of recurrent
    memory keeps besides its own, for drafts to be rolled back: as many as a draft has tokens.
    """

    ctx_size: int
    cache_type_k: Dtype
    cache_type_v: Dtype
    parallel: int = 1
    kv_unified: bool = True
    ubatch_size: int = 512
    swa_full: bool = False
    pad_before_minimum: bool = False
    padding: int = PADDING
    swa_type_k: Dtype | None = None
    swa_type_v: Dtype | None = None
    n_rs_seq: int = 0

    @property
    def state_rows(self) -> int:
        """Rows of recurrent memory: every slot's state and what it can be rolled back to."""
        return self.parallel * (1 + self.n_rs_seq)


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """One buffer line: layers of one reach, cells, bytes of K and of V."""

    name: str
    layers: int
    cells: int
    k_bytes: int
    v_bytes: int

    @property
    def bytes(self) -> int:
        """K and V together."""
        return self.k_bytes + self.v_bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Buffers:
    """The buffers of a model; a recurrent memory's cells are slots, its K and V are R and S."""

    full: Part
    swa: Part
    recurrent: Part

    @property
    def bytes(self) -> int:
        """Everything."""
        return self.full.bytes + self.swa.bytes + self.recurrent.bytes


def padded(number: int, step: int) -> int:
    """``GGML_PAD``: up to the next multiple."""
    return -(-number // step) * step


def full_cells(options: Options) -> int:
    """Cells of layers that see everything: padded as a whole, or slot by slot."""
    if options.kv_unified:
        return padded(options.ctx_size, options.padding)
    per_slot = padded(options.ctx_size // options.parallel, options.padding)
    return max(per_slot, options.padding) * options.parallel


def swa_cells(window: int, options: Options) -> int:
    """Cells of sliding layers: the window of every slot and one micro-batch."""
    whole = full_cells(options)
    if options.swa_full:
        return whole
    slots = 1 if options.kv_unified else options.parallel
    sequences = options.parallel if options.kv_unified else 1
    wanted = window * sequences + options.ubatch_size
    cells = whole // slots
    if options.pad_before_minimum:
        return min(cells, padded(wanted, options.padding)) * slots
    return padded(min(cells, wanted), options.padding) * slots


def allocate(stack: Stack, options: Options) -> Buffers:
    """The buffers of a model."""
    plain = [(c, n) for c, n in stack.counts.items() if c.rows and not windowed(c)]
    sliding = [(c, n) for c, n in stack.counts.items() if windowed(c)]
    cells = {swa_cells(cache.reach or 0, options) for cache, _ in sliding} or {0}
    if len(cells) > 1:
        raise ParameterError("stack", "windows_differ", cells=", ".join(map(str, sorted(cells))))
    swa_k = options.swa_type_k or options.cache_type_k
    swa_v = options.swa_type_v or options.cache_type_v
    full = part("full", plain, full_cells(options), options.cache_type_k, options.cache_type_v)
    return Buffers(
        full=full,
        swa=part("swa", sliding, cells.pop(), swa_k, swa_v),
        recurrent=recurrent_memory(stack, options),
    )


def recurrent_memory(stack: Stack, options: Options) -> Part:
    """One cell a slot: R holds convolutions, S recurrent states."""
    states = [(c, n) for c, n in stack.counts.items() if isinstance(c, State)]
    conv = sum(count * cache.conv_elements for cache, count in states)
    recurrent = sum(count * cache.recurrent_elements for cache, count in states)
    return Part(
        name="recurrent",
        layers=sum(count for _, count in states),
        cells=options.parallel if states else 0,
        k_bytes=options.state_rows * conv * STATE_BYTES,
        v_bytes=options.state_rows * recurrent * STATE_BYTES,
    )


def fitted(stack: Stack, options: Options, free_bytes: int) -> Options:
    """The options with the context that ``--fit`` chooses: as asked, or what leaves 1,024 MiB."""
    budget = free_bytes - FIT_MARGIN_BYTES
    if allocate(stack, options).bytes <= budget:
        return options
    low, high = 0, -(-options.ctx_size // PADDING)
    while low < high:
        middle = (low + high + 1) // 2
        tried = replace(options, ctx_size=middle * PADDING)
        low, high = (middle, high) if allocate(stack, tried).bytes <= budget else (low, middle - 1)
    least = min(FIT_LEAST_CTX, options.ctx_size)
    return replace(options, ctx_size=max(least, low * PADDING))


def windowed(cache: Cache) -> bool:
    """Whether the sliding buffer holds this layer."""
    return cache.reach is not None


def part(name: str, caches: list[tuple[Cache, int]], cells: int, k: Dtype, v: Dtype) -> Part:
    """The bytes of some layers: rows over all heads (``n_embd_k_gqa``) in their types."""
    k_bits = v_bits = 0
    for cache, count in caches:
        key, value = row_widths(cache)
        k_bits += count * k.row_bits(key)
        v_bits += count * v.row_bits(value)
    return Part(
        name=name,
        layers=sum(count for _, count in caches),
        cells=cells,
        k_bytes=cells * k_bits // 8,
        v_bytes=cells * v_bits // 8,
    )


def row_widths(cache: Cache) -> tuple[int, int]:
    """``n_embd_k_gqa`` and ``n_embd_v_gqa``; latent attention has one tensor, kept as K."""
    if isinstance(cache, FullAttention):
        return cache.heads * cache.k_width, cache.heads * cache.v_width
    if isinstance(cache, LatentAttention):
        return cache.rank + cache.rope, 0
    return cache.elements_per_token, 0


def as_type(bytes_f16: Fraction, kv: Dtype) -> Fraction:
    """A cache printed in f16 as another type would take, by the bytes of 32 values."""
    return bytes_f16 * kv.row_bits(32) / (32 * 16)


def derivation(stack: Stack, options: Options) -> Iterator[Line]:
    """The computation line by line."""
    result = allocate(stack, options)
    yield Line("full_cells", full_expression(options), result.full.cells, "cells")
    windows = [cache.reach for cache in stack.counts if windowed(cache)]
    if windows:
        yield Line("swa_cells", swa_expression(windows[0] or 0, options), result.swa.cells, "cells")
    for cache, layers in stack.counts.items():
        if cache.rows:
            yield from buffer_lines(cache, layers, options, result)
        elif isinstance(cache, State):
            yield from state_lines(cache, layers, options)


def buffer_lines(cache: Cache, layers: int, options: Options, result: Buffers) -> Iterator[Line]:
    """K and V of one kind of layer: cells x layers x bytes of a row."""
    sliding = windowed(cache)
    cells = (result.swa if sliding else result.full).cells
    k = options.swa_type_k or options.cache_type_k if sliding else options.cache_type_k
    v = options.swa_type_v or options.cache_type_v if sliding else options.cache_type_v
    for side, width, kind in zip("kv", row_widths(cache), (k, v), strict=True):
        if width:
            row = kind.row_bits(width)
            expression = f"{cells} × {layers} × {row // 8}"
            yield Line(f"{side}_bytes", expression, cells * layers * row // 8, "bytes", cache)


def state_lines(cache: State, layers: int, options: Options) -> Iterator[Line]:
    """R and S of one kind of state layer."""
    for name, elements in (("r", cache.conv_elements), ("s", cache.recurrent_elements)):
        if elements:
            snapshots = f" × (1 + {options.n_rs_seq})" if options.n_rs_seq else ""
            expression = f"{options.parallel}{snapshots} × {layers} × {elements} × {STATE_BYTES}"
            size = options.state_rows * layers * elements * STATE_BYTES
            yield Line(f"{name}_bytes", expression, size, "bytes", cache)


def full_expression(options: Options) -> str:
    """``⌈65535 ÷ 256⌉ × 256``, slot by slot where the cache is not unified."""
    step = options.padding
    if options.kv_unified:
        return f"⌈{options.ctx_size} ÷ {step}⌉ × {step}"
    slots = options.parallel
    return f"⌈{options.ctx_size} ÷ {slots} ÷ {step}⌉ × {step} × {slots}"


def swa_expression(window: int, options: Options) -> str:
    """``⌈min(65536, 128 × 4 + 512) ÷ 256⌉ × 256``, of one slot where the cache is not unified."""
    cells = full_cells(options)
    if options.swa_full:
        return str(cells)
    slots = 1 if options.kv_unified else options.parallel
    sequences = options.parallel if options.kv_unified else 1
    wanted = f"min({cells // slots}, {window} × {sequences} + {options.ubatch_size})"
    text = f"⌈{wanted} ÷ {options.padding}⌉ × {options.padding}"
    return text if slots == 1 else f"{text} × {slots}"
