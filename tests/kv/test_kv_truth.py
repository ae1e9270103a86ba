"""The handed facts and printed figures, run through the same door as any case file."""

import json
from pathlib import Path

import pytest

from calculators.kv.models import from_json, search, to_json
from calculators.kv.notation import to_text
from scripts.truth import kv_cases, kv_configs
from scripts.truth.__main__ import verdicts_of

ROOT = Path(__file__).parents[2]
MODELS = ROOT / "data" / "models" / "models.json"
TRUTH = ROOT / "data" / "truth" / "kv.json"
HANDED = ROOT.parent / "shared" / "cases"


@pytest.mark.parametrize("path", [MODELS, TRUTH], ids=["models", "printed figures"])
def test_every_case_passes(path):
    """No figure of the repository's own cases fails or is left out."""
    assert [v for v in verdicts_of(path) if v.outcome != "passed"] == []


@pytest.mark.skipif(not HANDED.is_dir(), reason="the handed cases are not beside this tree")
@pytest.mark.parametrize(
    ("cases", "not_run", "name"),
    [(38, [], "kv_cases.json"), (79, ["bigcode/santacoder"], "kv_configs.json")],
)
def test_handed_files(cases, not_run, name):
    """Every handed case passes; one model's facts lack the number of KV heads, by its own note."""
    found = list(verdicts_of(HANDED / name))

    assert len({v.case for v in found}) == cases
    assert [v for v in found if v.outcome == "failed"] == []
    assert sorted({v.case for v in found if v.outcome == "not run"}) == not_run


def test_printed_gib_allow_the_stated_blocks():
    """Where a case states which block counts its GiB print allows, these are ours."""
    checked = 0
    for case in json.loads(TRUTH.read_text(encoding="utf-8")):
        allowed = case.get("allowed_by_print", {}).get("num_gpu_blocks")
        if allowed:
            blocks = [figures["num_gpu_blocks"] for figures in kv_cases.vllm_figures(case)]
            assert [min(blocks), max(blocks)] == allowed
            checked += 1

    assert checked > 5


def changed(**changes):
    """The first printed figure's case with some keys changed."""
    case = json.loads(TRUTH.read_text(encoding="utf-8"))[0]
    return [{**case, **changes}]


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"new_key": 1}, id="a key of the case"),
        pytest.param({"engine": "unheard-of"}, id="an engine"),
        pytest.param({"given": {"strange": 1}}, id="an input"),
        pytest.param({"config_facts": {"strange": 1}}, id="a fact"),
        pytest.param({"expected": {"strange": 1}}, id="a figure"),
        pytest.param({"given": {"max_model_len": 8192}}, id="an input that is missing"),
    ],
)
def test_what_is_not_known_is_not_run(changes):
    """An unknown key never counts as passed."""
    found = list(kv_cases.verdicts(changed(**changes), TRUTH))

    assert {v.outcome for v in found} == {"not run"}


def test_a_wrong_figure_fails():
    """A figure outside what the inputs allow is a failure, with what was computed."""
    expected = {"gpu_kv_cache_tokens": 36592, "max_concurrency": 4.46}
    found = list(kv_cases.verdicts(changed(expected=expected), TRUTH))

    assert [v.outcome for v in found] == ["failed", "passed"]


def test_figures_must_fit_together():
    """Two figures that each lie in range, but under no one block count, do not both pass."""
    expected = {"num_gpu_blocks": 15994, "gpu_kv_cache_tokens": 36560}
    found = list(kv_cases.verdicts(changed(expected=expected), TRUTH))

    assert "failed" in {v.outcome for v in found}


def test_models_have_sources_and_layers():
    """At least 70 models, each with repository, path and commit, and layers that parse."""
    models = from_json(MODELS.read_text(encoding="utf-8"))

    assert len(models) >= 70
    assert all(m.repo and m.path and len(m.commit) == 40 for m in models)
    assert all(to_text(m.stack) == m.layers for m in models)


def test_models_agree_with_their_facts():
    """The layers of the list are those that the facts beside them give."""
    for record in json.loads(MODELS.read_text(encoding="utf-8")):
        reading = kv_configs.read_config(json.dumps(kv_configs.config_of(record["facts"])))
        assert to_text(reading.stack) == record["reading"]["layers"]


