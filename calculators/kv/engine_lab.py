# ruff: noqa: RUF009 - a field is made once, on purpose
"""The engine calculator: how many tokens, sequences and users fit, and what the engine prints.

Models vLLM, SGLang, llama.cpp and TensorRT-LLM as ``engines`` and ``estimates`` say. Leaves out
shared prefixes, host offloading and whatever an engine measures only at run time (an input).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from calculators.form import fields
from calculators.kv.capacity import GPUS
from calculators.kv.engine_params import (
    KV_CACHE_DTYPES,
    MOST_RANKS,
    MOST_TOKENS,
    NONE,
    EngineParams,
)
from calculators.kv.engines.steps import GIB, Line
from calculators.kv.estimates import estimate, ranks_of
from calculators.kv.estimates.common import PADDING, Estimate, plain_number
from calculators.kv.layers import Cache
from calculators.kv.memory import Left, left_for_cache, named_billions
from calculators.kv.shape import Shape, shape_facts, shape_of, shape_remarks, short_values
from calculators.kv.wording import described
from calculators.show.blocks import (
    Axis,
    Block,
    Code,
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

LENGTHS_SHOWN = 5  # of the stacked plot: each twice the one before
CURVE_POINTS = 16
SPLIT = {"sglang": "tp_size", "tensorrt_llm": "tp_size", "vllm": "tensor_parallel_size"}


@dataclass(frozen=True, kw_only=True)
class Params(EngineParams):
    """The form: engine and memory, the sequences, and a second setting to hold beside."""

    length: int = fields.integer(8192, minimum=1, maximum=MOST_TOKENS, group="load")
    active_percent: Fraction = fields.decimal("20", minimum="0.001", maximum="100", group="load")
    second_kv_cache_dtype: str = fields.choice(
        NONE, (NONE, *KV_CACHE_DTYPES), labelled=False, group="second"
    )
    second_tp: int | None = fields.integer(None, minimum=1, maximum=MOST_RANKS, group="second")


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One setting's estimate and the memory that it started from."""

    left: Left
    estimate: Estimate

    def users(self, params: Params) -> int:
        """Users of whom a share has a live sequence at a time."""
        return int(self.estimate.sequences * 100 / params.active_percent)


def solve(params: Params, progress: Progress) -> Result:
    """The answer of the chosen engine."""
    progress(0)
    shape = shape_of(params)
    answer = answered(shape, params)
    return Result(
        blocks=tuple(blocks(params, shape, answer)),
        status=Message(
            "status.fits",
            {
                "tokens": Quantity(answer.estimate.fit.tokens),
                "sequences": Quantity(answer.estimate.sequences),
                "length": Quantity(params.length),
            },
        ),
        values=short_values(params, shape),
    )


def answered(shape: Shape, params: Params) -> Answer:
    """Memory and estimate of one setting."""
    left = left_for_cache(params, ranks_of(params))
    return Answer(left=left, estimate=estimate(shape, params, left.bytes, params.length))


def blocks(params: Params, shape: Shape, answer: Answer) -> Iterator[Block]:
    """The answer in reading order."""
    found = answer.estimate
    yield figures(params, answer)
    yield Code(id="printed", text=found.printed)
    if warnings := tuple(refusals(params, shape, answer)):
        yield Notes(items=warnings, kind="warning")
    yield Derivation(id="steps", steps=tuple(steps(answer)))
    yield cause_table(found)
    yield Code(id="flags", text=found.flags, language="bash")
    if (second := second_of(params)) is not None:
        yield comparison(params, answer, second, answered(shape, second))
    yield kinds_plot(found, params.length)
    yield memory_plot(answer)
    yield Notes(items=tuple(remarks(params, shape, answer)))
    if shape.reading is not None:
        yield shape_facts(shape.reading)


