"""The form through the one door: answers in both languages, memory's edge, bad input."""

import json
from fractions import Fraction
from math import ceil, floor
from pathlib import Path

import pytest
from floor_questions import BAD, CONFIG, GOOD, HUGE, TINY, text
from hypothesis import given
from hypothesis import strategies as st

from calculators import web
from calculators.floor.cards import CARDS
from calculators.floor.shown import digits_of, ms, tokens_per_s
from calculators.form.parse import parse
from calculators.kv.capacity import GPUS
from calculators.registry import find
from calculators.show.blocks import Notes, Plot, Table, numbers_of
from calculators.show.labels import LANGUAGES

ROOT = Path(__file__).parents[2]
EXPERTS = {"num_local_experts": 8, "num_experts_per_tok": 2}


def solved(**values):
    """The result of the form."""
    calculator = find("floor")
    return calculator.solve(parse(calculator.params, values), lambda _done: None)


def figures(**values):
    """Its figures."""
    return {name: shown.value for name, shown in numbers_of(solved(**values).blocks).items()}


def of_kind(kind, **values):
    """The blocks of a kind."""
    return [block for block in solved(**values).blocks if isinstance(block, kind)]


def notes(**values):
    """The keys of all notes and warnings."""
    return [item.key for block in of_kind(Notes, **values) for item in block.items]


def asked(lang, **values):
    """The reply of the door."""
    request = {"calculator": "floor", "lang": lang, "values": values}
    return json.loads(web.answer(json.dumps(request)))


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(("name", "values"), GOOD)
def test_every_answer_is_worded(name, values, lang):
    """Each answer comes in both languages, with nothing that lacks a label."""
    reply = asked(lang, **values)

    assert name == "floor"
    assert "error" not in reply
    assert reply["status"]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(("name", "values", "field"), BAD)
def test_bad_input_is_one_sentence(name, values, field, lang):
    """What cannot be used is named by its field, never a failure of ours."""
    reply = asked(lang, **values)

    assert name == "floor"
    assert field == reply["error"]["field"]


def test_the_default_is_llama_on_an_h100():
    """15.01 GB of weights take 4.480 ms, 32 × 2,176 rows 2.724 ms; 206 sequences fit."""
    found = figures()

    assert Fraction(7204, 1000) == found["tpot"]
    assert (Fraction("4.480"), Fraction("2.724")) == (found["weights_ms"], found["kv_ms"])
    assert (206, 296, 4442) == (found["fits"], found["critical_batch"], found["tokens_per_s"])
    assert "compute_bound_batch" not in found


def test_the_textbook_counts_the_embedding_as_read():
    """With no embedding table set apart, 16.06 GB over 3.35 TB/s: 4.794 ms."""
    assert Fraction("4.794") == figures(embedding_b="0")["weights_ms"]


def test_memory_ends_where_it_is_said_to():
    """What is left holds the cache of ``fits`` sequences and not of one more; less never fits."""
    free = floor(GPUS["H100 80GB"].memory_bytes * Fraction(9, 10)) - 16_060_522_496 - 2 * 2**30
    each = 2176 * 131_072

    assert 206 * each <= free < 207 * each
    assert "note.batch_does_not_fit" not in notes(batch="206")
    assert "note.batch_does_not_fit" in notes(batch="207")


