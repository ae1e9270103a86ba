"""The one error of our own invariants: a broken one is our mistake, never the reader's."""


class BrokenInvariantError(Exception):
    """A cache is in a state that it must never reach."""


def require(condition: object, sentence: str) -> None:
    """Raise BrokenInvariantError with the sentence unless the condition holds."""
    if not condition:
        raise BrokenInvariantError(sentence)