def figures(params: Params, answer: Answer) -> Numbers:
    """Tokens, sequences, users; the memory behind them."""
    found = answer.estimate
    rank_bytes = Fraction(found.allocated_bytes) / found.ranks
    return Numbers(
        items=(
            Number(id="tokens", quantity=Quantity(found.fit.tokens, "tokens"), lead=True),
            Number(id="sequences", quantity=Quantity(found.sequences, "sequences")),
            Number(id="users", quantity=Quantity(answer.users(params), "users")),
            Number(id="available", quantity=Quantity(answer.left.bytes, "bytes")),
            Number(id="allocated", quantity=Quantity(int(rank_bytes), "bytes")),
        )
    )


def steps(answer: Answer) -> Iterator[Step]:
    """From the GPU to the printed line."""
    for line in answer.left.steps:
        yield step("memory", line)
    for line in answer.estimate.steps:
        yield step(answer.estimate.engine, line)


def step(engine: str, line: Line) -> Step:
    """A line of a derivation with its label."""
    about = {} if line.cache is None else {"cache": described(line.cache)}
    return Step(
        label=Message(f"step.{engine}.{line.name}", about),
        expression=line.expression,
        quantity=Quantity(line.value, line.unit),
    )


def cause_table(found: Estimate) -> Table:
    """Payload, every cause of a difference, and the allocation that they add up to."""
    total = found.allocated_bytes
    rows = [("payload", found.payload_bytes), *((c.name, c.bytes) for c in found.causes)]
    return Table(
        id="causes",
        columns=("cause", "bytes", "share"),
        rows=(
            *(cause_row(name, size, total) for name, size in rows),
            cause_row("allocated", total, total),
        ),
    )


def cause_row(
    name: str, size: int | Fraction, total: int | Fraction
) -> tuple[Message, Quantity, Quantity]:
    """A cause with its bytes and their share of the allocation."""
    share = Fraction(100 * size) / Fraction(total) if total else Fraction(0)
    return Message(f"cause.{name}"), Quantity(size, "bytes"), Quantity(share, "percent", 2)


def second_of(params: Params) -> Params | None:
    """The second setting, if one was asked for."""
    changes: dict[str, object] = {}
    if params.second_kv_cache_dtype != NONE:
        changes["kv_cache_dtype"] = params.second_kv_cache_dtype
    if params.second_tp is not None and params.engine in SPLIT:
        changes[SPLIT[params.engine]] = params.second_tp
    return replace(params, **changes) if changes else None  # type: ignore[arg-type]


def comparison(params: Params, answer: Answer, second: Params, other: Answer) -> Table:
    """Two settings side by side."""
    rows = zip(setting(params, answer), setting(second, other), strict=True)
    names = ("kv_cache_dtype", "gpus", "available", "tokens", "sequences", "users", "allocated")
    return Table(
        id="second",
        columns=("quantity", "this", "second"),
        rows=tuple(
            (Message(f"compared.{name}"), one, two)
            for name, (one, two) in zip(names, rows, strict=True)
        ),
    )


def setting(params: Params, answer: Answer) -> tuple[str | Quantity, ...]:
    """One column of the comparison."""
    found = answer.estimate
    return (
        params.kv_cache_dtype,
        Quantity(found.ranks * found.replicas),
        Quantity(answer.left.bytes, "bytes"),
        Quantity(found.fit.tokens),
        Quantity(found.sequences),
        Quantity(answer.users(params)),
        Quantity(int(Fraction(found.allocated_bytes) / found.ranks), "bytes"),
    )


def kinds_plot(found: Estimate, length: int) -> Plot:
    """What one sequence holds on one GPU, stacked by kind of layer, at growing lengths."""
    lengths = sorted({max(1, length >> shift) for shift in range(LENGTHS_SHOWN)})
    held = {at: found.holding(at) for at in lengths}
    kinds = list(dict.fromkeys(kind for parts in held.values() for kind in parts))
    series = tuple(
        Series(
            name=kind_name(kind),
            points=tuple((f"{at:,}", held[at].get(kind, 0) / GIB) for at in lengths),
        )
        for kind in kinds
    )
    return Plot(
        id="kinds",
        kind="stacked",
        x=Axis(name="length", unit="tokens"),
        y=Axis(name="held", unit="GiB"),
        series=series,
        alt={
            "length": Quantity(length),
            "size": Quantity(sum(held[max(lengths)].values()), "bytes"),
            "kinds": len(kinds),
        },
    )


