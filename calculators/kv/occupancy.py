"""How many tokens N live sequences keep together, and the chance that they exceed a pool.

The lengths of live sequences are taken as independent draws from one distribution, and their sum
is convolved on a grid of ``unit`` tokens up to the pool's size: as a polynomial whose powers are
products of long decimal numbers (Kronecker substitution; 18 decimals a probability). The result
is exact where every length is a multiple of the unit. Elsewhere a length is split between its two
neighbouring cells so that its mean stays exact; its variance grows by at most unit² / 4, so the
sum is spread a little too widely, never too little.

Left out: dependence (bursts of like requests), sharing of prefixes, and admission that waits
instead of exceeding.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import gcd
from typing import Literal

from calculators.form.errors import ParameterError
from calculators.kv.traces import Shape

type Stage = Literal["finished", "random", "started"]

CELLS = 4096  # of the grid, up to the pool's size
DIGITS = 18  # of a probability
ONE: int = 10**18
WIDTH = 2 * DIGITS + 6  # of a coefficient: a product of two, summed over the cells
WIDEST = 2_000_000  # tokens between the shortest and the longest, one by one
MOST_DOUBLINGS = 20  # up to a million sequences
LONG = Context(prec=1_000_000, Emax=MAX_EMAX, Emin=MIN_EMIN)


def live_lengths(shapes: Mapping[Shape, int], stage: Stage) -> dict[int, int]:
    """Weights of the tokens that one live sequence keeps.

    ``started``: its prompt; ``finished``: prompt and whole output, the most it ever keeps;
    ``random``: seen at a random moment of decoding, so that long outputs are met more often and
    each of their tokens equally.
    """
    if stage == "random" and any(shape.output for shape in shapes):
        return random_moment(shapes)
    weights: dict[int, int] = {}
    for shape, count in shapes.items():
        kept = shape.prompt if stage == "started" else shape.prompt + shape.output
        weights[max(1, kept)] = weights.get(max(1, kept), 0) + count
    return weights


def random_moment(shapes: Mapping[Shape, int]) -> dict[int, int]:
    """Every output token of every request is one moment, with prompt + 1 … prompt + output.

    Raises ParameterError ``lengths_too_wide``.
    """
    changes: dict[int, int] = {}
    for shape, count in shapes.items():
        first, after = shape.prompt + 1, shape.prompt + shape.output + 1
        changes[first] = changes.get(first, 0) + count
        changes[after] = changes.get(after, 0) - count
    places = sorted(changes)
    if places[-1] - places[0] > WIDEST:
        raise ParameterError("trace", "lengths_too_wide", maximum=WIDEST)
    heights = accumulate(changes[place] for place in places)
    weights: dict[int, int] = {}
    for height, start, end in zip(heights, places, places[1:], strict=False):
        if height:
            weights |= dict.fromkeys(range(start, end), height)
    return weights


def moments(weights: Mapping[int, int]) -> tuple[Fraction, Fraction]:
    """Mean and variance of one sequence's tokens, exactly."""
    total = sum(weights.values())
    mean = Fraction(sum(length * weight for length, weight in weights.items()), total)
    square = Fraction(sum(length * length * weight for length, weight in weights.items()), total)
    return mean, square - mean * mean


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A distribution of lengths on ``cells`` + 1 cells of ``unit`` tokens, 0 to the pool's size.

    ``weights`` are probabilities in units of 10^-18; what is longer than the pool is left out,
    since it can only exceed. ``exact`` says that no length had to be split.
    """

    unit: int
    weights: tuple[int, ...]
    exact: bool

    @property
    def cells(self) -> int:
        """The pool's size in units."""
        return len(self.weights) - 1

    @cached_property
    def made(self) -> list[Decimal]:
        """The distributions of 1, 2, 4, … sequences as far as they were asked for."""
        return [packed(self.weights)]

    def doubled(self, place: int) -> Decimal:
        """The distribution of 2^place sequences, made once."""
        while len(self.made) <= place:
            self.made.append(times(self.made[-1], self.made[-1], self.cells))
        return self.made[place]


def grid_of(lengths: Mapping[int, int], pool_tokens: int) -> Grid:
    """The finest grid for a pool that ``CELLS`` cells allow, or the lengths' own coarser step."""
    finest, common = max(1, -(-pool_tokens // CELLS)), gcd(*lengths)
    unit = max(common, finest)
    cells = pool_tokens // unit
    scaled = [0] * (cells + 2)  # by the unit, so that splitting stays in integers
    for length, weight in lengths.items():
        cell, rest = divmod(length, unit)
        if cell <= cells:
            scaled[cell] += weight * (unit - rest)
            scaled[cell + 1] += weight * rest
    total = unit * sum(lengths.values())
    weights = tuple(ONE * weight // total for weight in scaled[: cells + 1])
    return Grid(unit=unit, weights=weights, exact=all(n % unit == 0 for n in lengths))


def packed(weights: tuple[int, ...]) -> Decimal:
    """A distribution as one long number, cell 0 in the last digits."""
    return Decimal("".join(f"{weight:0{WIDTH}d}" for weight in reversed(weights)))


def unpacked(number: Decimal, cells: int) -> list[str]:
    """The digits of every coefficient, cell 0 last; what lies beyond the pool is cut off."""
    size = WIDTH * (cells + 1)
    digits = f"{number:f}"[-size:].zfill(size)
    return [digits[place : place + WIDTH] for place in range(0, size, WIDTH)]


def times(left: Decimal, right: Decimal, cells: int) -> Decimal:
    """The distribution of a sum of two: convolved, cut off at the pool, scaled back."""
    zeros = "0" * DIGITS
    product = unpacked(LONG.multiply(left, right), cells)
    return Decimal("".join(zeros + digits[:-DIGITS] for digits in product))


def exceeding(number: Decimal, cells: int) -> float:
    """The chance that the sum is beyond the pool."""
    inside = sum(map(int, unpacked(number, cells)))
    return max(0, ONE - inside) / ONE


def of_none(cells: int) -> Decimal:
    """No sequence keeps nothing, for certain."""
    return packed((ONE, *(0,) * cells))


def sum_of(grid: Grid, sequences: int) -> Decimal:
    """The distribution of the sum of so many sequences."""
    result: Decimal | None = None
    for place in range(sequences.bit_length()):
        if sequences >> place & 1:
            factor = grid.doubled(place)
            result = factor if result is None else times(result, factor, grid.cells)
    return of_none(grid.cells) if result is None else result


def chance(grid: Grid, sequences: int) -> float:
    """The chance that so many sequences exceed the pool."""
    return exceeding(sum_of(grid, sequences), grid.cells)


def distribution(grid: Grid, sequences: int) -> tuple[float, ...]:
    """The probability that the sum lies in each cell, 0 to the pool's size, for a plot."""
    digits = unpacked(sum_of(grid, sequences), grid.cells)
    return tuple(int(text) / ONE for text in reversed(digits))


def most_sequences(grid: Grid, risk: Fraction | float) -> int:
    """The largest number of sequences whose chance of exceeding is at most ``risk``.

    At most 2^20 - 1 are tried.
    """
    most = 0
    while most < MOST_DOUBLINGS and exceeding(grid.doubled(most), grid.cells) <= risk:
        most += 1
    if most == 0:
        return 0
    count, reached = 1 << (most - 1), grid.doubled(most - 1)
    for place in reversed(range(most - 1)):
        tried = times(reached, grid.doubled(place), grid.cells)
        if exceeding(tried, grid.cells) <= risk:
            count, reached = count + (1 << place), tried
    return count
