"""Text to tokens by stated, simple rules: a real tokenizer splits otherwise.

What is shared stays shared, lengths differ. A model's chat template is not applied.
"""

import re
from collections.abc import Callable

from calculators.form.errors import ParameterError

WORDS = re.compile(r"[A-Za-z]+|[0-9]|\s+|.", re.DOTALL)

type Tokenise = Callable[[str], list[int]]


def word_tokens() -> Tokenise:
    """Runs of Latin letters or of white space, and every other character, are one token each.

    Numbers are given in the order of appearance, so equal texts of one call get equal tokens.
    """
    numbers: dict[str, int] = {}

    def tokens(text: str) -> list[int]:
        return [numbers.setdefault(word, len(numbers)) for word in WORDS.findall(text)]

    return tokens


TOKENISATIONS: dict[str, Callable[[], Tokenise]] = {
    "words": word_tokens,
    "characters": lambda: lambda text: list(map(ord, text)),
    "bytes": lambda: lambda text: list(text.encode("utf-8", errors="replace")),
}


def tokeniser(name: str) -> Tokenise:
    """A fresh tokenisation of a name."""
    if name not in TOKENISATIONS:
        raise ParameterError(
            "tokenisation", "not_an_option", text=name, options=", ".join(TOKENISATIONS)
        )
    return TOKENISATIONS[name]()
