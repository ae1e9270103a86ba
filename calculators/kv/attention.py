"""The caches of one attention layer from the fields that state its heads and widths."""

from collections.abc import Mapping
from typing import Any

from calculators.form.errors import ParameterError
from calculators.kv.facts import FIELD, Facts, missing
from calculators.kv.layers import (
    Cache,
    ChunkedAttention,
    CrossAttention,
    FullAttention,
    IndexKeys,
    LatentAttention,
    SlidingAttention,
)
from calculators.kv.patterns import CHUNK, WINDOW

HEADS = (
    "decoder_attention_heads", "decoder_num_attention_heads", "num_decoder_attention_heads",
    "num_attention_heads", "n_head", "n_heads", "num_heads", "attention_heads", "num_query_heads",
)  # fmt: skip
KV_HEADS = (
    "decoder_num_key_value_heads", "num_key_value_heads", "num_kv_heads", "n_head_kv",
    "n_kv_heads", "kv_n_heads", "multi_query_group_num", "num_query_groups",
)  # fmt: skip
HIDDEN = ("hidden_size", "n_embd", "d_model", "dim", "hidden_dim", "model_dim", "emb_dim",
          "embed_dim")  # fmt: skip
HEAD_DIM = (
    "head_dim", "attention_head_dim", "kv_channels", "d_kv", "attention_head_size", "d_head",
    "dim_head", "decoder_head_dim",
)  # fmt: skip


def heads_of(facts: Facts) -> int:
    """Query heads, named in any of the usual ways."""
    return facts.need(*HEADS)


def kv_heads(facts: Facts) -> int:
    """KV heads: stated, one for multi-query attention, or as many as there are heads."""
    if facts.flag("multi_query") and facts.flag("new_decoder_architecture") is not True:
        return 1
    if facts.text("attention_head_type") == "multiquery":  # SantaCoder's own class
        return 1
    inner = facts.child("attn_config")  # MPT, DBRX
    stated = facts.whole(*KV_HEADS) if inner is None else inner.whole(*KV_HEADS)
    if stated is None and inner is not None:
        stated = facts.whole(*KV_HEADS)
    return heads_of(facts) if stated is None else stated


def head_dim(facts: Facts) -> int:
    """``head_dim`` as stated; only without it hidden size over heads, which must divide."""
    stated = facts.whole(*HEAD_DIM)
    if stated is not None:
        return stated
    hidden = facts.whole(*HIDDEN)
    if hidden is None:
        raise missing(facts.path, "head_dim", *HIDDEN)
    heads = heads_of(facts)
    if hidden % heads:
        raise ParameterError(
            FIELD, "does_not_divide", key=facts.path + "head_dim", hidden=hidden, heads=heads
        )
    return hidden // heads


def is_latent(facts: Facts) -> bool:
    """Latent attention is known by its rank, never by a model's name."""
    if facts.flag("use_mla") is False:
        return False
    return bool(facts.whole("kv_lora_rank", least=0))


def attention(facts: Facts, kind: str) -> tuple[Cache, ...]:
    """The caches of an attention layer of a kind: full, indexed, sliding, chunked or cross."""
    if is_latent(facts):
        return latent_layer(facts, kind)
    sliding = kind == "sliding"
    prefixed = sliding and facts.has("swa_head_dim", "swa_num_key_value_heads")
    shape = swa_shape(facts) if prefixed else plain_shape(facts, kind)
    match kind:
        case "sliding":
            return (SlidingAttention(**shape, window=facts.need(*WINDOW)),)
        case "chunked":
            return (ChunkedAttention(**shape, chunk=facts.need(*CHUNK)),)
        case "cross":
            return (CrossAttention(**shape),)
        case _:
            return (FullAttention(**shape), *index_keys(facts, kind))


def latent_layer(facts: Facts, kind: str) -> tuple[Cache, ...]:
    """``kv_lora_rank`` and ``qk_rope_head_dim``; KV heads and head_dim do not matter here."""
    if kind in {"chunked", "cross"}:
        raise ParameterError(FIELD, "layer_kind", key="kv_lora_rank", text=f"{kind} MLA")
    window = facts.need(*WINDOW) if kind == "sliding" else None
    rope = facts.need("qk_rope_head_dim", "qk_pos_emb_head_dim", least=0)
    cache = LatentAttention(rank=facts.need("kv_lora_rank"), rope=rope, window=window)
    return (cache, *index_keys(facts, kind))


def plain_shape(facts: Facts, kind: str) -> dict[str, int]:
    """Heads and widths; full layers of Gemma 4 have their own."""
    heads, k_width = kv_heads(facts), None
    if kind in {"full", "indexed"}:
        if facts.flag("attention_k_eq_v") is not False:  # only with it have they their own heads
            heads = facts.whole("num_global_key_value_heads") or heads
        k_width = facts.whole("global_head_dim")
    k_width = k_width or head_dim(facts)
    v_width = facts.whole("v_head_dim", "value_head_dim") or k_width
    return {"heads": heads, "k_width": k_width, "v_width": v_width}


def swa_shape(facts: Facts) -> dict[str, int]:
    """MiMo-V2: sliding layers with their own heads and widths."""
    k_width = facts.whole("swa_head_dim") or head_dim(facts)
    return {
        "heads": facts.whole("swa_num_key_value_heads") or kv_heads(facts),
        "k_width": k_width,
        "v_width": facts.whole("swa_v_head_dim") or k_width,
    }


def index_keys(facts: Facts, kind: str) -> tuple[IndexKeys, ...]:
    """Keys of a sparse indexer: of layers named so, or of every full layer where none is named."""
    if kind not in {"full", "indexed"} or (kind == "full" and facts.has("layer_types")):
        return ()
    width = facts.whole("index_head_dim", "indexer_head_dim", least=0)
    heads = facts.whole("indexer_kv_heads") or 1
    return (IndexKeys(width=heads * width),) if width else ()


def overlay(facts: Facts, changes: Mapping[str, Any], path: str) -> Facts:
    """The facts of one layer that differs: its own values over the common ones."""
    facts.read |= {f"{path}.{name}": value for name, value in changes.items()}
    return Facts({**facts.tree, **changes}, facts.path, facts)
