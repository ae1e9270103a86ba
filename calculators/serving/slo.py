"""Service levels: which requests are good, and what share of which denominator they are."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from calculators.serving.limits import within
from calculators.serving.records import Outcome, Status
from calculators.serving.request import Time

STATUSES: tuple[Status, ...] = (
    "finished",
    "timeout",
    "rejected",
    "unfinished_waiting",
    "unfinished_running",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Slo:
    """Upper limits in the run's time unit, themselves allowed; None is no limit."""

    ttft: Time | None = None
    tpot: Time | None = None
    e2e: Time | None = None

    def __post_init__(self) -> None:
        """Refuse negative limits. Raises ParameterError."""
        for name in ("ttft", "tpot", "e2e"):
            value = getattr(self, name)
            if value is not None:
                within(f"slo_{name}", value, 0)

    def met(self, outcome: Outcome) -> bool:
        """Whether a request finished within every limit. One-token requests have no TPOT."""
        if outcome.status != "finished":
            return False
        pairs = ((outcome.ttft, self.ttft), (tpot(outcome), self.tpot), (e2e(outcome), self.e2e))
        return all(v is None or limit is None or v <= limit for v, limit in pairs)


@dataclass(frozen=True, kw_only=True, slots=True)
class Attainment:
    """How a run did under a service level. All arrived requests count, not only the completed.

    ``duration`` is last finish minus first arrival, None where nothing finished.
    """

    good: tuple[str, ...]
    arrived: int
    finished: int
    duration: Time | None

    @property
    def all_arrived(self) -> Fraction | None:
        """Good over all arrived: rejects, timeouts and unfinished ones count as bad."""
        return Fraction(len(self.good), self.arrived) if self.arrived else None

    @property
    def completed_only(self) -> Fraction | None:
        """Good over completed: the common shortcut, shown to see how far it is off."""
        return Fraction(len(self.good), self.finished) if self.finished else None

    @property
    def goodput(self) -> Fraction | None:
        """Good requests a unit of time."""
        return len(self.good) / Fraction(self.duration) if self.duration else None


def tpot(outcome: Outcome) -> Fraction | None:
    """(finish - first token) / (output - 1), None for one token or an unfinished request."""
    times = outcome.token_times
    if outcome.status != "finished" or len(times) == 1:
        return None
    return Fraction(times[-1] - times[0]) / (len(times) - 1)


def e2e(outcome: Outcome) -> Time | None:
    """Finish minus arrival."""
    if outcome.status != "finished" or outcome.end is None:
        return None
    return outcome.end - outcome.request.arrival


def counts(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """Arrived requests and how many of them ended in which way."""
    statuses = [outcome.status for outcome in outcomes]
    ended: dict[str, int] = {status: statuses.count(status) for status in STATUSES}
    return {"arrived": sum(ended.values()), **ended}


def attainment(outcomes: Sequence[Outcome], slo: Slo) -> Attainment:
    """Good requests and both denominators."""
    arrived = [outcome for outcome in outcomes if outcome.status != "not_arrived"]
    finishes = [o.end for o in arrived if o.status == "finished" and o.end is not None]
    first = min((outcome.request.arrival for outcome in arrived), default=0)
    return Attainment(
        good=tuple(outcome.request.id for outcome in arrived if slo.met(outcome)),
        arrived=len(arrived),
        finished=len(finishes),
        duration=max(finishes) - first if finishes else None,
    )
