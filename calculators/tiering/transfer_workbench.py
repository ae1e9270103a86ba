# ruff: noqa: RUF009 - a field is made once, on purpose
"""Prefill here, decode there: what the transfer costs, and when two roles lose.

One prompt in detail, and many of them as averages. Leaves out queues before the prefill, shares
of a link among concurrent transfers beyond the mean wait, and changing roles.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from calculators.form import fields
from calculators.kv.shape import shape_facts, shape_of, shape_remarks
from calculators.show.blocks import (
    Axis,
    Block,
    Cell,
    Derivation,
    Message,
    Notes,
    Number,
    Numbers,
    Plot,
    Result,
    Series,
    Step,
    Table,
)
from calculators.show.progress import Progress
from calculators.show.quantity import Quantity
from calculators.tiering.params import ModelParams, prefill_of, shared_values, store_of
from calculators.tiering.tier import Tier
from calculators.tiering.transfer import (
    Handover,
    Load,
    handover,
    least_output_tokens,
    line,
    mean_wait_s,
    utilisation,
)

MOST_TOKENS = 100_000_000
CURVE_POINTS = 24


@dataclass(frozen=True, kw_only=True)
class Params(ModelParams):
    """The form."""

    prompt_tokens: int = fields.integer(8192, minimum=1, maximum=MOST_TOKENS, group="load")
    output_tokens: int = fields.integer(256, minimum=1, maximum=MOST_TOKENS, group="load")
    step_ms: Fraction = fields.decimal("30", minimum="0.001", maximum="1e6", group="load")
    requests_per_s: Fraction = fields.decimal("1", minimum="0", maximum="1e6", group="load")
    link_gb_per_s: Fraction = fields.decimal("25", minimum="0.001", maximum="1000000", group="link")
    link_latency_us: Fraction = fields.decimal("50", minimum="0", maximum="1e9", group="link")
    link: str = fields.choice("serial", ("serial", "parallel"), group="link")
    layerwise: bool = fields.switch(group="link")


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What is shown."""

    whole: Handover
    layered: Handover
    load: Load
    chosen: Handover
    wait_s: Fraction | None

    @property
    def exposed_s(self) -> Fraction | None:
        """What comes after the prefill, the mean wait for the link included."""
        return None if self.wait_s is None else self.chosen.exposed_s + self.wait_s


def solve(params: Params, progress: Progress) -> Result:
    """The answer for one prompt and for many."""
    progress(0)
    shape = shape_of(params)
    store = store_of(params, shape)
    prefill_s = prefill_of(params, shape.stack).seconds(0, params.prompt_tokens)
    whole, layered = (
        handover(
            shape.stack, store, link_of(params), params.prompt_tokens,
            prefill_s=prefill_s, layerwise=layerwise,
        )
        for layerwise in (False, True)
    )  # fmt: skip
    load = Load(
        requests_per_s=params.requests_per_s,
        prefill_s=prefill_s,
        step_s=params.step_ms / 1000,
        output_tokens=params.output_tokens,
    )
    wait = mean_wait_s(load, whole.transfer_s) if params.link == "serial" else Fraction(0)
    chosen = layered if params.layerwise else whole
    answer = Answer(whole=whole, layered=layered, load=load, chosen=chosen, wait_s=wait)
    x0, x1 = line(shape.stack, store, link_of(params))
    blocks: list[Block] = [
        figures(answer, x0, x1),
        Notes(items=(*notes(params, answer), *shape_remarks(shape))),
        ways(answer),
        derivation(params, answer),
        curve(answer),
    ]
    if shape.reading is not None:
        blocks.append(shape_facts(shape.reading))
    return Result(
        blocks=tuple(blocks), status=status(params, answer), values=shared_values(params, shape)
    )


def link_of(params: Params) -> Tier:
    """The link as a tier."""
    return Tier(name="network", gb_per_s=params.link_gb_per_s, latency_us=params.link_latency_us)


def ms(value: Fraction | None) -> Quantity | None:
    """Seconds as milliseconds."""
    return None if value is None else Quantity(value * 1000, "ms", 2)


def percent(share: Fraction) -> Quantity:
    """A share."""
    return Quantity(100 * share, "percent", 1)


