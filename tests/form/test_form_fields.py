"""Kinds of fields: defaults are parsed text, limits live in one place."""

from fractions import Fraction

import pytest
from form_samples import Sample

from calculators.form import fields
from calculators.form.errors import ParameterError
from calculators.form.lengths import Lengths, Run
from calculators.registry import MODULES, find

KINDS = fields.kinds(Sample)
PARAMS = [Sample, *(find(name).params for name in MODULES)]


def reason_of(name, text):
    """Why a field refuses a text."""
    with pytest.raises(ParameterError) as caught:
        KINDS[name].parse(name, text)
    return caught.value.reason


def test_kinds_are_in_order():
    """Fields keep the order of the dataclass, which is the order of the page."""
    assert [*Sample.__dataclass_fields__] == [*KINDS]


@pytest.mark.parametrize("params", PARAMS)
def test_defaults_are_the_parsed_default_texts(params):
    """The default of every field of every form is what its default text parses to."""
    default = params()

    for name, kind in fields.kinds(params).items():
        assert kind.parse(name, kind.default) == getattr(default, name)


@pytest.mark.parametrize(
    ("expected", "name", "text"),
    [
        pytest.param(7, "layers", " 7 ", id="integer"),
        pytest.param(None, "detail", " ", id="optional integer"),
        pytest.param(Fraction(1, 3) * 3, "share", "1.0", id="decimal"),
        pytest.param(Fraction(1, 4), "share", ".25", id="decimal without a zero"),
        pytest.param(None, "optional", "", id="optional decimal"),
        pytest.param("file", "source", "file", id="choice"),
        pytest.param(True, "exact", " Yes ", id="switch on"),
        pytest.param(False, "exact", "off", id="switch off"),
        pytest.param(False, "exact", "", id="switch empty"),
        pytest.param(Lengths((Run(5, 2),)), "tokens", "5x2", id="lengths"),
        pytest.param("a\nb\nc", "config", "\ufeffa\r\nb\rc", id="BOM and line ends"),
        pytest.param(None, "config", "\r\n", id="blank optional text"),
    ],
)
def test_parses(expected, name, text):
    """Each kind reads its own texts."""
    assert expected == KINDS[name].parse(name, text)


@pytest.mark.parametrize(
    ("expected", "name", "text"),
    [
        pytest.param("empty", "layers", "", id="integer"),
        pytest.param("too_large", "share", "1.01", id="decimal"),
        pytest.param("not_an_option", "source", "Typed", id="choice in another case"),
        pytest.param("not_an_option", "source", "", id="empty choice"),
        pytest.param("not_a_switch", "exact", "perhaps", id="switch"),
        pytest.param("empty", "tokens", "", id="lengths"),
        pytest.param("text_too_long", "config", "x" * 1001, id="text"),
    ],
)
def test_refuses(expected, name, text):
    """Each kind refuses what it cannot use, with its own reason."""
    assert expected == reason_of(name, text)


def test_a_long_list_of_options_is_cut():
    """The sentence about an unknown option names at most twelve options."""
    many = fields.Choice(options=tuple(f"o{number}" for number in range(40)))
    with pytest.raises(ParameterError) as caught:
        many.parse("x", "?")

    shown = str(caught.value.limits["options"])
    assert (shown.count("o"), shown.endswith(" …")) == (12, True)


def test_a_wrong_default_fails_at_import():
    """A calculator whose default breaks its own limits cannot be defined."""
    with pytest.raises(ParameterError):
        fields.integer(0, minimum=1, maximum=2)
