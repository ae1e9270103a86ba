"""The four calculators: every label in both languages, sensible answers, refusals in words."""

import pytest

from calculators import labels as label_files
from calculators.form.errors import ParameterError
from calculators.form.fields import kinds
from calculators.form.parse import parse
from calculators.prefix import lab_replay, lab_routing, lab_steps, lab_why
from calculators.prefix.block_script import SHIPPED_BLOCKS
from calculators.prefix.routing import ROUTES
from calculators.prefix.scenario import SHIPPED
from calculators.show.blocks import Plot, Table, numbers_of
from calculators.show.html import render
from calculators.show.labels import LANGUAGES
from calculators.show.text import render_text
from calculators.web import sentence

LABS = {
    "prefix-replay": lab_replay,
    "prefix-steps": lab_steps,
    "prefix-why": lab_why,
    "prefix-routing": lab_routing,
}
SMALL = {"groups": "6", "turns": "3", "shared": "40", "sweep_points": "4"}
CASES = [
    pytest.param("prefix-replay", SMALL, id="replay"),
    pytest.param(
        "prefix-replay",
        SMALL | {"kind": "tenants", "salt": "1", "engine": "vllm", "capacity_tokens": "4000"},
        id="replay of tenants on vLLM",
    ),
    pytest.param("prefix-replay", SMALL | {"capacity_tokens": "100"}, id="too small a cache"),
    pytest.param("prefix-replay", SMALL | {"policy": "tlru", "threshold": "900"}, id="tlru"),
    pytest.param(
        "prefix-replay",
        {"source": "own", "trace": '{"input_length": 9, "hash_ids": [1]}'},
        id="own trace",
    ),
    *(pytest.param("prefix-steps", {"scenario": name}, id=name) for name in SHIPPED),
    *(pytest.param("prefix-steps", {"script": name}, id=name) for name in SHIPPED_BLOCKS),
    pytest.param("prefix-steps", {"num_gpu_blocks": "2"}, id="too few blocks"),
    pytest.param("prefix-why", {}, id="why"),
    pytest.param(
        "prefix-why",
        {"between": "a b\nc", "capacity_tokens": "96", "later_salt": "s", "later_images": "i@2+3"},
        id="why with everything",
    ),
    pytest.param(
        "prefix-why",
        {"reading": "token_ids", "earlier": "[1, 2, 3]", "later": "[1, 2, 3]"},
        id="why a repeat",
    ),
    pytest.param("prefix-routing", {"groups": "6", "turns": "3"}, id="routing"),
]


def answer(name, values):
    """The result of a calculator for form values."""
    return LABS[name].solve(parse(LABS[name].Params, values), lambda _done: None)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(("name", "values"), CASES)
def test_every_answer_renders_in_both_languages(lang, name, values):
    """No label of an answer is missing, in HTML, text and status."""
    labels = label_files.load(name, lang)
    result = answer(name, values)

    assert render(result, labels)
    assert render_text(result, labels)
    assert labels.plain(result.status)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", LABS)
