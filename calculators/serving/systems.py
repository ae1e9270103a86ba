"""One workload under one scheduler, on the fastest path that gives its integers.

``Meter`` tells a reader that the work goes on: after every run, and within runs that step through
single iterations, where a run may take seconds.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

from calculators.serving import (
    clients,
    disaggregated,
    engine,
    fast,
    fast_disaggregated,
    fast_sglang,
)
from calculators.serving.columns import Columns, of_run, of_trace
from calculators.serving.costs import Cost
from calculators.serving.distribution import Distribution
from calculators.serving.load_params import (
    Params,
    cost_of,
    requests_of,
    settings_of,
    split_of,
)
from calculators.serving.request import Request, Time
from calculators.serving.steadiness import Steadiness, steadiness
from calculators.show.progress import Progress

LOOPS = ("closed", "slots")  # workloads whose arrivals follow from the answers
SYSTEMS = 7  # that one answer shows
PULSE = 2_000  # iterations between two signs of life


@dataclass(frozen=True)
class System:
    """What one scheduler made of the workload."""

    columns: Columns

    @cached_property
    def steady(self) -> Steadiness:
        """The labels of the run."""
        return steadiness(self.columns)

    @property
    def gaps(self) -> Distribution:
        """All gaps between tokens."""
        return self.columns.gaps

    @property
    def tpot(self) -> Distribution:
        """Of all that have one."""
        return self.columns.tpot_distribution

    @property
    def ttft(self) -> Distribution:
        """Of all requests that showed a token."""
        return self.columns.ttft_distribution


class Meter:
    """Runs done of all that are to be done."""

    def __init__(self, progress: Progress, runs: int) -> None:
        self.progress = progress
        self.runs = runs
        self.done = 0

    def step(self) -> None:
        """One run more is done."""
        self.done += 1
        self.pulse()

    def pulse(self) -> None:
        """Still at work."""
        self.progress(min(self.done / self.runs, 1.0))


class Watched:
    """A cost model that gives a sign of life now and then; where it is a line, nothing calls it."""

    def __init__(self, cost: Cost, meter: Meter) -> None:
        self.cost = cost
        self.meter = meter
        self.calls = 0

    @property
    def reads_context(self) -> bool:
        """As the model."""
        return self.cost.reads_context

    @property
    def coefficients(self) -> tuple[Time, Time, Time] | None:
        """As the model."""
        return self.cost.coefficients

    def growth(self, decodes: int) -> Time | None:
        """As the model."""
        return self.cost.growth(decodes)

    def duration(self, prefill: int, decodes: int, context: int) -> Time:
        """As the model."""
        self.calls += 1
        if self.calls % PULSE == 0:
            self.meter.pulse()
        return self.cost.duration(prefill, decodes, context)


def simulate(
    name: str, requests: list[Request], params: Params, cost: Cost, budget: int | None = None
) -> Columns:
    """One scheduler, on the fast path where it covers the run."""
    if name == "pd":
        split = split_of(params)
        if fast_disaggregated.covers(requests, split, cost):
            return fast_disaggregated.run(requests, split, cost)
        return of_run(disaggregated.run(requests, split, cost))
    settings = settings_of(name, params, budget)
    if params.workload in LOOPS:
        loop = loop_of(requests, params)
        return of_run(engine.run(loop.first, settings, cost, loop.follow))
    if fast.covers(settings):
        return of_trace(fast.run(requests, settings, cost))
    if fast_sglang.covers(requests, settings, cost):
        return of_trace(fast_sglang.run(requests, settings, cost))
    return of_run(engine.run(requests, settings, cost))


@lru_cache(maxsize=1)
def workload(params: Params) -> list[Request]:
    """The requests of a form, kept for the next question about them."""
    return requests_of(params)


@lru_cache(maxsize=SYSTEMS)
def kept_run(name: str, params: Params) -> Columns:
    """One scheduler over the form's workload, with all that was counted of it.

    A reader who moves a limit or looks through another tool asks about the same runs again.
    """
    return simulate(name, workload(params), params, cost_of(params))


def loop_of(requests: list[Request], params: Params) -> clients.Users | clients.Slots:
    """The clients of a closed loop, or of a schedule sent with a limit."""
    if params.workload == "slots":
        return clients.Slots(requests, params.max_concurrency)
    return clients.Users(requests, params.users, params.think_ms * 1000)


def steps_singly(name: str, requests: Iterable[Request], params: Params, cost: Cost) -> bool:
    """Whether a run looks at every iteration, so that its time grows with tokens."""
    if params.workload in LOOPS or cost.reads_context:
        return True
    return name == "sglang" and not fast_sglang.covers(requests, settings_of(name, params), cost)


def good_share(columns: Columns, params: Params) -> Fraction:
    """Finished requests within the service level, of all arrived."""
    return Fraction(sum(columns.good(params.slo)), len(columns.requests) or 1)
