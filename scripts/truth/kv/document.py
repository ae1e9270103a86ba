"""Figures of documents: plain estimates without an engine."""

from collections.abc import Iterator
from fractions import Fraction

from calculators.form.lengths import Lengths, Run
from calculators.kv.engines.steps import GIB, MIB
from calculators.kv.payload import payload, per_token
from scripts.truth.kv.given import Case, Figures, first, kv_dtype
from scripts.truth.kv.shapes import stack_of


def document_figures(case: Case) -> Iterator[Figures]:
    """A plain estimate: retained rows of the attention layers, and as last choice with states."""
    given = case["given"]
    sequences = first(given, "sequences", "batch", "batch_size", "max_num_seqs", default=1)
    run = Run(first(given, "context", "n_ctx", "max_model_len", default=1), sequences)
    stack = stack_of(case)
    token = per_token(stack, kv_dtype(case))
    sized = payload(stack, kv_dtype(case), Lengths((run,)))
    size = Fraction(sum(term.bytes for term in sized.terms if term.part == "rows"))
    whole = Fraction(sized.bytes)
    for found, giga, mega in ((size, GIB, MIB), (size, 10**9, 10**6), (whole, GIB, MIB)):
        yield document_sizes(found, giga, mega, Fraction(token))


def document_sizes(size: Fraction, giga: int, mega: int, token: Fraction) -> Figures:
    """The size under every unit; what a document calls GB is GiB or, as second choice, GB."""
    gib, mib = float(size / giga), float(size / mega)
    return {
        "kv_gb": gib,
        "kv_gib": float(size / GIB),
        "kv_mib": float(size / MIB),
        "kv_mb": mib,
        "kv_bytes": int(size),
        "bytes_per_token": int(token),
        "kv_kib_per_token": float(token / 1024),
        "kv_mib_per_token": float(token / MIB),
    }
