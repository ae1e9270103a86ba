"""A trace through GPU memory, host memory, disk and a remote store, with and without the latter.

See ``hierarchy`` for what is modelled and what is left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from calculators.prefix.lab_source import trace_of
from calculators.prefix.trace import Trace, in_blocks
from calculators.show.blocks import (
    Axis,
    Block,
    Cell,
    Message,
    Notes,
    Number,
    Numbers,
    Plot,
    Result,
    Series,
    Table,
)
from calculators.show.progress import Progress
from calculators.show.quantity import Quantity
from calculators.tiering.hierarchy import NS_PER_MS, Outcome, Setup
from calculators.tiering.simulate import simulate
from calculators.tiering.trace_params import Params, block_bytes, setup_of, stack_of

__all__ = ["Params", "solve"]

QUANTILES = (10, 50, 90, 95, 99)
CURVE_POINTS = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """A finished run with what is needed to show it."""

    trace: Trace
    setup: Setup
    outcome: Outcome
    block_bytes: int

    @property
    def saved_ns(self) -> list[int]:
        """What each request gained; negative where its first token came later."""
        pairs = zip(self.outcome.control_ns, self.outcome.ttft_ns, strict=True)
        return [control - ttft for control, ttft in pairs]

    @property
    def worse(self) -> int:
        """Requests whose first token came later than without the tiers."""
        return sum(saved < 0 for saved in self.saved_ns)


def solve(params: Params, progress: Progress) -> Result:
    """Run the trace and say who served what."""
    trace = in_blocks(trace_of(params), params.chunk_size)
    stack = stack_of(params)
    setup = setup_of(params, stack, trace.block_tokens)
    answer = Answer(
        trace=trace,
        setup=setup,
        outcome=simulate(trace, setup, progress),
        block_bytes=block_bytes(params, stack, trace.block_tokens),
    )
    return Result(
        blocks=tuple(blocks(answer)),
        status=Message(
            "status.done",
            {"count": Quantity(len(trace), "requests"), "worse": percent(answer.worse, len(trace))},
        ),
    )


def percent(part: int, whole: int, digits: int = 2) -> Quantity:
    """A share; of nothing it is 0."""
    return Quantity(Fraction(100 * part, whole) if whole else 0, "percent", digits)


def ms(ns: int | Fraction) -> Quantity:
    """Nanoseconds as milliseconds."""
    return Quantity(Fraction(ns) / NS_PER_MS, "ms", 2)


def blocks(answer: Answer) -> Iterator[Block]:
    """The answer in reading order."""
    yield figures(answer)
    yield tier_table(answer)
    yield quantile_table(answer)
    yield saved_plot(answer)
    yield Notes(items=tuple(notes(answer)))


def figures(answer: Answer) -> Numbers:
    """The figures at the top."""
    outcome, trace = answer.outcome, answer.trace
    prompt = sum(trace.input_tokens)
    count = len(trace)
    mean = Fraction(sum(outcome.ttft_ns), count)
    shown = {
        "worse": percent(answer.worse, count),
        "better": percent(sum(saved > 0 for saved in answer.saved_ns), count),
        "reused": percent(prompt - outcome.computed_tokens, prompt),
        "reused_alone": percent(prompt - outcome.control_tokens, prompt),
        "computed": Quantity(outcome.computed_tokens, "tokens"),
        "mean_ttft": ms(mean),
        "mean_control": ms(Fraction(sum(outcome.control_ns), count)),
        "mean_load": ms(Fraction(sum(outcome.load_ns), count)),
        "read": Quantity(sum(f.used for f in outcome.flows[1:]) * answer.block_bytes, "bytes"),
        "written": Quantity(sum(f.written for f in outcome.flows) * answer.block_bytes, "bytes"),
    }
    return Numbers(
        items=tuple(
            Number(id=name, quantity=value, lead=name == "worse") for name, value in shown.items()
        )
    )


def tier_table(answer: Answer) -> Table:
    """Who served what, what was moved and what is left, tier by tier."""
    names = ("gpu", *(level.name for level in answer.setup.levels))
    sizes = (answer.setup.gpu_blocks, *(level.capacity for level in answer.setup.levels))
    looked_up = sum(answer.outcome.blocks)
    size = answer.block_bytes
    rows: list[tuple[Cell, ...]] = []
    for name, held, flow in zip(names, sizes, answer.outcome.flows, strict=True):
        rows.append(
            (
                Message(f"tier.{name}"),
                None if held is None else Quantity(held, "blocks"),
                Quantity(flow.used, "blocks"),
                percent(flow.used, looked_up),
                Quantity(0 if name == "gpu" else flow.used * size, "bytes"),
                Quantity(flow.written * size, "bytes"),
                Quantity(flow.evicted, "blocks"),
                Quantity(flow.resident, "blocks"),
            )
        )
    columns = ("tier", "capacity", "used", "hit", "read", "written", "evicted", "resident")
    return Table(id="tiers", columns=columns, rows=tuple(rows))


def at(values: Sequence[int], share: int) -> int:
    """The nearest-rank quantile of sorted values."""
    return values[max(0, -(-len(values) * share // 100) - 1)]


def quantile_table(answer: Answer) -> Table:
    """TTFT with the tiers, without them, and what single requests gained."""
    columns = [sorted(values) for values in (
        answer.outcome.ttft_ns, answer.outcome.control_ns, answer.saved_ns
    )]  # fmt: skip
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (f"P{share}", *(ms(at(values, share)) for values in columns)) for share in QUANTILES
    )
    return Table(id="quantiles", columns=("quantile", "ttft", "control", "saved"), rows=rows)


def saved_plot(answer: Answer) -> Plot:
    """What requests gained, from the one that lost most to the one that gained most."""
    saved = sorted(answer.saved_ns)
    points = tuple(
        (100 * step / CURVE_POINTS, saved[min(len(saved) - 1, len(saved) * step // CURVE_POINTS)]
         / NS_PER_MS)
        for step in range(CURVE_POINTS + 1)
    )  # fmt: skip
    return Plot(
        id="saved",
        kind="line",
        x=Axis(name="share", unit="percent"),
        y=Axis(name="saved", unit="ms"),
        series=(Series(name=Message("series.saved"), points=points),),
        marks=((0.0, Message("mark.even")),),
    )


def notes(answer: Answer) -> Iterator[Message]:
    """What qualifies the answer."""
    yield Message("note.model")
    yield Message("note.blocks", {"count": answer.trace.block_tokens})
    longest = max(answer.trace.full_block_counts)
    if answer.setup.gpu_blocks is not None and longest > answer.setup.gpu_blocks:
        yield Message("note.too_long", {"blocks": longest, "capacity": answer.setup.gpu_blocks})
    if len(set(answer.trace.arrivals_ms)) <= 1:
        yield Message("note.no_times")
