"""Which format a text is, told from its first row; formats without prefixes refused by name."""

import json
from collections.abc import Mapping

from calculators.form.errors import ParameterError
from calculators.form.nesting import nests_deeper
from calculators.prefix.readers.hashed import BAILIAN, MOONCAKE, read_hashed
from calculators.prefix.readers.rows import FIELD
from calculators.prefix.readers.tokens import read_text, read_tokens
from calculators.prefix.trace import Trace

FORMATS = ("auto", "mooncake", "bailian", "tokens", "text")
BAILIAN_KEYS = {"chat_id", "parent_chat_id", "turn"}
WITHOUT_PREFIXES = {
    "Azure LLM inference 2023": ("timestamp", "contexttokens", "generatedtokens"),
    "Azure LLM inference 2025": ("timestamp", "nummedia"),
    "BurstGPT": ("timestamp", "model", "request tokens"),
}


def read_trace(text: str, form: str = "auto", tokenisation: str = "words") -> Trace:
    """A trace in any format that is known; ParameterError says what is wrong and in which row."""
    text = text.removeprefix("\ufeff")
    chosen = detect(text) if form == "auto" else form
    match chosen:
        case "mooncake":
            return read_hashed(text, MOONCAKE)
        case "bailian":
            return read_hashed(text, BAILIAN)
        case "tokens":
            return read_tokens(text, tokenisation)
        case "text":
            return read_text(text, tokenisation)
    raise ParameterError("format", "not_an_option", text=form, options=", ".join(FORMATS))


def detect(text: str) -> str:
    """The format of the first line that is not empty."""
    line = next((line for line in text.split("\n") if line.strip()), None)
    if line is None:
        raise ParameterError(FIELD, "no_rows")
    refuse_known(line)
    try:
        row = None if nests_deeper(line) else json.loads(line)
    except ValueError:
        row = None
    if isinstance(row, Mapping):
        if "hash_ids" in row:
            return "bailian" if BAILIAN_KEYS & row.keys() else "mooncake"
        return "tokens"
    if line.lstrip().startswith("{"):
        raise ParameterError(FIELD, "row_not_json", row=1, text=line[:40])
    return "text"


def refuse_known(line: str) -> None:
    """Say so by name where a format has arrivals and lengths but nothing that tells prefixes."""
    head = [cell.strip().lower() for cell in line.split(",")]
    for name, columns in WITHOUT_PREFIXES.items():
        if all(column in head for column in columns):
            raise ParameterError(FIELD, "no_prefixes", name=name)
