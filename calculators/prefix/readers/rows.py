"""What the readers share: lines of JSON and fields with limits, each error with its row."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from calculators.form.errors import ParameterError, excerpt
from calculators.form.nesting import nests_deeper
from calculators.prefix.keys import Namespace, namespace

FIELD = "trace"
MOST_CHARACTERS = 300_000_000
LONGEST_REQUEST = 10_000_000  # tokens
LATEST_MS = 1e13
type Row = dict[str, Any]


def json_rows(text: str) -> Iterator[tuple[int, Row]]:
    """Every line that is not empty, as an object. ``row_cut_off`` for a line that is no JSON."""
    if len(text) > MOST_CHARACTERS:
        raise ParameterError(FIELD, "text_too_long", maximum=MOST_CHARACTERS, length=len(text))
    found = False
    for number, line in enumerate(text.split("\n"), 1):
        if line and not line.isspace():
            found = True
            yield number, json_row(number, line)
    if not found:
        raise ParameterError(FIELD, "no_rows")


def json_row(number: int, line: str) -> Row:
    """One line as an object."""
    if nests_deeper(line):
        raise ParameterError(FIELD, "row_not_json", row=number, text=excerpt(line))
    try:
        row = json.loads(line)
    except ValueError:
        raise ParameterError(FIELD, "row_not_json", row=number, text=excerpt(line)) from None
    if not isinstance(row, dict):
        raise ParameterError(FIELD, "row_not_object", row=number, text=excerpt(line))
    return row


def whole(number: int, row: Row, name: str, *, least: int = 0, default: int | None = None) -> int:
    """A whole number of a row."""
    value = row.get(name, default)
    if value is None:
        raise ParameterError(FIELD, "row_lacks", row=number, name=name)
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is not int or not least <= value <= LONGEST_REQUEST:
        raise ParameterError(
            FIELD,
            "row_value",
            row=number,
            name=name,
            text=excerpt(repr(value)),
            minimum=least,
            maximum=LONGEST_REQUEST,
        )
    return value


def moment(number: int, row: Row, *, unit_ms: float) -> float:
    """The arrival in ms, 0 where a trace has no times."""
    value = row.get("timestamp", 0)
    if type(value) not in {int, float} or not 0 <= value <= LATEST_MS:
        raise ParameterError(
            FIELD,
            "row_value",
            row=number,
            name="timestamp",
            text=excerpt(repr(value)),
            minimum=0,
            maximum=f"{LATEST_MS:g}",
        )
    return float(value * unit_ms)


def ids(number: int, row: Row, name: str) -> list[int]:
    """A list of ids, each a whole number from 0."""
    values = row.get(name)
    if not isinstance(values, list):
        raise ParameterError(FIELD, "row_lacks", row=number, name=name)
    wrong = next((v for v in values if type(v) is not int or v < 0), None)
    if wrong is not None:
        raise ParameterError(FIELD, "row_id", row=number, name=name, text=excerpt(repr(wrong)))
    return values


def named(row: Row) -> Namespace:
    """The namespace of a row: ``adapter`` (or ``extra_key``) and ``salt`` (or ``cache_salt``)."""
    parts = (row.get("adapter", row.get("extra_key")), row.get("salt", row.get("cache_salt")))
    return namespace(*(None if part is None else str(part) for part in parts))


type Reader[T] = Callable[[str], T]
