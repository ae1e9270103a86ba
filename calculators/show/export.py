"""Results to JSON and CSV: for scripts and spreadsheets, exact and with field names.

Keys and column names are ids, not labels, so that a script written against the English page
works with the Chinese one.
"""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from calculators.show.blocks import (
    Block,
    Cell,
    Derivation,
    Frames,
    Message,
    Plot,
    Result,
    Section,
    Table,
    numbers_of,
)
from calculators.show.quantity import Quantity, Value, machine_text

SAFE_INTEGER = 2**53 - 1  # beyond it JavaScript's JSON.parse loses digits


def to_json(calculator: str, values: Mapping[str, str], result: Result) -> str:
    """Inputs, figures, tables and derivation steps.

    Integers above 2^53 - 1 and fractions are strings, since many JSON readers would round them.
    """
    blocks = tuple(flat(result.blocks))
    document = {
        "calculator": calculator,
        "inputs": dict(values),
        "figures": {name: quantity(q) for name, q in numbers_of(result.blocks).items()},
        "tables": {b.id: table(b) for b in blocks if isinstance(b, Table)},
        "derivations": {b.id: derivation(b) for b in blocks if isinstance(b, Derivation)},
        "plots": {b.id: plot(b) for b in blocks if isinstance(b, Plot)},
        **({"data": result.data} if result.data else {}),
    }
    return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def to_csv(result: Result) -> str:
    """Figures first, then every table, parted by empty lines, each with a head line."""
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n").writerow
    write(["figure", "value", "unit"])
    for name, q in numbers_of(result.blocks).items():
        write([name, machine_text(q.value), q.unit])
    for block in flat(result.blocks):
        if isinstance(block, Table):
            write([])
            write(block.columns)
            for row in block.rows:
                write([machine_cell(cell) for cell in row])
    return out.getvalue()


def flat(blocks: tuple[Block, ...]) -> Iterator[Block]:
    """Every block, those inside sections and frames included."""
    for block in blocks:
        yield block
        if isinstance(block, Section):
            yield from flat(block.blocks)
        if isinstance(block, Frames):
            for frame in block.frames:
                yield from flat(frame.blocks)


def table(block: Table) -> list[dict[str, Any]]:
    """Rows as objects."""
    return [dict(zip(block.columns, map(json_cell, row), strict=True)) for row in block.rows]


def derivation(block: Derivation) -> list[dict[str, Any]]:
    """Steps as objects."""
    return [
        {
            "step": machine_cell(step.label),
            "expression": step.expression,
            "value": json_cell(step.quantity),
        }
        for step in block.steps
    ]


def plot(block: Plot) -> dict[str, Any]:
    """The series of a plot."""
    return {
        machine_cell(series.name): [list(point) for point in series.points]
        for series in block.series
    }


def quantity(q: Quantity) -> dict[str, Any]:
    """Value and unit."""
    return {"value": json_value(q.value), "unit": q.unit}


def json_value(value: Value) -> int | float | str | None:
    """A number that every JSON reader keeps exactly, or its text."""
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None  # noqa: PLR0124
    if isinstance(value, Fraction) and value.denominator != 1:
        return str(value)
    whole = int(value)
    return whole if -SAFE_INTEGER <= whole <= SAFE_INTEGER else str(whole)


def json_cell(cell: Cell) -> Any:
    """A cell as JSON."""
    return json_value(cell.value) if isinstance(cell, Quantity) else machine_cell(cell) or None


def machine_cell(cell: Cell) -> str:
    """A cell as CSV text; of a worded one its key and data, not its wording."""
    match cell:
        case Quantity():
            return machine_text(cell.value)
        case Message():
            data = (f"{k}={machine_value(v)}" for k, v in cell.values.items())
            return " ".join((cell.key, *data))
        case None:
            return ""
        case _:
            return cell


def machine_value(value: object) -> str:
    """The value of a message's placeholder as text."""
    return machine_cell(value) if isinstance(value, Quantity | Message) else str(value)
