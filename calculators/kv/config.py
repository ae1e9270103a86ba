"""A Hugging Face ``config.json`` to a stack of layers.

Shapes are read from fields and never guessed from a model's name; what a config leaves to its
model's code is in ``patterns`` with the source. What was used, what was ignored and what had to
be assumed is part of the answer. Left out: what the weights alone say, and configs whose caches
are of no kind of ``layers`` (refused by name).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from calculators.form.errors import ParameterError, excerpt
from calculators.form.numbers import WHOLE
from calculators.kv.attention import HEAD_DIM as HEAD_WIDTHS
from calculators.kv.attention import KV_HEADS, attention, head_dim, heads_of, overlay
from calculators.kv.config_text import parse_config
from calculators.kv.defaults import HEAD_DIM, NESTED
from calculators.kv.dtypes import dtype
from calculators.kv.facts import FIELD, Facts, missing, wrong_type
from calculators.kv.families import (
    TWO_ATTENTIONS,
    crosses,
    decoder_of,
    refuse_encoders,
    refuse_other_memories,
)
from calculators.kv.layers import (
    NO_LAYERS,
    Cache,
    CrossAttention,
    FullAttention,
    IndexKeys,
    Layer,
    SharedCache,
    SlidingAttention,
    Stack,
)
from calculators.kv.patterns import (
    ALL_SLIDING,
    Kind,
    check_count,
    check_long_enough,
    kinds_of,
)
from calculators.kv.states import state

DRAFT_LAYERS = ("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules")
LISTS = (
    "layer_types", "hybrid_layer_pattern", "block_types", "block_configs", "attention_layers",
)  # fmt: skip
POSITIONS = ("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length")
LONGEST_CONTEXT = 10**12  # tokens
LONGEST_LAYER_NUMBER = 8  # characters
PADDED_INPUTS = {"whisper"}  # every input is padded to the encoder's full length
SAYS_KV_HEADS = (
    *KV_HEADS, "multi_query", "attention_head_type", "attn_config", "block_configs",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Assumption:
    """What the config does not settle: a label's key, and the key that would settle it."""

    name: str
    key: str


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What a config says about its caches.

    ``draft`` are multi-token-prediction layers, which engines keep only when they speculate; they
    are not in ``stack``. ``kv_dtype`` is set only where the config names a type for the cache.
    """

    stack: Stack
    draft: Stack
    model_type: str
    dtype: str | None
    kv_dtype: str | None
    max_position_embeddings: int | None
    facts: Mapping[str, object]
    ignored: tuple[str, ...]
    assumptions: tuple[Assumption, ...]


def read_config(text: str) -> Reading:
    """The reading of a pasted config. Raises ParameterError with the field ``config``."""
    return read_tree(parse_config(FIELD, text))


def read_tree(tree: Mapping[str, Any]) -> Reading:
    """The reading of a parsed config."""
    facts = Facts(tree)
    decoder = decoder_of(facts)
    refuse_encoders(facts, decoder)
    model_type = decoder.text("model_type") or facts.text("model_type") or ""
    left_out = class_defaults(decoder, model_type, nested=decoder is not facts)
    decoder = Facts({**left_out, **decoder.tree}, decoder.path, decoder)
    layers = layers_of(decoder, model_type)
    if crosses(facts, decoder):
        layers = [(*layer, cross_of(layer, decoder)) for layer in layers]
    return Reading(
        stack=Stack(tuple(layers)),
        draft=draft_layers(decoder, model_type),
        model_type=model_type,
        dtype=model_dtype(facts, decoder),
        kv_dtype=cache_dtype(facts, decoder),
        max_position_embeddings=decoder.whole(*POSITIONS, most=LONGEST_CONTEXT),
        assumptions=(
            *assumptions(decoder, model_type, layers),
            *(
                Assumption("class_default", key)
                for key in left_out
                if decoder.path + key in facts.read
            ),
        ),
        facts=facts.read,
        ignored=tuple(dict.fromkeys((*facts.ignored(), *decoder.ignored()))),
    )


def class_defaults(decoder: Facts, model_type: str, *, nested: bool) -> dict[str, int]:
    """What the config leaves to its model's class: all of it if nested, else the head width."""
    defaults = NESTED.get(model_type, {}) if nested else {}
    width = {"head_dim": HEAD_DIM[model_type]} if model_type in HEAD_DIM else {}
    return {
        key: value
        for key, value in {**width, **defaults}.items()
        if key not in decoder.tree and not (key == "head_dim" and decoder.has(*HEAD_WIDTHS))
    }


