"""How long an iteration takes: a linear model, with or without the context that is read.

Leaves out what the table and the roofline model (their own modules) do not measure either:
kernel launch steps, padding, CUDA graph sizes, contention between layers.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from calculators.serving.limits import LARGEST, within
from calculators.serving.request import Time


class Cost(Protocol):
    """A cost model. ``context`` counts the KV tokens that the decoding requests read."""

    @property
    def reads_context(self) -> bool:
        """Whether ``duration`` looks at ``context``; if not, equal iterations can be skipped."""

    @property
    def coefficients(self) -> tuple[Time, Time, Time] | None:
        """(a, b, c) where these are all of the model, so that the hot loop need not call it."""

    def duration(self, prefill: int, decodes: int, context: int) -> Time:
        """Time of one iteration: prefill tokens, decoding sequences, their KV tokens."""

    def growth(self, decodes: int) -> Time | None:
        """How much longer the next decode iteration of the same requests is; None: it varies."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Linear:
    """``a + b·prefill tokens + c·decoding sequences`` (+ ``d·context tokens``)."""

    a: Time
    b: Time
    c: Time
    d: Time = 0

    def __post_init__(self) -> None:
        """Refuse negative terms and iterations that take no time. Raises ParameterError."""
        for name in ("b", "c", "d"):
            within(name, getattr(self, name), 0)
        within("a", self.a, 0 if self.b and self.c else Fraction(1, LARGEST))

    @property
    def reads_context(self) -> bool:
        """Whether there is a context term."""
        return bool(self.d)

    @property
    def coefficients(self) -> tuple[Time, Time, Time] | None:
        """(a, b, c), None with a context term."""
        return None if self.d else (self.a, self.b, self.c)

    def duration(self, prefill: int, decodes: int, context: int) -> Time:
        """Time of one iteration, in the unit of the coefficients."""
        return self.a + self.b * prefill + self.c * decodes + self.d * context

    def growth(self, decodes: int) -> Time:
        """Each sequence reads one token more."""
        return self.d * decodes
