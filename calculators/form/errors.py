"""The one exception for anything a reader can get wrong."""


class ParameterError(ValueError):
    """A field holds what the calculator cannot use.

    ``field`` is the field's name, ``reason`` a code that the labels word in both languages
    (``calculators/labels/errors.toml``), ``limits`` the data that the sentence shows, such as
    ``minimum``, ``maximum``, ``text`` or ``row``. No wording stands here: it belongs to the labels.
    """

    def __init__(self, field: str, reason: str, **limits: object) -> None:
        self.field = field
        self.reason = reason
        self.limits = limits
        super().__init__(f"{field}: {reason} {limits}")


SHOWN_CHARACTERS = 40


def excerpt(text: str) -> str:
    """What of a reader's input is repeated in a sentence: short, on one line, printable."""
    line = "".join(c if c.isprintable() else " " for c in text[: 4 * SHOWN_CHARACTERS])
    line = " ".join(line.split())
    return line if len(line) <= SHOWN_CHARACTERS else line[: SHOWN_CHARACTERS - 1] + "…"
