"""A pasted ``config.json`` to a mapping, with a reason for everything that is not one."""

import json
import re
from collections.abc import Mapping
from typing import Any

from calculators.form.errors import ParameterError, excerpt
from calculators.form.nesting import nests_deeper

LONGEST = 8_000_000  # characters; the form's own limit stands in ``shape``
LONGEST_NUMBER = 40  # digits
# What no text holds: control characters, and what stands for bytes that are not UTF-8.
BINARY = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd]")


def parse_config(field: str, text: str) -> Mapping[str, Any]:
    """The JSON object of the text.

    Raises ParameterError: ``empty_text``, ``text_too_long``, ``not_text``, ``html``, ``not_json``
    (with line and column), ``cut_off``, ``too_deep``, ``key_twice``, ``not_an_object``.
    """
    if len(text) > LONGEST:
        raise ParameterError(field, "text_too_long", maximum=LONGEST, length=len(text))
    cleaned = text.strip().removeprefix("\ufeff").strip()
    if not cleaned:
        raise ParameterError(field, "empty_text")
    if cleaned.startswith("<"):
        raise ParameterError(field, "html", text=excerpt(cleaned))
    tree = parse_json(field, cleaned)
    if not isinstance(tree, dict):
        raise ParameterError(field, "not_an_object", text=excerpt(cleaned))
    return tree


def parse_json(field: str, text: str) -> Any:
    """Any JSON value; NaN and infinities are read, since only a key that is used matters."""
    if nests_deeper(text):
        raise ParameterError(field, "too_deep")
    try:
        return json.loads(
            text, parse_int=short_int, object_pairs_hook=lambda pairs: unambiguous(field, pairs)
        )
    except json.JSONDecodeError as error:
        if BINARY.search(text):
            raise ParameterError(field, "not_text") from None
        cut_off = error.pos >= len(text) - 1 or error.msg.startswith("Unterminated string")
        reason = "cut_off" if cut_off else "not_json"
        near = excerpt(text[error.pos : error.pos + LONGEST_NUMBER])
        raise ParameterError(
            field, reason, line=error.lineno, column=error.colno, text=near
        ) from None


def short_int(digits: str) -> int:
    """An int; of endless digits the first ones, which are beyond every limit as they stand."""
    return int(digits[: LONGEST_NUMBER + 1])


def unambiguous(field: str, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which a key that stands twice says the same both times."""
    found = dict(pairs)
    if len(found) < len(pairs):
        for key, value in pairs:
            # As text, because NaN differs from itself and 1 equals true.
            if repr(value) != repr(found[key]):
                raise ParameterError(
                    field, "key_twice", key=excerpt(key), one=excerpt(str(value)),
                    other=excerpt(str(found[key])),
                )  # fmt: skip
    return found
