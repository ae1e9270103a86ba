"""Figures that engines printed, against what ``calculators.kv`` computes from the same inputs.

A printed input such as ``19.53 GiB`` stands for every value that prints so; each block count in
that range is a candidate, and a case passes when one candidate gives all its printed figures at
once. Where the release that a log is from is not known, both generations of vLLM's token line
are candidates. Nothing is computed from what is expected.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from calculators.form.errors import ParameterError
from calculators.form.lengths import Lengths, Run
from calculators.kv.dtypes import Dtype, dtype
from calculators.kv.engines import llamacpp, sglang, tensorrt_llm, vllm
from calculators.kv.engines.rows import fp8_scaled, latent_fp8_row
from calculators.kv.engines.steps import GIB, MIB, printed_range
from calculators.kv.engines.vllm_pages import Options as VllmOptions
from calculators.kv.facts import Facts
from calculators.kv.layers import (
    Cache,
    ChunkedAttention,
    CrossAttention,
    FullAttention,
    IndexKeys,
    LatentAttention,
    SlidingAttention,
    Stack,
    State,
)
from calculators.kv.payload import payload, per_token
from calculators.kv.states import state
from scripts.truth.verdict import Verdict

type Case = Mapping[str, Any]
type Figures = Mapping[str, Any]

KNOWN = {
    "id", "source", "engine", "engine_version", "model", "config_facts", "config_facts_from", "tp",
    "pp", "kv_dtype", "block_size", "given", "expected", "derivation", "status", "checks",
    "config_verified", "evidence", "note", "allowed_by_print",
}  # fmt: skip
MOST_CANDIDATES = 100_000


def recognises(document: object, path: Path) -> bool:
    """A list of cases with an engine, inputs and printed figures."""
    del path
    return (
        isinstance(document, list)
        and bool(document)
        and all(isinstance(c, dict) and {"engine", "given", "expected"} <= set(c) for c in document)
    )


def verdicts(document: object, path: Path) -> Iterator[Verdict]:
    """One verdict for each figure of each case."""
    del path
    if isinstance(document, list):
        for case in document:
            yield from verdicts_of(case)


def verdicts_of(case: Case) -> Iterator[Verdict]:
    """The figures of one case; "not run" for a key that the adapter does not know."""
    expected = flat(case["expected"])
    reader = next((f for name, f in ENGINES.items() if case["engine"].startswith(name)), None)
    unknown = sorted({*case} - KNOWN | {*case["given"]} - GIVEN | {*case["config_facts"]} - FACTS)
    if reader is None or unknown:
        reason = f"unknown: {', '.join(unknown) or case['engine']}"
        yield not_run(case, expected, reason)
        return
    try:
        best = closest(reader(case), expected)
    except (ParameterError, KeyError) as error:
        yield not_run(case, expected, f"cannot be computed: {error}")
        return
    missing = sorted(set(expected) - set(best))
    if missing:
        yield not_run(case, expected, f"unknown: {', '.join(missing)}")
        return
    for name, printed in expected.items():
        outcome: Any = "passed" if prints(best[name], printed) else "failed"
        yield Verdict(
            case=case["id"], figure=name, expected=printed, computed=best[name], outcome=outcome
        )


def not_run(case: Case, expected: Figures, reason: str) -> Verdict:
    """A case of which no figure counts."""
    return Verdict(
        case=case["id"],
        figure=", ".join(expected),
        expected=list(expected.values()),
        computed=None,
        outcome="not run",
        reason=reason,
    )


def closest(candidates: Iterable[Figures], expected: Figures) -> Figures:
    """The candidate that gives most of the printed figures; the first among equals."""
    best: Figures = {}
    most = -1
    for count, found in enumerate(candidates):
        right = sum(n in found and prints(found[n], value) for n, value in expected.items())
        if right > most:
            best, most = found, right
        if most == len(expected) or count > MOST_CANDIDATES:
            break
    return best


def prints(computed: Any, printed: Any) -> bool:
    """Whether a value prints so: whole numbers exactly, others to their decimals (at least two)."""
    if computed is None or isinstance(printed, str):
        return bool(computed == printed)
    if isinstance(printed, int) and isinstance(computed, int):
        return computed == printed
    decimals = max(2, -int(Decimal(str(printed)).as_tuple().exponent))
    # Half a unit to either side, ends included: engines round half to even, documents half up.
    return abs(Fraction(computed) - Fraction(str(printed))) <= Fraction(1, 2 * 10**decimals)


def flat(expected: Figures, prefix: str = "") -> dict[str, Any]:
    """``{"3_slots": {"cells": 1536}}`` to ``{"3_slots.cells": 1536}``."""
    figures: dict[str, Any] = {}
    for name, value in expected.items():
        if isinstance(value, dict):
            figures |= flat(value, f"{prefix}{name}.")
        else:
            figures[prefix + name] = value
    return figures


# --- layers -----------------------------------------------------------------------------------

FACTS = {
    "num_hidden_layers", "n_layer", "layers_full", "layers_attention", "layers_sliding",
    "layers_swa", "layers_chunked", "layers_linear", "layers_mamba", "layers_cross",
    "max_source_positions", "sliding_window", "n_swa",
    "attention_chunk_size", "num_key_value_heads", "kv_heads", "kv_heads_per_rank", "head_dim",
    "v_head_dim", "full_kv_heads", "full_head_dim", "sliding_kv_heads", "sliding_head_dim",
    "num_attention_heads", "hidden", "hidden_size", "n_embd", "n_embd_k_gqa", "n_embd_v_gqa",
    "kv_lora_rank", "qk_rope_head_dim", "index_head_dim", "fp8_latent_row_bytes",
    "fp8_index_row_bytes", "swa_full_tokens_ratio", "mamba_ssm_dtype", "linear_num_key_heads",
    "linear_num_value_heads", "linear_key_head_dim", "linear_value_head_dim",
    "linear_conv_kernel_dim", "mamba_num_heads", "mamba_head_dim", "ssm_state_size", "n_groups",
    "conv_kernel", "mamba_ssm_cache_dtype", "n_head", "n_head_kv", "use_sliding_window",
}  # fmt: skip


def first(facts: Mapping[str, Any], *names: str, default: Any = None) -> Any:
    """The value of the first name that is there and not null."""
    return next((facts[name] for name in names if facts.get(name) is not None), default)


def stack_of(case: Case) -> Stack:
    """The layers that a case's facts state."""
    facts = case["config_facts"]
    sliding = first(facts, "layers_sliding", "layers_swa", default=0)
    chunked = first(facts, "layers_chunked", default=0)
    linear = first(facts, "layers_linear", "layers_mamba", default=0)
    total = first(facts, "num_hidden_layers", "n_layer", default=0)
    full = first(
        facts, "layers_full", "layers_attention", default=total - sliding - linear - chunked
    )
    layers: list[tuple[Cache, ...]] = []
    layers += [full_layer(case)] * full if full else []
    if sliding:
        window = first(facts, "sliding_window", "n_swa")
        if window is None and case["engine"] == "sglang":
            window = 1  # its pools have a ratio; the window enters no figure
        if window is None:
            raise KeyError("sliding_window")
        layers += [(SlidingAttention(**shape(case, "sliding"), window=window),)] * sliding
    if chunked:
        chunk = facts["attention_chunk_size"]
        layers += [(ChunkedAttention(**shape(case, "full"), chunk=chunk),)] * chunked
    layers += [(state(Facts(facts), ""),)] * linear if linear else []
    positions = facts.get("max_source_positions")
    cross = facts.get("layers_cross", 0)
    if cross:
        layers += [(CrossAttention(**shape(case, "full"), positions=positions),)] * cross
    check_rows(facts)
    return Stack(tuple(layers))


