"""Figures of documents: plain estimates without an engine."""

from collections.abc import Iterator
from fractions import Fraction

from calculators.form.lengths import Lengths, Run
from calculators.kv.engines.steps import GIB, MIB
from calculators.kv.payload import payload, per_token
from scripts.truth.kv.given import Case, Figures, first, kv_dtype
from scripts.truth.kv.shapes import stack_of


def document_figures(case: Case) -> Iterator[Figures]:
    """A plain estimate: retained rows of the attention layers, states left out as documents do."""
    given = case["given"]
    sequences = first(given, "sequences", "batch", "batch_size", "max_num_seqs", default=1)
    run = Run(first(given, "context", "n_ctx", "max_model_len", default=1), sequences)
    stack = stack_of(case)
    token = per_token(stack, kv_dtype(case))
    sized = payload(stack, kv_dtype(case), Lengths((run,)))
    size = Fraction(sum(term.bytes for term in sized.terms if term.part == "rows"))
    gib, mib = float(size / GIB), float(size / MIB)
    yield {
        "kv_gb": gib,
        "kv_gib": gib,
        "kv_mib": mib,
        "kv_mb": mib,
        "kv_bytes": int(size),
        "bytes_per_token": int(token),
        "kv_bytes_per_token": int(token),
        "kv_kib_per_token": float(token) / 1024,
    }
