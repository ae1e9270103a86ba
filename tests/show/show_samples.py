"""An answer with every kind of block, and labels for it in both languages."""

from fractions import Fraction

from calculators.show.blocks import (
    Axis,
    Code,
    Derivation,
    Drawing,
    Frame,
    Frames,
    Message,
    Notes,
    Number,
    Numbers,
    Plot,
    Result,
    Section,
    Series,
    Step,
    Table,
)
from calculators.show.labels import LANGUAGES, Labels
from calculators.show.quantity import Quantity

HUGE = 2**53 + 1  # the first whole number that a binary float cannot hold
TEXTS = {
    "unit.bytes": "bytes",
    "unit.KiB": "KiB",
    "unit.MiB": "MiB",
    "unit.GiB": "GiB",
    "unit.TiB": "TiB",
    "unit.PiB": "PiB",
    "unit.EiB": "EiB",
    "unit.tokens": "tokens",
    "unit.percent": "%",
    "common.exact": "exactly {text} bytes",
    "common.series": "Series",
    "common.plot_data": "The numbers",
    "common.frame": "Step {number} of {count}",
    "result.total": "Total",
    "result.share": "Share",
    "table.layers": "Layers",
    "column.cache": "Cache",
    "column.bytes": "Bytes",
    "derivation.product": "Product",
    "step.cache": "{cache}",
    "note.free": "{text}",
    "plot.growth": "Growth",
    "plot.growth.alt": "Reaches {size}",
    "axis.x": "Tokens",
    "axis.y": "Payload",
    "code.flags": "Flags",
    "drawing.tree": "Tree",
    "frames.walk": "Walk",
    "section.more": "More",
    "status.done": "Total: {total}",
}


def labels(lang=LANGUAGES[0]):
    """Labels of the sample; the wording is the same in both languages."""
    return Labels(lang, TEXTS)


def sample(text="a", total=HUGE, svg="<svg></svg>"):
    """An answer in which every piece of data is ``text``."""
    free = Message("note.free", {"text": text})
    table = Table(
        id="layers",
        columns=("cache", "bytes"),
        rows=((text, Quantity(total, "bytes")), (free, None)),
    )
    figure = Number(id="total", quantity=Quantity(total, "bytes"), lead=True)
    return Result(
        blocks=(
            Numbers(
                items=(figure, Number(id="share", quantity=Quantity(Fraction(1, 3), "percent")))
            ),
            Derivation(
                id="product",
                steps=(
                    Step(
                        label=Message("step.cache", {"cache": text}),
                        expression=text,
                        quantity=Quantity(total, "bytes"),
                    ),
                    Step(label=free, expression=text),
                ),
            ),
            Notes(items=(free,), kind="warning"),
            table,
            Plot(
                id="growth",
                kind="line",
                x=Axis(name="x", unit="tokens"),
                y=Axis(name="y"),
                series=(Series(name=text, points=((1.0, 2.5), (2.0, 1e9))),),
                marks=((3.0, text),),
                x_marks=((4.0, free),),
                alt={"size": text},
            ),
            Code(id="flags", text=text),
            Drawing(id="tree", svg=svg, alt=free),
            Frames(
                id="walk",
                frames=(
                    Frame(caption=text, blocks=(Notes(items=(free,)),)),
                    Frame(caption=free, blocks=()),
                ),
            ),
            Section(id="more", blocks=(Number(id="share", quantity=Quantity(7, "tokens")),)),
            Section(id="more", blocks=(Notes(items=(free,)),), folded=True),
        ),
        status=Message("status.done", {"total": Quantity(total, "bytes")}),
    )