def test_short_form_of_the_list():
    """The form for the browser gives the same models in a quarter of the bytes."""
    text = MODELS.read_text(encoding="utf-8")
    short = to_json(from_json(text))

    assert from_json(short) == from_json(text)
    assert len(short) * 3 < len(text)


@pytest.mark.parametrize(
    ("name", "query"),
    [("Qwen/Qwen3-8B", "qwen3-8b"), ("deepseek-ai/DeepSeek-R1", "DeepSeek r1")],
)
def test_search(name, query):
    """A model is found by parts of its name, in any case and order."""
    models = from_json(MODELS.read_text(encoding="utf-8"))

    assert name in [m.name for m in search(models, query)]
    assert len(search(models, "")) == len(models)


LLAMA = {"layers": 32, "num_kv_heads": 8, "head_size": 128}
QWEN27 = {
    "num_hidden_layers": 64, "layers_full": 16, "layers_linear": 48, "num_key_value_heads": 4,
    "head_dim": 256, "linear_num_key_heads": 16, "linear_num_value_heads": 48,
    "linear_key_head_dim": 128, "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4,
    "mamba_ssm_dtype": "float32",
}  # fmt: skip
LATENT = {"num_hidden_layers": 61, "kv_lora_rank": 512, "qk_rope_head_dim": 64}
GPT_OSS = {
    "num_hidden_layers": 24, "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64,
    "sliding_window": 128, "layer_types": ["sliding_attention", "full_attention"] * 12,
}  # fmt: skip


def case(engine="vllm", facts=LLAMA, given=None, expected=None, **changes):
    """A case with as little as one can have."""
    return {
        "id": "x", "source": "", "engine": engine, "config_facts": facts, "given": given or {},
        "expected": expected, **changes,
    }  # fmt: skip