def layers_of(decoder: Facts, model_type: str) -> list[Layer]:
    """Every layer's caches, first to last."""
    refuse_other_memories(decoder, model_type)
    if (blocks := decoder.items("block_configs")) is not None:
        check_count(len(blocks))
        return [searched_layer(decoder, index, block) for index, block in enumerate(blocks)]
    kinds = kinds_of(decoder, model_type)
    own = per_layer(decoder, len(kinds))
    built: dict[tuple[Kind, int], Layer] = {}
    layers = []
    for index, kind in enumerate(kinds):
        key = (kind, index if index in own else -1)
        if key not in built:
            built[key] = layer_of(own.get(index, decoder), kind, model_type)
        layers.append(built[key])
    if TWO_ATTENTIONS.fullmatch(model_type):
        layers = [(*layer, *layer) for layer in layers]
    return shared(decoder, indexed(decoder, layers))


def per_layer(decoder: Facts, layers: int) -> dict[int, Facts]:
    """The facts of layers that state their own: an object by layer number, or a list of heads."""
    own: dict[int, Facts] = {}
    changes = decoder.child("per_layer_config")
    for name in changes.tree if changes is not None else ():
        if changes is not None and (values := changes.child(name)) is not None:
            path = f"{changes.path}{name}"
            own[layer_number(path, name)] = overlay(decoder, values.tree, path)
    for name in ("num_key_value_heads", "num_kv_heads", "num_key_value_heads_per_layer"):
        if not decoder.holds(list, name):  # else one number for all layers
            continue
        heads = decoder.wholes(name) or []
        check_long_enough(name, heads, layers)
        for index, count in enumerate(heads[:layers]):
            own[index] = Facts(
                {**decoder.tree, "num_key_value_heads": count}, decoder.path, decoder
            )
    return own


def layer_number(path: str, name: str) -> int:
    """``"03" → 3``; the keys of ``per_layer_config`` are layers."""
    if not WHOLE.fullmatch(name) or len(name) > LONGEST_LAYER_NUMBER:
        raise ParameterError(FIELD, "bad_value", key=path, text=excerpt(name))
    return int(name)


def layer_of(facts: Facts, kind: Kind, model_type: str) -> Layer:
    """The caches of one layer of a kind."""
    caches: list[Cache] = []
    for part in kind.split("+"):
        if part == "state":
            caches.append(state(facts, model_type))
        elif part != "none":
            caches += attention(facts, part)
    return tuple(caches)


def searched_layer(decoder: Facts, index: int, block: object) -> Layer:
    """One layer of a network found by search (``block_configs`` of DeciLM and Nemotron)."""
    path = f"block_configs[{index}]"
    if not isinstance(block, dict):
        raise wrong_type(path, "key_not_object", block)
    facts = Facts(block, f"{path}.", decoder).child("attention")
    if facts is None:
        raise missing(f"{path}.", "attention")
    if facts.flag("no_op") or facts.flag("replace_with_linear"):
        return ()
    heads = facts.whole("num_key_value_heads")
    if heads is None:  # queries that share one KV head
        heads = heads_of(decoder) // facts.need("n_heads_in_group")
    width = head_dim(decoder)
    window = facts.whole("window_length")
    if window is None:
        return (FullAttention(heads=heads, k_width=width, v_width=width),)
    return (SlidingAttention(heads=heads, k_width=width, v_width=width, window=window),)


