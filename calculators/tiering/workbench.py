# ruff: noqa: RUF009 - a field is made once, on purpose
"""Load a stored prefix or compute it again: bytes, times, break-even, and options to copy.

One request on an idle machine. Leaves out the queue, other users of a link, the time of a lookup
(put it into the latency), storing beside serving, and everything after the first token.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from calculators.form import fields
from calculators.form.errors import ParameterError
from calculators.kv.shape import Shape, shape_facts, shape_of, shape_remarks
from calculators.kv.wording import described
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
    Section,
    Series,
    Step,
    Table,
)
from calculators.show.progress import Progress
from calculators.show.quantity import Quantity
from calculators.tiering import settings
from calculators.tiering.breakeven import (
    MOST_TOKENS,
    Prefix,
    least_bandwidth_gb_per_s,
    least_tokens,
)
from calculators.tiering.chunks import HICACHE_LOAD, HICACHE_PREFETCH, Chunks, Load, load
from calculators.tiering.moved import parts, total
from calculators.tiering.params import ModelParams, prefill_of, shared_values, store_of
from calculators.tiering.paths import Path, path
from calculators.tiering.recompute import ClosedForm, TokenCount
from calculators.tiering.tier import BYTES_PER_GB, Tier

MOST_PREFIX = 100_000_000
TIERS = ("host", "ssd", "network", "object")
FAR = ("ssd", "network", "object")  # what HiCache calls L3
ENGINES = ("lmcache", "hicache", "offloading")
CURVE_POINTS = 32


def bandwidth(default: str) -> Fraction | None:
    """A field of GB/s; empty, there is no such tier."""
    found: Fraction | None = fields.form_field(
        fields.Decimal(
            default=default,
            minimum=Fraction(1, 1000),
            maximum=Fraction(10**6),
            optional=True,
            group="tiers",
            unit="GB_per_s",
        )
    )
    return found


@dataclass(frozen=True, kw_only=True)
class Params(ModelParams):
    """The form."""

    prefix_tokens: int = fields.integer(8192, minimum=1, maximum=MOST_PREFIX, group="request")
    suffix_tokens: int = fields.integer(256, minimum=1, maximum=MOST_PREFIX, group="request")
    engine_hit: int = fields.integer(0, minimum=0, maximum=MOST_PREFIX, group="request")
    engine: str = fields.choice("lmcache", ENGINES, group="store")
    chunk_size: int = fields.integer(
        256, minimum=1, maximum=1_000_000, group="store", when=("engine", ("lmcache",))
    )
    save_unfull_chunk: bool = fields.switch(group="store", when=("engine", ("lmcache",)))
    min_retrieve_tokens: int = fields.integer(
        0, minimum=0, maximum=MOST_PREFIX, group="store", when=("engine", ("lmcache",))
    )
    page_size: int = fields.integer(
        64, minimum=1, maximum=1_000_000, group="store", when=("engine", ("hicache",))
    )
    prefetch_threshold: int = fields.integer(
        HICACHE_PREFETCH, minimum=0, maximum=MOST_PREFIX, group="store",
        when=("engine", ("hicache",)),
    )  # fmt: skip
    load_back_threshold: int = fields.integer(
        HICACHE_LOAD, minimum=0, maximum=MOST_PREFIX, group="store", when=("engine", ("hicache",))
    )
    block_size: int = fields.integer(
        16, minimum=1, maximum=1_000_000, group="store", when=("engine", ("offloading",))
    )
    every_row: bool = fields.switch(group="store")
    host_gib: int = fields.integer(200, minimum=1, maximum=10**9, group="store")
    ssd_gib: int = fields.integer(0, minimum=0, maximum=10**9, group="store")
    host_gb_per_s: Fraction | None = bandwidth("64")
    host_latency_us: Fraction = fields.decimal("10", minimum="0", maximum="1e9", group="tiers")
    ssd_gb_per_s: Fraction | None = bandwidth("7.88")
    ssd_latency_us: Fraction = fields.decimal("100", minimum="0", maximum="1e9", group="tiers")
    network_gb_per_s: Fraction | None = bandwidth("25")
    network_latency_us: Fraction = fields.decimal("50", minimum="0", maximum="1e9", group="tiers")
    object_gb_per_s: Fraction | None = bandwidth("1.25")
    object_latency_us: Fraction = fields.decimal("30000", minimum="0", maximum="1e9", group="tiers")
    operations_in_flight: int = fields.integer(16, minimum=1, maximum=100_000, group="tiers")


def solve(params: Params, progress: Progress) -> Result:
    """The answer for one request."""
    progress(0)
    if params.engine_hit > params.prefix_tokens:
        raise ParameterError(
            "engine_hit", "too_large", text=params.engine_hit, minimum=0,
            maximum=params.prefix_tokens,
        )  # fmt: skip
    shape = shape_of(params)
    found = {tier.name: path_of(params, shape, tier) for tier in tiers_of(params)}
    return Result(
        blocks=tuple(blocks(params, shape, found)),
        status=status(found),
        values=shared_values(params, shape),
    )


def tiers_of(params: Params) -> list[Tier]:
    """The tiers that have a bandwidth, near to far."""
    return [
        Tier(
            name=name,
            gb_per_s=rate,
            latency_us=getattr(params, f"{name}_latency_us"),
            parallel=params.operations_in_flight,
        )
        for name in TIERS
        if (rate := getattr(params, f"{name}_gb_per_s")) is not None
    ]


def chunks_of(params: Params, tier: str) -> Chunks:
    """How the engine cuts and when it loads from a tier."""
    if params.engine == "lmcache":
        return Chunks(
            tokens=params.chunk_size,
            partial=params.save_unfull_chunk,
            least=params.min_retrieve_tokens,
        )
    if params.engine == "hicache":
        far = tier in FAR
        least = params.prefetch_threshold if far else params.load_back_threshold
        return Chunks(tokens=params.page_size, least=least)
    return Chunks(tokens=params.block_size)


def prefix_of(params: Params, shape: Shape, tier: str) -> Prefix:
    """Everything that decides between loading from a tier and computing."""
    return Prefix(
        stack=shape.stack,
        store=store_of(params, shape, every_row=params.every_row),
        chunks=chunks_of(params, tier),
        prefill=prefill_of(params, shape.stack),
    )


def path_of(params: Params, shape: Shape, tier: Tier) -> Path:
    """The request's ways to the first token with a tier."""
    prefix = prefix_of(params, shape, tier.name)
    plan = load(params.prefix_tokens, params.engine_hit, prefix.chunks)
    return path(prefix, tier, plan, params.prefix_tokens + params.suffix_tokens)


