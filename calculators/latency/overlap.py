"""Which rows of a table may be ranked: only those whose intervals do not overlap."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """An interval of values; an open end is None."""

    low: float | None
    high: float | None

    def overlaps(self, other: "Span") -> bool:
        """Whether the two may hold the same value."""
        return not (self.under(other) or other.under(self))

    def under(self, other: "Span") -> bool:
        """Whether the whole of this one lies below the other."""
        return self.high is not None and other.low is not None and self.high < other.low


def rankable(spans: Sequence[Span]) -> bool:
    """Whether every pair of spans is apart, so that an order can be stated."""
    return all(
        not first.overlaps(second)
        for place, first in enumerate(spans)
        for second in spans[place + 1 :]
    )