def figures(answer: Answer, x0: Fraction, x1: Fraction) -> Numbers:
    """The figures at the top; those that do not exist are left out."""
    load, exposed = answer.load, answer.exposed_s
    least = None if exposed is None else least_output_tokens(load, exposed)
    shown: dict[str, Quantity | None] = {
        "exposed": ms(answer.chosen.exposed_s),
        "bytes": Quantity(answer.whole.bytes, "bytes"),
        "prefill": ms(answer.whole.prefill_s),
        "transfer": ms(answer.whole.transfer_s),
        "hidden": ms(answer.chosen.hidden_s),
        "link_busy": percent(utilisation(load, answer.whole.transfer_s)),
        "wait": ms(answer.wait_s),
        "interrupted": ms(load.interrupted_s),
        "least_output": None if least is None else Quantity(least, "tokens"),
        "x0": Quantity(x0, "us", 3),
        "x1": Quantity(x1, "us", 3),
    }
    return Numbers(
        items=tuple(
            Number(id=name, quantity=value, lead=name == "exposed")
            for name, value in shown.items()
            if value is not None
        )
    )


def status(params: Params, answer: Answer) -> Message:
    """Who finishes sooner."""
    exposed, lost = answer.exposed_s, answer.load.interrupted_s
    if exposed is None:
        return Message("status.link_saturated")
    if lost is None:
        return Message("status.workers_saturated")
    key = "status.gains" if lost > exposed else "status.loses"
    values = {"exposed": ms(exposed), "lost": ms(lost), "tokens": params.output_tokens}
    return Message(key, values)


def ways(answer: Answer) -> Table:
    """Sent at the end, and layer by layer."""
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            Message(f"way.{name}"),
            ms(one.transfer_s),
            ms(one.hidden_s),
            ms(one.exposed_s),
            ms(one.prefill_s + one.exposed_s),
        )
        for name, one in (("whole", answer.whole), ("layerwise", answer.layered))
    )
    return Table(id="ways", columns=("way", "transfer", "hidden", "exposed", "ready"), rows=rows)


def derivation(params: Params, answer: Answer) -> Derivation:
    """The comparison written out."""
    load = answer.load
    share = load.prefill_share
    written = f"{float(load.requests_per_s):g}/s × {float(load.prefill_s):.4g} s / 2"
    decode = f"{params.output_tokens - 1} × {float(load.step_s):g} s"
    steps = [
        Step(label=Message("step.share"), expression=written, quantity=percent(share)),
        Step(label=Message("step.decode"), expression=decode, quantity=ms(load.decode_s)),
    ]
    if load.interrupted_s is not None:
        inner = f"{float(load.decode_s):.4g} s × {float(share):.4g} / (1 − {float(share):.4g})"
        steps.append(
            Step(label=Message("step.lost"), expression=inner, quantity=ms(load.interrupted_s))
        )
    return Derivation(id="comparison", steps=tuple(steps))


def curve(answer: Answer) -> Plot:
    """What prefills of others cost, against the length of the output."""
    load = answer.load
    most = max(load.output_tokens * 2, CURVE_POINTS)
    spots = [most * step // CURVE_POINTS for step in range(1, CURVE_POINTS + 1)]
    share = load.prefill_share
    lost = tuple(
        (float(spot), float(load.step_s * (spot - 1) * share / (1 - share)) * 1000)
        for spot in spots
        if share < 1
    )
    exposed = answer.exposed_s
    marks = () if exposed is None else ((float(exposed) * 1000, Message("mark.exposed")),)
    return Plot(
        id="lost",
        kind="line",
        x=Axis(name="output_tokens", unit="tokens"),
        y=Axis(name="time", unit="ms"),
        series=(Series(name=Message("series.lost"), points=lost),),
        marks=marks,
    )


def notes(params: Params, answer: Answer) -> Iterator[Message]:
    """What qualifies the answer."""
    yield Message("note.average")
    if params.link == "serial" and answer.wait_s is None:
        yield Message("note.link_saturated")
    if answer.load.interrupted_s is None:
        yield Message("note.workers_saturated")
    if params.work == "closed_form":
        yield Message("note.closed_form")
