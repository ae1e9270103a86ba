"""Labels: both languages or none, and no silent gap."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculators.show.blocks import Message
from calculators.show.labels import LANGUAGES, Labels, flatten
from calculators.show.quantity import Quantity

TREE = {
    "title": {"en": "Title", "zh": "标题"},
    "field": {"layers": {"label": {"en": "Layers", "zh": "层数"}}},
    "plot": {"growth": {"en": "Growth", "zh": "增长", "alt": {"en": "A line", "zh": "折线"}}},
}
LABELS = Labels(
    "zh", {"unit.bytes": "字节", "unit.percent": "%", "a": "共 {n}", "b": "“{x}”", "c": "plain"}
)


@pytest.mark.parametrize(("lang", "expected"), [("en", "Layers"), ("zh", "层数")])
def test_flatten(lang, expected):
    """A nested table becomes keys with dots, in one language."""
    assert expected == flatten(TREE, lang)["field.layers.label"]


def test_a_label_may_have_further_labels_below():
    """A plot has a title and, below the same key, its text alternative."""
    assert {"plot.growth": "增长", "plot.growth.alt": "折线"}.items() <= flatten(TREE, "zh").items()


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    "tree",
    [
        pytest.param({"a": {"en": "x"}}, id="no Chinese"),
        pytest.param({"a": {"zh": "x"}}, id="no English"),
        pytest.param({"a": {"en": "x", "zh": "y", "de": "z"}}, id="a third language"),
        pytest.param({"a": {"en": "x", "alt": {"en": "y", "zh": "z"}}}, id="half, with more below"),
        pytest.param({"a": {"en": "x", "zh": 3}}, id="no text"),
        pytest.param({"a": "x"}, id="no languages"),
        pytest.param({"a": {"b": 1}}, id="number"),
    ],
)
def test_a_label_lacks_no_language(tree, lang):
    """A label that is not worded in exactly both languages fails in either of them."""
    with pytest.raises((ValueError, TypeError)):
        flatten(tree, lang)


@pytest.mark.parametrize(
    ("key", "values"),
    [
        pytest.param("unheard", None, id="unknown key"),
        pytest.param("a", None, id="placeholder without values"),
        pytest.param("a", {"m": 1}, id="other placeholder"),
    ],
)
def test_gaps_raise(key, values):
    """An unknown key or placeholder raises, so that a build with a gap fails."""
    with pytest.raises(KeyError):
        LABELS.text(key, values)


@given(st.text(max_size=40))
def test_values_are_never_templates(text):
    """Braces in data stay braces."""
    assert f"“{text}”" == LABELS.text("b", {"x": text})


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        pytest.param("共 5", Message("a", {"n": 5}), id="message"),
        pytest.param(
            "共 共 5", Message("a", {"n": Message("a", {"n": 5})}), id="message in message"
        ),
        pytest.param("3\u00a0字节", Quantity(3, "bytes"), id="quantity"),
        pytest.param("25%", Quantity(25, "percent"), id="percent without a gap"),
        pytest.param("7", Quantity(7), id="no unit"),
        pytest.param("–", Quantity(float("nan"), "percent"), id="not a number, no unit"),
        pytest.param("–", None, id="nothing"),
        pytest.param("x", "x", id="text"),
    ],
)
def test_plain(expected, value):
    """Every kind of value has a plain text."""
    assert expected == LABELS.plain(value)
