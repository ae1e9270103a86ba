"""The serving lab under load: one workload under all schedulers, with distributions and a sweep.

Models what `engine` and `fast` model, for hundreds to hundreds of thousands of requests. Leaves
out what the cost model leaves out, and everything between client and scheduler.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from calculators.serving import fast_sglang, sweep_file
from calculators.serving.chunk_rule import chunk_blocks
from calculators.serving.costs import Cost
from calculators.serving.load_params import (
    SWEEP_FILE,
    Params,
    cost_of,
    requests_of,
    roofline_of,
    settings_of,
)
from calculators.serving.load_plots import (
    cdf_plot,
    chunk_plot,
    knee_table,
    load_plot,
    memory_plot,
    queue_plot,
)
from calculators.serving.load_tables import (
    client_table,
    fit_section,
    policy_name,
    policy_table,
    status_table,
    tool_table,
    warnings,
    window_table,
)
from calculators.serving.patience import check_patience
from calculators.serving.request import Request
from calculators.serving.roofline import Roofline
from calculators.serving.systems import (
    LOOPS,
    Meter,
    System,
    Watched,
    good_share,
    kept_run,
    simulate,
    workload,
)
from calculators.serving.tools import TOOLS
from calculators.show.blocks import Block, Derivation, Message, Notes, Result, Step
from calculators.show.progress import Progress
from calculators.show.quantity import Quantity

FCFS = ("static", "orca", "prefill_first", "chunked", "v1")
MOST_KEPT = 10_000  # requests; seven runs of as many hold some 50 MiB
FEW_TOKENS = 20_000  # output tokens up to which the plain engine is quick enough here
STEEPEST = 2  # times the rate: the last point of a load sweep
BUDGETS = (256, 512, 1024, 2048, 4096, 8192)
PLAIN = "static"  # in the tables only: in a plot it would press all others into a corner


@dataclass(frozen=True)
class Lab:
    """What is run: the form, the workload, the cost model, the schedulers, and who is told."""

    params: Params
    requests: list[Request]
    cost: Cost
    names: tuple[str, ...]
    meter: Meter

    @property
    def plotted(self) -> tuple[str, ...]:
        """The schedulers in plots and sweeps."""
        return tuple(name for name in self.names if name != PLAIN)

    def system(self, name: str) -> System:
        """One scheduler over the workload, and what takes longest to count of it."""
        found = self.whole_run(name)
        for name_of in ("gaps", "tpot", "ttft"):  # counted once, and kept
            getattr(found, name_of)
            self.meter.pulse()
        return found

    @property
    def quick(self) -> bool:
        """Whether no run steps through single iterations, so that none need be watched."""
        return self.cost.coefficients is not None and self.params.workload not in LOOPS

    def whole_run(self, name: str) -> System:
        """One scheduler over the workload, kept for the next answer where that is cheap to hold."""
        if not self.quick or len(self.requests) > MOST_KEPT:
            return self.run(name, self.requests)
        found = kept_run(name, self.params.simulated)
        self.meter.step()
        return System(found)

    def run(self, name: str, requests: list[Request], budget: int | None = None) -> System:
        """One scheduler over some requests."""
        cost = self.cost if self.quick else Watched(self.cost, self.meter)
        found = simulate(name, requests, self.params, cost, budget)
        self.meter.step()
        return System(found)


def solve(params: Params, progress: Progress) -> Result:
    """All schedulers over the workload; then the sweeps, if they are wanted."""
    if params.workload == SWEEP_FILE:
        return opened(params)
    lab = prepared(params, progress)
    systems = {name: lab.system(name) for name in lab.names}
    best = max(lab.names, key=lambda name: good_share(systems[name].columns, params))
    share = 100 * good_share(systems[best].columns, params)
    return Result(
        blocks=tuple(told(lab, blocks(lab, systems))),
        status=Message(
            "status.best", {"policy": policy_name(best), "share": Quantity(share, "percent", 1)}
        ),
    )


def told(lab: Lab, made: Iterator[Block]) -> Iterator[Block]:
    """The blocks, with a sign of life after each."""
    for block in made:
        yield block
        lab.meter.pulse()


def opened(params: Params) -> Result:
    """A sweep that was computed elsewhere."""
    systems = sweep_file.read(params.sweep_file or "")
    best = max(systems, key=lambda one: one.largest)
    largest = Quantity(best.largest, "requests_per_s", 2)
    return Result(
        blocks=sweep_file.blocks(systems),
        status=Message("status.sweep", {"system": best.system, "rate": largest}),
    )


def prepared(params: Params, progress: Progress) -> Lab:
    """The workload and its schedulers, once it is clear that they are worth waiting for."""
    cost, requests = cost_of(params), workload(params.simulated)
    loop = params.workload in LOOPS
    quick = fast_sglang.covers(requests, settings_of("sglang", params), cost) and not loop
    few = sum(request.output for request in requests) <= FEW_TOKENS
    names = (*FCFS, *(("sglang",) if quick or few else ()), *(() if loop else ("pd",)))
    points = params.sweep_points * (len(names) - 1) + len(BUDGETS)
    swept = points if params.sweep and not loop else 0
    check_patience(names, swept, requests, params, cost)
    return Lab(params, requests, cost, names, Meter(progress, len(names) + swept))


def blocks(lab: Lab, systems: Mapping[str, System]) -> Iterator[Block]:
    """The answer in reading order."""
    params, plotted = lab.params, {name: systems[name] for name in lab.plotted}
    yield policy_table(systems, params.slo)
    if found := tuple(warnings({name: system.steady for name, system in systems.items()})):
        yield Notes(items=found, kind="warning")
    yield status_table(systems)
    if params.workload == "slots":
        yield client_table(systems, lab.requests)
    if params.warm_up_percent:
        yield window_table(systems, Fraction(params.warm_up_percent, 100))
    if params.sweep and params.workload not in LOOPS:
        yield from sweeps(lab)
    yield cdf_plot("ttft_cdf", {name: system.ttft for name, system in plotted.items()})
    yield cdf_plot("itl_cdf", {name: system.gaps for name, system in plotted.items()})
    yield queue_plot(plotted)
    if params.num_blocks is not None:
        yield memory_plot(plotted)
    tool = next(tool for tool in TOOLS if tool.name == params.tool)
    runs = {name: system.columns for name, system in systems.items()}
    yield tool_table(tool, runs, lab.meter.pulse)
    if params.cost == "linear":
        costs = (params.a_us, params.b_us, params.c_us)
        yield from chunk_blocks(params.slo_tpot_ms * 1000, *costs, params.decodes)
    if params.cost == "table":
        yield fit_section(params.table or "")
    if params.cost == "roofline":
        yield roofline_steps(roofline_of(params))
    yield Notes(items=tuple(notes(lab, systems)))


def sweeps(lab: Lab) -> Iterator[Block]:
    """Attainment against load with the knees, and TTFT against gaps by chunk size."""
    found = load_sweep(lab)
    yield load_plot(found, lab.params)
    yield knee_table(found, lab.params)
    yield chunk_plot(chunk_sweep(lab))


def load_sweep(lab: Lab) -> dict[str, list[tuple[float, float]]]:
    """(rate factor, share of good requests of all arrived) by scheduler."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in lab.plotted}
    points = lab.params.sweep_points
    for number in range(1, points + 1):
        factor = STEEPEST * number / points
        requests = requests_of(lab.params, factor)
        for name in lab.plotted:
            columns = lab.run(name, requests).columns
            found[name].append((factor, float(good_share(columns, lab.params))))
    return found


