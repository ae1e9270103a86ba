# ruff: noqa: RUF009 - a field is made once, on purpose
"""The lengths calculator: how many tokens N live sequences keep together, and the risk in that.

Models independent draws from given lengths at a stated stage of generation, convolved up to the
pool's size (``occupancy``). Leaves out bursts of like requests, shared prefixes, layers whose
window keeps fewer tokens, and what an engine does when the pool is full.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import sqrt
from typing import cast

from calculators.form import fields
from calculators.kv.occupancy import (
    Grid,
    Stage,
    distribution,
    grid_of,
    live_lengths,
    moments,
    most_sequences,
)
from calculators.kv.shape import needed
from calculators.kv.traces import LONGEST_TEXT, Trace, read_trace
from calculators.show.blocks import (
    Axis,
    Block,
    Message,
    Notes,
    Number,
    Numbers,
    Plot,
    Result,
    Series,
    Table,
)
from calculators.show.progress import Progress
from calculators.show.quantity import Quantity

EXAMPLE = "512x30, 2048x50, 8192x15, 32768x5"
CURVE_POINTS = 96
QUANTILES = (50, 90, 99)  # per cent
SMALLEST_CHANCE = 1e-12  # below it the rounding of the convolution is all there is
MOST_SEQUENCES = 10**6
LONGEST_SHARED = 2000  # characters


@dataclass(frozen=True, kw_only=True)
class Params:
    """The form."""

    trace: str | None = fields.text(
        EXAMPLE,
        longest=LONGEST_TEXT,
        suffixes=(".csv", ".jsonl", ".txt"),
        lines=3,
        group="lengths",
    )
    stage: str = fields.choice("finished", ("finished", "random", "started"), group="lengths")
    pool_tokens: int = fields.integer(476_016, minimum=1, maximum=10**12, group="pool")
    sequences: int = fields.integer(80, minimum=1, maximum=MOST_SEQUENCES, group="pool")
    risk_percent: Fraction = fields.decimal("0.1", minimum="0.000001", maximum="99", group="pool")


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of the convolution."""

    trace: Trace
    lengths: Mapping[int, int]
    grid: Grid
    cells: Sequence[float]
    allowed: int

    @property
    def chance(self) -> float:
        """That the sequences keep more than the pool holds."""
        return max(0.0, 1 - sum(self.cells))

    @property
    def mean(self) -> Fraction:
        """Tokens of one live sequence."""
        return moments(self.lengths)[0]

    @property
    def deviation(self) -> float:
        """Standard deviation of one live sequence's tokens."""
        return sqrt(moments(self.lengths)[1])


def solve(params: Params, progress: Progress) -> Result:
    """Distribution, chance and the number of sequences for the risk."""
    progress(0)
    trace = read_trace("trace", needed("trace", params.trace))
    progress(0.4)
    lengths = live_lengths(trace.shapes, cast("Stage", params.stage))
    grid = grid_of(lengths, params.pool_tokens)
    allowed = most_sequences(grid, params.risk_percent / 100)
    progress(0.8)
    outcome = Outcome(
        trace=trace,
        lengths=lengths,
        grid=grid,
        cells=distribution(grid, params.sequences),
        allowed=allowed,
    )
    return Result(
        blocks=tuple(blocks(params, outcome)),
        status=Message(
            "status.allowed",
            {
                "allowed": Quantity(allowed),
                "risk": Quantity(params.risk_percent, "percent", 4),
                "chance": chance_text(outcome.chance),
                "sequences": Quantity(params.sequences),
            },
        ),
        values=short_values(params),
    )


def short_values(params: Params) -> dict[str, str]:
    """An address has no room for a whole trace: opened, it asks for the file."""
    return {"trace": ""} if len(params.trace or "") > LONGEST_SHARED else {}


def chance_text(chance: float) -> str:
    """A chance in per cent, with a bound where nothing smaller can be told."""
    if chance < SMALLEST_CHANCE:
        return f"< {SMALLEST_CHANCE * 100:g} %"
    return f"{chance * 100:.3g} %"


