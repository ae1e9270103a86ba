"""What the two small languages of operations share: a line is an operation, a word a token.

``#`` starts a comment. What the words of a line mean is for the languages to say.
"""

from collections.abc import Callable, Sequence

from calculators.form.errors import ParameterError, excerpt

MOST_OPERATIONS = 100
MOST_TOKENS = 64


def operations[T](text: str, field: str, read: Callable[[int, list[str]], T]) -> tuple[T, ...]:
    """The operations of a text; nothing is run if one line cannot be read."""
    lines = [(row, line.partition("#")[0].split()) for row, line in enumerate(text.split("\n"), 1)]
    found = tuple(read(row, words) for row, words in lines if words)
    if not found:
        raise ParameterError(field, "no_rows")
    if len(found) > MOST_OPERATIONS:
        raise ParameterError(field, "too_many", maximum=MOST_OPERATIONS)
    return found


def require_known(field: str, row: int, kind: str, kinds: Sequence[str]) -> None:
    """Refuse a first word that is no operation."""
    if kind not in kinds:
        raise ParameterError(
            field, "unknown_operation", row=row, text=excerpt(kind), options=", ".join(kinds)
        )


def require_tokens(field: str, row: int, text: str, tokens: Sequence[str]) -> None:
    """Refuse an operation without tokens, or with more than a drawing can show."""
    if not tokens:
        raise ParameterError(field, "needs_tokens", row=row, text=excerpt(text))
    if len(tokens) > MOST_TOKENS:
        raise ParameterError(field, "too_many_tokens", row=row, maximum=MOST_TOKENS)
