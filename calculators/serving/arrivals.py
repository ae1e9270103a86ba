"""When requests arrive: seeded processes in whole microseconds.

Instants are sums of ``random.Random(seed)`` draws, in seconds, rounded to 1e-6 s one by one: the
recipe of the speed figures, so that a run can be repeated anywhere. Leaves out daily patterns and
correlation between lengths and times.
"""

import random
from collections.abc import Callable, Sequence

from calculators.form.errors import ParameterError

MICROSECONDS = 1_000_000

type Gap = Callable[[random.Random], float]


def from_gaps(count: int, gap: Gap, seed: int) -> list[int]:
    """Instants in µs from gaps in seconds."""
    draw, now, instants = random.Random(seed), 0.0, []  # noqa: S311 - a simulation
    for _ in range(count):
        now += gap(draw)
        instants.append(round(round(now, 6) * MICROSECONDS))
    return instants


def poisson(count: int, rate: float, seed: int) -> list[int]:
    """Independent arrivals, ``rate`` a second."""
    check_rate(rate)
    return from_gaps(count, lambda draw: draw.expovariate(rate), seed)


def bursty(count: int, rate: float, variation: float, seed: int) -> list[int]:
    """Gamma gaps with mean 1/rate and a coefficient of variation; 1 is Poisson, above it bursts."""
    check_rate(rate)
    if variation <= 0:
        raise ParameterError("variation", "below_minimum", text=str(variation), minimum=0)
    shape = 1 / variation**2
    return from_gaps(count, lambda draw: draw.gammavariate(shape, 1 / (rate * shape)), seed)


def on_off(count: int, rate: float, on_s: float, off_s: float, seed: int) -> list[int]:
    """Poisson at ``rate`` a second while on; nothing arrives in the pauses between.

    The mean rate is rate · on / (on + off).
    """
    check_rate(rate)
    if on_s <= 0:
        raise ParameterError("on_s", "below_minimum", text=str(on_s), minimum=0)
    pause = round(off_s * MICROSECONDS)
    period = on_s * MICROSECONDS
    return [instant + pause * int(instant // period) for instant in poisson(count, rate, seed)]


def uniform(count: int, rate: float) -> list[int]:
    """One request every 1/rate seconds."""
    check_rate(rate)
    return [round(index * MICROSECONDS / rate) for index in range(count)]


def scaled(instants: Sequence[int], factor: float) -> list[int]:
    """The same pattern at ``factor`` times the rate, from its first instant on."""
    check_rate(factor)
    first = instants[0] if instants else 0
    return [round((instant - first) / factor) for instant in instants]


def check_rate(rate: float) -> None:
    """Refuse a rate that is no rate. Raises ParameterError."""
    if not 0 < rate < float("inf"):
        raise ParameterError("rate", "below_minimum", text=str(rate), minimum=0)
