"""Values to Params: what applies is read, what is hidden cannot fail, choices follow."""

import pytest
from form_samples import Sample
from hypothesis import given
from hypothesis import strategies as st

from calculators.form.errors import ParameterError
from calculators.form.fields import kinds
from calculators.form.parse import completed, parse

NAMES = st.sampled_from([*kinds(Sample)])


def refusal(values):
    """(field, reason) of values that cannot be used."""
    with pytest.raises(ParameterError) as caught:
        parse(Sample, values)
    return caught.value.field, caught.value.reason


def test_nothing_given_is_the_default():
    """No values give the default Params."""
    assert Sample() == parse(Sample, {})


@pytest.mark.parametrize(
    ("expected", "values"),
    [
        pytest.param(Sample(layers=7), {"layers": "7"}, id="no choice needed"),
        pytest.param(
            Sample(source="file", config="{}"), {"config": "{}"}, id="a file means source=file"
        ),
        pytest.param(
            Sample(source="name", name="b"), {"name": "b"}, id="the first fitting choice is made"
        ),
        pytest.param(
            Sample(source="file", name="b", config="x"),
            {"name": "b", "config": "x"},
            id="two fields that fit one choice, the second narrower",
        ),
        pytest.param(
            Sample(source="file", name="b", config="x"),
            {"config": "x", "name": "b"},
            id="two fields that fit one choice, in the other order",
        ),
        pytest.param(Sample(), {"config": " "}, id="a blank field chooses nothing"),
        pytest.param(Sample(), {"source": "typed", "name": "zzz"}, id="a hidden field is not read"),
        pytest.param(
            Sample(source="name", name="b", detail=3),
            {"source": "name", "name": "b", "detail": "3"},
            id="a choice within a choice",
        ),
        pytest.param(
            Sample(source="name", name="b", detail=3),
            {"detail": "3"},
            id="a field of a choice within a choice decides both",
        ),
        pytest.param(
            Sample(),
            {"source": "typed", "name": "b", "detail": "zzz"},
            id="hidden twice over",
        ),
    ],
)
def test_when_rules(expected, values):
    """Choices follow from the fields that were given, and what they hide is left alone."""
    assert expected == parse(Sample, values)


@pytest.mark.parametrize(
    ("expected", "values"),
    [
        pytest.param(("layer", "unknown_field"), {"layer": "1"}, id="misspelt"),
        pytest.param(("config", "conflict"), {"layers": "1", "config": "{}"}, id="two sources"),
        pytest.param(("layers", "conflict"), {"config": "{}", "layers": "1"}, id="other order"),
        pytest.param(("layers", "too_small"), {"share": "0", "layers": "0"}, id="too small"),
        pytest.param(
            ("layers", "empty"), {"layers": "", "share": "x"}, id="the first field of the form"
        ),
    ],
)
def test_refuses(expected, values):
    """The first thing that cannot be used is named."""
    assert expected == refusal(values)


def test_a_hostile_name_is_cut():
    """A field name of a stranger is repeated short and printable."""
    field, _ = refusal({"<script>\x00" + "x" * 1000: "1"})

    assert (len(field), field.isprintable()) == (40, True)


@given(st.dictionaries(NAMES | st.text(max_size=8), st.text(max_size=30), max_size=8))
def test_values_are_params_or_one_error(values):
    """Any values give Params or a ParameterError, nothing else."""
    try:
        parsed = parse(Sample, values)
    except ParameterError:
        return

    assert isinstance(parsed, Sample)


@pytest.mark.parametrize(
    ("expected", "values"),
    [
        pytest.param({}, {}, id="nothing"),
        pytest.param({"source": "file"}, {"config": "x"}, id="one choice"),
        pytest.param({"name": "b", "source": "name"}, {"detail": "3"}, id="choice upon choice"),
        pytest.param({"source": "typed"}, {"source": "typed", "name": "b"}, id="made already"),
    ],
)
def test_completed(expected, values):
    """A form shows the choices that follow from what was given."""
    assert {**values, **expected} == completed(Sample, values)
