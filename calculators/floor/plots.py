"""Two curves over the batch: where the time goes, and what more users cost each of them."""

from calculators.floor.passes import Steps
from calculators.floor.shown import ms
from calculators.show.blocks import Axis, Message, Plot, Series
from calculators.show.quantity import Quantity

POINTS = 32
MOST_DRAWN = 1_000_000
BEYOND = 3, 2  # drawn half as far again as what fits, so that the end is seen


def spots(most: int) -> list[int]:
    """Batches from 1 to ``most``, evenly spaced."""
    return sorted({1, *(max(1, most * place // POINTS) for place in range(1, POINTS + 1))})


def far(batch: int, fits: int | None) -> int:
    """How far the axis of batches goes."""
    more, of = BEYOND
    return min(MOST_DRAWN, max(8, batch, fits or 1) * more // of)


def times(steps: Steps, batch: int, fits: int | None) -> Plot:
    """The step and its parts against the batch."""
    drawn = [(n, steps.step(n)) for n in spots(far(batch, fits))]
    lines = {
        "step": [one.seconds for _, one in drawn],
        "weights": [one.weights_s for _, one in drawn],
        "kv": [one.kv_s for _, one in drawn],
        "compute": [one.compute_s for _, one in drawn],
    }
    last, at_last = drawn[-1]
    return Plot(
        id="times",
        kind="line",
        x=Axis(name="batch", unit="sequences"),
        y=Axis(name="time", unit="ms"),
        series=tuple(
            Series(
                name=Message(f"series.{name}"),
                points=tuple(
                    (float(n), float(s * 1000)) for (n, _), s in zip(drawn, found, strict=True)
                ),
            )
            for name, found in lines.items()
        ),
        x_marks=marks(fits),
        alt={"batch": Quantity(last), "time": ms(at_last.seconds), "one": ms(drawn[0][1].seconds)},
    )


def marks(fits: int | None) -> tuple[tuple[float, Message], ...]:
    """Where memory ends, if that is drawn."""
    if not fits or fits > MOST_DRAWN:
        return ()
    return ((float(fits), Message("mark.fits")),)


def trade_off(steps: Steps, batch: int, fits: int | None) -> Plot:
    """Tokens a second of all against those of one user, batch by batch."""
    most = min(MOST_DRAWN, fits or batch)
    sizes = sorted({*spots(most), *(1 << power for power in range(most.bit_length()))})
    rates = [(n, steps.tokens_per_s(n)) for n in sizes]
    points = tuple((float(rate / n), float(rate)) for n, rate in rates)
    return Plot(
        id="trade_off",
        kind="line",
        x=Axis(name="user_rate", unit="tokens_per_s"),
        y=Axis(name="all_rate", unit="tokens_per_s"),
        series=(Series(name=Message("series.batches"), points=points),),
        x_marks=here(steps, batch) if batch <= most else (),
        alt={"batch": Quantity(most)},
    )


def here(steps: Steps, batch: int) -> tuple[tuple[float, Message], ...]:
    """The batch that is asked about."""
    rate = steps.tokens_per_s(batch)
    return ((float(rate / batch), Message("mark.batch", {"batch": Quantity(batch)})),)
