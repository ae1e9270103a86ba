"""Whether a run says anything about a steady state, and if not, by which sign.

Two labels, each with its evidence. *Over saturation*: the second half waits clearly longer, and the
worker needs much longer than the arrivals lasted, or it had not finished at the horizon: the queue
would grow without end at this rate. A long tail alone may be the last long answers of a short run.
*Not stationary*: the second half of the arrivals waits clearly longer for the first token than the
first half (a Welch statistic above 3 and half as much again). Neither proves the contrary: a short
run can hide both, and a run that starts empty needs its first part cut off (``warm_up``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import fsum, sqrt
from typing import Literal

from calculators.serving.columns import Columns
from calculators.serving.request import Time

FEWEST = 20  # requests in each half, below which no label is given
CLEAR = 3.0  # Welch statistic
HALF_AS_MUCH_AGAIN = 1.5
LONG_TAIL = Fraction(1, 10)  # of the arrival window


@dataclass(frozen=True, kw_only=True, slots=True)
class Steadiness:
    """The labels of a run with their evidence; ``tail`` and the means in the run's time unit.

    ``tail`` is how long after the last arrival the last request ended.
    """

    labels: tuple[Literal["too_few", "over_saturation", "not_stationary"], ...]
    first_half_ttft: float | None
    second_half_ttft: float | None
    window: Time
    tail: Time


def steadiness(columns: Columns) -> Steadiness:
    """Look at a run's columns, in order of arrival."""
    arrivals = [request.arrival for request in columns.requests]
    window = arrivals[-1] - arrivals[0] if arrivals else 0
    ends = [end for end in columns.end if end is not None]
    tail = max(max(ends) - arrivals[-1], 0) if ends else 0
    first, second = halves([None if v is None else float(v) for v in columns.ttft])
    labels: list[Literal["too_few", "over_saturation", "not_stationary"]] = []
    enough = min(len(first), len(second)) >= FEWEST
    if not enough:
        labels.append("too_few")
    rising = enough and rises(first, second)
    late = tail > LONG_TAIL * window and rising
    if enough and (late or "unfinished_waiting" in columns.status):
        labels.append("over_saturation")
    if rising:
        labels.append("not_stationary")
    return Steadiness(
        labels=tuple(labels),
        first_half_ttft=mean(first) if first else None,
        second_half_ttft=mean(second) if second else None,
        window=window,
        tail=tail,
    )


def halves(values: Sequence[float | None]) -> tuple[list[float], list[float]]:
    """The values of the first and of the second half of the arrivals, gaps left out."""
    middle = len(values) // 2
    first = [value for value in values[:middle] if value is not None]
    return first, [value for value in values[middle:] if value is not None]


def rises(first: Sequence[float], second: Sequence[float]) -> bool:
    """Whether the second mean is clearly the larger one."""
    low, high = mean(first), mean(second)
    spread = sqrt(variance(first) / len(first) + variance(second) / len(second))
    return high > HALF_AS_MUCH_AGAIN * low and high - low > CLEAR * spread


def mean(values: Sequence[float]) -> float:
    """The mean."""
    return fsum(values) / len(values)


def variance(values: Sequence[float]) -> float:
    """The sample variance of two values or more."""
    middle = mean(values)
    return fsum((value - middle) ** 2 for value in values) / (len(values) - 1)


def warm_up(columns: Columns, share: Fraction) -> tuple[range, range]:
    """Indices of the cold start (the first ``share`` of the arrivals) and of the rest."""
    cut = int(len(columns.requests) * share)
    return range(cut), range(cut, len(columns.requests))