def test_every_field_has_its_labels(name, lang):
    """Fields, groups and labelled options are worded."""
    labels = label_files.load(name, lang)
    for field, kind in kinds(LABS[name].Params).items():
        assert labels.text(f"field.{field}.label")
        assert labels.text(f"group.{kind.group}")
        if getattr(kind, "labelled", False):
            assert all(labels.text(f"option.{field}.{option}") for option in kind.options)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        pytest.param("prefix-replay", {"trace": ""}, id="no file"),
        pytest.param("prefix-replay", {"source": "own", "trace": '{"hash'}, id="cut off"),
        pytest.param("prefix-replay", {"source": "own", "trace": '{"a": 1}'}, id="no tokens"),
        pytest.param(
            "prefix-replay",
            {
                "source": "own",
                "trace": '{"hash_ids": [1], "input_length": 9}',
                "capacity_tokens": "5",
            },
            id="capacity below a block",
        ),
        pytest.param("prefix-replay", {"capacity_tokens": "0"}, id="capacity 0"),
        pytest.param("prefix-replay", {"page_size": "0"}, id="page 0"),
        pytest.param("prefix-replay", {"groups": "5000", "turns": "100"}, id="too large a trace"),
        pytest.param("prefix-replay", {"policy": "tlru", "threshold": "5"}, id="budget"),
        pytest.param("prefix-steps", {"operations": "unlock r"}, id="unlock"),
        pytest.param("prefix-steps", {"operations": "remove a"}, id="operation"),
        pytest.param("prefix-steps", {"scenario": "own", "operations": ""}, id="no scenario"),
        pytest.param("prefix-steps", {"requests": "finish r"}, id="finish of nobody"),
        pytest.param("prefix-steps", {"requests": "start r a\nstart r a"}, id="started twice"),
        pytest.param("prefix-steps", {"requests": "finish"}, id="finish without a name"),
        pytest.param("prefix-why", {"earlier": ""}, id="no prompt"),
        pytest.param("prefix-why", {"later_images": "cat"}, id="image"),
        pytest.param("prefix-why", {"reading": "token_ids"}, id="words as ids"),
        pytest.param("prefix-why", {"between": "a", "capacity_tokens": "3"}, id="small cache"),
        pytest.param("prefix-routing", {"capacity_tokens": "0"}, id="routing capacity"),
        pytest.param("prefix-routing", {"trace": "a b\na c"}, id="routing without times"),
    ],
)
def test_refusals_are_sentences_in_both_languages(name, values):
    """What cannot be used is refused in one sentence, in English and in Chinese."""
    with pytest.raises(ParameterError) as error:
        answer(name, {"source": "own"} | values if "trace" in values else values)
    for lang in LANGUAGES:
        assert sentence(error.value, label_files.load(name, lang))


def test_the_headline_is_what_the_figures_say():
    """Hit rate = reused over reused and computed."""
    result = answer("prefix-replay", SMALL)
    found = {name: quantity.value for name, quantity in numbers_of(result.blocks).items()}
    total = found["reused"] + found["computed"]

    assert 100 * found["reused"] / total == pytest.approx(float(found["hit_rate"]))


def test_progress_reaches_its_end():
    """Long work tells how far it is, never backwards."""
    seen = []
    lab_routing.solve(parse(lab_routing.Params, {"groups": "5"}), seen.append)

    assert sorted(seen) == seen
    assert seen[-1] == 1


def test_every_route_is_a_row():
    """The table of the routing lab has all policies."""
    result = answer("prefix-routing", {"groups": "5"})
    [table] = [block for block in result.blocks if isinstance(block, Table)]

    assert len(ROUTES) == len(table.rows)


def series_of(result):
    """The names of the lines of an answer's sweep."""
    [plot] = [block for block in result.blocks if isinstance(block, Plot)]
    return [getattr(series.name, "key", series.name) for series in plot.series]


@pytest.mark.parametrize(
    ("values", "names"),
    [
        pytest.param({}, ["lru", "lfu", "fifo"], id="default"),
        pytest.param({"policy": "slru"}, ["slru", "lru", "lfu"], id="chosen first"),
        pytest.param({"engine": "vllm"}, ["lru"], id="vLLM"),
    ],
)
def test_the_sweep_has_the_chosen_policy_and_the_ceiling(values, names):
    """The chosen policy is always among the lines, and the ceiling is above them."""
    assert [*names, "series.ceiling"] == series_of(answer("prefix-replay", SMALL | values))


def test_a_new_capacity_does_not_run_the_sweep_again():
    """The curves of the last trace are kept: no progress of theirs is told twice."""
    told = []
    for capacity in ("3000", "4000"):
        values = SMALL | {"capacity_tokens": capacity, "seed": "77"}
        lab_replay.solve(parse(lab_replay.Params, values), told.append)

    assert told == sorted(told)
    assert told.count(1) == 1
