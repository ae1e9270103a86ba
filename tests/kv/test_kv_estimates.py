"""Estimates of the engines: every byte named, printed lines that the log reader reads back."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculators.form.errors import ParameterError
from calculators.kv.catalogue import MODELS
from calculators.kv.dtypes import dtype
from calculators.kv.engine_params import ENGINES, EngineParams
from calculators.kv.engines import llamacpp, tensorrt_llm, vllm
from calculators.kv.engines.steps import GIB
from calculators.kv.engines.turboquant import PRESETS, with_boundaries
from calculators.kv.engines.vllm_pages import Options
from calculators.kv.estimates import estimate
from calculators.kv.logs import read_log
from calculators.kv.memory import left_for_cache, named_billions
from calculators.kv.notation import from_text
from calculators.kv.shape import Shape, known_shape

GEMMA = "10*full:16x128,52*sliding:16x128@1024"
REFUSED = {
    "pages_differ",
    "heads_do_not_split",
    "windows_differ",
    "no_attention",
    "copies_do_not_share",
}
SETTINGS = {
    "plain": {},
    "ranks": {"tensor_parallel_size": 4, "tp_size": 4, "pipeline_parallel_size": 3, "pp_size": 2},
    "odd": {
        "num_speculative_tokens": 2, "page_size": 64, "windows": "pools", "kv_unified": False,
        "mamba_cache_mode": "align",
    },
    "newer": {"n_rs_seq": 3, "trtllm_rows": True, "reserve_padding_state": True},
    "context parallel": {"tensor_parallel_size": 8, "decode_context_parallel_size": 4},
}  # fmt: skip


def found(layers, engine="vllm", memory=20 * GIB, length=1000, **changes):
    """An engine's estimate for a stack in short notation."""
    params = EngineParams(engine=engine, memory="available", **changes)
    return estimate(Shape(stack=from_text("layers", layers)), params, memory, length)


def causes(result):
    """Bytes of every cause by its name."""
    return {cause.name: cause.bytes for cause in result.causes}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("setting", SETTINGS)
def test_every_byte_has_a_name(engine, setting):
    """Payload and causes add up to the allocation, for every known model; none is negative."""
    checked = 0
    for model in MODELS.values():
        params = EngineParams(engine=engine, memory="available", **SETTINGS[setting])
        try:
            result = estimate(known_shape(model), params, 60 * GIB, 3001)
        except ParameterError as error:
            assert error.reason in REFUSED  # noqa: PT017
            continue
        named = causes(result)
        negative = {name for name, size in named.items() if size < 0}
        checked += 1

        assert result.unexplained_bytes == 0
        assert negative <= {"row_format", "kept_elsewhere"}
    assert checked > (20 if setting == "context parallel" else 60)


@pytest.mark.parametrize("engine", ENGINES)
def test_one_gpu_has_no_copies(engine):
    """Without ranks nothing is kept twice: the rows on the one rank are the payload's."""
    for model in MODELS.values():
        params = EngineParams(engine=engine, memory="available")
        try:
            result = estimate(known_shape(model), params, 60 * GIB, 3001)
        except ParameterError:
            continue

        assert "replicas" not in causes(result)


@pytest.mark.parametrize("engine", ENGINES)
def test_printed_lines_are_read_back(engine):
    """What is printed is what the log reader finds, for every known model."""
    fields = {
        "vllm": "gpu_kv_cache_tokens", "sglang": "max_total_num_tokens",
        "llamacpp": "cells", "tensorrt_llm": "max_tokens",
    }  # fmt: skip
    for model in MODELS.values():
        params = EngineParams(engine=engine, memory="available")
        try:
            result = estimate(known_shape(model), params, 60 * GIB, 1000)
        except ParameterError:
            continue
        log = read_log("log", result.printed)

        assert log.engine == engine
        if engine != "llamacpp":
            assert log.fields[fields[engine]] == str(result.fit.tokens)


def test_gemma_3_prints_its_lines():
    """The log of Gemma 3 27B, line by line, padding layers included."""
    result = found(GEMMA, memory=int(Fraction("19.53") * GIB), max_model_len=8192)

    assert result.printed.splitlines() == [
        "Available KV cache memory: 19.53 GiB",
        "Add 8 padding layers, may waste at most 15.38% KV cache memory",
        "GPU KV cache size: 36,560 tokens",
        "Maximum concurrency for 8,192 tokens per request: 4.46x",
    ]


def test_draft_layers_join_the_groups():
    """With its draft layer Qwen3.5 has 17 attention layers; 48 states fill three groups of 17."""
    params = EngineParams(memory="available", num_speculative_tokens=2)
    result = estimate(known_shape(MODELS["Qwen/Qwen3.5-27B"]), params, 60 * GIB, 1000)

    assert "Add 3 padding layers, may waste at most 6.25% KV cache memory" in result.printed