def indexed(decoder: Facts, layers: list[Layer]) -> list[Layer]:
    """Layers with index keys where only some own them."""
    kinds = decoder.items("indexer_types")
    if kinds is not None:
        check_long_enough("indexer_types", kinds, len(layers))
        return [
            layer if kind == "full" else without_index(layer)
            for layer, kind in zip(layers, kinds, strict=False)
        ]
    sparse = decoder.child("sparse_attention_config")
    if sparse is None or not sparse.flag("use_sparse_attention"):
        return layers
    keys = IndexKeys(width=sparse.need("sparse_index_dim"))
    used = sparse.wholes("sparse_attention_freq") or [1] * len(layers)
    check_long_enough(f"{sparse.path}sparse_attention_freq", used, len(layers))
    return [(*layer, keys) if flag else layer for layer, flag in zip(layers, used, strict=False)]


def without_index(layer: Layer) -> Layer:
    """A layer that selects with another layer's index."""
    return tuple(cache for cache in layer if not isinstance(cache, IndexKeys))


def shared(decoder: Facts, layers: list[Layer]) -> list[Layer]:
    """The last ``num_kv_shared_layers`` read the cache of an earlier layer of their kind."""
    count = decoder.whole("num_kv_shared_layers", least=0) or 0
    if not count:
        return layers
    return [*layers[:-count], *[(SharedCache(),)] * min(count, len(layers))]


def cross_of(layer: Layer, decoder: Facts) -> CrossAttention:
    """Cross attention beside a decoder layer's own attention, with the same heads and widths."""
    own = next((cache for cache in layer if isinstance(cache, FullAttention)), None)
    if own is None:
        raise ParameterError(FIELD, "layer_kind", key="is_encoder_decoder", text="cross attention")
    fixed = decoder.text("model_type") in PADDED_INPUTS
    positions = decoder.whole("max_source_positions") if fixed else None
    return CrossAttention(
        heads=own.heads, k_width=own.k_width, v_width=own.v_width, positions=positions
    )


def draft_layers(decoder: Facts, model_type: str) -> Stack:
    """Multi-token-prediction layers: attention to everything, with an indexer's keys if any."""
    count = decoder.whole(*DRAFT_LAYERS, least=0) or 0
    if not count:
        return NO_LAYERS
    return Stack((layer_of(decoder, "indexed", model_type),) * min(count, 1000))


def model_dtype(facts: Facts, decoder: Facts) -> str | None:
    """The model's type where the config names one that is known."""
    stated = decoder.text("dtype", "torch_dtype") or facts.text("dtype", "torch_dtype")
    return None if stated in {None, "auto"} else dtype(FIELD, str(stated)).name


def cache_dtype(facts: Facts, decoder: Facts) -> str | None:
    """The cache's type where the quantisation block names one; weights' types say nothing."""
    for place in (facts, decoder):
        block = place.child("quantization_config")
        if block is None and place.holds(dict, "quantization"):
            block = place.child("quantization")
        if block is None:
            continue
        scheme = block.child("kv_cache_scheme") if block.holds(dict, "kv_cache_scheme") else None
        if scheme is not None:
            return {8: "fp8", 4: "nvfp4"}.get(scheme.whole("num_bits") or 0)
        stated = block.text("kv_cache_quant_algo", "kv_cache_scheme", "kv_cache_dtype")
        if stated is not None:
            return dtype(FIELD, stated).name
    return None


def assumptions(decoder: Facts, model_type: str, layers: list[Layer]) -> Iterator[Assumption]:
    """What the config left open, and which key would settle it."""
    kinds = {type(cache) for layer in layers for cache in layer}
    listed = decoder.has(*LISTS)
    if SlidingAttention in kinds and not listed and model_type not in ALL_SLIDING:
        yield Assumption("window_layers", "layer_types")
    if FullAttention in kinds and not decoder.has(*SAYS_KV_HEADS):
        yield Assumption("kv_heads", "num_key_value_heads")
    if IndexKeys in kinds:
        yield Assumption("index_keys", "index_head_dim")
    crossed = (cache for layer in layers for cache in layer if isinstance(cache, CrossAttention))
    if any(cache.positions is None for cache in crossed):
        yield Assumption("source_length", "max_source_positions")