def blocks(params: Params, outcome: Outcome) -> Iterator[Block]:
    """The answer in reading order."""
    yield figures(params, outcome)
    yield sums_table(params, outcome)
    yield plot(params, outcome)
    yield Notes(items=tuple(remarks(params, outcome)))


def figures(params: Params, outcome: Outcome) -> Numbers:
    """The number for the risk, the chance of the number asked about, and two simple answers."""
    longest = max(outcome.lengths)
    chance = outcome.chance if outcome.chance >= SMALLEST_CHANCE else 0.0
    return Numbers(
        items=(
            Number(id="allowed", quantity=Quantity(outcome.allowed, "sequences"), lead=True),
            Number(id="chance", quantity=Quantity(100 * chance, "percent", 4)),
            Number(id="by_mean", quantity=Quantity(int(params.pool_tokens / outcome.mean))),
            Number(id="by_longest", quantity=Quantity(params.pool_tokens // longest)),
        )
    )


def sums_table(params: Params, outcome: Outcome) -> Table:
    """Tokens of one sequence and of all: mean, spread, quantiles up to the pool's size."""
    count = params.sequences
    rows = [
        ("mean", Quantity(outcome.mean, digits=1), Quantity(outcome.mean * count, digits=1)),
        (
            "deviation",
            Quantity(outcome.deviation, digits=1),
            Quantity(outcome.deviation * sqrt(count), digits=1),
        ),
        *(quantile_row(percent, outcome) for percent in QUANTILES),
    ]
    return Table(
        id="sums",
        columns=("statistic", "one", "all"),
        rows=tuple((Message(f"statistic.{name}"), one, whole) for name, one, whole in rows),
    )


def quantile_row(percent: int, outcome: Outcome) -> tuple[str, Quantity, Quantity | None]:
    """A quantile of one sequence and of the sum; None where it lies beyond the pool."""
    total = sum(outcome.lengths.values())
    places = sorted(outcome.lengths)
    below = accumulate(outcome.lengths[place] for place in places)
    one = next(
        p for p, weight in zip(places, below, strict=True) if weight * 100 >= percent * total
    )
    reached = enumerate(accumulate(outcome.cells))
    cell = next((cell for cell, chance in reached if chance * 100 >= percent), None)
    whole = None if cell is None else Quantity(cell * outcome.grid.unit)
    return f"p{percent}", Quantity(one), whole


def plot(params: Params, outcome: Outcome) -> Plot:
    """The chance that the sequences keep more than so many tokens, up to the pool's size."""
    step = max(1, outcome.grid.cells // CURVE_POINTS)
    beyond = [100 * max(0.0, 1 - chance) for chance in accumulate(outcome.cells)]
    places = range(0, len(beyond), step)
    points = tuple((float(cell * outcome.grid.unit), beyond[cell]) for cell in places)
    return Plot(
        id="beyond",
        kind="line",
        x=Axis(name="retained", unit="tokens"),
        y=Axis(name="chance", unit="percent"),
        series=(Series(name=Message("series.beyond"), points=points),),
        x_marks=((float(params.pool_tokens), Message("series.pool")),),
        alt={
            "sequences": Quantity(params.sequences),
            "chance": chance_text(outcome.chance),
            "pool": Quantity(params.pool_tokens),
        },
    )


def remarks(params: Params, outcome: Outcome) -> Iterator[Message]:
    """Assumptions and method."""
    trace, grid = outcome.trace, outcome.grid
    values = {"requests": Quantity(trace.requests), "skipped": Quantity(trace.skipped)}
    yield Message(f"format.{trace.format}", values)
    yield Message("note.independent")
    if params.stage == "random" and not any(shape.output for shape in trace.shapes):
        yield Message("note.no_outputs")
    else:
        yield Message(f"note.stage.{params.stage}")
    method = "note.exact" if grid.exact else "note.split"
    yield Message(method, {"unit": Quantity(grid.unit), "cells": Quantity(grid.cells)})
