"""Plots as specifications: all the data, no address to fetch, no expression to run."""

import json
from dataclasses import replace

import pytest
from show_samples import labels, sample

from calculators.show.blocks import Axis, Plot, Series
from calculators.show.vega import MARKS, SCHEMA, specification

[PLOT] = [block for block in sample("DATA").blocks if isinstance(block, Plot)]


def walk(node):
    """Every key and leaf of a specification."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield key, value
            yield from walk(value)
    elif isinstance(node, list):
        for value in node:
            yield from walk(value)


def test_every_point_is_there():
    """The first layer holds each point once, with its series."""
    rows = specification(PLOT, labels())["layer"][0]["data"]["values"]

    assert rows == [
        {"x": 1.0, "y": 2.5, "series": "DATA"},
        {"x": 2.0, "y": 1e9, "series": "DATA"},
    ]


def test_marks_are_layers_of_their_own():
    """A horizontal and a vertical line follow the data, each with its value and name."""
    _, across, up = specification(PLOT, labels())["layer"]

    assert across["data"]["values"] == [{"y": 3.0, "name": "DATA"}]
    assert up["data"]["values"] == [{"x": 4.0, "name": "DATA"}]


@pytest.mark.parametrize("kind", MARKS)
def test_nothing_is_fetched_or_evaluated(kind):
    """No specification names an address, an expression or a fixed colour."""
    spec = specification(replace(PLOT, kind=kind), labels())
    keys = {key for key, _ in walk(spec)}

    assert spec["$schema"] == SCHEMA
    assert not keys & {
        "url",
        "href",
        "expr",
        "signal",
        "transform",
        "params",
        "filter",
        "calculate",
    }
    assert "http" not in json.dumps({**spec, "$schema": ""})
    assert "#" not in json.dumps({**spec, "$schema": ""})


def test_axes_name_their_unit():
    """A title has the unit behind it where there is one."""
    encoding = specification(PLOT, labels())["layer"][0]["encoding"]

    assert encoding["x"]["title"] == "Tokens (tokens)"
    assert encoding["y"]["title"] == "Payload"


def test_scales():
    """A logarithmic axis says so; a linear one starts at zero only upwards."""
    plot = replace(PLOT, x=Axis(name="x", log=True))
    encoding = specification(plot, labels())["layer"][0]["encoding"]

    assert encoding["x"]["scale"] == {"type": "log"}
    assert encoding["y"]["scale"] == {"zero": True}


def test_one_series_needs_no_legend_and_bars_stand_side_by_side():
    """A legend comes with the second series, and bars of two series are set apart."""
    two = replace(
        PLOT,
        kind="bar",
        series=tuple(Series(name=n, points=(("p", 1.0),)) for n in ("one", "two")),
    )
    one_encoding = specification(PLOT, labels())["layer"][0]["encoding"]
    two_encoding = specification(two, labels())["layer"][0]["encoding"]

    assert one_encoding["color"]["legend"] is None
    assert two_encoding["color"]["legend"] is not None
    assert (
        two_encoding["x"]["type"],
        two_encoding["xOffset"]["field"],
    ) == ("nominal", "series")
