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
