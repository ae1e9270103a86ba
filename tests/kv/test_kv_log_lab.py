"""The log calculator: explained, explained under a supposition, or plainly not."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculators.form.errors import ParameterError
from calculators.form.parse import parse
from calculators.kv.catalogue import MODELS
from calculators.kv.log_lab import Params
from calculators.kv.log_match import best_match, least_memory, most_memory
from calculators.kv.log_settings import named, setting_of, shape_of_log
from calculators.kv.logs import read_log
from calculators.kv.shape import shape_of
from calculators.web import answer
from tests.questions_kv import HIDDEN, LOGS, vllm_log

NAMES = [
    "report", "batched", "kv_dtype", "tensor_parallel", "block", "mamba_mode", "hybrid_off",
    "rank", "memory_free", "speculation", "page", "tensor_parallel", "tensor_parallel", "slots",
    "not_unified", "ubatch", "swa_full",
]  # fmt: skip


# vLLM 0.20.0 with Qwen3.6-35B-A3B-NVFP4, two draft tokens and prefix caching, 2026-05-03.
QWEN36_LOG = """
Initializing a V1 LLM engine (v0.20.0) with config: model='Qwen3.5-35B-A3B', \
speculative_config=SpeculativeConfig(method='mtp', num_spec_tokens=2), dtype=torch.bfloat16, \
max_seq_len=262144, tensor_parallel_size=1, kv_cache_dtype=fp8_e4m3
Setting attention block size to 2128 tokens to ensure that attention page size is >= mamba page size
Available KV cache memory: 66.37 GiB
Add 3 padding layers, may waste at most 10.00% KV cache memory
GPU KV cache size: 1,581,104 tokens
Maximum concurrency for 262,144 tokens per request: 21.86x
"""


def matched(values):
    """The match of a question's log."""
    params = parse(Params, values)
    log = read_log("log", params.log)
    return best_match(shape_of(params), log, setting_of(log))


def status(values):
    """The one sentence of the answer."""
    reply = answer(json.dumps({"calculator": "kv-log", "lang": "en", "values": values}))
    return json.loads(reply)["status"]


@pytest.mark.parametrize(("name", "question"), list(zip(NAMES, HIDDEN, strict=True)))
def test_what_a_log_leaves_out_is_found(name, question):
    """Lines printed under a setting that the log does not state lead back to that setting."""
    match = matched(question[1])

    assert match.complete
    assert name in {s.name for s in (*match.suppositions, *match.others)}


def test_an_explained_log():
    """A real log whose figures all follow from its own settings."""
    assert status({"log": LOGS["sglang"]}).startswith("Explained: all 3 figures")


def test_a_log_that_cannot_be_explained_says_so():
    """No block count prints these tokens, and nothing that is tried does."""
    _, values = vllm_log(2591777)

    assert status(values).startswith("Not explained: 1 figure")


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("meta-llama/Meta-Llama-3.1-8B", "meta-llama/Llama-3.1-8B-Instruct"),
        ("openai/gpt-oss-20b", "/models/gpt-oss-20b/"),
        ("Qwen/Qwen3-8B", "Qwen/Qwen3-8B-AWQ"),
    ],
)
def test_models_by_the_name_in_a_log(model, name):
    """Organisation, path, tuning and packing of weights change nothing about the cache."""
    assert named(name).layers == MODELS[model].layers


def test_a_model_that_is_not_known_is_asked_for():
    """No shape is guessed from a name."""
    assert named("acme/unheard-1B") is None
    with pytest.raises(ParameterError, match="model_not_known"):
        shape_of_log(
            read_log("log", "engine (v0.9) with config: model='acme/unheard-1B', max_seq_len=8")
        )


def test_block_counts_that_print_equal_tokens_are_told_apart():
    """743 blocks a group may be 2,972 to 2,975 of four groups: the printed 21.86x needs 2,973."""
    match = matched({"log": QWEN36_LOG, "source": "model", "model": "Qwen/Qwen3.5-35B-A3B"})

    assert match.complete
    assert [(s.name, s.value) for s in match.suppositions] == [("mamba_mode", "align")]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.integers(0, 5))
def test_memory_by_figure(steps, size):
    """The least and the most memory that give a figure, against looking at every one."""
    figures = sorted(steps)
    high = len(figures) - 1
    giving = [memory for memory, figure in enumerate(figures) if figure == size]
    least = least_memory(figures.__getitem__, size, 0, high)

    assert least == min(giving, default=None)
    if least is not None:
        assert most_memory(figures.__getitem__, size, least, high) == giving[-1]
