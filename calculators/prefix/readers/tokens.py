"""Traces of tokens and of plain text; the tokenisation of text is a stated, simple one.

Token JSONL: one object a line with ``tokens`` (or ``prompt_token_ids``), and optionally
``timestamp`` (ms), ``output_length``, ``adapter``, ``salt``. Text: JSONL with ``prompt``, or plain
lines, one prompt each. A real tokenizer splits otherwise; what is shared stays shared, lengths
differ. A model's template is not applied.
"""

from calculators.form.errors import ParameterError
from calculators.prefix.invariants import MisuseError
from calculators.prefix.keys import NO_NAMESPACE, Namespace, pack
from calculators.prefix.readers.rows import (
    FIELD,
    Row,
    ids,
    json_rows,
    moment,
    named,
    whole,
)
from calculators.prefix.tokenisations import Tokenise, tokeniser
from calculators.prefix.trace import Trace


def read_tokens(text: str, tokenisation: str = "words") -> Trace:
    """A trace of token lists or prompts in JSON, one request a line."""
    tokenise = tokeniser(tokenisation)
    keys: list[bytes] = []
    outputs: list[int] = []
    arrivals: list[float] = []
    namespaces: list[Namespace] = []
    for number, row in json_rows(text):
        keys.append(packed(number, tokens_of(number, row, tokenise)))
        outputs.append(whole(number, row, "output_length", default=0))
        arrivals.append(moment(number, row, unit_ms=1))
        namespaces.append(named(row))
    return token_trace("tokens", keys, outputs, arrivals, namespaces)


def packed(number: int, tokens: list[int]) -> bytes:
    """The packed tokens of a row."""
    if not tokens:
        raise ParameterError(FIELD, "row_empty", row=number)
    try:
        return pack(tokens)
    except MisuseError as error:
        raise ParameterError(FIELD, "row_id", row=number, name="tokens", text=str(error)) from None


def tokens_of(number: int, row: Row, tokenise: Tokenise) -> list[int]:
    """The tokens of a row, whichever way it holds them."""
    for name in ("tokens", "prompt_token_ids"):
        if name in row:
            return ids(number, row, name)
    prompt = row.get("prompt", row.get("text"))
    if not isinstance(prompt, str):
        raise ParameterError(
            FIELD, "row_lacks", row=number, name="tokens, prompt_token_ids, prompt"
        )
    return tokenise(prompt)


def read_text(text: str, tokenisation: str = "words") -> Trace:
    """Plain prompts, one a line."""
    tokenise = tokeniser(tokenisation)
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines:
        raise ParameterError(FIELD, "no_rows")
    keys = [packed(number, tokenise(line)) for number, line in enumerate(lines, 1)]
    return token_trace("text", keys, [0] * len(keys), [0.0] * len(keys), [])


def token_trace(
    name: str,
    keys: list[bytes],
    outputs: list[int],
    arrivals: list[float],
    namespaces: list[Namespace],
) -> Trace:
    """A trace whose symbols are tokens."""
    counts = tuple(len(key) // 4 for key in keys)
    return Trace(
        format=name,
        block_tokens=1,
        keys=tuple(keys),
        input_tokens=counts,
        output_tokens=tuple(outputs),
        arrivals_ms=tuple(arrivals),
        namespaces=() if set(namespaces) <= {NO_NAMESPACE} else tuple(namespaces),
    )
