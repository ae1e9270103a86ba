"""The floor: the least that a step, a first token and an output token take, and who fits beside.

A lower bound from a model's shape and a card's peaks. With efficiencies below 100 % it is an
estimate instead. What it leaves out stands in the modules that count, and in the answer's notes.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from calculators.floor import plots, written
from calculators.floor.batches import compute_bound_batch, critical_batch
from calculators.floor.params import Params, memory_of, model_of, shared_values
from calculators.floor.passes import Model, Pass, Steps
from calculators.floor.remarks import remarks, warnings
from calculators.floor.shown import ms, percent, ratio, tokens_per_s
from calculators.kv.capacity import Memory
from calculators.kv.shape import Shape, shape_facts, shape_of
from calculators.show.blocks import (
    Block,
    Cell,
    Message,
    Notes,
    Number,
    Numbers,
    Result,
    Table,
)
from calculators.show.progress import Progress
from calculators.show.quantity import Quantity

__all__ = ["Answer", "Params", "solve"]

MOST_LISTED = 1 << 20  # sequences, where nothing limits them


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What is shown."""

    params: Params
    model: Model
    memory: Memory
    steps: Steps
    step: Pass
    first: Pass
    kept: Fraction

    @property
    def fits(self) -> int | None:
        """Sequences whose cache fits on every card; None where they keep nothing."""
        return int(self.memory.available_bytes // self.kept) if self.kept else None


def solve(params: Params, progress: Progress) -> Result:
    """The floor of a batch, of a prompt, and of every batch that fits."""
    progress(0)
    shape = shape_of(params)
    answer = answer_of(params, shape)
    return Result(
        blocks=tuple(blocks(answer, shape)),
        status=status(answer),
        values=shared_values(params, shape, answer.model),
    )


def answer_of(params: Params, shape: Shape) -> Answer:
    """All that the blocks show."""
    model = model_of(params, shape)
    steps = model.steps(params.context)
    cached = params.cached_tokens
    return Answer(
        params=params,
        model=model,
        memory=memory_of(params, model.weights),
        steps=steps,
        step=steps.step(params.batch),
        first=model.prefill(cached, cached + params.prompt_tokens),
        kept=model.kept_bytes(params.context),
    )


def blocks(answer: Answer, shape: Shape) -> Iterator[Block]:
    """The answer in reading order."""
    params, steps = answer.params, answer.steps
    yield figures(answer)
    yield parts(answer)
    if found := tuple(warnings(params, answer.memory, answer.fits)):
        yield Notes(items=found, kind="warning")
    yield written.step(steps, params.batch)
    yield batches(answer)
    yield plots.times(steps, params.batch, answer.fits)
    yield plots.trade_off(steps, params.batch, answer.fits)
    yield written.first(answer.model, params)
    yield written.room(answer.memory, answer.kept, params.context)
    yield Notes(items=tuple(remarks(params, shape, steps)))
    if shape.reading is not None:
        yield shape_facts(shape.reading)


def status(answer: Answer) -> Message:
    """The one sentence."""
    values = {
        "batch": Quantity(answer.params.batch),
        "tpot": ms(answer.step.seconds),
        "bound": Message(f"bound.{answer.step.bound}"),
        "ttft": ms(answer.first.seconds),
        "ttft_bound": Message(f"bound.{answer.first.bound}"),
    }
    if answer.fits is None:
        return Message("status.floor", values)
    return Message("status.floor_fits", {**values, "fits": Quantity(answer.fits, "sequences")})


def figures(answer: Answer) -> Numbers:
    """The least times, the most tokens a second, and how many sequences there is room for."""
    found = {
        "tpot": ms(answer.step.seconds),
        "ttft": ms(answer.first.seconds),
        "tokens_per_s": tokens_per_s(answer.steps.tokens_per_s(answer.params.batch)),
        "fits": None if answer.fits is None else Quantity(answer.fits, "sequences"),
    }
    return numbers(found, lead="tpot")


def parts(answer: Answer) -> Numbers:
    """What step and prompt consist of, the step's intensity beside the card's, turning points."""
    step, first, turn = answer.step, answer.first, compute_bound_batch(answer.steps)
    found = {
        "weights_ms": ms(step.weights_s),
        "kv_ms": ms(step.kv_s),
        "compute_ms": ms(step.compute_s),
        "intensity": ratio(step.intensity),
        "ridge": ratio(step.machine.ridge),
        "critical_batch": Quantity(critical_batch(answer.steps)),
        "compute_bound_batch": None if turn is None else Quantity(turn),
        "ttft_compute_ms": ms(first.compute_s),
        "ttft_memory_ms": ms(first.memory_s),
    }
    return numbers(found)


def numbers(found: Mapping[str, Quantity | None], lead: str = "") -> Numbers:
    """Figures by their ids; those that do not exist are left out."""
    return Numbers(
        items=tuple(
            Number(id=name, quantity=value, lead=name == lead)
            for name, value in found.items()
            if value is not None
        )
    )


def batches(answer: Answer) -> Table:
    """Powers of two, this batch, and the largest that fits, which stands last."""
    most = MOST_LISTED if answer.fits is None else answer.fits
    listed = {1 << power for power in range(most.bit_length())} | {most, answer.params.batch}
    shown = sorted(batch for batch in listed if 0 < batch <= most) or [answer.params.batch]
    columns = ("batch", "step", "weights", "kv", "compute", "tokens_per_s", "user", "bound")
    return Table(id="batches", columns=columns, rows=tuple(row(answer.steps, n) for n in shown))


def row(steps: Steps, batch: int) -> tuple[Cell, ...]:
    """One batch: its step, what takes which share of it, and what that is in tokens."""
    step, rate = steps.step(batch), steps.tokens_per_s(batch)
    shares = (step.weights_s, step.kv_s, step.compute_s)
    return (
        Quantity(batch),
        bare(ms(step.seconds)),
        *(percent(share / step.seconds) for share in shares),
        bare(tokens_per_s(rate)),
        bare(tokens_per_s(rate / batch)),
        Message(f"limit.{step.bound}"),
    )


def bare(quantity: Quantity) -> Quantity:
    """A figure whose unit stands at the head of its column."""
    return replace(quantity, unit="")
