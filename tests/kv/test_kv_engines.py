"""SGLang, llama.cpp and TensorRT-LLM against rules from their sources and printed figures."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculators.form.errors import ParameterError
from calculators.kv.dtypes import dtype
from calculators.kv.engines import llamacpp, sglang, tensorrt_llm
from calculators.kv.engines.rows import latent_fp8_row
from calculators.kv.engines.steps import GIB, MIB, printed_range
from calculators.kv.layers import LatentAttention
from calculators.kv.notation import from_text

GEMMA4 = "5*(5*sliding:8x256@1024,full:2x512)"
QWEN = "16*(3*state:48x128x128.g16.k4.float32,full:4x256)"
QWEN_9B = "8*(3*state:32x128x128.g16.k4.float32,full:4x256)"
QWEN_35B = "10*(3*state:32x128x128.g16.k4.float32,full:2x256)"
GLM_OWN = "78*mla:512-64/index:128"
GLM_SHARED = "3*mla:512-64/index:128,18*(3*mla:512-64,mla:512-64/index:128),3*mla:512-64"


def stack(text):
    """Layers of a text."""
    return from_text("layers", text)


def sgl(kv="bf16", **changes):
    """SGLang's options."""
    return sglang.Options(kv_cache_dtype=dtype("kv", kv), dtype=dtype("dtype", "bf16"), **changes)


def llama(ctx_size, kv="f16", **changes):
    """llama.cpp's options."""
    kind = dtype("kv", kv)
    return llamacpp.Options(ctx_size=ctx_size, cache_type_k=kind, cache_type_v=kind, **changes)


def trt(**changes):
    """TensorRT-LLM's options."""
    return tensorrt_llm.Options(kv_cache_dtype=dtype("kv", "fp16"), **changes)


@pytest.mark.parametrize(
    ("cell", "text", "kv", "changes"),
    [
        pytest.param(94 * 2 * 128 * 2, "94*full:4x128", "bf16", {"tp_size": 4}, id="heads split"),
        pytest.param(94 * 2 * 128 * 2, "94*full:4x128", "bf16", {"tp_size": 16}, id="replicated"),
        pytest.param(
            94 * 2 * 512 * 2, "94*full:4x128", "bf16", {"tp_size": 4, "dp_attention_size": 4},
            id="data-parallel attention keeps all heads",
        ),
        pytest.param(61 * 576 * 2, "61*mla:512-64", "bf16", {"tp_size": 8}, id="latent"),
        pytest.param(61 * (576 + 132), "61*mla:512-64/index:128", "fp8", {}, id="sparse, fp8"),
        pytest.param(32 * 2 * 8 * (64 + 8), "32*full:8x128", "fp4", {}, id="fp4 with its scales"),
        pytest.param(184320, GEMMA4, "bf16", {}, id="windowed layers count by their ratio"),
        pytest.param(16 * 2 * 4 * 256 * 2, QWEN, "bf16", {}, id="states are not in the cell"),
    ],
)  # fmt: skip
def test_sglang_cell(cell, text, kv, changes):
    """Bytes of one token on one rank."""
    assert sglang.cell_of(stack(text), sgl(kv, **changes)).bytes == cell


@pytest.mark.parametrize(
    ("gib", "text", "kv", "page", "tokens"),
    [
        pytest.param("43.67", "61*mla:512-64/index:128", "fp8", 64, 975424, id="V3.2, with index"),
        pytest.param("8.23", "94*full:1x128", "bf16", 1, 367404, id="K of Qwen3-235B at tp 4"),
    ],
)
def test_sglang_printed_sizes(gib, text, kv, page, tokens):
    """The pool's sizes as logged, the spare page included."""
    chosen = sgl(kv, page_size=page)
    whole = sglang.kv_bytes(stack(text), chosen, tokens)
    shown = whole if "mla" in text else sglang.k_bytes(stack(text), chosen, tokens)

    assert f"{shown / GIB:.2f}" == gib


