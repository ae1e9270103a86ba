"""vLLM's refusals to start against those that it printed."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculators.kv.dtypes import dtype
from calculators.kv.engine_params import EngineParams
from calculators.kv.engines.vllm_pages import Options
from calculators.kv.engines.vllm_refusal import (
    estimated_max_model_len,
    needed_bytes,
    refusal,
    specs_by_rank,
)
from calculators.kv.estimates import estimate
from calculators.kv.log_match import best_match
from calculators.kv.log_settings import setting_of
from calculators.kv.logs import read_log
from calculators.kv.notation import from_text
from calculators.kv.shape import Shape

GIB = 1024**3
BF16 = dtype("dtype", "bfloat16")


def options(length, **changes):
    """Options with a bfloat16 cache."""
    return Options(kv_cache_dtype=BF16, dtype=BF16, max_model_len=length, **changes)


# A note in hzqjgthy/vllm, and one on vLLM 0.11.0 with Qwen3-VL-30B-A3B: what was printed.
PRINTED = [
    pytest.param("36*full:8x128", 40960, "5.62", "4.50", 32768, id="Qwen3-8B"),
    pytest.param("48*full:4x128", 262144, "24.00", "8.04", 87840, id="Qwen3-VL-30B-A3B"),
]


@pytest.mark.parametrize(("layers", "length", "needed", "available", "estimated"), PRINTED)
def test_printed_refusals(layers, length, needed, available, estimated):
    """The memory that one request needs, and a length within what the printed memory stands for."""
    setting = options(length)
    ranks = specs_by_rank(from_text("layers", layers), setting)
    low, high = ((float(available) + step) * GIB for step in (-0.005, 0.005))

    assert needed == f"{needed_bytes(ranks, setting) / GIB:.2f}"
    assert estimated_max_model_len(ranks, setting, int(low)) <= estimated
    assert estimated <= estimated_max_model_len(ranks, setting, int(high))


@pytest.mark.parametrize(("layers", "length", "needed", "available", "estimated"), PRINTED)
def test_a_pasted_refusal_is_explained(layers, length, needed, available, estimated):
    """Both figures of the error follow from the memory that it names."""
    text = (
        f"ERROR [core.py:708] ValueError: To serve at least one request with the models's max seq "
        f"len ({length}), ({needed} GiB KV cache is needed, which is larger than the available KV "
        f"cache memory ({available} GiB). Based on the available memory, the estimated maximum "
        f"model length is {estimated}. Try increasing `gpu_memory_utilization`"
    )
    log = read_log("log", text)
    found = best_match(Shape(stack=from_text("layers", layers)), log, setting_of(log))

    assert found.complete
    assert ["needed_gib", "estimated_max_model_len"] == [figure.field for figure in found.compared]


def test_windows_need_their_slack():
    """Layers with a window need pages for the batch beside it, and one more."""
    setting = options(8192, max_num_batched_tokens=2048)
    ranks = specs_by_rank(from_text("layers", "full:1x64,sliding:1x64@128"), setting)
    pages = 512 + -(-(127 + 2048) // 16) + 1

    assert pages * 16 * 2 * 64 * 2 == needed_bytes(ranks, setting)


def test_ranks_count_their_own_layers():
    """Pipeline ranks need what their own layers need; one without any needs nothing."""
    setting = options(16, pipeline_parallel_size=3)
    ranks = specs_by_rank(from_text("layers", "3*full:1x64,3*none"), setting)

    assert 2 * 16 * 2 * 64 * 2 == needed_bytes(ranks, setting)


@given(st.integers(1, 5000), st.integers(0, 10**9))
def test_the_estimated_length_fits_and_the_next_does_not(length, available):
    """The estimate is the longest length that fits."""
    setting = options(length)
    ranks = specs_by_rank(from_text("layers", "4*full:2x64,3*sliding:2x64@100"), setting)
    found = estimated_max_model_len(ranks, setting, available)
    longer = dataclasses.replace(setting, max_model_len=found + 1)

    assert (
        found == 0
        or needed_bytes(ranks, dataclasses.replace(setting, max_model_len=found)) <= available
    )
    assert found == length or needed_bytes(ranks, longer) > available


def test_no_refusal_where_it_fits():
    """An engine that starts refuses nothing."""
    assert refusal(from_text("layers", "full:1x64"), options(100), GIB) is None


def test_a_refusal_stands_in_place_of_the_report():
    """What is printed ends with the error, and no token line is made up."""
    shape = Shape(stack=from_text("layers", "36*full:8x128"))
    params = EngineParams(memory="available", max_model_len=40960)
    printed = estimate(shape, params, int(4.5 * GIB), 100).printed

    assert "(5.62 GiB KV cache is needed" in printed
    assert "GPU KV cache size" not in printed


def test_nothing_fits():
    """Where not even one token fits, no length is named."""
    text = refusal(from_text("layers", "full:1x64"), options(100), 1)

    assert text is not None
    assert "estimated" not in text
