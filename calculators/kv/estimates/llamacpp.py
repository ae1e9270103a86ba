"""llama.cpp's estimate: buffers for the context that was asked for, or that ``--fit`` leaves.

llama.cpp allocates what the context needs, whatever memory is free: the memory only says whether
it fits, and with ``--fit`` how far the context shrinks.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from calculators.form.errors import ParameterError
from calculators.form.lengths import Run
from calculators.kv.capacity import llamacpp_fit
from calculators.kv.dtypes import dtype
from calculators.kv.engine_params import EngineParams
from calculators.kv.engines import llamacpp
from calculators.kv.engines.llamacpp import Buffers, Options, Part
from calculators.kv.engines.steps import MIB
from calculators.kv.estimates.common import (
    Cause,
    Estimate,
    Types,
    flag_lines,
    named_causes,
    payload_of,
)
from calculators.kv.layers import Cache, Stack, State
from calculators.kv.payload import Bytes
from calculators.kv.shape import Shape

WIDEST = 64  # times the asked context, up to which a larger one is looked for
SHORT = {"float16": "f16", "float32": "f32", "bfloat16": "bf16"}


def options_of(shape: Shape, params: EngineParams, available: int) -> Options:
    """llama.cpp's options of the form; with ``fit`` the context that is left."""
    options = Options(
        ctx_size=params.ctx_size,
        cache_type_k=dtype("cache_type_k", params.cache_type_k),
        cache_type_v=dtype("cache_type_v", params.cache_type_v),
        parallel=params.parallel,
        kv_unified=params.kv_unified,
        ubatch_size=params.ubatch_size,
        swa_full=params.swa_full,
        n_rs_seq=params.n_rs_seq,
    )
    return llamacpp.fitted(shape.stack, options, available) if params.fit else options


def estimate(shape: Shape, params: EngineParams, available: int, length: int) -> Estimate:
    """llama.cpp's answer; ``available`` bytes decide only with ``fit``."""
    if not shape.stack.counts:
        raise ParameterError("stack", "nothing_cached")
    options = options_of(shape, params, available)
    buffers = llamacpp.allocate(shape.stack, options)
    fit = llamacpp_fit(options, length)
    types = Types(kv=options.cache_type_k, model=dtype("dtype", "float32"))
    plain = payload_of(shape, types, length, fit.sequences)
    return Estimate(
        engine="llamacpp",
        fit=fit,
        ranks=1,
        replicas=1,
        payload_bytes=plain,
        allocated_bytes=buffers.bytes,
        causes=causes(shape, options, plain, Run(length, fit.sequences)),
        steps=tuple(llamacpp.derivation(shape.stack, options)),
        printed=printed(shape.stack, buffers, options),
        flags=flags(options),
        holding=lambda at: holding(shape, options, at),
        tokens_at=lambda memory: most_cells(shape, options, memory),
    )


def row_bytes(cache: Cache, options: Options) -> Fraction:
    """Bytes of one cell in one layer."""
    k, v = llamacpp.row_widths(cache)
    bits = options.cache_type_k.row_bits(k) + options.cache_type_v.row_bits(v)
    return Fraction(bits, 8)


def causes(shape: Shape, options: Options, held: Bytes, lengths: Run) -> tuple[Cause, ...]:
    """From the payload of so many sequences to the buffers; zeros are left out."""
    buffers, sequences = llamacpp.allocate(shape.stack, options), lengths.count
    rows = cells = idle = Fraction(0)
    for cache, count in shape.stack.counts.items():
        if cache.rows:
            size, kept = (
                row_bytes(cache, options) * count,
                sequences * cache.retained(lengths.length),
            )
            rows += size * kept
            if cache.reach is None:
                idle += size * (buffers.full.cells - kept)
            else:
                cells += size * (buffers.swa.cells - kept)
    states = sum(c.conv_elements + c.recurrent_elements for c in each_state(shape))
    state = llamacpp.STATE_BYTES * states
    return named_causes(
        row_format=rows + sequences * state - held,
        window_slack=cells,
        idle_cells=idle,
        idle_states=(options.parallel - sequences) * state,
        rollback_states=(options.state_rows - options.parallel) * state,
    )


def each_state(shape: Shape) -> Iterator[State]:
    """Every state layer, one by one."""
    for cache, count in shape.stack.counts.items():
        if isinstance(cache, State):
            for _ in range(count):
                yield cache


def holding(shape: Shape, options: Options, length: int) -> Mapping[Cache | str, int]:
    """What one sequence takes, by layer kind."""
    found: dict[Cache | str, int] = {}
    for cache, count in shape.stack.counts.items():
        if isinstance(cache, State):
            elements = cache.conv_elements + cache.recurrent_elements
            found[cache] = count * elements * llamacpp.STATE_BYTES
        elif cache.rows:
            found[cache] = int(count * row_bytes(cache, options) * cache.retained(length))
    return found


def most_cells(shape: Shape, options: Options, memory: int) -> int:
    """The largest context whose buffers fit into so many bytes."""
    margin = llamacpp.FIT_MARGIN_BYTES
    widest = replace(options, ctx_size=options.ctx_size * WIDEST)
    return llamacpp.full_cells(llamacpp.fitted(shape.stack, widest, memory + margin))


def printed(stack: Stack, buffers: Buffers, options: Options) -> str:
    """The size lines; a model with windows has two caches, a recurrent memory a line of its own."""
    parts = [part for part in (buffers.full, buffers.swa) if part.layers]
    lines = [part_line(part, options) for part in parts]
    if buffers.recurrent.layers:
        lines.append(recurrent_line(buffers.recurrent, len(stack.layers), options))
    return "\n".join(lines)


def part_line(part: Part, options: Options) -> str:
    """``llama_kv_cache: size = 36.00 MiB (1024 cells, 18 layers, 4/1 seqs), K (f16): …``."""
    k, v = (SHORT.get(t.name, t.name) for t in (options.cache_type_k, options.cache_type_v))
    streams = 1 if options.kv_unified else options.parallel
    cells = part.cells // streams
    return (
        f"llama_kv_cache: size = {part.bytes / MIB:7.2f} MiB ({cells:6d} cells, "
        f"{part.layers:3d} layers, {options.parallel:2d}/{streams} seqs), "
        f"K ({k}): {part.k_bytes / MIB:7.2f} MiB, V ({v}): {part.v_bytes / MIB:7.2f} MiB"
    )


def recurrent_line(part: Part, layers: int, options: Options) -> str:
    """R and S of the recurrent memory.

    Its layers are all of the model's (``n_layer``), not those that hold a state: a Qwen3.6-27B
    prints 64 of its 48 (llama.cpp PR #22673).
    """
    return (
        f"llama_memory_recurrent: size = {part.bytes / MIB:7.2f} MiB ({part.cells:6d} cells, "
        f"{layers:3d} layers, {options.parallel:2d} seqs), "
        f"R (f32): {part.k_bytes / MIB:7.2f} MiB, S (f32): {part.v_bytes / MIB:7.2f} MiB"
    )


def flags(options: Options) -> str:
    """The command with every option that is not llama-server's default."""
    k, v = (SHORT.get(t.name, t.name) for t in (options.cache_type_k, options.cache_type_v))
    given: dict[str, object] = {
        "--ctx-size": options.ctx_size,
        "--parallel": options.parallel,
        "--kv-unified" if options.kv_unified else "--no-kv-unified": True,
        "--ubatch-size": options.ubatch_size,
        "--cache-type-k": k,
        "--cache-type-v": v,
        "--swa-full": options.swa_full,
    }
    return flag_lines("llama-server -m MODEL.gguf", given)
