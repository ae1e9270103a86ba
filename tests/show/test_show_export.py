"""JSON and CSV of an answer: exact, with ids in place of wording."""

import csv
import io
import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from show_samples import HUGE, sample

from calculators.show.blocks import Message, Number, Result, Table
from calculators.show.export import SAFE_INTEGER, json_cell, json_value, to_csv, to_json
from calculators.show.quantity import Quantity

INTEGERS = st.integers(-(10**40), 10**40)


def answer_of(value):
    """An answer of one figure and one table with that figure."""
    q = Quantity(value, "bytes")
    return Result(
        blocks=(
            Number(id="total", quantity=q),
            Table(id="layers", columns=("cache", "bytes"), rows=(("full", q),)),
        ),
        status=Message("status.done"),
    )


@given(INTEGERS | st.builds(Fraction, INTEGERS, st.integers(1, 10**9)))
def test_json_gives_the_value_back(value):
    """Figures and cells survive JSON exactly; only what every reader keeps is a JSON number."""
    document = json.loads(to_json("kv", {}, answer_of(value)))
    figure, cell = document["figures"]["total"]["value"], document["tables"]["layers"][0]["bytes"]

    assert value == Fraction(figure)
    assert figure == cell
    assert isinstance(figure, str) or abs(figure) <= SAFE_INTEGER


@given(INTEGERS)
def test_csv_gives_the_value_back(value):
    """Figures and cells in CSV are whole, without separators."""
    rows = list(csv.reader(io.StringIO(to_csv(answer_of(value)))))

    assert ["total", str(value), "bytes"] == rows[1]
    assert ["full", str(value)] == rows[-1]


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        pytest.param(2**53 - 1, 2**53 - 1, id="last safe integer"),
        pytest.param("9007199254740992", 2**53, id="first unsafe integer"),
        pytest.param("-9007199254740992", -(2**53), id="negative"),
        pytest.param("1/3", Fraction(1, 3), id="fraction"),
        pytest.param(3, Fraction(3), id="whole fraction"),
        pytest.param(0.5, 0.5, id="float"),
        pytest.param(None, float("nan"), id="NaN"),
        pytest.param(None, float("inf"), id="infinity"),
    ],
)
def test_json_value(expected, value):
    """Numbers that JSON readers would round are text; what is no number is null."""
    assert expected == json_value(value)


def test_json_has_every_part():
    """Inputs, figures, tables, derivations and plots stand under their ids."""
    document = json.loads(to_json("kv", {"layers": "32"}, sample("DATA")))

    assert [*document] == ["calculator", "inputs", "figures", "tables", "derivations", "plots"]
    assert document["inputs"] == {"layers": "32"}
    assert {"total", "share"} == document["figures"].keys()
    assert document["plots"]["growth"] == {"DATA": [[1.0, 2.5], [2.0, 1e9]]}
    assert {"expression": "DATA", "value": str(HUGE)}.items() <= document["derivations"]["product"][
        0
    ].items()


def test_further_data_are_only_in_json():
    """What no block shows stands under ``data``."""
    result = Result(blocks=(), status=Message("status.done"), data={"seed": 7})

    assert json.loads(to_json("kv", {}, result))["data"] == {"seed": 7}


def test_messages_keep_their_data():
    """A worded cell is its key and its data, so that two rows do not become one."""
    cells = [json_cell(Message("step.cache", {"cache": name, "n": 1})) for name in ("a", "b")]

    assert cells == ["step.cache cache=a n=1", "step.cache cache=b n=1"]
    assert json_cell(Message("step.sum")) == "step.sum"


@given(st.text(max_size=30))
def test_any_text_survives_csv(text):
    """Quotes, commas and line ends of data come back from CSV as they were."""
    table = Table(id="layers", columns=("cache", "bytes"), rows=((text, None),))
    out = to_csv(Result(blocks=(table,), status=Message("status.done")))

    assert [text, ""] == list(csv.reader(io.StringIO(out, newline="")))[-1]


def test_csv_parts_tables_by_empty_lines():
    """Figures come first, then each table below an empty line and its own head."""
    rows = list(csv.reader(io.StringIO(to_csv(sample("DATA")))))

    assert rows[0] == ["figure", "value", "unit"]
    assert [[], ["cache", "bytes"], ["DATA", str(HUGE)]] == rows[3:6]
