"""The blocks that a result is made of. Plain frozen data; no wording, no HTML.

Every name that a reader sees is the key of a label (``Message``) or data (plain text such as a
model's name), and a renderer escapes both in one place.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from calculators.show.quantity import Quantity


@dataclass(frozen=True, slots=True)
class Message:
    """A label with values for its placeholders: ``Message("note.list", {"count": 4})``."""

    key: str
    values: Mapping[str, object] = field(default_factory=dict)


type Cell = str | Message | Quantity | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Number:
    """One figure of the answer, with the label ``result.<id>``. ``lead`` makes it the headline."""

    id: str
    quantity: Quantity
    lead: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Numbers:
    """Figures that belong together, shown side by side."""

    items: tuple[Number, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """A table with the caption ``table.<id>`` and column heads ``column.<name>``.

    The first column heads its row. A long table is folded when ``folded`` says so.
    """

    id: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    folded: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One line of a derivation: what is computed, the written-out expression, its value."""

    label: Message
    expression: str
    quantity: Quantity | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Derivation:
    """Steps that a reader can follow by hand, with the heading ``derivation.<id>``."""

    id: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Notes:
    """Sentences that qualify the answer: assumptions, what is left out, what was ignored."""

    items: tuple[Message, ...]
    kind: Literal["note", "warning"] = "note"


@dataclass(frozen=True, kw_only=True, slots=True)
class Axis:
    """An axis with the title ``axis.<name>``; the unit is a key of the units' labels."""

    name: str
    unit: str = ""
    log: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Series:
    """Points (x, y) of one line, bar group or cloud; ``name`` is a label or data."""

    name: str | Message
    points: tuple[tuple[float | str, float], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Plot:
    """A plot with the title ``plot.<id>`` and the text alternative ``plot.<id>.alt``.

    ``marks`` are horizontal lines (value, label), such as a capacity. ``x_marks`` are vertical.
    ``alt`` holds values for the placeholders of the alternative text.
    """

    id: str
    kind: Literal["line", "step", "bar", "stacked", "point", "area"]
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    marks: tuple[tuple[float, str | Message], ...] = ()
    x_marks: tuple[tuple[float, str | Message], ...] = ()
    alt: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Code:
    """Text to copy: engine flags, a command, a citation. Heading ``code.<id>``."""

    id: str
    text: str
    language: str = "text"


@dataclass(frozen=True, kw_only=True, slots=True)
class Drawing:
    """A hand-made SVG where the drawing is the lesson: tree, iteration grid, memory layout.

    ``svg`` is built by a module of ``show`` (never by hand in a calculator) from escaped text;
    ``title`` and ``alt`` are labels, and the same facts stand in a table or text beside it.
    """

    id: str
    svg: str
    alt: Message


@dataclass(frozen=True, kw_only=True, slots=True)
class Frames:
    """A sequence of steps that the reader walks through with a slider or the arrow keys.

    Without script all frames stand one below the other, so nothing is lost.
    """

    id: str
    frames: tuple["Frame", ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Frame:
    """One step: its caption and what is shown at it."""

    caption: Message | str
    blocks: tuple["Block", ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """Blocks under the heading ``section.<id>``."""

    id: str
    blocks: tuple["Block", ...]
    folded: bool = False


type Block = (
    Number | Numbers | Table | Derivation | Notes | Plot | Code | Drawing | Frames | Section
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """The answer of a calculator, in reading order.

    ``status`` is the one sentence that a screen reader hears after an edit. ``values`` are form
    values to write back (what a pasted file said), ``data`` are further figures for JSON that no
    block shows.
    """

    blocks: tuple[Block, ...]
    status: Message
    values: Mapping[str, str] = field(default_factory=dict)
    data: Mapping[str, object] = field(default_factory=dict)


def numbers_of(blocks: tuple[Block, ...]) -> dict[str, Quantity]:
    """Every figure of an answer by its id, for prose, tests and exports."""
    found: dict[str, Quantity] = {}
    for block in blocks:
        match block:
            case Number():
                found[block.id] = block.quantity
            case Numbers():
                found |= numbers_of(block.items)
            case Section():
                found |= numbers_of(block.blocks)
            case _:
                pass
    return found