def full_layer(case: Case) -> tuple[Cache, ...]:
    """A layer that attends to everything: latent where there is a rank."""
    facts = case["config_facts"]
    if "kv_lora_rank" not in facts:
        return (FullAttention(**shape(case, "full")),)
    latent = LatentAttention(rank=facts["kv_lora_rank"], rope=facts["qk_rope_head_dim"])
    width = facts.get("index_head_dim")
    return (latent, IndexKeys(width=width)) if width else (latent,)


def shape(case: Case, kind: str) -> dict[str, int]:
    """Heads and widths; a whole row counts as one head where only its width is stated."""
    facts = case["config_facts"]
    row = first(facts, "n_embd_k_gqa")
    if row is not None:
        return {"heads": 1, "k_width": row, "v_width": first(facts, "n_embd_v_gqa", default=row)}
    heads = first(facts, f"{kind}_kv_heads", "num_key_value_heads", "kv_heads", "n_head_kv")
    if heads is None and "kv_heads_per_rank" in facts:
        heads = facts["kv_heads_per_rank"] * (case["tp"] or 1)
    hidden = first(facts, "hidden_size", "hidden", "n_embd")
    queries = first(facts, "num_attention_heads", "n_head")
    width = first(facts, f"{kind}_head_dim", "head_dim")
    if width is None:
        width = hidden // queries if queries else hidden
        heads = heads or queries or 1
    return {"heads": heads, "k_width": width, "v_width": first(facts, "v_head_dim", default=width)}


