"""Addresses of a form: short, round trip, safe to open from a stranger."""

import dataclasses
from math import ceil, floor
from urllib.parse import parse_qsl, urlencode

import pytest
from form_samples import Sample
from hypothesis import given
from hypothesis import strategies as st

from calculators.form.address import LONGEST_QUERY, MOST_FIELDS, from_query, to_query
from calculators.form.errors import ParameterError
from calculators.form.fields import (
    Choice,
    Decimal,
    Integer,
    Kind,
    LengthList,
    Switch,
    Text,
    integer,
    kinds,
)
from calculators.form.parse import parse
from calculators.registry import MODULES, find

FORMS = [Sample, *(find(name).params for name in MODULES)]
HOSTILE = [
    pytest.param("layers=<script>alert(1)</script>", id="script tag"),
    pytest.param("%3Cscript%3E=1", id="script tag as a field"),
    pytest.param("layers=" + "9" * 10_000, id="huge value"),
    pytest.param("layers=1e400&tokens=NaN", id="no numbers"),
    pytest.param("__class__=x&layers=1", id="unknown field"),
    pytest.param("&".join(f"f{n}={n}" for n in range(10_000)), id="10,000 pairs"),
    pytest.param("&" * 10_000, id="10,000 empty pairs"),
    pytest.param("layers=%&tokens=%zz&share=%F", id="broken percent encoding"),
    pytest.param("layers=%ff%fe", id="no UTF-8"),
    pytest.param("note=%00&layers=%00", id="NUL"),
    pytest.param("=&=1&&;", id="no names"),
    pytest.param("?" * 10, id="question marks"),
    pytest.param("layers=1&layers=2", id="twice"),
    pytest.param("x" * (LONGEST_QUERY + 1), id="too long"),
    pytest.param("c=../../etc/passwd&layers=3", id="calculator as a path"),
    pytest.param("h=words&layers=３", id="search words and full-width digits"),
]


def values_of(kind: Kind) -> st.SearchStrategy[str]:
    """Texts that a field of this kind takes."""
    match kind:
        case Integer():
            made = st.integers(kind.minimum, kind.maximum).map(str)
        case Decimal():
            low, high = ceil(1000 * kind.minimum), floor(1000 * kind.maximum)
            made = st.integers(low, high).map(lambda n: f"{n // 1000}.{n % 1000:03}")
        case Choice():
            made = st.sampled_from(kind.options)
        case Switch():
            made = st.sampled_from(["", "1"])
        case LengthList():
            run = st.integers(1, min(kind.maximum, 10**6))
            made = st.lists(run.map(str) | st.just("7x3"), min_size=1, max_size=4).map(", ".join)
        case Text():
            made = st.text(max_size=40).filter(str.strip)
        case _:
            raise NotImplementedError(kind)
    return st.just("") | made if kind.optional else made


FORM = st.one_of(
    *(
        st.tuples(
            st.just(params),
            st.fixed_dictionaries({n: values_of(k) for n, k in kinds(params).items()}),
        )
        for params in FORMS
    )
)


def shared_only(params, parsed):
    """The Params with the defaults of texts that are never put into an address."""
    fields = kinds(params).items()
    private = {n: k.parse(n, k.default) for n, k in fields if isinstance(k, Text) and not k.shared}
    return dataclasses.replace(parsed, **private)


@given(FORM)
def test_round_trip(form):
    """Opening the address of a form gives the Params of that form, for every form there is."""
    params, values = form
    opened = from_query(params, to_query("kv", params, values))

    assert shared_only(params, parse(params, values)) == parse(params, opened)


@given(FORM)
def test_an_address_is_one_plain_word(form):
    """An address needs no escaping where it is pasted: no quote, bracket, blank or control."""
    params, values = form
    query = to_query("kv", params, values)

    assert query.isascii()
    assert not set("<>\"'\\` \n\r\t\x00") & set(query)


def test_only_what_differs_is_named():
    """Defaults, hidden fields and private texts stay out of the address."""
    assert to_query("kv", Sample, {"layers": " 32", "share": "0.9", "exact": ""}) == "c=kv"
    assert to_query("kv", Sample, {"layers": "7", "detail": "3"}) == "c=kv&layers=7"
    assert to_query("kv", Sample, {"source": "file", "config": "{}"}) == "c=kv&source=file"


def test_addresses_are_readable():
    """Lists and names stand in an address as they were typed, with + for a blank."""
    query = to_query("kv", Sample, {"tokens": "8192, 4096x3", "note": "36*full:8x128@1/2"})

    assert query == "c=kv&tokens=8192,+4096x3&note=36*full:8x128@1/2"


@pytest.mark.parametrize("query", HOSTILE)
def test_hostile_addresses_end_in_values_or_one_error(query):
    """Whatever stands in an address: the values of known fields, or a ParameterError."""
    try:
        values = from_query(Sample, query)
        parse(Sample, values)
    except ParameterError as error:
        assert error.reason  # noqa: PT017 - the error is one of two right ends
        return

    assert values.keys() <= kinds(Sample).keys()


@given(st.text(max_size=300))
def test_any_address(query):
    """Any text as an address gives values that are known fields' or a ParameterError."""
    try:
        values = from_query(Sample, query)
    except ParameterError:
        return

    assert values.keys() <= kinds(Sample).keys()


def test_too_many_pairs_are_refused_by_number():
    """More pairs than any form has are refused before they are read."""
    query = urlencode([("layers", "1")] * (MOST_FIELDS + 1))
    with pytest.raises(ParameterError) as caught:
        from_query(Sample, query)

    assert (caught.value.field, caught.value.reason) == ("address", "too_many")
    assert len(parse_qsl(query)) > MOST_FIELDS


def test_a_leading_question_mark_is_optional():
    """``location.search`` is understood as it is."""
    assert from_query(Sample, "?c=kv&layers=7") == {"layers": "7"}


def test_a_field_may_be_called_as_the_calculator_is():
    """Only the first ``c`` names the calculator; a form's own field of that name comes later."""

    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Own:
        c: int = integer(1, minimum=0, maximum=9)

    assert {"c": "0"} == from_query(Own, to_query("serving", Own, {"c": "0"}))
    assert {} == from_query(Own, "c=serving&h=words")
    assert {"layers": "7"} == from_query(Sample, "h=words&c=kv&layers=7")
