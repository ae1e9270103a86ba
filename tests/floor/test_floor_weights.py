"""Weights: what is read and multiplied, experts, and the counts of known models."""

import json
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from floor_models import BFLOAT16, LLAMA_8B, mixture
from hypothesis import given
from hypothesis import strategies as st

from calculators.floor.counts import COUNTS, Count, known, named
from calculators.floor.vocabularies import VOCABULARIES
from calculators.floor.weights import Experts, Weights, power_above
from calculators.form.errors import ParameterError
from calculators.kv.catalogue import MODELS
from calculators.kv.dtypes import dtype
from calculators.serving.roofline import MODELS as ROOFLINES
from calculators.tiering.widths import WIDTHS

ROOT = Path(__file__).parents[2]
DATA = json.loads((ROOT / "data/devices/parameter_counts.json").read_text(encoding="utf-8"))
SMALL = Fraction(1, 2**100)


def test_dense_weights_are_read_whole():
    """8,030,261,248 parameters of 16 bits are 16.06 GB, whatever the batch."""
    assert 16_060_522_496 == LLAMA_8B.read_bytes(1) == LLAMA_8B.read_bytes(1000)
    assert 2 * 8_030_261_248 * 7 == LLAMA_8B.decode_flop(7)


def test_the_input_embedding_is_looked_up():
    """Untied it is neither read nor multiplied; tied it is the output's matrix, which is both."""
    table = 128_256 * 4096
    untied = Weights(parameters=8_030_261_248, active=8_030_261_248, dtype=BFLOAT16,
                     embedding=table)  # fmt: skip
    tied = Weights(parameters=8_030_261_248, active=8_030_261_248, dtype=BFLOAT16,
                   embedding=table, tied=True)  # fmt: skip

    assert 2 * (8_030_261_248 - table) == untied.read_bytes(1) == untied.decode_flop(1)
    assert 2 * 8_030_261_248 == tied.read_bytes(1) == tied.decode_flop(1)


def test_a_prompt_needs_the_vocabulary_once():
    """Of 100 tokens 99 stop before the output's matrix; a prompt of one is a decode step."""
    one = Weights(parameters=1000, active=1000, dtype=BFLOAT16, embedding=100)

    assert 2 * (100 * (1000 - 100 - 100) + 100) == one.prefill_flop(100)
    assert one.decode_flop(1) == one.prefill_flop(1)
    assert 0 == one.prefill_flop(0)


def chosen(experts, per_token, tokens):
    """The mean share of experts that some token uses, over all choices of consecutive experts."""
    ways = [{(first + step) % experts for step in range(per_token)} for first in range(experts)]
    used = [len(set().union(*some)) for some in product(ways, repeat=tokens)]
    return Fraction(sum(used), len(used) * experts)


@pytest.mark.parametrize(
    ("experts", "per_token", "tokens"), [(4, 1, 3), (4, 2, 3), (5, 2, 4), (3, 3, 2), (6, 1, 1)]
)
def test_the_read_share_is_the_mean_over_all_routings(experts, per_token, tokens):
    """1 − (1 − k/E)^N, by going through every routing in which each expert is equally likely."""
    found = Experts(total=experts, per_token=per_token).read_share(tokens)

    assert chosen(experts, per_token, tokens) - SMALL < found <= chosen(experts, per_token, tokens)


def test_one_token_reads_what_is_active():
    """Shared and routed parts follow from all, active and k/E: one token reads the active ones."""
    found = mixture(235_093_634_560, 22_190_763_520, 128, 8)

    assert 94 * 128 * 3 * 4096 * 1536 == found.routed
    assert 0 <= found.active * 2 - found.read_bytes(1) < 1
    assert found.parameters * 2 - found.read_bytes(100_000) < 1


@given(st.fractions(0, 1, max_denominator=1000), st.integers(0, 300))
def test_powers_are_rounded_up_by_next_to_nothing(base, exponent):
    """The fixed-point power is the exact one or just above."""
    assert 0 <= power_above(base, exponent) - base**exponent < SMALL


@given(st.integers(1, 64), st.integers(1, 64), st.integers(1, 5000))
def test_more_tokens_read_no_fewer_experts(one, other, tokens):
    """The share never falls, and never exceeds one."""
    experts = Experts(total=max(one, other), per_token=min(one, other))

    assert experts.read_share(tokens) <= experts.read_share(tokens + 1) + SMALL
    assert experts.share - SMALL < experts.read_share(tokens) <= 1


@pytest.mark.parametrize(
    ("name", "bits"), [("bfloat16", 16), ("fp8", 8), ("nvfp4", "4.5"), ("mxfp4", "4.25")]
)
def test_a_parameter_has_its_share_of_a_scale(name, bits):
    """4 bits with an 8-bit scale for 16 or 32 of them are 4.5 or 4.25 bits."""
    one = Weights(parameters=1, active=1, dtype=dtype("dtype", name))

    assert Fraction(bits) / 8 == one.bytes_each


WRONG = [
    pytest.param({"active": 11}, "active_parameters_b", "larger_than", id="more active than all"),
    pytest.param({"embedding": 6}, "embedding_b", "tables_too_large", id="tables of over half"),
    pytest.param({"embedding": 11, "tied": True}, "embedding_b", "table_too_large",
                 id="a table of more than all"),
    pytest.param({"active": 9, "experts": Experts(total=2, per_token=3)}, "experts_per_token",
                 "larger_than", id="more experts than there are"),
    pytest.param({"active": 1, "experts": Experts(total=2, per_token=1)}, "active_parameters_b",
                 "experts_do_not_fit", id="experts larger than the model"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "field", "reason"), WRONG)