def check_rows(facts: Mapping[str, Any]) -> None:
    """Row bytes that a case states must be ours: ParameterError where they are not."""
    latent = facts.get("fp8_latent_row_bytes")
    if latent is not None:
        cache = LatentAttention(rank=facts["kv_lora_rank"], rope=facts["qk_rope_head_dim"])
        if latent_fp8_row(cache) != latent:
            raise ParameterError("fp8_latent_row_bytes", "differs", computed=latent_fp8_row(cache))
    index = facts.get("fp8_index_row_bytes")
    if index is not None and fp8_scaled(facts["index_head_dim"]) != index:
        raise ParameterError(
            "fp8_index_row_bytes", "differs", computed=fp8_scaled(facts["index_head_dim"])
        )


def kv_dtype(case: Case) -> Dtype:
    """The cache's type; of ``f16 -> q8_0, q4_0`` the first."""
    name = str(case["kv_dtype"] or "bf16").split("->")[0].strip()
    return dtype("kv_dtype", {"fp8 (per token head)": "fp8_per_token_head"}.get(name, name))


# --- engines ----------------------------------------------------------------------------------

GIVEN = {
    "max_model_len", "available_kv_cache_memory_gib", "max_num_batched_tokens", "num_gpu_blocks",
    "gpu_kv_cache_tokens", "mamba_cache_mode", "num_speculative_tokens", "kernel_block_size",
    "decode_context_parallel_size", "prefill_context_parallel_size", "max_encoder_tokens",
    "disable_hybrid_kv_cache_manager", "max_total_num_tokens", "full_tokens", "page_size",
    "swa_full_tokens_ratio", "mamba_full_memory_ratio", "available_gib", "dp_size",
    "allocated_gib", "free_gib", "free_memory_gib", "free_gpu_memory_fraction", "max_tokens",
    "kv_mib_f16", "n_ctx_requested", "n_ctx", "slots", "kv_unified", "n_ubatch", "swa_full",
    "context", "sequences", "batch", "batch_size", "max_num_seqs", "tokens_per_block",
}  # fmt: skip


