"""The state of a form as a short, readable query string, safe to open from a stranger."""

from collections.abc import Mapping
from urllib.parse import parse_qsl, quote, urlencode

from calculators.form.errors import ParameterError, excerpt
from calculators.form.fields import Text, kinds
from calculators.form.parse import applies

CALCULATOR = "c"  # the parameter that names the calculator of the page
SEARCH_WORDS = "h"  # the theme adds the words of a search to the address
LONGEST_QUERY = 20_000  # characters
MOST_FIELDS = 200
SAFE = " ,:/*@()[]"  # not "+", which stands for a blank


def to_query(calculator: str, params: type, values: Mapping[str, str]) -> str:
    """``c=kv&layers=80``: the fields that apply and differ from their default."""
    fields = kinds(params)
    kept = {
        name: values[name]
        for name, kind in fields.items()
        if name in values
        and values[name].strip() != kind.default
        and applies(fields, kind, values)
        and not (isinstance(kind, Text) and not kind.shared)
    }
    pairs = [(CALCULATOR, calculator), *kept.items()]
    return urlencode(pairs, quote_via=quote, safe=SAFE).replace(" ", "+")


def from_query(params: type, query: str) -> dict[str, str]:
    """The values that an address states. Raises ParameterError for a field that does not exist."""
    if len(query) > LONGEST_QUERY:
        raise ParameterError("address", "text_too_long", maximum=LONGEST_QUERY, length=len(query))
    fields = kinds(params)
    try:
        pairs = parse_qsl(
            query.removeprefix("?"), keep_blank_values=True, max_num_fields=MOST_FIELDS
        )
    except ValueError:
        raise ParameterError("address", "too_many", maximum=MOST_FIELDS) from None
    if pairs and pairs[0][0] == CALCULATOR:
        del pairs[0]  # a form may have a field of that name; it stands later
    others = {CALCULATOR, SEARCH_WORDS} - fields.keys()
    values = {name: value for name, value in pairs if name not in others}
    for name in values:
        if name not in fields:
            raise ParameterError(excerpt(name), "unknown_field", fields=", ".join(fields))
    return values
