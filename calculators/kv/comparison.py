"""The same printed figures by LMCache's formula and by ours, side by side.

Every figure of ``published`` that follows from memory, tokens or a context is computed both ways
from the same inputs, now. Leaves out figures that are ratios only: no formula is asked there.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from calculators.form import fields
from calculators.form.lengths import Lengths, Run
from calculators.kv.dtypes import Dtype, dtype
from calculators.kv.engines import llamacpp, sglang, tensorrt_llm, vllm
from calculators.kv.engines.steps import GIB, MIB
from calculators.kv.engines.vllm_pages import Options as VllmOptions
from calculators.kv.notation import from_text
from calculators.kv.payload import payload
from calculators.kv.published import CASES, Case
from calculators.show.blocks import Block, Message, Notes, Number, Numbers, Result, Table
from calculators.show.progress import Progress
from calculators.show.quantity import Quantity

DECIMALS = 2
UNITS = {"tokens": 1, "gib": GIB, "mib": MIB}
ENGINES = ("all", "vllm", "sglang", "llama.cpp", "tensorrt-llm", "document")


@dataclass(frozen=True, kw_only=True)
class Params:
    """The form: which engine's figures."""

    engine: str = fields.choice("all", ENGINES)


@dataclass(frozen=True, kw_only=True)
class Row:
    """One figure three times: in the unit that it is printed in."""

    case: Case
    ours: Fraction
    theirs: Fraction

    @property
    def printed(self) -> Fraction:
        """The figure as the engine prints it."""
        return Fraction(self.case.printed)

    def agrees(self, value: Fraction) -> bool:
        """Whether a value prints so: tokens exactly, sizes to their decimals."""
        if self.case.figure == "tokens":
            return value == self.printed
        return abs(value - self.printed) <= Fraction(1, 2 * 10**DECIMALS)


def solve(params: Params, progress: Progress) -> Result:
    """All rows of the chosen engine, and how many agree."""
    progress(0)
    chosen = [case for case in CASES if params.engine in {"all", case.engine}]
    rows = [row_of(case) for case in chosen]
    ours = sum(row.agrees(row.ours) for row in rows)
    theirs = sum(row.agrees(row.theirs) for row in rows)
    values = {"ours": ours, "theirs": theirs, "count": len(rows)}
    return Result(blocks=tuple(blocks(rows, ours, theirs)), status=Message("status.agree", values))


def blocks(rows: list[Row], ours: int, theirs: int) -> Iterator[Block]:
    """Counts, the table, what the formula is."""
    yield Numbers(
        items=(
            Number(id="ours", quantity=Quantity(ours), lead=True),
            Number(id="theirs", quantity=Quantity(theirs)),
            Number(id="count", quantity=Quantity(len(rows))),
        )
    )
    yield Table(
        id="comparison",
        columns=("case", "figure", "printed", "ours", "theirs", "ratio"),
        rows=tuple(table_row(row) for row in rows),
    )
    yield Notes(
        items=tuple(Message(f"note.{name}") for name in ("formula", "range", "ranks", "left_out"))
    )


def table_row(row: Row) -> tuple[str | Message | Quantity, ...]:
    """One figure of the table."""
    digits = 0 if row.case.figure == "tokens" else DECIMALS
    shown = (Quantity(value, digits=digits) for value in (row.printed, row.ours, row.theirs))
    return (
        f"{row.case.engine}: {row.case.asked.name}",
        Message(f"figure.{row.case.figure}", {"source": row.case.source}),
        *shown,
        Quantity(100 * row.theirs / row.printed, "percent", 1),
    )


def row_of(case: Case) -> Row:
    """A figure both ways."""
    unit = UNITS[case.figure] * case.parts
    return Row(case=case, ours=OURS[case.engine](case) / unit, theirs=theirs_of(case) / unit)


def theirs_of(case: Case) -> Fraction:
    """LMCache's figure in tokens or bytes; ranks, which it does not know, share evenly."""
    kv = {8: "int8", 32: "float32"}.get(kv_type(case).bits, "bfloat16")
    each = case.asked.bytes_per_token(kv) / case.tp
    if case.figure == "tokens":
        return nearest(case, lambda memory: int(memory / each))
    return each * case.tokens * case.sequences


def kv_type(case: Case) -> Dtype:
    """The cache's type."""
    return dtype("kv_dtype", case.kv_dtype)


def nearest(case: Case, tokens: Callable[[int], int]) -> Fraction:
    """Of the tokens that a memory printed with two decimals allows, those nearest to the print."""
    half = Fraction(1, 2 * 10**DECIMALS)
    low, high = (int((Fraction(case.memory_gib) + side) * GIB) for side in (-half, half))
    printed = int(case.printed)
    if tokens(low) >= printed or tokens(high) <= printed:
        return Fraction(tokens(low) if tokens(low) >= printed else tokens(high))
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if tokens(middle) <= printed else (low, middle)
    return Fraction(min((tokens(low), tokens(high)), key=lambda found: abs(found - printed)))


def vllm_figure(case: Case) -> Fraction:
    """Tokens of the printed memory."""
    kv = kv_type(case)
    options = VllmOptions(
        kv_cache_dtype=kv,
        dtype=dtype("dtype", "bfloat16"),
        tensor_parallel_size=case.tp,
        max_model_len=case.max_model_len,
        max_num_batched_tokens=case.max_num_batched_tokens,
    )
    stack = from_text("stack", case.layers)
    return nearest(case, lambda memory: vllm.pool(stack, options, memory).tokens)


def sglang_figure(case: Case) -> Fraction:
    """Bytes of the pool on one rank."""
    options = sglang.Options(
        kv_cache_dtype=kv_type(case),
        dtype=dtype("dtype", "bfloat16"),
        tp_size=case.tp,
        page_size=case.page_size,
    )
    size = sglang.kv_bytes(from_text("stack", case.layers), options, case.tokens)
    return Fraction(size)


def tensorrt_figure(case: Case) -> Fraction:
    """Bytes of the allocated tokens."""
    options = tensorrt_llm.Options(kv_cache_dtype=kv_type(case), tp_size=case.tp)
    each = tensorrt_llm.bytes_per_token(from_text("stack", case.layers), options)
    return Fraction(case.tokens * each)


def llamacpp_figure(case: Case) -> Fraction:
    """Bytes of the buffers of a context."""
    kind = kv_type(case)
    options = llamacpp.Options(
        ctx_size=case.tokens, cache_type_k=kind, cache_type_v=kind,
        parallel=case.slots, kv_unified=case.kv_unified,
    )  # fmt: skip
    return Fraction(llamacpp.allocate(from_text("stack", case.layers), options).bytes)


def document_figure(case: Case) -> Fraction:
    """Bytes of the rows of a context, states left out as the documents do."""
    lengths = Lengths((Run(case.tokens, case.sequences),))
    sized = payload(from_text("stack", case.layers), kv_type(case), lengths)
    rows = (Fraction(term.bytes) for term in sized.terms if term.part == "rows")
    return sum(rows, Fraction(0))


OURS: Mapping[str, Callable[[Case], Fraction]] = {
    "vllm": vllm_figure,
    "sglang": sglang_figure,
    "llama.cpp": llamacpp_figure,
    "tensorrt-llm": tensorrt_figure,
    "document": document_figure,
}
