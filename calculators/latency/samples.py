"""How many samples a percentile needs, and what pasted samples allow to say about it.

Every bound is exact for independent samples of one distribution. Leaves out dependence: requests
that share a batch and iterations that drift make every interval here too narrow.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from calculators.form import fields
from calculators.latency.given import samples
from calculators.latency.intervals import Interval, above_maximum, needed_for, stated
from calculators.latency.quantiles import RULES
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

HUNDRED = 100
MOST_POINTS = 2000
MOST_ASKED = 100_000  # samples of which ranks are asked


@dataclass(frozen=True, kw_only=True)
class Params:
    """The form: a percentile, a confidence, and samples or, without them, only how many."""

    percentile: Fraction = fields.decimal("95", minimum="0.1", maximum="99.999", group="question")  # noqa: RUF009 -- a form field
    confidence: Fraction = fields.decimal("95", minimum="50", maximum="99.99", group="question")  # noqa: RUF009 -- a form field
    count: int = fields.integer(25, minimum=1, maximum=MOST_ASKED, group="question")
    samples: str | None = fields.text(
        longest=4_000_000, suffixes=(".txt", ".csv"), shared=False, group="samples"
    )


def solve(params: Params, progress: Progress) -> Result:
    """The sample sizes, and with samples the percentile's bounds."""
    progress(0)
    given = samples("samples", params.samples or "")
    share, confidence = params.percentile / HUNDRED, params.confidence / HUNDRED
    need = needed_for(share, confidence)
    blocks: list[Block] = [sizes(share, confidence), derivation(share, confidence)]
    if given:
        blocks += answered(given, share, confidence)
    else:
        blocks.insert(1, allowed(stated(params.count, share, confidence)))
    values = {
        "percentile": Quantity(params.percentile),
        "needed": Quantity(need, "samples"),
        "count": Quantity(len(given), "samples"),
    }
    return Result(
        blocks=tuple(blocks), status=Message("status.given" if given else "status.needed", values)
    )


def sizes(share: Fraction, confidence: Fraction) -> Numbers:
    """The least n for an upper bound of one and of both sides."""
    return Numbers(
        items=(
            Number(
                id="needed_two",
                lead=True,
                quantity=Quantity(needed_for(share, confidence), "samples"),
            ),
            Number(
                id="needed_one", quantity=Quantity(needed_for(share, confidence, "one"), "samples")
            ),
        )
    )


def allowed(found: Interval) -> Numbers:
    """What so many samples allow, whatever they will be; a rank that does not exist is absent."""
    sides = {"rank_low": found.lower, "rank_high": found.upper}
    ranked = [Number(id=name, quantity=Quantity(rank)) for name, rank in sides.items() if rank]
    chance = Quantity(above_maximum(found.n, found.probability) * HUNDRED, "percent", 1)
    covered = Quantity(found.coverage * HUNDRED, "percent", 1)
    rest = [Number(id="coverage", quantity=covered)] if ranked else []
    return Numbers(items=(*ranked, *rest, Number(id="chance", quantity=chance)))


def derivation(share: Fraction, confidence: Fraction) -> Derivation:
    """Why: the largest sample lies below the percentile with probability q to the n."""
    tail = (1 - confidence) / 2
    need = needed_for(share, confidence)
    q = f"{float(share):g}"
    return Derivation(
        id="size",
        steps=(
            Step(
                label=Message("step.fewer"),
                expression=f"{q}^{need - 1} = {float(share ** (need - 1)):.6g} > {float(tail):.6g}",
            ),
            Step(
                label=Message("step.enough"),
                expression=f"{q}^{need} = {float(share**need):.6g} ≤ {float(tail):.6g}",
                quantity=Quantity(need, "samples"),
            ),
        ),
    )


def answered(given: list[float], share: Fraction, confidence: Fraction) -> Iterator[Block]:
    """What the samples say, in reading order."""
    ordered = sorted(given)
    yield summary(ordered)
    if len(ordered) > 1:
        yield bounds(ordered, share, confidence)
    yield rules(ordered, share)
    yield Notes(items=tuple(remarks(ordered, share, confidence)))
    if len(given) <= MOST_POINTS:
        yield series(given)


def summary(ordered: list[float]) -> Numbers:
    """n, range and mean: the range is that of the sample, no limit of what may come."""
    mean = math.fsum(ordered) / len(ordered)
    return Numbers(
        items=(
            Number(id="count", quantity=Quantity(len(ordered), "samples")),
            Number(id="least", quantity=shown(ordered[0])),
            Number(id="most", quantity=shown(ordered[-1])),
            Number(id="mean", quantity=shown(mean)),
        )
    )


def shown(value: float) -> Quantity:
    """A sample's value with enough decimals for four digits."""
    digits = 2 if value == 0 else max(0, min(12, 3 - math.floor(math.log10(abs(value)))))
    return Quantity(value, "", max(digits, 2) if value % 1 else 0)


def bounds(ordered: list[float], share: Fraction, confidence: Fraction) -> Table:
    """The intervals of the median and of the percentile asked for."""
    asked = dict.fromkeys((Fraction(1, 2), share))
    return Table(
        id="bounds",
        columns=("percentile", "lower", "upper", "ranks", "coverage"),
        rows=tuple(bound(ordered, one, confidence) for one in asked),
    )


def bound(ordered: list[float], share: Fraction, confidence: Fraction) -> tuple[Cell, ...]:
    """One interval as a row; an open side says that no sample bounds it."""
    found = stated(len(ordered), share, confidence)
    return (
        Quantity(share * HUNDRED, "percent"),
        side(ordered, found.lower),
        side(ordered, found.upper),
        ranks(found),
        Quantity(found.coverage * HUNDRED, "percent", 1),
    )


def side(ordered: list[float], rank: int | None) -> Cell:
    """The sample of a rank, or that there is none."""
    return Message("bound.none") if rank is None else shown(ordered[rank - 1])


def ranks(found: Interval) -> str:
    """``X(8)..X(18)``."""
    low, high = (f"X({rank})" if rank else "–" for rank in (found.lower, found.upper))
    return f"{low}..{high}"


def rules(ordered: list[float], share: Fraction) -> Table:
    """The percentile under each tool's rule."""
    return Table(
        id="rules",
        columns=("rule", "value"),
        rows=tuple(
            (Message(f"rule.{name}"), shown(rule(ordered, share))) for name, rule in RULES.items()
        ),
    )


def remarks(ordered: list[float], share: Fraction, confidence: Fraction) -> Iterator[Message]:
    """What may not be read out of these samples."""
    yield Message("note.independent")
    found = stated(len(ordered), share, confidence)
    if found.upper is None:
        chance = Quantity(above_maximum(len(ordered), share) * HUNDRED, "percent", 1)
        yield Message("note.no_upper", {"chance": chance})
    if len(ordered) == 1:
        yield Message("note.single")


def series(given: list[float]) -> Plot:
    """All samples in their order, so that a drift or a warm-up shows."""
    points = tuple((float(place), value) for place, value in enumerate(given, 1))
    return Plot(
        id="series",
        kind="point",
        x=Axis(name="order"),
        y=Axis(name="sample"),
        series=(Series(name=Message("series.samples"), points=points),),
        alt={"count": len(given)},
    )