def ms(value: Fraction | None, digits: int = 2) -> Quantity | None:
    """Seconds as milliseconds."""
    return None if value is None else Quantity(value * 1000, "ms", digits)


def rate(value: Fraction | None) -> Quantity | None:
    """GB/s with two decimals."""
    return None if value is None else Quantity(value, "GB_per_s", 2)


def status(found: dict[str, Path]) -> Message:
    """Which tier wins, if any does."""
    if not found:
        return Message("status.no_tier")
    best = min(found.values(), key=lambda one: one.serial_s)
    values = {"tier": Message(f"tier.{best.tier.name}"), "time": ms(best.serial_s)}
    key = "status.loads" if best.serial_s < best.recompute_s else "status.computes"
    return Message(key, {**values, "recompute": ms(best.recompute_s)})


def blocks(params: Params, shape: Shape, found: dict[str, Path]) -> Iterator[Block]:
    """The answer in reading order."""
    near = prefix_of(params, shape, TIERS[0])
    plan = load(params.prefix_tokens, params.engine_hit, near.chunks)
    yield figures(params, near, plan, found)
    if found:
        yield ways(found)
    yield Notes(items=tuple(notes(params, shape, plan)))
    if found:
        yield break_even(params, shape, found)
    yield kinds(near, plan)
    yield derivation(params, near, plan)
    if found:
        yield curve(params, shape, found)
    yield Section(id="settings", blocks=settings_of(params))
    if shape.reading is not None:
        yield shape_facts(shape.reading)


def figures(params: Params, near: Prefix, plan: Load, found: dict[str, Path]) -> Numbers:
    """What is moved, what computing takes, and the bandwidth between the two."""
    size = total(near.stack, near.store, plan.start, plan.end)
    recompute = near.prefill.seconds(0, params.prefix_tokens)
    least = least_bandwidth_gb_per_s(near, params.prefix_tokens)
    shown: dict[str, Quantity | None] = {
        "bytes": Quantity(size, "bytes"),
        "recompute": ms(recompute),
        "least_bandwidth": rate(least),
        "need_to_load": Quantity(plan.needed, "tokens"),
        **{f"load_{name}": ms(one.load_s) for name, one in found.items()},
    }
    return Numbers(
        items=tuple(
            Number(id=name, quantity=value, lead=name == "bytes")
            for name, value in shown.items()
            if value is not None
        )
    )


def ways(found: dict[str, Path]) -> Table:
    """TTFT of each tier: one after the other, layer by layer, from both ends."""
    rows: list[tuple[Cell, ...]] = [
        (
            Message(f"tier.{name}"),
            ms(one.load_s),
            ms(one.serial_s),
            ms(one.layerwise_s),
            ms(one.two_ended_s),
            Quantity(one.meeting.computed, "chunks"),
            ms(one.saved_s),
        )
        for name, one in found.items()
    ]
    first = next(iter(found.values()))
    rows.append((Message("tier.none"), None, ms(first.recompute_s), None, None, None, None))
    columns = ("tier", "load", "ttft", "layerwise", "two_ended", "computed_chunks", "saved")
    return Table(id="ways", columns=columns, rows=tuple(rows))