@pytest.mark.parametrize(
    ("slot", "preset"),
    [
        (128 + 64 + 4, "turboquant_k8v4"),
        (64 + 2 + 64 + 4, "turboquant_4bit_nc"),
        (48 + 2 + 64 + 4, "turboquant_k3v4_nc"),
        (48 + 2 + 48 + 4, "turboquant_3bit_nc"),
    ],
)
def test_turboquant_slots(slot, preset):
    """Packed bits of K and V, K's norm, V's scale and zero, to an even number."""
    assert PRESETS[preset].slot_bytes(128) == slot


def test_turboquant_leaves_both_ends():
    """Two layers at each end keep the model's type; of a hybrid model none."""
    stack = from_text("layers", "32*full:8x128")
    options = Options(
        kv_cache_dtype=dtype("kv", "bf16"), dtype=dtype("m", "bf16"),
        turboquant=PRESETS["turboquant_k8v4"],
    )  # fmt: skip
    [group] = vllm.groups_of(with_boundaries(stack), options)
    hybrid = from_text("layers", "4*(state:8x8x8.k4,full:8x128)")

    assert group.spec.page_bytes == 16 * 8 * (4 * 512 + 28 * 196)
    assert with_boundaries(hybrid) == hybrid


@pytest.mark.parametrize("text", ["36*full:8x128", "18*(full:8x64,sliding:8x64@128)"])
@given(free=st.integers(1, 30))
def test_fit_is_the_largest_context(text, free):
    """``--fit`` takes the most cells that leave 1,024 MiB, found also by trying one by one."""
    f16 = dtype("kv", "f16")
    stack = from_text("layers", text)
    options = llamacpp.Options(ctx_size=65_536, cache_type_k=f16, cache_type_v=f16)
    contexts = range(256, 65_536 + 1, 256)

    def fits(ctx):
        tried = llamacpp.Options(ctx_size=ctx, cache_type_k=f16, cache_type_v=f16)
        return llamacpp.allocate(stack, tried).bytes <= (free - 1) * GIB

    most = max((ctx for ctx in contexts if fits(ctx)), default=0)

    assert llamacpp.fitted(stack, options, free * GIB).ctx_size == max(4096, most)


def test_recurrent_memory_has_a_cell_a_slot():
    """llama.cpp keeps convolutions and states in f32, once for every slot."""
    f16 = dtype("kv", "f16")
    options = llamacpp.Options(ctx_size=4096, cache_type_k=f16, cache_type_v=f16, parallel=3)
    part = llamacpp.allocate(from_text("layers", "5*state:8x4x2.g1.k4"), options).recurrent

    assert (part.cells, part.layers) == (3, 5)
    assert part.k_bytes == 3 * 5 * (4 - 1) * (8 * 4 + 2 * 2) * 4
    assert part.v_bytes == 3 * 5 * 8 * 4 * 2 * 4


def test_shares_of_windows():
    """The example of TensorRT-LLM's own test: windows of 1,024, 4,096 and 8,192 tokens."""
    layers = "sliding:8x64@1024,sliding:8x64@4096,full:8x64"
    options = tensorrt_llm.Options(kv_cache_dtype=dtype("kv", "fp16"))
    pools = tensorrt_llm.window_pools(from_text("layers", layers), options, 10 * GIB, 8192)
    shares = [round(float(pool.share), 4) for pool in pools]

    assert shares == [round(w / (1024 + 4096 + 8192), 4) for w in (1024, 4096, 8192)]


@pytest.mark.parametrize(
    ("billions", "model"),
    [
        ("0.6", "Qwen/Qwen3-0.6B"),
        ("235", "Qwen/Qwen3-235B-A22B"),
        (None, "meta-llama/Llama-4-Scout-17B-16E-Instruct"),
        (None, "gpt2"),
    ],
)
def test_parameters_in_names(billions, model):
    """The first number with a B; an expert count times a size is none, nor what one token uses."""
    wanted = None if billions is None else Fraction(billions)

    assert named_billions(EngineParams(model=model)) == wanted


def test_printed_memory_is_a_range():
    """Two decimals stand for everything that rounds to them."""
    left = left_for_cache(EngineParams(memory="available", available_gib=Fraction("1.00")), 1)

    assert left.bytes == GIB
    assert (f"{left.low / GIB:.2f}", f"{left.high / GIB:.2f}") == ("1.00", "1.00")
    assert f"{(left.low - 2) / GIB:.2f}" == "0.99"


def test_recurrent_memory_prints_all_layers():
    """The line counts the layers of the model: 64 of a Qwen3.6-27B, of which 48 hold a state."""
    text = "16*(3*state:48x128x128.g16.k4.float32,full:4x256)"
    printed = found(text, engine="llamacpp").printed

    assert "size =  598.50 MiB (     4 cells,  64 layers,  4 seqs)" in printed


@pytest.mark.parametrize("blocks", [0, 1, 2])
def test_few_blocks_have_no_negative_causes(blocks):
    """Memory for no block at all has no null block either, and nothing below nothing."""
    result = found("32*full:8x128", memory=blocks * 2**21)

    assert causes(result).get("null_block", 0) == min(blocks, 1) * 2**21
    assert all(size >= 0 for size in causes(result).values())
    assert result.unexplained_bytes == 0
