"""One line of a derivation: what, the expression written out, the value. No wording."""

from dataclasses import dataclass
from fractions import Fraction

from calculators.kv.layers import Cache

GIB = 1024**3
MIB = 1024**2

type Value = int | Fraction | float


@dataclass(frozen=True, slots=True)
class Line:
    """``name`` is a label's key (``step.<engine>.<name>``), ``unit`` a key of the units' labels.

    ``cache`` is the kind of layer that a line is about, where it is about one.
    """

    name: str
    expression: str
    value: Value
    unit: str = ""
    cache: Cache | None = None


def printed_range(value: Fraction, digits: int = 2) -> tuple[Fraction, Fraction]:
    """The values that print as ``value`` with so many decimals: half a unit to either side."""
    half = Fraction(1, 2 * 10**digits)
    return value - half, value + half
