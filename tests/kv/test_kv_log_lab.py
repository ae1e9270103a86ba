"""The log calculator: explained, explained under a supposition, or plainly not."""

import json

import pytest

from calculators.form.errors import ParameterError
from calculators.form.parse import parse
from calculators.kv.catalogue import MODELS
from calculators.kv.log_lab import Params
from calculators.kv.log_match import best_match
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
