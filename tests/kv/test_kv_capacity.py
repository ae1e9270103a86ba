"""From GPUs to tokens, sequences and users."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculators.kv.capacity import (
    GPUS,
    Fit,
    Memory,
    generic_fit,
    llamacpp_fit,
    sglang_fit,
    tensorrt_fit,
    vllm_fit,
    weight_bytes,
)
from calculators.kv.dtypes import dtype
from calculators.kv.engines import llamacpp, sglang, tensorrt_llm, vllm
from calculators.kv.engines.steps import GIB
from calculators.kv.engines.vllm_pages import Options
from calculators.kv.layers import full
from calculators.kv.notation import from_text

BF16 = dtype("dtype", "bf16")
LLAMA = full(32, 8, 128)
QWEN = from_text("layers", "16*(3*state:48x128x128.g16.k4.float32,full:4x256)")


def test_what_is_left_for_the_cache():
    """0.9 of an H100, less two GiB and the weights of an 8B model."""
    memory = Memory(
        total_bytes=GPUS["H100 80GB"].memory_bytes,
        utilization=Fraction(9, 10),
        weight_bytes=weight_bytes(8_030_261_248, BF16),
    )

    expected = 81559 * 1024**2 * 9 // 10 - 16_060_522_496 - 2 * GIB
    assert memory.available_bytes == expected
    assert memory.derivation()[-1].value == expected


def test_weights_that_do_not_fit_leave_nothing():
    """A model larger than the GPU has no cache, not a negative one."""
    memory = Memory(total_bytes=GIB, utilization=Fraction(1), weight_bytes=2 * GIB)

    assert memory.available_bytes == 0


def test_weights_are_spread_over_ranks():
    """Each of eight ranks holds an eighth, rounded up."""
    memory = Memory(total_bytes=GIB, utilization=Fraction(1), weight_bytes=801, ranks=8)

    assert memory.rank_weight_bytes == 101


@pytest.mark.parametrize(
    ("size", "name"), [(2_000_000, "bf16"), (1_000_000, "fp8"), (562_500, "nvfp4")]
)
def test_weight_bytes(size, name):
    """A million parameters in a type, its block scales included."""
    assert weight_bytes(1_000_000, dtype("dtype", name)) == size


def test_every_gpu_has_a_source():
    """No memory figure without the place where it was read."""
    assert all(gpu.source and gpu.memory_mib > 10_000 for gpu in GPUS.values())


@given(st.integers(1, 100_000), st.integers(1, 10**12))
def test_generic_fit_is_the_last_that_fits(length, memory):
    """One more sequence would not fit."""
    fit = generic_fit(LLAMA, BF16, length, memory)
    each = 131072 * length

    assert fit.sequences * each <= memory < (fit.sequences + 1) * each
    assert fit.tokens == memory // 131072


def test_vllm_sequences_take_whole_pages():
    """1,000 blocks less the null one, seven for each sequence of 100 tokens."""
    options = Options(kv_cache_dtype=BF16, dtype=BF16)
    pool = vllm.pool_of_blocks(LLAMA, options, 1000)

    assert vllm_fit(pool, 100) == Fit(tokens=16000, sequences=999 // 7, limit="blocks")


def test_sglang_names_what_runs_out():
    """A hybrid model's states end before its tokens."""
    pool = sglang.pool(QWEN, sglang.Options(kv_cache_dtype=BF16, dtype=BF16), 10 * GIB)
    fit = sglang_fit(pool, 100)

    assert (fit.sequences, fit.limit) == (pool.states, "states")
    assert sglang_fit(pool, 10_000).limit == "tokens"


def test_sglang_windowed_pool():
    """Windowed layers keep at most their window of each sequence."""
    layers = from_text("layers", "5*(5*sliding:8x256@1024,full:2x512)")
    pool = sglang.pool(layers, sglang.Options(kv_cache_dtype=BF16, dtype=BF16), 10 * GIB)

    assert sglang_fit(pool, 8192, window=1024).limit == "tokens"
    assert sglang_fit(pool, 8192).limit == "swa"


@pytest.mark.parametrize(
    ("sequences", "length", "unified"),
    [(4, 16384, True), (2, 32768, True), (4, 16384, False), (0, 16385, False)],
)
def test_llamacpp_slots(sequences, length, unified):
    """Four slots of 65,536 cells, shared or split."""
    options = llamacpp.Options(
        ctx_size=65536, cache_type_k=BF16, cache_type_v=BF16, parallel=4, kv_unified=unified
    )

    assert llamacpp_fit(options, length).sequences == sequences


def test_tensorrt_sequences_take_whole_blocks():
    """631 blocks of 64 hold 315 sequences of 100 tokens."""
    pool = tensorrt_llm.Pool(bytes_per_token=1, max_tokens=40343, blocks=631, tokens_per_block=64)

    assert tensorrt_fit(pool, 100).sequences == 315


def test_users():
    """If a tenth of them is active, ten times as many users are served."""
    assert Fit(tokens=1, sequences=44, limit="tokens").users(Fraction(1, 10)) == 440
