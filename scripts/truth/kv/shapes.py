"""The layers that a case's facts state."""

from collections.abc import Mapping
from typing import Any

from calculators.form.errors import ParameterError
from calculators.kv.config import read_tree
from calculators.kv.engines.rows import fp8_scaled, latent_fp8_row
from calculators.kv.facts import Facts
from calculators.kv.layers import (
    Cache,
    ChunkedAttention,
    CrossAttention,
    FullAttention,
    IndexKeys,
    LatentAttention,
    Layer,
    SlidingAttention,
    Stack,
)
from calculators.kv.log_settings import named
from calculators.kv.states import state
from scripts.truth.kv.given import FACTS, Case, first
from scripts.truth.kv_configs import config_of


def is_config(case: Case) -> bool:
    """Whether the facts are a config's own keys rather than counts of layers by kind."""
    facts = case["config_facts"]
    counted = any(name.startswith("layers_") for name in facts)
    return not counted and bool({*facts} - FACTS)


def unread(case: Case) -> set[str]:
    """Facts that neither the short vocabulary nor the reading of a config uses."""
    unknown = {*case["config_facts"]} - FACTS
    if not is_config(case):
        return unknown
    try:
        reading = read_tree(config_of(case["written"]))
    except ParameterError:
        return unknown
    return unknown & {path.rpartition(".")[2] for path in reading.ignored}


def stack_of(case: Case) -> Stack:
    """The layers that a case's facts state; without facts, those of a model known by its name."""
    if is_config(case):
        return read_tree(config_of(case["written"])).stack
    known = None if case["config_facts"] else named(str(case["model"]))
    return plain_stack(case) if known is None else known.stack


def plain_stack(case: Case) -> Stack:
    """The layers of facts that count them kind by kind."""
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


def draft_of(case: Case) -> tuple[Layer, ...]:
    """Layers that predict further tokens, kept by an engine that speculates with them."""
    if is_config(case):
        return read_tree(config_of(case["written"])).draft.layers
    return (full_layer(case),) * (case["config_facts"].get("num_nextn_predict_layers") or 0)


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
    heads = heads or queries
    width = first(facts, f"{kind}_head_dim", "head_dim")
    if width is None:
        width = hidden // queries if queries else hidden
        heads = heads or queries or 1
    v_width = first(facts, f"{kind}_v_head_dim", "v_head_dim", default=width)
    return {"heads": heads, "k_width": width, "v_width": v_width}


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
