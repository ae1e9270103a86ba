"""Prompts of an exact number of tokens, made from plain words of a programming task."""

from collections.abc import Callable
from itertools import count, islice

from calculators.form.errors import ParameterError

WORDS = (  # noqa: SIM905 -- a sentence reads best as one
    "fix the test that fails when two tasks write the same file and the lock is held by a third "
    "one then explain why the queue grows after each restart of the worker and add a check"
).split()


def of_tokens(encode: Callable[[str], list[int]], tokens: int) -> str:
    """A text that has exactly so many tokens. Raises ParameterError when none is found."""
    low, high = 0, tokens
    while low < high:  # the most words that stay within the number
        middle = (low + high + 1) // 2
        low, high = (middle, high) if len(encode(words(middle))) <= tokens else (low, middle - 1)
    text = words(low)
    for filler in islice(count(), tokens + 1):
        padded = text + " a" * (filler // 2) + "." * (filler % 2 + filler // 2)
        if len(encode(padded)) == tokens:
            return padded
    raise ParameterError("prompt_tokens", "no_such_prompt", tokens=tokens)


def words(number: int) -> str:
    """So many words in a fixed order."""
    return " ".join(WORDS[place % len(WORDS)] for place in range(number))
