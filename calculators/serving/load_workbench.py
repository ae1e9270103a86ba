"""The serving lab under load: one workload under all schedulers, with distributions and a sweep.

Models what `engine` and `fast` model, for hundreds to hundreds of thousands of requests. Leaves
out what the cost model leaves out, and everything between client and scheduler.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from calculators.serving import (
    clients,
    disaggregated,
    engine,
    fast,
    fast_disaggregated,
    fast_sglang,
)
from calculators.serving.columns import Columns, of_outcomes, of_trace
from calculators.serving.costs import Cost
from calculators.serving.distribution import Distribution, distribution
from calculators.serving.load_params import (
    Params,
    check_patience,
    cost_of,
    requests_of,
    settings_of,
    split_of,
)
from calculators.serving.load_tables import (
    cdf_plot,
    chunk_plot,
    fit_section,
    load_plot,
    policy_name,
    policy_table,
    status_table,
    tool_table,
    warnings,
    window_table,
)
from calculators.serving.request import Request
from calculators.serving.steadiness import Steadiness, steadiness
from calculators.serving.tools import TOOLS
from calculators.show.blocks import Block, Message, Notes, Result
from calculators.show.progress import Progress
from calculators.show.quantity import Quantity

FCFS = ("static", "orca", "prefill_first", "chunked", "v1")
FEW_TOKENS = 20_000  # output tokens up to which the plain engine is quick enough here
FACTORS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
BUDGETS = (256, 512, 1024, 2048, 4096, 8192)


@dataclass(frozen=True)
class System:
    """What one scheduler made of the workload."""

    columns: Columns

    @cached_property
    def steady(self) -> Steadiness:
        """The labels of the run."""
        return steadiness(self.columns)

    @cached_property
    def gaps(self) -> Distribution:
        """All gaps between tokens."""
        return self.columns.gaps

    @cached_property
    def ttft(self) -> Distribution:
        """Of all requests that showed a token."""
        return distribution(value for value in self.columns.ttft if value is not None)


def solve(params: Params, progress: Progress) -> Result:
    """All schedulers over the workload; then the sweeps, if they are wanted."""
    cost = cost_of(params)
    requests = requests_of(params)
    closed = params.workload == "closed"
    tokens = check_patience(requests, steps_singly=closed or cost.reads_context)
    quick = fast_sglang.covers(requests, settings_of("sglang", params), cost) and not closed
    with_sglang = quick or tokens <= FEW_TOKENS
    names = [*FCFS, *(["sglang"] if with_sglang else []), *([] if closed else ["pd"])]
    systems: dict[str, System] = {}
    for index, name in enumerate(names):
        progress(index / len(names) / 4)
        systems[name] = System(simulate(name, requests, params, cost))
    best = max(names, key=lambda name: good_count(systems[name].columns, params))
    return Result(
        blocks=tuple(blocks(params, cost, systems, requests, progress)),
        status=Message(
            "status.best",
            {
                "policy": policy_name(best),
                "share": Quantity(
                    Fraction(100 * good_count(systems[best].columns, params), len(requests)),
                    "percent",
                    1,
                ),
            },
        ),
    )


def simulate(
    name: str, requests: list[Request], params: Params, cost: Cost, budget: int | None = None
) -> Columns:
    """One scheduler, on the fast path where it covers the run."""
    if name == "pd":
        split = split_of(params)
        if fast_disaggregated.covers(requests, split, cost):
            return fast_disaggregated.run(requests, split, cost)
        return of_outcomes(disaggregated.run(requests, split, cost).outcomes)
    settings = settings_of(name, params, budget)
    if params.workload == "closed":
        loop = clients.Users(requests, params.users, params.think_ms * 1000)
        return of_outcomes(engine.run(loop.first, settings, cost, loop.follow).outcomes)
    if fast.covers(settings):
        return of_trace(fast.run(requests, settings, cost))
    if fast_sglang.covers(requests, settings, cost):
        return of_trace(fast_sglang.run(requests, settings, cost))
    return of_outcomes(engine.run(requests, settings, cost).outcomes)


def good_count(columns: Columns, params: Params) -> int:
    """Finished requests within the service level."""
    return sum(columns.good(params.slo))


def blocks(
    params: Params,
    cost: Cost,
    systems: Mapping[str, System],
    requests: list[Request],
    progress: Progress,
) -> Iterator[Block]:
    """The answer in reading order."""
    yield policy_table(systems, params.slo)
    if found := tuple(warnings({name: system.steady for name, system in systems.items()})):
        yield Notes(items=found, kind="warning")
    yield status_table(systems, params.slo)
    if params.warm_up_percent:
        yield window_table(systems, Fraction(params.warm_up_percent, 100))
    yield cdf_plot("ttft_cdf", {name: system.ttft for name, system in systems.items()})
    yield cdf_plot("itl_cdf", {name: system.gaps for name, system in systems.items()})
    tool = next(tool for tool in TOOLS if tool.name == params.tool)
    yield tool_table(tool, {name: system.columns for name, system in systems.items()})
    if params.sweep and params.workload != "closed":
        yield load_plot(load_sweep(params, cost, progress), params)
        yield chunk_plot(chunk_sweep(params, cost, requests))
    if params.cost == "table":
        yield fit_section(params.table or "")
    yield Notes(items=tuple(notes(params, systems)))


def load_sweep(
    params: Params, cost: Cost, progress: Progress
) -> dict[str, list[tuple[float, float]]]:
    """(rate factor, share of good requests of all arrived) by scheduler."""
    names = (*FCFS, "pd")
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    for index, factor in enumerate(FACTORS):
        requests = requests_of(params, factor)
        for name in names:
            columns = simulate(name, requests, params, cost)
            found[name].append((factor, good_count(columns, params) / len(requests)))
        progress(1 / 4 + (index + 1) / len(FACTORS) * 3 / 4)
    return found


def chunk_sweep(
    params: Params, cost: Cost, requests: list[Request]
) -> list[tuple[int, float, float]]:
    """(token budget, P99 of TTFT, P99 of the gaps) of the v1 scheduler, in ms."""
    found = []
    for budget in BUDGETS:
        system = System(simulate("v1", requests, params, cost, budget))
        ttft = system.ttft.percentile(Fraction(99, 100))
        gap = system.gaps.percentile(Fraction(99, 100))
        if ttft is not None and gap is not None:
            found.append((budget, float(ttft) / 1000, float(gap) / 1000))
    return found


def notes(params: Params, systems: Mapping[str, System]) -> Iterator[Message]:
    """What is modelled and what is left out."""
    yield Message(f"note.cost_{params.cost}")
    yield Message("note.left_out")
    yield Message("note.window", {"count": params.count})
    if "pd" in systems:
        workers = {"prefill": params.prefill_workers, "decode": params.decode_workers}
        yield Message("note.pd_workers", workers)
    if "sglang" not in systems:
        yield Message("note.no_sglang", {"tokens": FEW_TOKENS})
    if params.workload == "closed":
        yield Message("note.closed")
