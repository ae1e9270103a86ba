"""Whether two measurements may be compared at all: their conditions side by side.

A ratio is meant only where every condition is stated on both sides and equal. A condition that one
side does not state makes the answer unknown, never equal. Left out: whether equal words mean equal
things (two "H100" of different power caps).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

CONDITIONS: Final = (
    "boundary",
    "hardware",
    "software",
    "model",
    "dtype",
    "load",
    "percentile_rule",
)
Outcome = Literal["same", "different", "unknown"]
Verdict = Literal["comparable", "different", "unknown"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Condition:
    """One condition as both sides state it."""

    name: str
    first: str | None
    second: str | None

    @property
    def outcome(self) -> Outcome:
        """Same, different, or unknown when a side is silent."""
        if self.first is None or self.second is None:
            return "unknown"
        return "same" if self.first == self.second else "different"


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparability:
    """All conditions of two measurements."""

    conditions: tuple[Condition, ...]

    @property
    def verdict(self) -> Verdict:
        """Comparable only if every condition is the same."""
        outcomes = {condition.outcome for condition in self.conditions}
        if "different" in outcomes:
            return "different"
        return "unknown" if "unknown" in outcomes else "comparable"

    @property
    def differences(self) -> tuple[Condition, ...]:
        """What is not known to be the same."""
        return tuple(c for c in self.conditions if c.outcome != "same")


def comparability(
    first: Mapping[str, str | None], second: Mapping[str, str | None]
) -> Comparability:
    """The conditions of two measurements side by side."""
    return Comparability(
        conditions=tuple(
            Condition(name=name, first=first.get(name), second=second.get(name))
            for name in CONDITIONS
        )
    )
