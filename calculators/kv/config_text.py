"""A pasted ``config.json`` to a mapping, with a reason for everything that is not one."""

import json
from collections.abc import Mapping
from typing import Any

from calculators.form.errors import ParameterError, excerpt
from calculators.form.nesting import nests_deeper

LONGEST = 2_000_000  # characters; the longest real config.json known is 37 KB
LONGEST_NUMBER = 40  # digits; longer ones stay text, and fail only if the key is used


def parse_config(field: str, text: str) -> Mapping[str, Any]:
    """The JSON object of the text.

    Raises ParameterError: ``empty``, ``text_too_long``, ``html``, ``not_json`` (with line and
    column), ``cut_off``, ``too_deep``, ``not_an_object``.
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
        return json.loads(text, parse_int=short_int)
    except json.JSONDecodeError as error:
        cut_off = error.pos >= len(text) - 1 or error.msg.startswith("Unterminated string")
        reason = "cut_off" if cut_off else "not_json"
        near = excerpt(text[error.pos : error.pos + LONGEST_NUMBER])
        raise ParameterError(
            field, reason, line=error.lineno, column=error.colno, text=near
        ) from None


def short_int(digits: str) -> int | str:
    """An int, or the digits where no model's figure has that many."""
    return int(digits) if len(digits) <= LONGEST_NUMBER else digits
