"""When requests arrive: seeded processes in whole microseconds.

Instants are sums of ``random.Random(seed)`` draws, in seconds, rounded to 1e-6 s one by one: the
recipe of the speed figures, so that a run can be repeated anywhere. Leaves out daily patterns and
correlation between lengths and times.
"""

import random
from collections.abc import Callable, Sequence
from fractions import Fraction

from calculators.serving.limits import within

MICROSECONDS = 1_000_000
SMALLEST = Fraction(1, 1_000_000)  # of rates, variations and durations

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
    within("rate", rate, SMALLEST)
    return from_gaps(count, lambda draw: draw.expovariate(rate), seed)


def bursty(count: int, rate: float, variation: float, seed: int) -> list[int]:
    """Gamma gaps with mean 1/rate and a coefficient of variation; 1 is Poisson, above it bursts."""
    within("rate", rate, SMALLEST)
    within("variation", variation, SMALLEST)
    shape = 1 / variation**2
    return from_gaps(count, lambda draw: draw.gammavariate(shape, 1 / (rate * shape)), seed)


def on_off(count: int, rate: float, on_s: float, off_s: float, seed: int) -> list[int]:
    """Poisson at ``rate`` a second while on; nothing arrives in the pauses between.

    The mean rate is rate · on / (on + off).
    """
    within("rate", rate, SMALLEST)
    within("on_s", on_s, SMALLEST)
    pause = round(off_s * MICROSECONDS)
    period = on_s * MICROSECONDS
    return [instant + pause * int(instant // period) for instant in poisson(count, rate, seed)]


def uniform(count: int, rate: float) -> list[int]:
    """One request every 1/rate seconds."""
    within("rate", rate, SMALLEST)
    return [round(index * MICROSECONDS / rate) for index in range(count)]


def scaled(instants: Sequence[int], factor: float) -> list[int]:
    """The same pattern at ``factor`` times the rate, from its first instant on."""
    within("rate_factor", factor, SMALLEST)
    first = instants[0] if instants else 0
    return [round((instant - first) / factor) for instant in instants]