def chunk_sweep(lab: Lab) -> list[tuple[int, float, float]]:
    """(token budget, P99 of TTFT, P99 of the gaps) of the v1 scheduler, in ms."""
    found = []
    for budget in BUDGETS:
        system = lab.run("v1", lab.requests, budget)
        ttft = system.ttft.percentile(Fraction(99, 100))
        gap = system.gaps.percentile(Fraction(99, 100))
        if ttft is not None and gap is not None:
            found.append((budget, float(ttft) / 1000, float(gap) / 1000))
    return found


def roofline_steps(cost: Roofline) -> Derivation:
    """The lines of the roofline, written out, with the device's figures."""
    shape, device = cost.shape, cost.device
    flop_rate = f"({device.flop_per_s / 1e12:,.1f} TFLOP/s × {float(cost.compute_efficiency):g})"
    byte_rate = f"({device.bytes_per_s / 1e9:,.0f} GB/s × {float(cost.memory_efficiency):g})"
    weights = f"{shape.bytes_per_parameter} × {shape.parameters:,} B / {byte_rate}"
    flop = f"2 × {shape.parameters:,} FLOP / {flop_rate}"
    context = f"{shape.kv_bytes_per_token:,} B / {byte_rate}"
    reading = cost.memory_us(1) - cost.memory_us(0)
    return Derivation(
        id="roofline",
        steps=(
            roofline_step("weights", weights, cost.memory_us(0)),
            roofline_step("flop", flop, cost.compute_us(1)),
            roofline_step("context", context, reading),
        ),
    )


def roofline_step(name: str, expression: str, value: Fraction) -> Step:
    """One line in µs."""
    quantity = Quantity(value, "us", 3)
    return Step(label=Message(f"step.{name}"), expression=expression, quantity=quantity)


def notes(lab: Lab, systems: Mapping[str, System]) -> Iterator[Message]:
    """What is modelled and what is left out."""
    params = lab.params
    yield Message(f"note.cost_{params.cost}")
    if params.cost == "roofline":
        device = roofline_of(params).device
        yield Message("note.device", {"device": device.name, "source": device.source})
    yield Message("note.left_out")
    yield Message("note.plain")
    yield Message("note.window", {"count": len(lab.requests)})
    if params.prefix_cache:
        hit = {name: system.columns.cached for name, system in systems.items()}
        yield Message("note.prefix", {"tokens": Quantity(max(hit.values()), "tokens")})
    if "pd" in systems:
        workers = {"prefill": params.prefill_workers, "decode": params.decode_workers}
        yield Message("note.pd_workers", workers)
    if "sglang" not in systems:
        yield Message("note.no_sglang", {"tokens": FEW_TOKENS})
    if params.workload in LOOPS:
        yield Message(f"note.{params.workload}")
