"""LMCache's formula beside ours."""

import pytest

from calculators.kv.catalogue import MODELS
from calculators.kv.comparison import Params, row_of, solve
from calculators.kv.lmcache import Asked
from calculators.kv.published import CASES
from scripts import models, published
from scripts.paths import CALCULATORS

LLAMA = Asked(
    name="meta-llama/Llama-3.1-8B-Instruct", hidden_size=4096, num_attention_heads=32,
    num_hidden_layers=32, num_key_value_heads=8,
)  # fmt: skip


def test_every_figure_is_ours():
    """All printed figures of the table are reproduced by this site."""
    assert [case.id for case in CASES if not row_of(case).agrees(row_of(case).ours)] == []


def test_plain_models_agree():
    """Where every layer is full attention and the head width follows, both give the print."""
    row = row_of(next(case for case in CASES if case.id == "vllm-llama31-8b"))

    assert row.printed == row.ours == row.theirs


@pytest.mark.parametrize(
    ("elements", "changes"),
    [
        (2 * 32 * 8 * 128, {}),
        (32 * 576, {"name": "deepseek-ai/X-DeepSeek", "kv_lora_rank": 512, "qk_rope_head_dim": 64}),
        (2 * 32 * 8 * 128, {"kv_lora_rank": 512, "qk_rope_head_dim": 64}),
        (2 * 32 * 8 * 64, {"name": "Qwen/Qwen3-8B", "head_dim": 64}),
        (2 * 32 * 8 * 128, {"name": "zai-org/GLM-4.5", "head_dim": 64}),
    ],
    ids=["plain", "latent by name", "latent by fields is not seen", "head_dim", "not used"],
)
def test_their_formula(elements, changes):
    """Their special cases go by names."""
    asked = {name: getattr(LLAMA, name) for name in LLAMA.__dataclass_fields__} | changes

    assert Asked(**asked).elements_per_token == elements


def test_written_modules_are_up_to_date():
    """The catalogue and the published figures are what the program writes from data."""
    folder = CALCULATORS / "kv"

    assert (folder / "catalogue.py").read_text(encoding="utf-8") == models.source()
    assert (folder / "published.py").read_text(encoding="utf-8") == published.source()


@pytest.mark.parametrize("engine", ["all", "vllm"])
def test_counts(engine):
    """The counts are those of the rows."""
    result = solve(Params(engine=engine), lambda _: None)
    table = next(block for block in result.blocks if getattr(block, "id", "") == "comparison")

    assert result.status.values["count"] == len(table.rows)
    assert len(MODELS) >= 70