SPELT = {
    "other names of facts and inputs": case(
        given={"available_kv_gib": 58.11}, expected={"tokens": 476016}
    ),
    "a config's own list of layers": case(
        facts=GPT_OSS, tensor_parallel_size=2, engine_version="v0.19.0rc1",
        given={"available_kv_cache_memory_gib": 59.32, "max_seq_len": 8192},
        expected={"gpu_kv_cache_tokens": 2591776, "max_concurrency": "316.07x"},
    ),
    "Gemma 4's own keys": case(
        "sglang", facts={
            "model_type": "gemma4_text", "num_hidden_layers": 30, "num_attention_heads": 16,
            "num_key_value_heads": 8, "head_dim": 256, "global_head_dim": 512,
            "num_global_key_value_heads": 2, "attention_k_eq_v": True, "sliding_window": 1024,
            "layer_types": (["sliding_attention"] * 5 + ["full_attention"]) * 5,
            "vocab_size": 262144,
        }, expected={"cell_size_bytes": 184320},
    ),
    "GPT-Neo's list of kinds": case(
        "document", facts={
            "num_layers": 4, "num_heads": 8, "hidden_size": 512, "window_size": 256,
            "attention_layers": ["global", "local"] * 2,
        }, given={"context": 1024}, expected={"kv_mib": 5.0},
    ),
    "Mamba 2 layers, counted": case(
        facts={
            "layers_attention": 6, "layers_mamba": 23, "layers_mlp": 23, "num_kv_heads": 2,
            "head_dim": 128, "mamba_num_heads": 64, "mamba_head_dim": 64, "mamba_d_state": 128,
            "mamba_n_groups": 8, "mamba_d_conv": 4, "mamba_ssm_cache_dtype": "float32",
        },
        expected={"attention_block_size": 2096},
    ),
    "Whisper's own keys": case(
        facts={
            "model_type": "whisper", "is_encoder_decoder": True, "decoder_layers": 32,
            "decoder_attention_heads": 20, "d_model": 1280, "max_source_positions": 1500,
            "vocab_size": 51866,
        }, given={"num_gpu_blocks": 9000, "max_model_len": 448, "max_encoder_tokens": 2048},
        expected={"max_concurrency": 57.69},
    ),
    "a known model by its name": case(
        facts={}, model="meta-llama/Llama-3.1-8B-Instruct", kv_dtype="fp8 (per tensor)",
        given={"available_kv_cache_memory_gib": 58.11}, expected={"gpu_kv_cache_tokens": 952032},
    ),
    "memory rank by rank": case(
        given={"available_kv_cache_memory_gib": [58.9, 58.11]}, tp=2,
        expected={"gpu_kv_cache_tokens": 952048},
    ),
    "a refusal": case(
        facts={"num_layers": 36, "num_kv_heads": 8, "head_dim": 128},
        given={"available_kv_cache_memory_gib": 4.5, "max_model_len": 40960},
        expected={"needed_gib": 5.62, "estimated_max_model_len": 32768},
    ),
    "blocks of the newer token line": case(
        engine_version="0.24.0", given={"gpu_kv_cache_tokens": 107824, "max_model_len": 32768},
        expected={"max_concurrency": 3.29},
    ),
    "a hybrid's block without memory": case(facts=QWEN27, expected={"attention_block_size": 784}),
    "fp8, two speculative tokens": case(
        facts=QWEN27, kv_dtype="fp8", given={"num_speculative_tokens": 2},
        expected={"attention_block_size": 1600},
    ),
    "fp8 on two ranks": case(
        facts=QWEN27, kv_dtype="fp8", tp=2, expected={"attention_block_size": 1568}
    ),
    "fp8_ds_mla": case(
        facts=LATENT, kv_dtype="fp8_ds_mla", expected={"bytes_per_token": 61 * 656}
    ),
    "scales per token and head": case(
        kv_dtype="fp8 (per token head)", expected={"bytes_per_token": 32 * 2 * 8 * (128 + 4)}
    ),
    "NVFP4": case(kv_dtype="nvfp4", expected={"bytes_per_token": 32 * 2 * 8 * 72}),
    "TurboQuant": case(
        kv_dtype="turboquant_k8v4", expected={"bytes_per_token": 8 * (28 * 196 + 4 * 512)}
    ),
    "context parallel": case(
        facts=LATENT, tp=8, given={"dcp": 8, "available_kv_gib": 7.06, "max_model_len": 32768},
        expected={"gpu_kv_cache_tokens": 862592, "max_concurrency": 26.32},
    ),
    "SGLang's free memory": case(
        "SGLang", given={
            "free_after_weights_gib": 60.0, "total_gib": 80.0, "mem_fraction_static": 0.875,
        }, expected={"max_total_num_tokens": 409600},
    ),
    "llama.cpp's two types": case(
        "llamacpp", kv_dtype="q8_0/q4_0", given={"ctx_size": 4096, "n_parallel": 1},
        expected={"k_mib": 136, "v_mib": 72},
    ),
    "llama.cpp's latent row": case(
        "ik_llama.cpp", facts=LATENT, kv_dtype="q8_0", given={"n_ctx": 32768},
        expected={"kv_mib": 1166.62},
    ),
    "TensorRT-LLM rounds blocks up": case(
        "TensorRT-LLM", facts={"n_layer": 32, "n_head": 32, "head_dim": 128}, block_size=64,
        given={"free_gib": 21.89}, expected={"blocks": 631},
    ),
    "a document's batch": case(
        "document", given={"context_length": 128000, "batch": 4}, expected={"kv_gib": 62.5}
    ),
}  # fmt: skip


@pytest.mark.parametrize("written", [pytest.param(c, id=name) for name, c in SPELT.items()])
def test_kinds_and_spellings(written):
    """Every kind of the rules runs, however its keys are spelt."""
    assert [v for v in kv_cases.verdicts([written], TRUTH) if v.outcome != "passed"] == []


def test_a_config_key_that_nothing_reads_is_not_run():
    """A fact that the reading of a config passes over is unknown, and named."""
    written = case(
        facts={**GPT_OSS, "strange": 1}, given={"available_kv_gib": 1.0}, expected={"tokens": 1}
    )
    [found] = kv_cases.verdicts([written], TRUTH)

    assert ("not run", "unknown: strange") == (found.outcome, found.reason)
