"""Pasted samples: numbers separated by spaces, commas or line ends, each a latency of 0 or more."""

import math
import re

from calculators.form.errors import ParameterError, excerpt

MOST_SAMPLES = 200_000
LONGEST_NUMBER = 40
NUMBER = re.compile(r"\d+(\.\d*)?([eE][+-]?\d+)?\Z|\.\d+([eE][+-]?\d+)?\Z", re.ASCII)
SEPARATORS = re.compile(r"[\s,;，；、\[\]]+")


def samples(field: str, text: str) -> list[float]:
    """``"71, 77 80" → [71.0, 77.0, 80.0]``. Raises ParameterError naming the entry."""
    words = [word for word in SEPARATORS.split(text) if word]
    if len(words) > MOST_SAMPLES:
        raise ParameterError(field, "too_many", maximum=MOST_SAMPLES)
    return [sample(field, word, row) for row, word in enumerate(words, 1)]


def sample(field: str, word: str, row: int) -> float:
    """One entry."""
    value = float(word) if len(word) <= LONGEST_NUMBER and NUMBER.match(word) else math.inf
    if not math.isfinite(value):
        raise ParameterError(field, "not_a_sample", row=row, text=excerpt(word))
    return value