def gib_range(value: float) -> tuple[int, int]:
    """The bytes that print as this many GiB with two decimals."""
    low, high = printed_range(Fraction(str(value)))
    return -(-(low * GIB).numerator // (low * GIB).denominator), int(high * GIB)


def vllm_figures(case: Case) -> Iterator[Figures]:
    """Every pool that the inputs allow."""
    given = case["given"]
    model = dtype("dtype", case["kv_dtype"]) if kv_dtype(case).bits >= 16 else dtype("", "bf16")  # noqa: PLR2004
    options = VllmOptions(
        kv_cache_dtype=kv_dtype(case),
        dtype=model,
        block_size=case["block_size"] or 16,
        tensor_parallel_size=case["tp"] or 1,
        pipeline_parallel_size=case["pp"] or 1,
        **{name: given[name] for name in VLLM_OPTIONS if name in given},
    )
    stack = stack_of(case)
    for report in reports(case["engine_version"]):
        chosen = replace(options, report=report)
        if not stack.layers:
            yield from ratio_figures(chosen, given)
        elif "kernel_block_size" in given and "num_gpu_blocks" not in given:
            yield block_figures(stack, chosen)
        else:
            for blocks in blocks_allowed(stack, chosen, given):
                yield pool_figures(stack, chosen, blocks)


VLLM_OPTIONS = (
    "max_model_len", "max_num_batched_tokens", "mamba_cache_mode", "num_speculative_tokens",
    "kernel_block_size", "decode_context_parallel_size", "prefill_context_parallel_size",
    "max_encoder_tokens", "disable_hybrid_kv_cache_manager",
)  # fmt: skip


def reports(version: str | None) -> tuple[Any, ...]:
    """The generations of the token line that a release may print."""
    if version is None:
        return ("groups", "concurrency")
    major, minor = (int(part) for part in version.lstrip("v").split(".")[:2])
    if (major, minor) <= (0, 19):
        return ("groups",)
    return ("concurrency", "groups") if (major, minor) < (0, 24) else ("concurrency",)


def blocks_allowed(stack: Stack, options: VllmOptions, given: Case) -> Iterable[int]:
    """Block counts that a stated count, printed memory or printed tokens allow."""
    if "num_gpu_blocks" in given:
        return (given["num_gpu_blocks"],)
    if "gpu_kv_cache_tokens" in given:
        return vllm.blocks_of_tokens(stack, options, given["gpu_kv_cache_tokens"])
    exact = int(Fraction(str(given["available_kv_cache_memory_gib"])) * GIB)
    low, high = (
        vllm.pool(stack, options, memory).num_blocks
        for memory in gib_range(given["available_kv_cache_memory_gib"])
    )
    middle = vllm.pool(stack, options, exact).num_blocks
    return sorted(range(low, high + 1), key=lambda blocks: abs(blocks - middle))


def pool_figures(stack: Stack, options: VllmOptions, blocks: int) -> Figures:
    """What vLLM prints for a number of blocks."""
    result = vllm.pool_of_blocks(stack, options, blocks)
    figures: dict[str, Any] = {
        "num_gpu_blocks": blocks,
        "gpu_kv_cache_tokens": result.tokens,
        "max_concurrency": result.concurrency,
        "groups": len(result.groups),
        "padding_layers": result.padding_layers,
        "max_concurrency_after_fix": result.concurrency,
        **block_figures(stack, options),
    }
    if any(isinstance(cache, SlidingAttention) for cache in stack.counts):
        full = Stack(tuple(tuple(map(vllm.as_full, layer)) for layer in stack.layers))
        before = vllm.pool_of_blocks(full, options, blocks).concurrency
        figures["max_concurrency_before_fix"] = before
    return figures


def block_figures(stack: Stack, options: VllmOptions) -> Figures:
    """The enlarged attention block of a hybrid model and the padding of its state page."""
    groups = vllm.groups_of(stack, options)
    attention = [g.spec.block_size for g in groups if not isinstance(g.spec.cache, State)]
    padding = vllm.state_padding_percent(groups)
    figures: dict[str, Any] = {"attention_block_size": min(attention, default=None)}
    return figures if padding is None else {**figures, "mamba_page_padding_percent": padding}


def ratio_figures(options: VllmOptions, given: Case) -> Iterator[Figures]:
    """Of a model that is not named: full attention in one group, whatever its width."""
    one = Stack(((FullAttention(heads=1, k_width=1, v_width=1),),))
    for blocks in blocks_allowed(one, options, given):
        yield pool_figures(one, options, blocks)


def sglang_figures(case: Case) -> Iterator[Figures]:
    """Cell, pool and printed sizes."""
    given, facts = case["given"], case["config_facts"]
    ratios = {
        name: Fraction(str(first({**facts, **given}, name)))
        for name in ("swa_full_tokens_ratio", "mamba_full_memory_ratio")
        if name in {**facts, **given}
    }
    options = sglang.Options(
        kv_cache_dtype=kv_dtype(case),
        dtype=dtype("", "bf16"),
        tp_size=case["tp"] or 1,
        dp_attention_size=given.get("dp_size", 1),
        pp_size=case["pp"] or 1,
        page_size=first(given, "page_size", default=case["block_size"] or 1),
        **ratios,
    )
    stack = stack_of(case)
    if "available_gib" in given:
        for memory in gib_range(given["available_gib"]):
            tokens = sglang.pool(stack, options, memory).max_total_num_tokens
            yield sglang_sizes(stack, options, tokens)
        return
    yield sglang_sizes(stack, options, first(given, "max_total_num_tokens", "full_tokens"))


def sglang_sizes(stack: Stack, options: sglang.Options, tokens: int | None) -> Figures:
    """The lines for a pool of so many tokens."""
    figures: dict[str, Any] = {}
    if stack.layers:
        figures["cell_size_bytes"] = as_int(sglang.cell_of(stack, options).bytes)
    if tokens is None:
        return figures
    figures |= {"max_total_num_tokens": tokens, "swa_tokens": sglang.swa_tokens(tokens, options)}
    if stack.layers:
        whole = Fraction(sglang.kv_bytes(stack, options, tokens), GIB)
        figures |= {
            "K_size_gb": Fraction(sglang.k_bytes(stack, options, tokens), GIB),
            "V_size_gb": Fraction(sglang.v_bytes(stack, options, tokens), GIB),
            "kv_size_gb": whole,
            "kv_size_gb_with_index": whole,
        }
    return {name: number(value) for name, value in figures.items()}


def as_int(value: Fraction) -> int | Fraction:
    """A whole number as an int."""
    return value.numerator if value.denominator == 1 else value


def number(value: Any) -> Any:
    """Fractions as floats, for the report."""
    return float(value) if isinstance(value, Fraction) else value


def tensorrt_figures(case: Case) -> Iterator[Figures]:
    """Blocks and tokens, from memory that is free or allocated already."""
    given = case["given"]
    fraction = Fraction(str(given.get("free_gpu_memory_fraction", "0.9")))
    options = tensorrt_llm.Options(
        kv_cache_dtype=kv_dtype(case),
        tokens_per_block=first(given, "tokens_per_block", default=case["block_size"] or 32),
        free_gpu_memory_fraction=fraction,
        tp_size=case["tp"] or 1,
        pp_size=case["pp"] or 1,
    )
    stack = stack_of(case)
    per_token = tensorrt_llm.bytes_per_token(stack, options)
    if "allocated_gib" in given:
        low, high = gib_range(given["allocated_gib"])
        for blocks in range(
            tensorrt_llm.blocks_in(stack, options, low),
            tensorrt_llm.blocks_in(stack, options, high) + 1,
        ):
            tokens = blocks * options.tokens_per_block
            yield {"max_tokens": tokens, "blocks": blocks, "bytes_per_token": per_token}
        return
    if "max_tokens" in given:
        size = given["max_tokens"] * per_token
        yield {"allocated_gib": size / GIB, "bytes_per_token": per_token}
        return
    for memory in gib_range(first(given, "free_gib", "free_memory_gib")):
        found = tensorrt_llm.pool(stack, options, memory)
        yield {
            "max_tokens": found.max_tokens,
            "blocks": found.blocks,
            "num_blocks": found.blocks,
            "bytes_per_token": found.bytes_per_token,
        }


def llamacpp_figures(case: Case) -> Iterator[Figures]:
    """Cells and MiB; for several slot counts each under its own name."""
    given = case["given"]
    if "kv_mib_f16" in given:
        yield converted(Fraction(str(given["kv_mib_f16"])))
        return
    slots = given.get("slots", 1)
    for old_order in (False, True):
        if isinstance(slots, list):
            sized = ((count, llamacpp_sizes(case, count, old_order=old_order)) for count in slots)
            yield {f"{count}_slots.{n}": v for count, found in sized for n, v in found.items()}
        else:
            yield llamacpp_sizes(case, slots, old_order=old_order)


def converted(mib_f16: Fraction) -> Figures:
    """A printed f16 cache in every block-quantised type."""
    types = ("q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl", "f32", "bf16")
    return {
        f"kv_mib_{name}": float(llamacpp.as_type(mib_f16, dtype("type", name))) for name in types
    }


def llamacpp_sizes(case: Case, slots: int, *, old_order: bool) -> Figures:
    """The buffer lines of one setting."""
    given = case["given"]
    options = llamacpp.Options(
        ctx_size=first(given, "n_ctx_requested", "n_ctx"),
        cache_type_k=kv_dtype(case),
        cache_type_v=kv_dtype(case),
        parallel=slots,
        kv_unified=given.get("kv_unified", True),
        ubatch_size=given.get("n_ubatch", 512),
        swa_full=given.get("swa_full", False),
        pad_before_minimum=old_order,
    )
    found = llamacpp.allocate(stack_of(case), options)
    total = found.bytes / MIB
    return {
        "n_ctx": found.full.cells,
        "cells": found.full.cells,
        "full_cells": found.full.cells,
        "swa_cells": found.swa.cells,
        "full_mib": found.full.bytes / MIB,
        "swa_mib": found.swa.bytes / MIB,
        "mib": total,
        "kv_mib": total,
        "kv_mb": total,
        "k_mib": (found.full.k_bytes + found.swa.k_bytes) / MIB,
        "v_mib": (found.full.v_bytes + found.swa.v_bytes) / MIB,
    }


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


ENGINES: Mapping[str, Callable[[Case], Iterator[Figures]]] = {
    "vllm": vllm_figures,
    "sglang": sglang_figures,
    "tensorrt": tensorrt_figures,
    "llama.cpp": llamacpp_figures,
    "document": document_figures,
}
