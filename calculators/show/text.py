"""Blocks to plain text, for the terminal. Same labels, same figures as the page."""

import unicodedata

from calculators.show.blocks import (
    Block,
    Cell,
    Code,
    Derivation,
    Drawing,
    Frames,
    Notes,
    Number,
    Numbers,
    Plot,
    Result,
    Section,
    Table,
)
from calculators.show.labels import Labels
from calculators.show.quantity import Quantity


def render_text(result: Result, labels: Labels) -> str:
    """The whole answer, blocks parted by empty lines."""
    parts = [block_text(block, labels) for block in result.blocks]
    return printable("\n\n".join(part for part in parts if part), keep="\n") + "\n"


def printable(text: str, keep: str = "") -> str:
    """The text with blanks for what would steer a terminal: a pasted file may hold anything."""
    return "".join(c if c.isprintable() or c in keep else " " for c in text)


def block_text(block: Block, labels: Labels) -> str:  # noqa: C901, PLR0911 - one case a block
    """One block. A plot is its numbers on the page; the terminal leaves it to ``--format csv``."""
    match block:
        case Number():
            return number_line(block, labels)
        case Numbers():
            return "\n".join(number_line(item, labels) for item in block.items)
        case Table():
            return table_text(block, labels)
        case Derivation():
            return derivation_text(block, labels)
        case Notes():
            return "\n".join(f"- {labels.plain(item)}" for item in block.items)
        case Code():
            return f"{labels.text(f'code.{block.id}')}\n{block.text}"
        case Drawing():
            return labels.plain(block.alt)
        case Frames():
            return "\n\n".join(
                f"{number}. {labels.plain(frame.caption)}\n" + blocks_text(frame.blocks, labels)
                for number, frame in enumerate(block.frames, start=1)
            )
        case Section():
            heading = labels.text(f"section.{block.id}")
            return f"{heading}\n\n{blocks_text(block.blocks, labels)}"
        case Plot():
            return ""


def blocks_text(blocks: tuple[Block, ...], labels: Labels) -> str:
    """Several blocks, one below the other."""
    parts = [block_text(block, labels) for block in blocks]
    return "\n".join(part for part in parts if part)


def number_line(item: Number, labels: Labels) -> str:
    """``Logical KV payload: 4.00 GiB (4294967296 bytes)``."""
    shown = labels.quantity(item.quantity).replace("\u00a0", " ")
    exact = ""
    if item.quantity.unit == "bytes" and not shown.endswith(labels.texts["unit.bytes"]):
        exact = f" ({item.quantity.value} {labels.texts['unit.bytes']})"
    return f"{labels.text(f'result.{item.id}')}: {shown}{exact}"


def derivation_text(block: Derivation, labels: Labels) -> str:
    """One line a step."""
    lines = [labels.text(f"derivation.{block.id}")]
    for step in block.steps:
        value = "" if step.quantity is None else f" = {labels.quantity(step.quantity)}"
        lines.append(f"  {labels.plain(step.label)}: {step.expression}{value}")
    return "\n".join(lines).replace("\u00a0", " ")


def table_text(block: Table, labels: Labels) -> str:
    """Columns aligned by display width, numbers to the right."""
    heads = [labels.text(f"column.{name}") for name in block.columns]
    rows = [[printable(labels.plain(cell)) for cell in row] for row in block.rows]
    widths = [max(map(width, column)) for column in zip(heads, *rows, strict=True)]
    right = [all(is_number(row[i]) for row in block.rows) for i in range(len(heads))]
    lines = [labels.text(f"table.{block.id}")]
    lines += [
        "  ".join(pad(text, w, r) for text, w, r in zip(row, widths, right, strict=True)).rstrip()
        for row in [heads, *rows]
    ]
    return "\n".join(lines)


def is_number(cell: Cell) -> bool:
    """Whether a cell is set to the right."""
    return isinstance(cell, Quantity) or cell is None


def width(text: str) -> int:
    """Columns of a terminal that a text takes: East Asian wide characters take two."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def pad(text: str, columns: int, right: bool) -> str:  # noqa: FBT001 - a positional pair of zip
    """The text filled up to a number of columns."""
    gap = " " * (columns - width(text))
    return gap + text if right else text + gap
