"""The one door for text: a request in JSON comes in, an answer in JSON goes out.

The page, the build and the tests all use this door, so the default answer in the page and the
answer in the browser come from the same call. Nothing raised in a calculator reaches a reader as
a traceback.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from calculators import labels as label_files
from calculators.form.address import LONGEST_QUERY, from_query, to_query
from calculators.form.errors import ParameterError, excerpt
from calculators.form.fields import kinds
from calculators.form.parse import applies, completed, parse
from calculators.registry import Calculator, find
from calculators.show.blocks import Result
from calculators.show.export import to_csv, to_json
from calculators.show.html import render
from calculators.show.labels import LANGUAGES, Labels, Language
from calculators.show.progress import Progress


@dataclass(frozen=True, kw_only=True)
class Request:
    """One question. ``query`` is an address to open; otherwise ``values`` are the form's."""

    calculator: str
    lang: Language
    values: Mapping[str, str] = field(default_factory=dict)
    query: str | None = None
    export: str | None = None


def answer(text: str, progress: Progress = lambda _done: None) -> str:
    """Answer one request.

    In: ``{"calculator": "kv", "lang": "en", "values": {"layers": "32"}}``, with ``query`` in place
    of ``values`` to open an address, and ``"export": "json" | "csv"`` for a file.
    Out: ``html``, ``status``, ``values`` (to write into the form; no large file's text), ``query``
    (to share) and, for an export, ``file``; or ``error`` with ``field`` and one sentence.
    """
    request = Request(**json.loads(text))
    labels = label_files.load("shared", request.lang)
    values: Mapping[str, str] = request.values
    try:
        calculator = find(request.calculator)
        labels = label_files.load(calculator.name, request.lang)
        if request.query is not None:
            values = from_query(calculator.params, request.query)
        values = completed(calculator.params, values)
        result = calculator.solve(parse(calculator.params, values), progress)
        reply = answered(request, calculator, values, result, labels)
    except ParameterError as error:
        reply = refused(error, labels)
    except Exception as error:  # noqa: BLE001 - whatever it is, a reader gets a sentence
        reply = failed(error, labels)
    return json.dumps({"values": held(values), **reply}, ensure_ascii=False)


def held(values: Mapping[str, str]) -> dict[str, str]:
    """What a form may be filled with; what no address could hold, the page has as a file."""
    return {name: text for name, text in values.items() if len(text) <= LONGEST_QUERY}


def answered(
    request: Request,
    calculator: Calculator,
    values: Mapping[str, str],
    result: Result,
    labels: Labels,
) -> dict[str, Any]:
    """The reply to a question that has an answer."""
    if request.export is not None:
        given = stated(calculator.params, values)
        csv = request.export == "csv"
        return {"file": to_csv(result) if csv else to_json(calculator.name, given, result)}
    shared = {**values, **result.values}
    return {
        "html": render(result, labels),
        "status": labels.plain(result.status),
        "values": shared,
        "query": to_query(calculator.name, calculator.params, shared),
    }


def refused(error: ParameterError, labels: Labels) -> dict[str, Any]:
    """The reply to what a reader got wrong; a reason without a wording is our mistake."""
    try:
        return {"error": {"field": error.field, "text": sentence(error, labels)}}
    except LookupError:
        return failed(error, labels)


def failed(error: Exception, labels: Labels) -> dict[str, Any]:
    """The reply when a calculator itself failed: named as our mistake, never as the reader's."""
    text = excerpt(f"{type(error).__name__}: {error}")
    return {"error": {"field": "", "text": labels.text("error.internal", {"text": text})}}


def stated(params: type, values: Mapping[str, str]) -> dict[str, str]:
    """The text of every field that matters under the choices made, defaults included."""
    fields = kinds(params)
    given = {**{name: kind.default for name, kind in fields.items()}, **values}
    return {name: text for name, text in given.items() if applies(fields, fields[name], given)}


def sentence(error: ParameterError, labels: Labels) -> str:
    """The error in the reader's language: the field by its label, the reason, the limits."""
    named = {"field": field_name(error.field, labels), **error.limits}
    if "other" in error.limits:
        named["other"] = field_name(str(error.limits["other"]), labels)
    return labels.text(f"error.{error.reason}", named)


def field_name(name: str, labels: Labels) -> str:
    """The label of a field; for what is no field, its name as given."""
    for key in (f"field.{name}.label", f"common.{name}"):
        if labels.has(key):
            return labels.text(key)
    return name


def languages() -> tuple[Language, ...]:
    """The languages that ``lang`` may have."""
    return LANGUAGES
