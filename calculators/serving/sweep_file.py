"""A file that ``python -m scripts.sweep`` wrote, opened and plotted: ``serving-sweep/1``.

Everything is checked before it is shown, since the file may come from anybody. Left out: the
single points (the file has them); what is shown is the mean over seeds with its interval.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from calculators.form.errors import ParameterError, excerpt
from calculators.form.nesting import nests_deeper
from calculators.show.blocks import Axis, Block, Cell, Message, Plot, Series, Table
from calculators.show.quantity import Quantity

FIELD = "sweep_file"
FORMAT = "serving-sweep/1"
MOST_SYSTEMS = 100
LARGEST = 1e12


@dataclass(frozen=True, kw_only=True, slots=True)
class Rate:
    """Mean share of good requests at a rate; ``half_width`` of its interval, None of one seed."""

    rate: float
    mean: float
    half_width: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Capacity:
    """A system: the largest rate that meets the level, over seeds, and attainment by rate."""

    system: str
    share: float
    seeds: int
    largest: float
    lowest: float
    highest: float
    rates: tuple[Rate, ...]


def read(text: str) -> tuple[Capacity, ...]:
    """The systems of a file. Raises ParameterError for anything else."""
    if nests_deeper(text):
        raise ParameterError(FIELD, "no_sweep", text="[[[", options=FORMAT)
    try:
        document = json.loads(text)
    except ValueError:
        raise ParameterError(FIELD, "no_sweep", text=excerpt(text), options=FORMAT) from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ParameterError(FIELD, "no_sweep", text=excerpt(text), options=FORMAT)
    entries = document.get("capacity")
    if not isinstance(entries, list) or not 0 < len(entries) <= MOST_SYSTEMS:
        raise ParameterError(FIELD, "no_sweep", text="capacity", options=FORMAT)
    return tuple(capacity(number, entry) for number, entry in enumerate(entries, start=1))


def capacity(number: int, entry: Any) -> Capacity:
    """One system."""
    try:
        return Capacity(
            system=excerpt(str(entry["system"])),
            share=figure(entry["share"]),
            seeds=int(figure(entry["seeds"])),
            largest=figure(entry["largest_rate"]),
            lowest=figure(entry["smallest_over_seeds"]),
            highest=figure(entry["largest_over_seeds"]),
            rates=tuple(rate(row) for row in entry["attainment_by_rate"]),
        )
    except (KeyError, TypeError, ValueError, OverflowError):
        raise ParameterError(
            FIELD, "bad_row", row=number, text=excerpt(json.dumps(entry))
        ) from None


def rate(row: Mapping[str, Any]) -> Rate:
    """Attainment at one rate."""
    half = row["half_width"]
    return Rate(
        rate=figure(row["rate"]),
        mean=figure(row["mean"]),
        half_width=None if half is None else figure(half),
    )


def figure(value: object) -> float:
    """A finite number that is not negative. Raises ValueError or TypeError."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("no number")
    if not math.isfinite(value) or not 0 <= value <= LARGEST:
        raise ValueError("out of range")
    return float(value)


def blocks(systems: tuple[Capacity, ...]) -> tuple[Block, ...]:
    """The table of capacities and attainment against load."""
    return capacity_table(systems), attainment_plot(systems), attainment_table(systems)


def capacity_table(systems: tuple[Capacity, ...]) -> Table:
    """The largest rate of each system, with its spread over seeds."""
    rows: list[tuple[Cell, ...]] = [
        (
            one.system,
            *(Quantity(value, "requests_per_s", 2) for value in (one.largest, one.lowest)),
            Quantity(one.highest, "requests_per_s", 2),
            Quantity(one.seeds),
        )
        for one in systems
    ]
    columns = ("system", "largest_rate", "lowest_rate", "highest_rate", "seeds")
    return Table(id="capacity", columns=columns, rows=tuple(rows))


def attainment_plot(systems: tuple[Capacity, ...]) -> Plot:
    """Mean attainment over seeds against load."""
    return Plot(
        id="swept",
        kind="line",
        x=Axis(name="rate", unit="requests_per_s"),
        y=Axis(name="attainment", unit="percent"),
        series=tuple(
            Series(name=one.system, points=tuple((r.rate, 100 * r.mean) for r in one.rates))
            for one in systems
        ),
        marks=((100 * systems[0].share, Message("mark.share")),),
        alt={"count": len(systems)},
    )


def attainment_table(systems: tuple[Capacity, ...]) -> Table:
    """The same with the half width of the 95 % interval over seeds."""
    rows: list[tuple[Cell, ...]] = [
        (
            one.system,
            Quantity(r.rate, "requests_per_s", 2),
            Quantity(100 * r.mean, "percent", 1),
            None if r.half_width is None else Quantity(100 * r.half_width, "percent", 1),
        )
        for one in systems
        for r in one.rates
    ]
    columns = ("system", "rate", "good_of_arrived", "half_width")
    return Table(id="attainment", columns=columns, rows=tuple(rows), folded=True)