def test_sglang_pool_is_paged():
    """Tokens are floored to whole pages."""
    found = sglang.pool(stack("32*full:8x128"), sgl(page_size=64), 10 * GIB + 12345)

    assert found.max_total_num_tokens == 10 * GIB // 131072 // 64 * 64


def test_sglang_windowed_pools():
    """Both pools together take what memory there is."""
    found = sglang.pool(stack(GEMMA4), sgl(), 10 * GIB)
    full, sliding = 5 * 4096, 25 * 8192

    assert found.max_total_num_tokens == 10 * GIB // (full + sliding) * (full + sliding) // 184320
    assert found.swa_tokens == int(found.max_total_num_tokens * Fraction(4, 5))
    assert found.max_total_num_tokens * full + found.swa_tokens * sliding <= 10 * GIB


def test_sglang_all_layers_windowed():
    """Without a full layer there is one pool."""
    found = sglang.pool(stack("32*sliding:8x128@4096"), sgl(), GIB)

    assert found.max_total_num_tokens == found.swa_tokens == GIB // 131072


def test_sglang_states_take_their_share_first():
    """0.9 : 1 between states and tokens; whole states only."""
    found = sglang.pool(stack(QWEN), sgl(), 10 * GIB)
    size = 48 * (30720 * 2 + 786432 * 4)
    states = int(Fraction(9, 19) * 10 * GIB) // size

    assert found.states == states
    assert found.max_total_num_tokens == (10 * GIB - states * size) // 65536


def test_sglang_smallest_pipeline_rank_counts():
    """61 layers on two ranks: the one with 31 limits."""
    found = sglang.pool(stack("61*full:8x128"), sgl(pp_size=2), GIB)

    assert found.max_total_num_tokens == GIB // (31 * 4096)


@pytest.mark.parametrize(
    ("cells", "changes"),
    [
        pytest.param(4096, {"ctx_size": 4000}, id="padded to 256"),
        pytest.param(1536, {"ctx_size": 1024, "parallel": 3, "kv_unified": False}, id="by slot"),
        pytest.param(1024, {"ctx_size": 1024, "parallel": 4, "kv_unified": False}, id="4 slots"),
        pytest.param(1024, {"ctx_size": 1024, "parallel": 3}, id="unified: slots do not matter"),
    ],
)
def test_llamacpp_cells(cells, changes):
    """Cells of layers that see everything."""
    assert llamacpp.full_cells(llama(**changes)) == cells


@pytest.mark.parametrize(
    ("cells", "window", "changes"),
    [
        pytest.param(1024, 128, {"parallel": 4}, id="four slots share: 128 x 4 + 512"),
        pytest.param(4608, 1024, {"parallel": 4}, id="1,024 x 4 + 512"),
        pytest.param(768, 128, {}, id="one slot, padded up"),
        pytest.param(65536, 128, {"swa_full": True}, id="--swa-full"),
        pytest.param(4 * 768, 128, {"parallel": 4, "kv_unified": False}, id="each slot its own"),
        pytest.param(65536, 100_000, {}, id="never more than the context"),
    ],
)
def test_llamacpp_sliding_cells(cells, window, changes):
    """Cells of sliding layers for 65,536 tokens."""
    assert llamacpp.swa_cells(window, llama(65536, **changes)) == cells


@pytest.mark.parametrize(
    ("mib", "text", "ctx", "kv"),
    [
        pytest.param(1560, "60*full:52x128", 512, "f32", id="LLaMA-30B of a binding, f32"),
        pytest.param("1166.62", "61*mla:512-64", 32768, "q8_0", id="DeepSeek-R1, q8_0"),
        pytest.param(9, "12*full:1x384", 512, "f16", id="bge-small"),
        pytest.param(2340, "18*full:8x64,18*sliding:8x64@128", 65536, "f16", id="gpt-oss-120b"),
    ],
)
def test_llamacpp_buffers(mib, text, ctx, kv):
    """Mebibytes of both buffers, as logged."""
    found = llamacpp.allocate(stack(text), llama(ctx, kv, parallel=4))

    assert Fraction(found.bytes, MIB) == pytest.approx(float(mib), abs=0.0051)


