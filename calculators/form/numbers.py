"""Whole numbers and decimals from text, exactly, with a reason for everything refused."""

import re
from fractions import Fraction

from calculators.form.errors import ParameterError, excerpt

WHOLE = re.compile(r"[+-]?[0-9]+")
DECIMAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
LONGEST_NUMBER = 60  # characters; far above every limit, far below what slows Python down


def whole(field: str, text: str, minimum: int, maximum: int) -> int:
    """``" 8192 " → 8192``; digits only, since a separator or exponent could be misread."""
    cleaned = check_text(field, text, minimum, maximum)
    if not WHOLE.fullmatch(cleaned):
        reason = "not_whole" if DECIMAL.fullmatch(cleaned) else "not_a_number"
        raise refused(field, reason, cleaned, minimum, maximum)
    return in_range(field, int(cleaned), minimum, maximum, cleaned)


def decimal(field: str, text: str, minimum: Fraction, maximum: Fraction) -> Fraction:
    """``"0.9" → 9/10``: what the reader wrote, without a binary fraction in between."""
    cleaned = check_text(field, text, minimum, maximum)
    if not DECIMAL.fullmatch(cleaned):
        raise refused(field, "not_a_number", cleaned, minimum, maximum)
    return in_range(field, Fraction(cleaned), minimum, maximum, cleaned)


def in_range[N: (int, Fraction)](field: str, value: N, minimum: N, maximum: N, text: str) -> N:
    """The value, or the limit that it breaks."""
    if value < minimum:
        raise refused(field, "too_small", text, minimum, maximum)
    if value > maximum:
        raise refused(field, "too_large", text, minimum, maximum)
    return value


def check_text(field: str, text: str, minimum: int | Fraction, maximum: int | Fraction) -> str:
    """Strip, and refuse what is empty, endless or typed in full-width digits."""
    cleaned = text.strip()
    if not cleaned:
        raise refused(field, "empty", cleaned, minimum, maximum)
    if len(cleaned) > LONGEST_NUMBER:
        raise refused(field, "too_long", cleaned, minimum, maximum)
    if any(c.isdigit() and not c.isascii() for c in cleaned):
        raise refused(field, "full_width", cleaned, minimum, maximum)
    return cleaned


def refused(
    field: str, reason: str, text: str, minimum: int | Fraction, maximum: int | Fraction
) -> ParameterError:
    """The error of a number, always with what was written and the limits."""
    return ParameterError(
        field, reason, text=excerpt(text), minimum=plain(minimum), maximum=plain(maximum)
    )


def plain(value: int | Fraction) -> str:
    """A number as a reader would write it: ``Fraction(1, 2) → "0.5"``."""
    if isinstance(value, Fraction) and value.denominator != 1:
        return f"{float(value):g}"
    return str(int(value))
