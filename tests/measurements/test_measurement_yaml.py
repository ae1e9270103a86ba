"""The YAML of dumped reports, against a full YAML library as oracle."""

import math
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from calculators.form.errors import ParameterError
from calculators.measurements.read import read_text
from calculators.measurements.yaml_subset import read
from scripts.archive.opening import parsed_yaml

HANDED = (
    Path(__file__).parents[2].parent
    / "shared"
    / "cases"
    / "measurements"
    / "llm-d-benchmark-report"
    / "br_v0_2_1_example.yaml"
)
WORD = st.text(
    st.characters(
        codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp"), exclude_characters="\x85\ufeff"
    ),
    max_size=30,
)
LONG = st.lists(
    st.sampled_from(["alpha", "it's", 'say "x"', "a: b", "- c", "#d", "1.5"]),
    min_size=12,
    max_size=40,
).map(" ".join)
SCALAR = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False)
    | WORD
    | LONG
)
VALUE = st.recursive(
    SCALAR,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(WORD.filter(bool), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["version", "results", "a b", "x"]), VALUE, min_size=1))
@settings(max_examples=400, deadline=None)
def test_dumped_values_come_back(value):
    """What a YAML library dumps is read as that library reads it."""
    text = yaml.safe_dump(value, allow_unicode=True)

    assert parsed_yaml(text) == read(text)


@pytest.mark.skipif(not HANDED.exists(), reason="the handed file does not lie beside the checkout")
def test_handed_report_is_read_alike():
    """The handed report says the same through both readers."""
    text = HANDED.read_text(encoding="utf-8")

    assert parsed_yaml(text) == read(text)
    assert "llm-d-report" == read_text(text).format


PIECES = [
    ("a: .inf", {"a": math.inf}),
    ("a: 'it''s'", {"a": "it's"}),
    ("- 1\n- - 2\n  - 3", [1, [2, 3]]),
    ("a:\n- b: 1\n  c: 2", {"a": [{"b": 1, "c": 2}]}),
    ("a: 1 # note", {"a": 1}),
    ("a: |\n  x\n  y\nb: 2", {"a": "x\ny\n", "b": 2}),
    ("a: {}\nb: []", {"a": {}, "b": []}),
    ("a: one\n  two", {"a": "one two"}),
    ('"k: 1": 2', {"k: 1": 2}),
    ("a:\nb: 1", {"a": None, "b": 1}),
    ("--flag: 3", {"--flag": 3}),
    ("a: 0.2.1", {"a": "0.2.1"}),
    ("a: http://h:80/x", {"a": "http://h:80/x"}),
]


@pytest.mark.parametrize(("text", "expected"), PIECES)
def test_piece(text, expected):
    """Each kind of piece, by hand."""
    assert expected == read(text)


REFUSED = [
    "a: &x 1",
    "a: *x",
    "a: !t 1",
    "a: [x, y]",
    "a: 1\n   b: 2",
    "a: 'open",
    "- " * 300 + "1",
    "a: 1\nplain",
]


@pytest.mark.parametrize("text", REFUSED)
def test_other_yaml_is_refused(text):
    """What is left out is refused, never guessed at."""
    with pytest.raises(ParameterError):
        read(text)


@given(st.text(st.sampled_from("ab:- '\"\n#[]{}|>&*!?1.,\\"), max_size=60))
@settings(max_examples=400, deadline=None)
def test_any_text_ends_in_a_value_or_a_refusal(text):
    """No text makes the reader fail in another way."""
    try:
        read(text)
    except ParameterError as error:
        assert error.reason in {"yaml_broken", "yaml_not_read", "too_deep"}  # noqa: PT017