def test_llamacpp_old_deepseek_files():
    """Before latent attention was kept: K of 24,576 and V of 16,384 elements in every layer."""
    old = llamacpp.allocate(stack("61*full:128x192-128"), llama(256))

    assert old.bytes == 256 * 61 * (24576 + 16384) * 2


def test_llamacpp_keeps_one_sliding_buffer():
    """Two windows that need different cells are refused by name."""
    with pytest.raises(ParameterError) as caught:
        llamacpp.allocate(stack("sliding:1x64@128,sliding:1x64@4096"), llama(65536))

    assert caught.value.reason == "windows_differ"


@pytest.mark.parametrize(
    ("mib", "name"), [(Fraction(1105, 2), "q8_0"), (Fraction(585, 2), "q4_0"), (2080, "f32")]
)
def test_llamacpp_type_ratios(mib, name):
    """1,040 MiB in f16 are 552.5 in q8_0 and 292.5 in q4_0."""
    assert llamacpp.as_type(Fraction(1040), dtype("type", name)) == mib


def test_tensorrt_blocks_round_up():
    """0.9 x 21.89 GiB hold 630.4 blocks of 64 tokens, printed 631 (TensorRT-LLM #2268)."""
    found = tensorrt_llm.pool(
        stack("32*full:32x128"), trt(tokens_per_block=64), int(Fraction("21.89") * GIB)
    )

    assert found.blocks == 631


@pytest.mark.parametrize(
    ("size", "text", "changes"),
    [
        pytest.param(114688, "28*full:8x128", {}, id="plain"),
        pytest.param(14336, "28*full:8x128", {"tp_size": 8}, id="heads split"),
        pytest.param(70272, "61*mla:512-64", {"tp_size": 8}, id="latent: factor 1"),
        pytest.param(40960, "10*full:8x128,20*state:8x64x64", {}, id="attention layers only"),
        pytest.param(131072, "32*full:8x128/cross:8x128", {}, id="cross attention apart"),
        pytest.param(65536, "32*full:8x128", {"pp_size": 2}, id="the layers of a pipeline rank"),
    ],
)
def test_tensorrt_bytes_per_token(size, text, changes):
    """Bytes of one token on one rank."""
    assert tensorrt_llm.bytes_per_token(stack(text), trt(**changes)) == size


def test_tensorrt_draft_model_shares_the_pool():
    """A draft model's size is added (PR #3497)."""
    draft = stack("4*full:8x128")

    assert tensorrt_llm.bytes_per_token(stack("28*full:8x128"), trt(draft=draft)) == 32 * 4096


def test_tensorrt_max_tokens_and_cross_share():
    """``max_tokens`` caps the pool; cross attention's share is taken off first."""
    layers = stack("28*full:8x128")
    whole = tensorrt_llm.pool(layers, trt(), GIB)
    half = tensorrt_llm.pool(layers, trt(cross_kv_cache_fraction=Fraction(1, 2)), GIB)

    assert tensorrt_llm.pool(layers, trt(max_tokens=100), GIB).blocks == 4
    assert half.max_tokens == whole.max_tokens // 2


