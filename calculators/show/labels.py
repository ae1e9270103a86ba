"""Wording in one language: keys to sentences with placeholders."""

import string
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Literal

from calculators.show.blocks import Cell, Message
from calculators.show.quantity import Quantity, machine_text, number_text

type Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")

# Text set between a number and its unit, by language: none changes the figure.
UNIT_GAP = "\u00a0"


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of one calculator in one language, those shared by all included."""

    lang: Language
    texts: Mapping[str, str]

    def text(self, key: str, values: Mapping[str, object] | None = None) -> str:
        """The wording of a key. KeyError for an unknown key or placeholder: the build fails."""
        template = self.texts[key]
        if not values:
            return template if "{" not in template else string.Formatter().vformat(template, (), {})
        shown = {name: self.plain(value) for name, value in values.items()}
        return string.Formatter().vformat(template, (), shown)

    def has(self, key: str) -> bool:
        """Whether a key has a wording, for those that are optional (help of a field)."""
        return key in self.texts

    def plain(self, value: object) -> str:
        """Any value of a placeholder or cell as plain text."""
        match value:
            case Message():
                return self.text(value.key, value.values)
            case Quantity():
                return self.quantity(value)
            case None:
                return "–"
            case _:
                return str(value)

    def quantity(self, quantity: Quantity) -> str:
        """``Quantity(4294967296, "bytes") → "4.00 GiB"``."""
        number, unit = number_text(quantity)
        if not unit:
            return number
        name = self.texts[f"unit.{unit}"]
        return f"{number}{name}" if unit == "percent" else f"{number}{UNIT_GAP}{name}"

    def html(self, cell: Cell) -> str:
        """A cell as HTML; a quantity keeps its exact value for machines and on hover."""
        if isinstance(cell, Quantity):
            exact = escape(machine_text(cell.value), quote=True)
            return f'<data value="{exact}">{escape(self.quantity(cell))}</data>'
        return escape(self.plain(cell))


def flatten(tree: Mapping[str, object], lang: Language, prefix: str = "") -> dict[str, str]:
    """A nested table of labels to keys with dots, for one language.

    A label is a table with a text for each language, so that both wordings stand on adjacent
    lines; further labels may stand below it. Raises ValueError for a label that lacks a language,
    TypeError for one without any.
    """
    flat: dict[str, str] = {}
    for name, value in tree.items():
        key = f"{prefix}{name}"
        if not isinstance(value, Mapping):
            raise TypeError(f"{key}: a label is a table of languages")
        own = {k: v for k, v in value.items() if k in LANGUAGES or isinstance(v, str)}
        if own:
            if set(own) != set(LANGUAGES) or not all(isinstance(v, str) for v in own.values()):
                raise ValueError(f"{key}: a label has exactly the languages {LANGUAGES}")
            flat[key] = str(own[lang])
        flat |= flatten({k: v for k, v in value.items() if k not in own}, lang, f"{key}.")
    return flat
