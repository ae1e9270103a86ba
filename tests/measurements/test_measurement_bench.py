"""Our own benches as a file: what is written is what the reader reads and the archive keeps."""

import json

import pytest

from calculators.labels import load
from calculators.measurements.read import read_text
from calculators.measurements.result_file import Params, solve
from calculators.show.text import render_text
from scripts.archive.store import Addition, Archive, add
from scripts.archive.verify import problems
from scripts.bench.report import document, start

FIGURES = [
    ("first answer, ours cold, median of 3", 910.5, "ms", [950.0, 910.5, 880.25]),
    ("v1, 10,000 requests", 0.25, "s (median)"),
    ("v1, 10,000 requests", 0.125, "s (least)"),
    ("v1, 10,000 requests", 3.5, "MiB above the input"),
    ("v1 10 000 requests", 7, "MiB above the input"),
    ("stock / ours, cold", 1.75, "times"),
]


@pytest.fixture
def text():
    """The file of a run of one bench."""
    return json.dumps(document({"lab": ("Speed of a lab.", FIGURES)}, start(), ["lab"]))


def test_every_figure_keeps_its_name_value_and_unit(text):
    """Nothing is converted or merged: names that differ in punctuation alone stay apart."""
    [measurement] = read_text(text).measurements
    measurement.check()
    found = [(f.source, f.value, f.unit, f.stat) for f in measurement.figures]

    assert [
        (FIGURES[0][0], 910.5, "ms", None),
        ("v1, 10,000 requests", 0.25, "s", "p50"),
        ("v1, 10,000 requests", 0.125, "s", "min"),
        ("v1, 10,000 requests", 3.5, "MiB above the input", None),
        ("v1 10 000 requests", 7, "MiB above the input", None),
        ("stock / ours, cold", 1.75, "times", None),
    ] == found


def test_samples_stay_with_their_figure(text):
    """All samples in the order of the run, and no statistic made of them."""
    [measurement] = read_text(text).measurements

    assert [((950.0, 910.5, 880.25), "ms", FIGURES[0][0])] == [
        (s.values, s.unit, s.source) for s in measurement.samples
    ]
    assert not [f for f in measurement.figures if f.computed]


def test_conditions_are_in_the_record(text, tmp_path):
    """Command, date, machine, versions and load average go into the archive, which verifies."""
    path, archive = tmp_path / "bench.json", Archive(root=tmp_path / "archive")
    path.write_text(text)
    [name] = add(archive, Addition(path=path, kind="measured_here"))
    given = archive.load(name)["provenance"]

    assert [] == problems(archive)
    assert "python -m scripts.bench lab" == given["command"]
    assert {"before", "after"} == set(given["load_average"])
    assert {"machine", "software", "date"} <= set(given)
    assert {} == archive.load(name)["stored"]["redacted"]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_file_is_worded(text, lang):
    """A dropped bench file shows its figures under their own names."""
    shown = render_text(solve(Params(file=text), lambda _done: None), load("result-file", lang))

    assert "stock / ours, cold" in shown


def test_other_shapes_are_a_null_or_a_refusal():
    """A figure without value is left out, one that is no number is null with a reason."""
    bench = {"name": "x", "figures": [{"name": "a"}, {"name": "b", "value": "NaN"}, 5]}
    [measurement] = read_text(
        json.dumps({"schema": "critical-path/bench", "version": 1, "benches": [bench]})
    ).measurements

    assert [("b", None, "not_finite")] == [
        (f.source, f.value, f.reason) for f in measurement.figures
    ]