@given(st.integers(1, 200_000), st.integers(1, 16), st.sampled_from(("8", "13", "70")))
def test_the_edge_is_exact(context, cards, billions):
    """Of any context: ``fits`` sequences fit beside the weights of a card, one more does not."""
    found = figures(
        stack="32*full:8x128", query_heads="32", parameters_b=billions,
        context_tokens=str(context), device_count=str(cards),
    )["fits"]  # fmt: skip
    usable = floor(GPUS["H100 80GB"].memory_bytes * Fraction(9, 10)) - 2 * 2**30
    free = max(0, usable - ceil(Fraction(int(billions) * 2 * 10**9, cards)))
    each = 32 * 2 * max(1, 8 // cards) * 128 * 2 * context

    assert found * each <= free < (found + 1) * each


def batches(**values):
    """The batches of the table."""
    [table] = of_kind(Table, **values)[:1]
    return [row[0].value for row in table.rows]


def test_the_table_ends_with_what_fits():
    """Powers of two, the batch that is asked about, and the largest that fits, last."""
    assert [1, 2, 4, 8, 16, 32, 64, 128, 206] == batches()
    assert [1, 2, 4, 8, 16, 32, 64, 100, 128, 206] == batches(batch="100")
    assert [1, 2, 4, 8, 16, 32, 64, 128, 206] == batches(batch="300")


def test_without_room_the_batch_asked_about_remains():
    """Nothing fits, so the table has the one row that was asked for, and a warning stands."""
    assert [32] == batches(model="meta-llama/Meta-Llama-3.1-70B", device="L40S")
    assert "note.weights_do_not_fit" in notes(model="meta-llama/Meta-Llama-3.1-70B", device="L40S")


def test_a_model_without_cache_has_no_limit():
    """Layers that keep nothing fill no memory, so no number says how many fit."""
    assert "fits" not in figures(stack="none", query_heads="1", parameters_b="1")


def test_the_throughput_is_the_batch_over_the_step():
    """32 tokens in 7.2 ms, rounded up where the time is rounded down."""
    found = figures()

    assert found["tokens_per_s"] - 1 <= 32 * 1000 / found["tpot"] <= found["tokens_per_s"] + 2


def test_the_context_is_the_mean_over_an_answer():
    """Cached and computed prompt and half of the output, unless it is stated."""
    stated = figures(context_tokens=str(1000 + 2048 + 100))

    assert stated["kv_ms"] == figures(cached_tokens="1000", output_tokens="200")["kv_ms"]


def test_efficiencies_make_it_an_estimate():
    """Half the bandwidth takes twice as long, and the note says what that is no longer."""
    half = figures(memory_efficiency_percent="50", embedding_b="0", context_tokens="1")
    whole = figures(embedding_b="0", context_tokens="1")

    assert abs(half["weights_ms"] - 2 * whole["weights_ms"]) <= Fraction(1, 1000)
    assert "note.estimate" in notes(memory_efficiency_percent="50")
    assert "note.bound" in notes()


def test_a_config_says_what_the_list_says():
    """A pasted config with the exact number of parameters is the model of the list."""
    same = figures(config=text(), parameters_b="8.030261248")

    assert figures() == same


def test_a_config_without_word_of_ties_has_two_tables():
    """Not stated, the tables are two: the bound is then too low rather than too high."""
    silent = {key: value for key, value in CONFIG.items() if key != "tie_word_embeddings"}

    assert figures(config=text(), parameters_b="8") == figures(
        config=json.dumps(silent), parameters_b="8"
    )
    assert (
        figures(config=text(tie_word_embeddings=True), parameters_b="8")["weights_ms"]
        > figures(config=text(), parameters_b="8")["weights_ms"]
    )


def test_a_config_whose_two_tables_cannot_be_has_one():
    """Where nothing is said of ties and two tables exceed the model, one serves both ends."""
    silent = {key: value for key, value in CONFIG.items() if key != "tie_word_embeddings"}
    said = figures(config=text(tie_word_embeddings=True), parameters_b="1")

    assert said == figures(config=json.dumps(silent), parameters_b="1")


@pytest.mark.parametrize("nest", ["text_config", "llm_config", "language_config", "thinker_config"])
def test_a_decoder_within_a_config_says_all(nest):
    """Heads and vocabulary are read from wherever the shape of the cache is read from."""
    nested = json.dumps({"model_type": "x", nest: CONFIG})

    assert figures(config=text(), parameters_b="8") == figures(config=nested, parameters_b="8")


@pytest.mark.parametrize("name", ["top_k_experts", "moe_top_k", "moe_topk", "moe_k"])
def test_experts_of_a_token_have_many_names(name):
    """Gemma 4, Step 3, HunYuan and ERNIE call the routed experts of a token otherwise."""
    given = {"parameters_b": "46.7", "active_parameters_b": "12.9"}
    other = {"num_local_experts": 8, name: 2}

    assert figures(config=text(**EXPERTS), **given) == figures(config=text(**other), **given)


@pytest.mark.parametrize("key", ["num_attention_heads", "vocab_size", "num_local_experts"])
def test_a_number_without_end_in_a_config_is_one_sentence(key):
    """Even where it has more digits than Python would write out."""
    endless = text(**{key: "here"}).replace('"here"', "9" * 5000)

    assert "config" == asked("en", config=endless, parameters_b="8")["error"]["field"]


def test_parts_larger_than_the_whole_are_told_in_the_form_s_unit():
    """Both numbers of the sentence are in 10⁹ as the fields are, and say that tables are two."""
    told = asked("en", parameters_b="0.001", embedding_b="0.5")["error"]["text"]

    assert "hold 1 together, more than the 0.001 that are active" in told


def test_an_address_in_place_of_a_config_gives_the_same():
    """What is written back for sharing leads to the figures of the config itself."""
    values = {
        "config": text(**EXPERTS), "parameters_b": "46.7", "active_parameters_b": "12.9",
        "device_count": "2",
    }  # fmt: skip
    written = dict(solved(**values).values)
    kept = {name: value for name, value in values.items() if name != "config"}

    assert figures(**values) == figures(**kept, **written)


def test_fp8_needs_a_stated_peak():
    """8-bit products double the H100's peak and with it the ridge."""
    assert Fraction(1978, 989) * figures()["ridge"] == figures(compute_dtype="fp8")["ridge"]


def test_cards_are_those_of_the_data():
    """Bandwidths and peaks in code are the ones that stand in data/ with their sources."""
    devices = json.loads((ROOT / "data/devices/devices.json").read_text(encoding="utf-8"))
    stated = {
        one["name"]: (one["tflop_per_s"], one["fp8_tflop_per_s"], one["memory_gb_per_s"])
        for one in devices["devices"]
    }

    assert stated == {
        card.name: (
            float(card.tflop_per_s),
            None if card.fp8_tflop_per_s is None else float(card.fp8_tflop_per_s),
            float(card.gb_per_s),
        )
        for card in CARDS.values()
    }


@given(st.fractions(Fraction(1, 10**6), 10**9))
def test_bounds_are_rounded_in_their_direction(value):
    """A least time is never shown longer, a highest rate never lower; four digits stay."""
    time, rate = ms(value / 1000), tokens_per_s(value)

    assert time.value <= value <= rate.value
    assert rate.value - time.value <= Fraction(1, 10 ** digits_of(value))
    assert time.value >= value * Fraction(999, 1000) or value < Fraction(1, 10**5)


@pytest.mark.parametrize("values", [HUGE, TINY, {}], ids=["huge", "tiny", "default"])
def test_plots_stay_small(values):
    """However much fits, a plot has a handful of points, and its x grows."""
    for plot in of_kind(Plot, **values):
        for series in plot.series:
            assert 1 <= len(series.points) <= 64
    assert len(of_kind(Table, **values)[0].rows) <= 64


def test_the_trade_off_ends_at_memory():
    """The last point at the left is the largest batch that fits."""
    trade_off = of_kind(Plot)[1]
    slowest = min(trade_off.series[0].points)

    assert abs(slowest[1] / slowest[0] - 206) < 1e-9 * 206


NOTED = [
    pytest.param({"model": "deepseek-ai/DeepSeek-V3"}, {"latent", "routing"}, id="mla, experts"),
    pytest.param({"model": "Qwen/Qwen3.5-27B"}, {"states", "named"}, id="states, a rounded name"),
    pytest.param({"weight_dtype": "fp8"}, {"weight_only"}, id="8-bit weights, 16-bit products"),
    pytest.param({"device_count": "2"}, {"parallel"}, id="several cards"),
    pytest.param({"context_tokens": "4096"}, {"never_compute_bound"}, id="a long context"),
    pytest.param({"embedding_b": "0"}, {"no_embedding"}, id="no embedding"),
]


@pytest.mark.parametrize(("values", "expected"), NOTED)
def test_assumptions_are_said(values, expected):
    """What was assumed stands in the notes; the default has none of it but the first."""
    found = {key.removeprefix("note.") for key in notes(**values)}

    assert expected <= found
    assert {"bound", "left_out", "context", "source"} <= found
