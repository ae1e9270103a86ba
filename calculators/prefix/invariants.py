"""Errors that are a program's mistake, never the reader's (those are ParameterError)."""


class BrokenInvariantError(Exception):
    """A cache is in a state that it must never reach."""


class MisuseError(ValueError):
    """A program asked a cache for what its rules exclude; no form can ask for it."""


def require(condition: object, sentence: str) -> None:
    """Raise BrokenInvariantError with the sentence unless the condition holds."""
    if not condition:
        raise BrokenInvariantError(sentence)
