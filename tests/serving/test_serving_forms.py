"""The two forms through the door for text: both languages, every choice, every refusal worded."""

import json

import pytest

from calculators import labels
from calculators.form.errors import ParameterError
from calculators.form.fields import Choice, kinds
from calculators.form.parse import parse
from calculators.serving import load_workbench, workbench
from calculators.serving.chrome_trace import chrome_trace
from calculators.show.export import to_csv, to_json
from calculators.show.html import render
from calculators.show.text import render_text
from calculators.web import sentence

FORMS = {"serving": workbench, "serving-load": load_workbench}
SMALL = {"count": "60", "prompt": "200, 50", "output": "5, 9"}
TABLE = "prefill_tokens,decodes,time_us\n0,1,100\n0,64,900\n2048,1,90000\n2048,64,91000\n"


def solved(name, **values):
    """The answer of a form."""
    module = FORMS[name]
    given = {**(SMALL if name == "serving-load" else {}), **values}
    return module.solve(parse(module.Params, given), lambda _done: None)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", FORMS)
def test_answers_are_worded(name, lang):
    """Every label of the default answer exists in both languages, in all renderings."""
    result, words = solved(name), labels.load(name, lang)

    assert "<table>" in render(result, words)
    assert render_text(result, words)
    assert to_csv(result)
    assert json.loads(to_json(name, {}, result))


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", FORMS)
def test_fields_and_options_are_worded(name, lang):
    """Every field, group and labelled option has its label."""
    words = labels.load(name, lang)

    for field, kind in kinds(FORMS[name].Params).items():
        assert words.has(f"field.{field}.label"), field
        assert words.has(f"group.{kind.group}"), kind.group
        if isinstance(kind, Choice) and kind.labelled:
            for option in kind.options:
                assert words.has(f"option.{field}.{option}"), option


@pytest.mark.parametrize("scenario", ["stall", "three", "shortage", "long_prompt", "timeout"])
def test_every_shipped_scenario_runs_under_every_policy(scenario):
    """With and without a limit of blocks."""
    for blocks in ("", "6"):
        result = solved("serving", scenario=scenario, num_blocks=blocks)

        assert len(result.data["schedules"]) == 7
        render(result, labels.load("serving", "en"))


@pytest.mark.parametrize(
    "values",
    [
        pytest.param({"workload": "bursty", "rate": "20"}, id="bursty"),
        pytest.param({"workload": "on_off"}, id="on and off"),
        pytest.param({"workload": "closed", "users": "4"}, id="closed loop"),
        pytest.param({"trace": "arrival_s,prompt,output\n0,5,2\n1,9,3\n"}, id="trace"),
        pytest.param({"cost": "roofline"}, id="roofline"),
        pytest.param({"cost": "table", "table": TABLE}, id="table"),
        pytest.param({"timeout_ms": "50", "max_queue": "2", "rate": "50"}, id="timeouts, rejects"),
        pytest.param({"tool": "MLPerf"}, id="another tool"),
    ],
)
def test_every_kind_of_load_is_answered(values):
    """All workloads and cost models, worded in both languages."""
    result = solved("serving-load", **values)

    for lang in ("en", "zh"):
        assert render(result, labels.load("serving-load", lang))


@pytest.mark.parametrize(
    ("name", "values", "field"),
    [
        pytest.param("serving", {"requests": "A,0,0,1"}, "requests", id="empty prompt"),
        pytest.param("serving", {"requests": "A,0,1,1\nA,0,1,1"}, "requests", id="id twice"),
        pytest.param("serving", {"scenario": "own", "requests": "\n"}, "requests", id="none"),
        pytest.param("serving-load", {"trace": "x\n"}, "trace", id="columns"),
        pytest.param("serving-load", {"cost": "table"}, "table", id="no table"),
        pytest.param(
            "serving-load", {"cost": "table", "table": TABLE[:-16]}, "table", id="hole in a table"
        ),
        pytest.param(
            "serving-load",
            {"workload": "closed", "count": "100000", "output": "100"},
            "long_run",
            id="outlasts patience",
        ),
    ],
)
def test_refusals_are_one_sentence(name, values, field):
    """What cannot be used is named, in both languages."""
    with pytest.raises(ParameterError) as caught:
        solved(name, **values)

    assert field == caught.value.field
    for lang in ("en", "zh"):
        assert sentence(caught.value, labels.load(name, lang))


def test_chrome_trace_has_every_iteration_and_request():
    """One box an iteration, one lane a request, in the form that the viewer reads."""
    params = parse(workbench.Params, {})
    run = workbench.run_policy("v1", workbench.requests_of(params), params)

    events = chrome_trace(run)["traceEvents"]

    boxes = [event for event in events if event["ph"] == "X" and event["pid"] == 1]
    assert len(run.schedule) == len(boxes)
    assert {"A", "B", "C"} <= {e["args"]["name"] for e in events if e["ph"] == "M"}