def break_even(params: Params, shape: Shape, found: dict[str, Path]) -> Table:
    """For each tier the length from which it pays, and the bandwidth that this length needs."""
    rows = []
    for name, one in found.items():
        prefix = prefix_of(params, shape, name)
        [least] = least_tokens(prefix, [one.tier])
        bound = least_bandwidth_gb_per_s(prefix, params.prefix_tokens, one.tier)
        length = Message("note.never", {"most": MOST_TOKENS}) if least is None else Quantity(
            least, "tokens"
        )  # fmt: skip
        rows.append((Message(f"tier.{name}"), rate(one.tier.gb_per_s), rate(bound), length))
    columns = ("tier", "bandwidth", "least_bandwidth", "least_tokens")
    return Table(id="break_even", columns=columns, rows=tuple(rows))


def kinds(near: Prefix, plan: Load) -> Table:
    """Bytes by kind of layer."""
    rows = tuple(
        (
            described(part.cache),
            Quantity(part.layers),
            Quantity(part.tokens, "tokens"),
            Quantity(part.bytes, "bytes"),
        )
        for part in parts(near.stack, near.store, plan.start, plan.end)
    )
    return Table(id="kinds", columns=("cache", "layers", "rows_moved", "bytes"), rows=rows)


def derivation(params: Params, near: Prefix, plan: Load) -> Derivation:
    """The comparison written out."""
    size = total(near.stack, near.store, 0, plan.end)
    compute = near.prefill.seconds(0, plan.end)
    steps = [
        Step(
            label=Message("step.stored"),
            expression=f"{params.prefix_tokens} → {plan.end} = "
            f"{-(-plan.end // near.chunks.tokens)} × {near.chunks.tokens}",
        ),
        Step(label=Message("step.bytes"), expression=f"{size}", quantity=Quantity(size, "bytes")),
        Step(
            label=Message("step.work"),
            expression=work_text(near, plan.end),
            quantity=ms(compute),
        ),
    ]
    if compute:
        steps.append(
            Step(
                label=Message("step.ratio"),
                expression=f"{size} / {float(compute):.6g} s / 10⁹",
                quantity=rate(Fraction(size) / compute / BYTES_PER_GB),
            )
        )
    return Derivation(id="comparison", steps=tuple(steps))


def work_text(near: Prefix, tokens: int) -> str:
    """``80 × (4 × 8192² × 8192 + 22 × 8192 × 8192²) / 2.496e+15 FLOP/s``."""
    work, per_s = near.prefill.work, float(near.prefill.per_s)
    if isinstance(work, TokenCount):
        return f"{tokens} / {per_s:g} token/s"
    if isinstance(work, ClosedForm):
        p, d = tokens, work.hidden_size
        inner = f"{work.a} × {p}² × {d} + {work.b} × {p} × {d}²"
        return f"{work.layers} × ({inner}) / {per_s:g} FLOP/s"
    return f"{work.amount(tokens):.4g} / {per_s:g} FLOP/s"


def curve(params: Params, shape: Shape, found: dict[str, Path]) -> Plot:
    """Time against prefix length: computing bends upwards, loading does not."""
    near = prefix_of(params, shape, TIERS[0])
    most = max(params.prefix_tokens * 2, near.chunks.tokens * CURVE_POINTS)
    spots = [most * step // CURVE_POINTS for step in range(1, CURVE_POINTS + 1)]
    series = [Series(name=Message("tier.none"), points=tuple(
        (float(spot), float(near.prefill.seconds(0, spot)) * 1000) for spot in spots
    ))]  # fmt: skip
    for name, one in found.items():
        prefix = prefix_of(params, shape, name)
        points = tuple(
            (float(spot), float(prefix.load_seconds(one.tier, spot)) * 1000) for spot in spots
        )
        series.append(Series(name=Message(f"tier.{name}"), points=points))
    return Plot(
        id="times",
        kind="line",
        x=Axis(name="prefix_tokens", unit="tokens"),
        y=Axis(name="time", unit="ms"),
        series=tuple(series),
        x_marks=((float(params.prefix_tokens), Message("mark.prefix")),),
        alt={"tokens": most},
    )


def notes(params: Params, shape: Shape, plan: Load) -> Iterator[Message]:
    """What qualifies the answer."""
    yield Message("note.peaks")
    if plan.needed < 0:
        yield Message("note.negative", {"tokens": plan.needed})
    elif not plan.operations:
        yield Message("note.nothing")
    if params.work == "closed_form":
        yield Message("note.closed_form")
    yield from shape_remarks(shape)


def settings_of(params: Params) -> tuple[Block, ...]:
    """Options to copy, the chosen engine first."""
    choice = settings.Choice(
        host_bytes=params.host_gib * settings.GIB,
        disk_bytes=params.ssd_gib * settings.GIB,
        remote=params.network_gb_per_s is not None or params.object_gb_per_s is not None,
        ranks=params.tensor_parallel_size,
        chunk_tokens=params.chunk_size,
        page_tokens=params.page_size,
        least_tokens=params.min_retrieve_tokens
        if params.engine == "lmcache"
        else params.prefetch_threshold,
        save_unfull_chunk=params.save_unfull_chunk,
    )
    made = {
        "lmcache": settings.lmcache(choice),
        "hicache": settings.hicache(choice),
        "offloading": settings.offloading(choice),
    }
    rest = (code for name, code in made.items() if name != params.engine)
    return (made[params.engine], Notes(items=(Message("note.settings"),)), *rest)
