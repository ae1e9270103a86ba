"""Numbers with units, shown exactly rounded. A unit never changes by guessing."""

from dataclasses import dataclass
from fractions import Fraction

type Exact = int | Fraction
type Value = int | Fraction | float

BINARY_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
STEP = 1024


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value and its unit. ``digits`` are decimals shown; None shows whole numbers whole.

    Units are keys of ``labels/units.toml``; "bytes" is shown with a binary prefix, and the exact
    count stays in the page beside it.
    """

    value: Value
    unit: str = ""
    digits: int | None = None


def rounded(value: Value, digits: int) -> str:
    """Round half up in exact arithmetic: ``rounded(Fraction(1, 3), 2) → "0.33"``."""
    exact = Fraction(value)
    scaled = abs(exact) * 10**digits
    whole = (2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)
    sign = "-" if exact < 0 and whole else ""
    head, tail = divmod(whole, 10**digits)
    return f"{sign}{head:,}.{tail:0{digits}d}" if digits else f"{sign}{head:,}"


def binary(value: Exact, digits: int = 2) -> tuple[str, str]:
    """``4294967296 → ("4.00", "GiB")``: the largest binary unit that keeps the number above 1."""
    power = 0
    while power + 1 < len(BINARY_UNITS) and abs(value) >= STEP ** (power + 1):
        power += 1
    if power == 0:
        return (rounded(value, 0 if Fraction(value).denominator == 1 else digits), "bytes")
    return (rounded(Fraction(value) / STEP**power, digits), BINARY_UNITS[power])


def number_text(quantity: Quantity) -> tuple[str, str]:
    """The number and the key of its unit, as they are shown."""
    value = quantity.value
    if isinstance(value, float) and (value != value or value in {float("inf"), float("-inf")}):  # noqa: PLR0124
        return ("–", "")
    if quantity.unit == "bytes" and not isinstance(value, float):
        return binary(value, 2 if quantity.digits is None else quantity.digits)
    digits = quantity.digits
    if digits is None:
        digits = 0 if Fraction(value).denominator == 1 else 2
    return (rounded(value, digits), quantity.unit)


def machine_text(value: Value) -> str:
    """The value for machines: integers whole, fractions as ``p/q``, floats by ``repr``."""
    return repr(value) if isinstance(value, float) else str(value)