def kind_name(kind: Cache | str) -> Message:
    """A layer kind, or places of layers that do not exist."""
    return Message(f"cause.{PADDING}") if isinstance(kind, str) else described(kind)


def memory_plot(answer: Answer) -> Plot:
    """Tokens against memory, up to twice what is available."""
    found, most = answer.estimate, 2 * answer.left.bytes
    points = [
        (memory / GIB, float(found.tokens_at(memory)))
        for memory in (most * place // CURVE_POINTS for place in range(1, CURVE_POINTS + 1))
    ]
    return Plot(
        id="memory",
        kind="line",
        x=Axis(name="memory", unit="GiB"),
        y=Axis(name="tokens", unit="tokens"),
        series=(Series(name=Message("series.tokens"), points=tuple(points)),),
        x_marks=((answer.left.bytes / GIB, Message("series.available")),),
        alt={
            "tokens": Quantity(found.fit.tokens),
            "memory": Quantity(answer.left.bytes, "bytes"),
        },
    )


def refusals(params: Params, shape: Shape, answer: Answer) -> Iterator[Message]:
    """What would keep the engine from starting, or the sequences from being served."""
    if params.engine == "llamacpp":
        if answer.estimate.allocated_bytes > answer.left.bytes:
            need = Quantity(answer.estimate.allocated_bytes, "bytes")
            yield Message("warning.does_not_fit", {"need": need, "left": left_of(answer)})
        return
    if params.engine == "vllm" and not whole_request(shape, params, answer):
        yield Message("warning.no_whole_request", {"length": Quantity(params.max_model_len)})
    elif not answer.estimate.sequences:
        yield Message("warning.no_sequence", {"length": Quantity(params.length)})
    if params.engine == "vllm" and params.length > params.max_model_len:
        values = {"length": Quantity(params.length), "limit": Quantity(params.max_model_len)}
        yield Message("warning.longer_than_limit", values)


def whole_request(shape: Shape, params: Params, answer: Answer) -> bool:
    """Whether one request of ``max_model_len`` fits, without which vLLM does not start."""
    if params.length == params.max_model_len:
        return answer.estimate.sequences > 0
    found = estimate(shape, params, answer.left.bytes, params.max_model_len)
    return found.fit.sequences > 0


def left_of(answer: Answer) -> Quantity:
    """The memory left for the cache."""
    return Quantity(answer.left.bytes, "bytes")


def remarks(params: Params, shape: Shape, answer: Answer) -> Iterator[Message]:
    """What qualifies the figures."""
    yield Message(f"note.engine.{params.engine}")
    yield Message(f"note.limit.{answer.estimate.fit.limit}")
    yield from memory_remarks(params, answer)
    yield from shape_remarks(shape)


def memory_remarks(params: Params, answer: Answer) -> Iterator[Message]:
    """Where the memory comes from: a GPU with its source, or a print that stands for a range."""
    left, found = answer.left, answer.estimate
    if params.memory == "gpu":
        yield Message("note.overhead")
        billions = named_billions(params)
        if params.weight_gib is None and params.parameters_b is None and billions is not None:
            yield Message("note.parameters", {"billions": plain_number(billions)})
        if params.gpu in GPUS:
            gpu = GPUS[params.gpu]
            values = {"gpu": gpu.name, "mib": Quantity(gpu.memory_mib), "source": gpu.source}
            yield Message("note.gpu", values)
    elif params.engine != "llamacpp":
        low, high = (Quantity(found.tokens_at(memory)) for memory in (left.low, left.high))
        yield Message("note.print_range", {"low": low, "high": high})