def test_contradictions_are_refused(change, field, reason):
    """Numbers that cannot be together name the field that is wrong."""
    with pytest.raises(ParameterError) as caught:
        Weights(**({"parameters": 10, "active": 10, "dtype": BFLOAT16} | change)).check()

    assert (field, reason) == (caught.value.field, caught.value.reason)


def grouped(s, *, biased=False):
    """Attention with KV heads: its parameters of one layer."""
    width, rows = s["heads"] * s["head_dim"], s["kv_heads"] * s["head_dim"]
    found = s["hidden"] * (2 * width + 2 * rows)
    found += 2 * s["head_dim"] if s.get("qk_norm") else 0
    return found + (width + 2 * rows + s["hidden"] + s["heads"] if biased else 0)


def latent(s):
    """Attention with a compressed cache: its parameters of one layer."""
    query = s["hidden"] * s["q_rank"] + s["q_rank"]
    query += s["q_rank"] * s["heads"] * (s["nope"] + s["rope"])
    rows = s["hidden"] * (s["kv_rank"] + s["rope"]) + s["kv_rank"]
    rows += s["kv_rank"] * s["heads"] * (s["nope"] + s["value"])
    return query + rows + s["heads"] * s["value"] * s["hidden"]


def counted(s, experts):
    """Parameters of a shape with so many routed experts in a layer; None is the plain MLP."""
    biased, hidden = s["kind"] == "biased", s["hidden"]
    one = 3 * hidden * s["intermediate"] + (2 * s["intermediate"] + hidden if biased else 0)
    layer = (latent(s) if s["kind"] == "latent" else grouped(s, biased=biased)) + 2 * hidden
    if experts is None:
        mlp = one
    else:
        mlp = one * (experts + s.get("shared", 0)) + s["experts"] * hidden  # and the router
        mlp += s["experts"] if s["kind"] in {"latent", "biased"} else 0  # and its bias
    dense = s.get("dense_layers", 0)
    found = s["layers"] * layer + (s["layers"] - dense) * mlp
    found += dense * 3 * hidden * s.get("dense_intermediate", 0)
    return found + hidden + s["vocabulary"] * hidden * (1 if s.get("tied") else 2)


@pytest.mark.parametrize("shape", DATA["shapes"], ids=lambda shape: shape["model"])
def test_counts_follow_from_the_shapes(shape):
    """Matrices, norms and biases of every layer add up to the number in the table."""
    experts, per_token = shape.get("experts"), shape.get("per_token")
    expected = Count(
        parameters=counted(shape, experts),
        active=None if experts is None else counted(shape, per_token),
        experts=experts,
        per_token=per_token,
        embedding=shape["vocabulary"] * shape["hidden"],
        tied=shape.get("tied", False),
    )

    assert expected == COUNTS[shape["model"]]


def test_every_count_has_a_shape_and_a_source():
    """No number without the shape that it was counted from, and no shape without a source."""
    assert {COUNTS[shape["model"]] for shape in DATA["shapes"]} == set(COUNTS.values())
    assert all(shape["source"] for shape in DATA["shapes"])
    assert set(COUNTS) <= set(MODELS)


def test_the_schedulers_counts_are_the_same():
    """The models that the scheduling model knows as well have the same parameters there."""
    names = {
        "llama_3_1_8b": "meta-llama/Meta-Llama-3.1-8B",
        "llama_3_1_70b": "meta-llama/Meta-Llama-3.1-70B",
        "qwen3_8b": "Qwen/Qwen3-8B",
    }

    for short, name in names.items():
        assert ROOFLINES[short].parameters == COUNTS[name].parameters


def test_vocabularies_are_those_of_the_data():
    """The table in code is the one that stands in data/ with its source."""
    rows = {name: tuple(rest) for name, *rest in DATA["rows"]}

    assert rows == {
        name: (one.words, one.experts, one.per_token) for name, one in VOCABULARIES.items()
    }
    assert set(VOCABULARIES) == set(WIDTHS)


NAMES = [
    pytest.param("Qwen/Qwen2.5-7B-Instruct", 7 * 10**9, None, id="a size"),
    pytest.param("Qwen/Qwen3.5-35B-A3B", 35 * 10**9, 3 * 10**9, id="all and active"),
    pytest.param("org/Model-1.5b", 1_500_000_000, None, id="a part of a billion"),
    pytest.param("mistralai/Mixtral-8x22B-v0.1", None, None, id="eight times is no size"),
    pytest.param("meta-llama/Llama-4-Scout-17B-16E-Instruct", None, None, id="active ones alone"),
    pytest.param("gpt2-xl", None, None, id="no number"),
]


@pytest.mark.parametrize(("name", "parameters", "active"), NAMES)
def test_names_say_how_many(name, parameters, active):
    """What a name states is read, what it does not state is not guessed."""
    found = named(name)

    assert (parameters, active) == ((found.parameters, found.active) if found else (None, None))


def test_what_a_name_says_is_completed_from_the_list():
    """Experts and the embedding's size come from the list of vocabularies and widths."""
    found = known("Qwen/Qwen3.5-35B-A3B")

    assert (256, 8, 248_320 * 2048) == (found.experts, found.per_token, found.embedding)
