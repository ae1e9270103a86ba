"""The KV capacity workbench: from a model's shape and sequence lengths to the logical payload.

Models the elements that must be kept for the stated sequences, exactly. Leaves out weights,
sharding, sharing of prefixes, block rounding and every other thing an engine adds.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from calculators.form import fields
from calculators.form.lengths import Lengths, Run
from calculators.kv.dtypes import DTYPES, Dtype, dtype
from calculators.kv.layers import Cache, SharedCache
from calculators.kv.notation import cache_text
from calculators.kv.payload import (
    Factor,
    Payload,
    Term,
    as_transformers,
    curve,
    payload,
    per_token,
)
from calculators.kv.shape import (
    Shape,
    ShapeParams,
    shape_facts,
    shape_of,
    shape_remarks,
    short_values,
)
from calculators.kv.wording import described, product_of, term_name
from calculators.show.blocks import (
    Axis,
    Block,
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
from calculators.show.quantity import Quantity, Value

MOST_TOKENS = 10**12
MOST_SEQUENCES = 10**9
GIB = 2**30
CURVE_POINTS = 24


@dataclass(frozen=True, kw_only=True)
class Params(ShapeParams):
    """The form: a shape, the cache's type, and which sequences are kept."""

    dtype: str = fields.choice("bfloat16", tuple(DTYPES), labelled=False, group="load")
    tokens: Lengths = fields.lengths(
        "8192", maximum=MOST_TOKENS, maximum_count=MOST_SEQUENCES, group="load"
    )
    sequences: int = fields.integer(4, minimum=1, maximum=MOST_SEQUENCES, group="load")


def solve(params: Params, progress: Progress) -> Result:
    """The payload of the stated sequences, with its derivation."""
    progress(0)
    shape = shape_of(params)
    kv = dtype("dtype", params.dtype)
    lengths = lengths_of(params)
    total = payload(shape.stack, kv, lengths, model=shape.model)
    return Result(
        blocks=tuple(blocks(params, shape, kv, lengths, total)),
        status=Message("status.total", {"total": Quantity(total.bytes, "bytes")}),
        values=short_values(params, shape),
    )


def lengths_of(params: Params) -> Lengths:
    """One length stands for all ``sequences``; a list says itself how many there are."""
    [first, *more] = params.tokens.runs
    if more or first.count > 1:
        return params.tokens
    return Lengths((Run(first.length, params.sequences),))


def blocks(
    params: Params, shape: Shape, kv: Dtype, lengths: Lengths, total: Payload
) -> Iterator[Block]:
    """The answer in reading order."""
    yield figures(shape, kv, lengths, total)
    yield product(total)
    if notes := tuple(remarks(params, shape, lengths)):
        yield Notes(items=notes)
    yield layer_table(shape, total)
    yield growth(shape, kv, lengths)
    if shape.reading is not None:
        yield shape_facts(shape.reading)


def figures(shape: Shape, kv: Dtype, lengths: Lengths, total: Payload) -> Numbers:
    """Total, per token and per sequence; with different lengths, the longest sequence."""
    longest = Lengths((Run(max(run.length for run in lengths.runs), 1),))
    several = len({run.length for run in lengths.runs}) > 1
    one = payload(shape.stack, kv, longest, model=shape.model).bytes
    found = {
        "total": total.bytes,
        "per_token": per_token(shape.stack, kv),
        "per_longest_sequence" if several else "per_sequence": one,
    }
    held = payload(as_transformers(shape.stack), kv, lengths, model=shape.model).bytes
    if held != total.bytes:
        found["between_passes"] = held
    return Numbers(
        items=tuple(
            Number(id=name, quantity=Quantity(size, "bytes"), lead=name == "total")
            for name, size in found.items()
        )
    )


def product(total: Payload) -> Derivation:
    """The multiplication written out, a line for each kind of cache, and their sum."""
    steps = tuple(
        Step(
            label=Message(
                "step.cache", {"cache": term_name(term), "product": product_of(term.factors)}
            ),
            expression=f"{term.expression} = {term.bytes} bytes",
            quantity=Quantity(term.bytes, "bytes"),
        )
        for term in total.terms
    )
    if len(steps) != 1:
        written = " + ".join(str(term.bytes) for term in total.terms) or "0"
        steps += (
            Step(
                label=Message("step.sum"),
                expression=f"{written} = {total.bytes} bytes",
                quantity=Quantity(total.bytes, "bytes"),
            ),
        )
    return Derivation(id="product", steps=steps)


def remarks(params: Params, shape: Shape, lengths: Lengths) -> Iterator[Message]:
    """What qualifies the figure."""
    if lengths is params.tokens and lengths.sequences != params.sequences:
        yield Message("note.list_counts", {"count": lengths.sequences, "field": params.sequences})
    yield from shape_remarks(shape)


def layer_table(shape: Shape, total: Payload) -> Table:
    """A row for each kind of cache: how many layers, what one token adds, all its bytes."""
    sharing = shape.stack.counts.get(SharedCache(), 0)
    return Table(
        id="layers",
        columns=("cache", "notation", "layers", "elements", "bytes"),
        rows=(
            *(layer_row(term) for term in total.terms),
            *([shared_row(sharing)] if sharing else []),
        ),
    )


def shared_row(layers: int) -> tuple[Message | str | Quantity, ...]:
    """Layers that keep nothing because they read another layer's cache."""
    cache = SharedCache()
    return (
        described(cache), cache_text(cache), Quantity(layers), Quantity(0), Quantity(0, "bytes"),
    )  # fmt: skip


def layer_row(term: Term) -> tuple[Message | str | Quantity, ...]:
    """One row of the table."""
    return (
        term_name(term),
        cache_text(term.cache),
        Quantity(term.layers),
        Quantity(per_layer_elements(term.cache, term.factors)),
        Quantity(term.bytes, "bytes"),
    )


def per_layer_elements(cache: Cache, factors: tuple[Factor, ...]) -> Value:
    """Elements that one layer keeps for a token, or for a sequence where it keeps a state."""
    if cache.rows:
        return cache.elements_per_token
    return next(factor.value for factor in factors if factor.name.endswith("_elements"))


def growth(shape: Shape, kv: Dtype, lengths: Lengths) -> Plot:
    """Total bytes against tokens per sequence, for as many sequences as there are."""
    longest = max(run.length for run in lengths.runs)
    spots = sorted({max(1, longest * step // CURVE_POINTS) for step in range(1, CURVE_POINTS + 1)})
    sizes = curve(shape.stack, kv, spots, lengths.sequences, model=shape.model)
    points = [(float(spot), float(size) / GIB) for spot, size in zip(spots, sizes, strict=True)]
    return Plot(
        id="growth",
        kind="line",
        x=Axis(name="tokens_per_sequence", unit="tokens"),
        y=Axis(name="payload", unit="GiB"),
        series=(Series(name=Message("series.payload"), points=tuple(points)),),
        alt={
            "count": lengths.sequences,
            "tokens": longest,
            "size": Quantity(int(points[-1][1] * GIB), "bytes"),
        },
    )
