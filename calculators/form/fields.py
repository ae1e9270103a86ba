"""Kinds of form fields. A calculator's ``Params`` is a frozen dataclass of them.

Each constructor below returns a dataclass field whose default is the parsed default text and
whose metadata holds the kind, with its limits: parsing, the page, the address and the command
line all read the limits from there and from nowhere else.
"""

import dataclasses
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from calculators.form import numbers
from calculators.form.errors import ParameterError, excerpt
from calculators.form.lengths import Lengths, parse_lengths


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What every field has.

    ``default`` is text, as a reader would type it. ``optional`` fields may be empty and are then
    None. ``when`` is (name of a choice field, values): the field matters only while that choice
    has one of the values; giving the field without the choice makes the choice.
    """

    default: str = ""
    group: str = ""
    optional: bool = False
    when: tuple[str, tuple[str, ...]] | None = None

    def parse(self, name: str, text: str) -> Any:
        """The value of the text; ParameterError for what cannot be used."""
        if self.optional and not text.strip():
            return None
        return self.read(name, text)

    def read(self, name: str, text: str) -> Any:
        """The value of a text that must hold one."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Integer(Kind):
    """A whole number between two limits."""

    minimum: int
    maximum: int
    unit: str = ""

    def read(self, name: str, text: str) -> int:
        """``"32" → 32``."""
        return numbers.whole(name, text, self.minimum, self.maximum)


@dataclass(frozen=True, kw_only=True)
class Decimal(Kind):
    """A decimal number between two limits, kept as an exact fraction."""

    minimum: Fraction
    maximum: Fraction
    unit: str = ""

    def read(self, name: str, text: str) -> Fraction:
        """``"0.9" → Fraction(9, 10)``."""
        return numbers.decimal(name, text, self.minimum, self.maximum)


@dataclass(frozen=True, kw_only=True)
class Choice(Kind):
    """One of a fixed list. ``labelled`` choices show a label, the others their own name."""

    options: tuple[str, ...]
    labelled: bool = True

    def read(self, name: str, text: str) -> str:
        """The option itself."""
        if text not in self.options:
            shown = ", ".join(self.options[:12]) + (" …" if len(self.options) > 12 else "")  # noqa: PLR2004
            raise ParameterError(name, "not_an_option", text=excerpt(text), options=shown)
        return text


@dataclass(frozen=True, kw_only=True)
class Switch(Kind):
    """On or off; ``"1"`` and ``""`` in an address."""

    def parse(self, name: str, text: str) -> bool:
        """``"1" → True``, ``"0"`` or nothing → False."""
        word = text.strip().lower()
        if word in {"1", "true", "on", "yes"}:
            return True
        if word in {"", "0", "false", "off", "no"}:
            return False
        raise ParameterError(name, "not_a_switch", text=excerpt(text))


@dataclass(frozen=True, kw_only=True)
class LengthList(Kind):
    """Token counts of sequences, with repeats: ``8192, 4096x3``."""

    maximum: int
    maximum_count: int

    def read(self, name: str, text: str) -> Lengths:
        """``"4096x3" → Lengths((Run(4096, 3),))``."""
        return parse_lengths(name, text, self.maximum, self.maximum_count)


@dataclass(frozen=True, kw_only=True)
class Text(Kind):
    """Pasted or dropped text. ``suffixes`` are the file names that a drop zone offers."""

    longest: int = 1_000_000
    suffixes: tuple[str, ...] = ()
    lines: int = 6
    shared: bool = True  # False keeps the text out of addresses, where it would not fit

    def read(self, name: str, text: str) -> str:
        """The text without a byte order mark, line ends as LF."""
        if len(text) > self.longest:
            raise ParameterError(name, "text_too_long", maximum=self.longest, length=len(text))
        return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def form_field(kind: Kind) -> Any:
    """A dataclass field of this kind, with its parsed default."""
    return dataclasses.field(default=kind.parse("", kind.default), metadata={"form": kind})


def integer(default: int | None, *, minimum: int, maximum: int, **rest: Any) -> Any:
    """A whole number; None as default makes it optional."""
    text = "" if default is None else str(default)
    optional = default is None
    return form_field(
        Integer(default=text, minimum=minimum, maximum=maximum, optional=optional, **rest)
    )


def decimal(default: str, *, minimum: str, maximum: str, **rest: Any) -> Any:
    """A decimal; limits and default are text, so that they are exact. Empty default: optional."""
    return form_field(
        Decimal(
            default=default,
            minimum=Fraction(minimum),
            maximum=Fraction(maximum),
            optional=not default,
            **rest,
        )
    )


def choice(default: str, options: tuple[str, ...], **rest: Any) -> Any:
    """One of the options."""
    return form_field(Choice(default=default, options=options, **rest))


def switch(*, default: bool = False, **rest: Any) -> Any:
    """On or off."""
    return form_field(Switch(default="1" if default else "", **rest))


def lengths(default: str, *, maximum: int, maximum_count: int, **rest: Any) -> Any:
    """A list of sequence lengths."""
    return form_field(
        LengthList(default=default, maximum=maximum, maximum_count=maximum_count, **rest)
    )


def text(default: str = "", **rest: Any) -> Any:
    """Pasted or dropped text; empty unless a default is given."""
    return form_field(Text(default=default, optional=not default, **rest))


def kinds(params: type) -> dict[str, Kind]:
    """The fields of a Params class, by name, in order."""
    return {field.name: field.metadata["form"] for field in dataclasses.fields(params)}
