"""The log calculator: a pasted start-up log, its figures recomputed, every difference named.

Reads the lines that ``logs`` knows, recomputes them as ``estimates`` do, and says which figures
follow from the stated settings, which need a supposition, and which it cannot explain. Leaves
out everything a log says that is not about the cache.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from calculators.form import fields
from calculators.form.address import to_query
from calculators.form.fields import Kind, Switch, kinds
from calculators.kv.engine_lab import Params as EngineForm
from calculators.kv.engine_lab import cause_table, step
from calculators.kv.engine_params import KV_CACHE_DTYPES
from calculators.kv.log_match import Compared, Match, Supposition, best_match
from calculators.kv.log_settings import Setting, decimal, setting_of, shape_of_log
from calculators.kv.logs import LONGEST_TEXT, Log, read_log
from calculators.kv.shape import SOURCES, Shape, ShapeParams, needed, shape_of, shape_remarks
from calculators.show.blocks import (
    Block,
    Code,
    Derivation,
    Message,
    Notes,
    Number,
    Numbers,
    Result,
    Table,
)
from calculators.show.progress import Progress
from calculators.show.quantity import Quantity

FROM_LOG = "log"
EXAMPLE = """\
INFO [core.py] Initializing a V1 LLM engine (v0.19.0) with config: model='openai/gpt-oss-20b', \
dtype=torch.bfloat16, max_seq_len=8192, tensor_parallel_size=2, kv_cache_dtype=auto
INFO [scheduler.py] Chunked prefill is enabled with max_num_batched_tokens=8192.
(Worker_TP0) INFO [gpu_worker.py] Available KV cache memory: 59.32 GiB
INFO [kv_cache_utils.py] GPU KV cache size: 2,591,776 tokens
INFO [kv_cache_utils.py] Maximum concurrency for 8,192 tokens per request: 316.07x
"""


@dataclass(frozen=True, kw_only=True)
class Params(ShapeParams):
    """The form: the log, where the shape comes from, and what the log may leave out."""

    source: str = fields.choice(FROM_LOG, (FROM_LOG, *SOURCES), group="shape")
    log: str | None = fields.text(
        EXAMPLE,
        longest=LONGEST_TEXT,
        suffixes=(".log", ".txt"),
        lines=10,
        shared=False,
        group="log",
    )
    kv_cache_dtype: str = fields.choice(
        FROM_LOG, (FROM_LOG, *KV_CACHE_DTYPES), labelled=False, group="left_out"
    )
    tensor_parallel_size: int | None = fields.integer(
        None, minimum=1, maximum=4096, group="left_out"
    )
    max_num_batched_tokens: int | None = fields.integer(
        None, minimum=1, maximum=10**9, group="left_out"
    )


def solve(params: Params, progress: Progress) -> Result:
    """The log read, recomputed and compared."""
    progress(0)
    log = read_log("log", needed("log", params.log))
    progress(0.5)
    shape = shape_of_log(log) if params.source == FROM_LOG else shape_of(params)
    found = best_match(shape, log, with_overrides(setting_of(log), params))
    return Result(blocks=tuple(blocks(shape, log, found)), status=verdict(found))


def with_overrides(setting: Setting, params: Params) -> Setting:
    """What the reader adds to the log."""
    changes: dict[str, object] = {}
    if params.kv_cache_dtype != FROM_LOG:
        changes["kv_cache_dtype"] = params.kv_cache_dtype
    if params.tensor_parallel_size is not None:
        split = "tensor_parallel_size" if setting.params.engine == "vllm" else "tp_size"
        changes[split] = params.tensor_parallel_size
    if params.max_num_batched_tokens is not None:
        changes["max_num_batched_tokens"] = params.max_num_batched_tokens
    return setting.changed(**changes) if changes else setting


def verdict(found: Match) -> Message:
    """One sentence: explained, explained if, or not."""
    if not found.compared:
        return Message("status.nothing_to_compare")
    if not found.complete:
        count = sum(not figure.equal for figure in found.compared)
        return Message("status.unexplained", {"count": count})
    if found.suppositions:
        return Message("status.supposed", {"count": len(found.suppositions)})
    return Message("status.explained", {"count": len(found.compared)})


def blocks(shape: Shape, log: Log, found: Match) -> Iterator[Block]:
    """The answer in reading order."""
    yield figures(found)
    yield Notes(
        items=tuple(sentences(found)),
        kind="note" if found.complete else "warning",
    )
    if found.compared:
        yield compared_table(found)
    yield cause_table(found.estimate)
    yield Derivation(
        id="steps",
        steps=tuple(step(found.estimate.engine, line) for line in found.estimate.steps),
    )
    yield Code(id="recomputed", text=found.estimate.printed)
    yield Code(id="command", text=command(shape, found.setting), language="bash")
    yield found_table(log)
    if remarks := tuple(shape_remarks(shape)):
        yield Notes(items=remarks)


def figures(found: Match) -> Numbers:
    """Tokens and bytes as recomputed."""
    rank_bytes = Fraction(found.estimate.allocated_bytes) / found.estimate.ranks
    return Numbers(
        items=(
            Number(id="tokens", quantity=Quantity(found.estimate.fit.tokens, "tokens"), lead=True),
            Number(id="allocated", quantity=Quantity(int(rank_bytes), "bytes")),
            Number(id="agreeing", quantity=Quantity(sum(f.equal for f in found.compared))),
            Number(id="differing", quantity=Quantity(sum(not f.equal for f in found.compared))),
        )
    )


def sentences(found: Match) -> Iterator[Message]:
    """Verdict, what it rests on, and what is not explained."""
    yield verdict(found)
    for supposed in found.suppositions:
        yield supposition(supposed)
    for supposed in found.others:
        yield Message("note.or_else", {"other": supposition(supposed)})
    if "available_gib" in found.setting.stated and found.complete:
        yield Message("note.within_print", {"bytes": Quantity(found.memory)})
    for figure in found.compared:
        if not figure.equal:
            yield Message("note.difference", difference(figure))


def supposition(supposed: Supposition) -> Message:
    """A supposition in words."""
    return Message(f"supposed.{supposed.name}", {"value": supposed.value})


def difference(figure: Compared) -> dict[str, object]:
    """A figure that does not agree, with how far it is off."""
    one, two = decimal(figure.printed), decimal(figure.computed)
    off = None if one is None or two is None else Quantity(two - one)
    return {
        "field": figure.field,
        "printed": figure.printed,
        "computed": figure.computed,
        "off": off,
    }


def compared_table(found: Match) -> Table:
    """Printed against computed."""
    return Table(
        id="compared",
        columns=("figure", "printed", "computed", "outcome"),
        rows=tuple(
            (
                figure.field,
                figure.printed,
                figure.computed,
                Message("outcome.same" if figure.equal else "outcome.different"),
            )
            for figure in found.compared
        ),
    )


def found_table(log: Log) -> Table:
    """Every figure that was read, with its line and rank."""
    return Table(
        id="found",
        columns=("figure", "value", "rank", "line"),
        rows=tuple(
            (item.field, item.value, item.rank or None, Quantity(item.line)) for item in log.found
        ),
        folded=True,
    )


def command(shape: Shape, setting: Setting) -> str:
    """The same setting as a call of the engine calculator and as its address."""
    form = kinds(EngineForm)
    values = {"engine": setting.params.engine, "memory": "available"}
    if shape.known is not None:
        values["model"] = shape.known.name
    for name in sorted(setting.stated & form.keys()):
        values[name] = text_of(form[name], getattr(setting.params, name))
    options = " ".join(
        f"--{name.replace('_', '-')}={value}"
        for name, value in values.items()
        if value != form[name].default
    )
    address = to_query("kv-engine", EngineForm, values)
    return f"python -m calculators kv-engine {options}\n# ?{address}"


def text_of(kind: Kind, value: object) -> str:
    """A value as a form has it."""
    if isinstance(kind, Switch):
        return "1" if value else "0"
    return str(float(value)) if isinstance(value, Fraction) else str(value)