@given(st.integers(1, 4096), st.integers(0, 512))
def test_fp8_rows_scale_128_elements_at_a_time(rank, rope):
    """A row is its fp8 elements, four bytes a started block of 128, two bytes a rotary element."""
    row = latent_fp8_row(LatentAttention(rank=rank, rope=rope))

    assert row == rank + 4 * ((rank + 127) // 128) + 2 * rope


@given(st.decimals(0, 100, places=2))
def test_printed_range_holds_what_prints_so(shown):
    """Both ends of a range print as the figure, or as a neighbour at a tie."""
    low, high = printed_range(Fraction(shown))

    assert high - low == Fraction(1, 100)
    assert low <= Fraction(shown) <= high


@pytest.mark.parametrize(
    ("mib", "text", "changes"),
    [
        pytest.param("149.62", QWEN, {}, id="PR 22673, 2026-05-07: no drafts"),
        pytest.param("9725.62", QWEN, {"n_rs_seq": 64}, id="PR 22673, 2026-05-07: 64 drafts"),
        pytest.param("502.50", QWEN_35B, {"n_rs_seq": 7}, id="PR 26499, 2026-08-03: 7 drafts"),
        pytest.param("299.25", QWEN, {"parallel": 2}, id="PR 23792: two slots"),
        pytest.param("598.50", QWEN, {"parallel": 4}, id="four slots"),
        pytest.param("448.88", QWEN, {"n_rs_seq": 2}, id="two drafts"),
    ],
)
def test_llamacpp_recurrent_memory(mib, text, changes):
    """``llama_memory_recurrent: size`` as printed: a slot keeps a state for every draft token."""
    found = llamacpp.allocate(stack(text), llama(8192, **{"parallel": 1, **changes})).recurrent

    assert f"{found.bytes / MIB:.2f}" == mib


def test_llamacpp_recurrent_lines_add_up():
    """The derivation's lines of a memory that drafts roll back are its bytes."""
    options = llama(8192, parallel=3, n_rs_seq=2)
    lines = [line for line in llamacpp.derivation(stack(QWEN), options) if line.name[0] in "rs"]
    states = [line for line in lines if line.name in {"r_bytes", "s_bytes"}]

    assert sum(line.value for line in states) == (
        llamacpp.allocate(stack(QWEN), options).recurrent.bytes
    )
    assert all("3 × (1 + 2) × 48" in line.expression for line in states)


@pytest.mark.parametrize(
    ("gb", "text", "tokens", "rows"),
    [
        pytest.param("132.43", GLM_OWN, 2_574_848, True, id="an index in every layer"),
        pytest.param("133.40", GLM_SHARED, 3_002_752, True, id="an index in 21 of 78 layers"),
        pytest.param("7.51", GLM_OWN, 131_072, False, id="FlashMLA's rows"),
    ],
)
def test_sglang_rows_of_sparse_kernels(gb, text, tokens, rows):
    """What GLM-5 models print as "KV size", by their kernels' rows (PR #30531, 2026-08-14)."""
    options = sgl("fp8", page_size=64, trtllm_rows=rows)

    assert f"{sglang.kv_bytes(stack(text), options, tokens) / GIB:.2f}" == gb


def test_sglang_states_of_a_printed_log():
    """A Qwen3.5-9B over two ranks prints 186 states and 327,310 tokens of 14.08 - 0.2 x 23.12."""
    memory = int((Fraction("14.08") - Fraction("23.12") / 5) * GIB)
    found = sglang.pool(stack(QWEN_9B), sgl(tp_size=2), memory)

    assert found.states == 186
    assert abs(found.max_total_num_tokens - 327_310) * 16_384 <= GIB * Fraction("0.006")


@given(st.integers(min_value=10**8, max_value=10**11))
def test_sglang_padding_state_is_reserved(memory):
    """PR #32184: one state less for requests, and no memory beyond what there is."""
    before, after = (
        sglang.pool(stack(QWEN), sgl(reserve_padding_state=reserve), memory)
        for reserve in (False, True)
    )
    size = sglang.state_bytes(stack(QWEN), sgl())
    cell = after.cell.profiled

    assert after.states == max(0, before.states - 1)
    if before.states:
        assert after.max_total_num_tokens == before.max_total_num_tokens
        assert (after.states + 1) * size + after.max_total_num_tokens * cell <= memory
