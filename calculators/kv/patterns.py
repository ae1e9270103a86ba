"""Which layer of a model is of which kind: the ways configs say it, in one vocabulary.

A list that names every layer wins over an interval, an interval over a window without a list.
Where a config leaves the pattern to its model's code, that code's rule stands in ``UNSAID`` with
its file (Hugging Face ``transformers`` 4.57, ``models/<name>/configuration_<name>.py``).
"""

import re
from collections.abc import Callable, Sequence
from itertools import cycle, islice
from typing import Any, Literal

from calculators.form.errors import ParameterError, excerpt
from calculators.kv.facts import FIELD, Facts
from calculators.kv.notation import MOST_LAYERS

type Kind = Literal[
    "full",
    "indexed",
    "sliding",
    "chunked",
    "cross",
    "state",
    "none",
    "full+state",
    "sliding+state",
]

LAYER_COUNT = (
    "decoder_layers", "num_decoder_layers", "decoder_num_hidden_layers", "num_hidden_layers",
    "n_layer", "n_layers", "num_layers", "num_transformer_layers", "num_blocks", "layers",
)  # fmt: skip
WINDOW = ("sliding_window", "sliding_window_size", "attention_window_size", "window_size",
          "local_attention_window_len")  # fmt: skip
CHUNK = ("attention_chunk_size",)

WORDS: dict[str, Kind] = {
    "full_attention": "full", "attention": "full", "global": "full", "full": "full",
    "global_attention": "full", "softmax_attention": "full",
    "indexed_attention": "indexed", "minimax_m3_sparse": "indexed",
    "sparse_attention": "indexed", "deepseek_sparse_attention": "indexed",
    "qwen_sparse_attention": "indexed",
    "sliding_attention": "sliding", "local": "sliding", "local_attention": "sliding",
    "sliding_window": "sliding", "window_attention": "sliding", "swa": "sliding",
    "sliding": "sliding", "reference_sliding_attention": "sliding",
    "chunked_attention": "chunked",
    "linear_attention": "state", "linear": "state", "mamba": "state", "mamba2": "state",
    "mamba1": "state", "conv": "state", "recurrent": "state", "m": "state", "kda": "state",
    "gated_deltanet": "state", "lightning": "state", "short_conv": "state",
    "hybrid": "full+state", "hybrid_sliding": "sliding+state",
    "mlp": "none", "moe": "none", "none": "none", "no_op": "none", "ffn": "none",
    "cross_attention": "cross",
}  # fmt: skip
LETTERS: dict[str, Kind] = {"M": "state", "*": "full", "-": "none", "E": "none"}
WINDOW_LETTERS: dict[str, Kind] = {"L": "sliding", "G": "full", "S": "sliding"}

# Layers without a list in their config: (kinds repeated) by model_type.
UNSAID: dict[str, tuple[Kind, ...]] = {
    "gemma2": ("sliding", "full"),
    "gemma3": ("sliding",) * 5 + ("full",),
    "gemma3_text": ("sliding",) * 5 + ("full",),
    "gemma3n": ("sliding",) * 4 + ("full",),
    "gemma3n_text": ("sliding",) * 4 + ("full",),
    "gemma4": ("sliding",) * 5 + ("full",),
    "gemma4_text": ("sliding",) * 5 + ("full",),
    "cohere2": ("sliding",) * 3 + ("full",),
    "gpt_oss": ("sliding", "full"),
    "olmo3": ("sliding",) * 3 + ("full",),
    "gpt_neo": ("full", "sliding"),
    "qwen3_next": ("state",) * 3 + ("full",),
    "qwen3_5": ("state",) * 3 + ("full",),
    "qwen3_5_text": ("state",) * 3 + ("full",),
    "qwen3_5_moe": ("state",) * 3 + ("full",),
    "qwen3_5_moe_text": ("state",) * 3 + ("full",),
    "recurrent_gemma": ("state", "state", "sliding"),
}
ALWAYS_STATE = re.compile(r"(falcon_)?mamba2?|bamba|rwkv\d*|xlstm|retnet")
# A window in these configs is meant for every layer.
ALL_SLIDING = frozenset(
    {"mistral", "mixtral", "phi3", "phi3small", "phimoe", "starcoder2", "ministral", "stablelm"}
)


def kinds_of(facts: Facts, model_type: str) -> tuple[Kind, ...]:
    """The kind of every layer, first to last.

    Raises ParameterError: ``missing_key`` where the number of layers is nowhere, ``layer_kind``
    for a kind with no place in the vocabulary, ``layers_differ`` for a list that is too short.
    """
    listed = named_layers(facts)
    if listed is None:
        layers = check_count(facts.need(*LAYER_COUNT))
        return tuple(repeating_layers(facts, layers, model_type))
    path, named = listed
    layers = check_count(facts.whole(*LAYER_COUNT) or len(named))
    check_long_enough(path, named, layers)
    return tuple(named[:layers])  # entries beyond the last layer are draft layers


def check_count(layers: int) -> int:
    """A number of layers that a model can have."""
    if layers > MOST_LAYERS:
        raise ParameterError(FIELD, "too_many", maximum=MOST_LAYERS)
    return layers


def check_long_enough(key: str, listed: Sequence[object], layers: int) -> None:
    """ParameterError ``layers_differ`` for a list by layer that leaves layers out."""
    if len(listed) < layers:
        raise ParameterError(FIELD, "layers_differ", key=key, count=len(listed), layers=layers)


def named_layers(facts: Facts) -> tuple[str, list[Kind]] | None:
    """(key, kinds) of a list or text that names every layer."""
    for name in ("layer_types", "layers_block_type", "attention_layers", "layer_kinds"):
        if (words := facts.items(name)) is not None:
            return name, [kind_of_word(facts.path + name, word) for word in words]
    for name, codes in NUMBERED.items():
        if (numbers := facts.items(name)) is not None:
            return name, [coded(facts.path + name, codes, number) for number in numbers]
    letters = facts.text("hybrid_override_pattern")
    if letters is not None:
        key = facts.path + "hybrid_override_pattern"
        return key, [coded(key, LETTERS, letter) for letter in letters if letter != "|"]
    return None


NUMBERED: dict[str, dict[Any, Kind]] = {
    "hybrid_layer_pattern": {0: "full", 1: "sliding"},  # MiMo-V2
    "attn_type_list": {0: "state", 1: "full"},  # MiniMax
    "is_swa_layers": {0: "full", 1: "sliding"},
    "layer_attention_types": {0: "full", 1: "sliding"},
}


def kind_of_word(key: str, word: object) -> Kind:
    """One of ``WORDS``, whatever its case."""
    return coded(key, WORDS, word.lower() if isinstance(word, str) else word)


def coded(key: str, codes: dict[Any, Kind], code: Any) -> Kind:
    """The kind that a code means, or the refusal of a kind that is not known."""
    kind = codes.get(code) if isinstance(code, str | int | bool) else None
    if kind is None:
        raise ParameterError(FIELD, "layer_kind", key=key, text=excerpt(str(code)))
    return kind


def repeating_layers(facts: Facts, layers: int, model_type: str) -> Sequence[Kind]:
    """Kinds from intervals, index lists and windows; full attention where nothing says else."""
    for rule in RULES:
        found = rule(facts, layers)
        if found is not None:
            return found
    if ALWAYS_STATE.fullmatch(model_type):
        return all_of("state", layers)
    if facts.has("mamba_d_ssm"):
        return all_of("full+state", layers)  # Falcon-H1: both in every layer
    return windowed(facts, layers, model_type)


def all_of(kind: Kind, layers: int) -> list[Kind]:
    """Layers of one kind."""
    return [kind] * layers


def indexed_layers(facts: Facts, layers: int) -> Sequence[Kind] | None:
    """Lists of layer numbers that attend to everything, or cross-attend."""
    if (linear := facts.child("linear_attn_config")) is not None:
        full = linear.wholes("full_attn_layers")  # counted from 1
        if full is not None:
            return marked(layers, {number - 1 for number in full}, "full", "state")
    for name, kind, other in INDEX_LISTS:
        numbers = facts.wholes(name)
        if numbers is not None:
            return marked(layers, set(numbers), kind, other)
    return None


INDEX_LISTS: tuple[tuple[str, Kind, Kind], ...] = (
    ("cross_attention_layers", "cross", "full"),
    ("full_attn_idxs", "full", "state"),
    ("attn_layer_indices", "full", "state"),
    ("hybrid_layer_ids", "full+state", "state"),
    ("global_attn_idx", "full", "sliding"),
    ("swa_layers", "sliding", "full"),
)


def marked(layers: int, numbers: set[int], kind: Kind, other: Kind) -> list[Kind]:
    """``kind`` where the number is listed, ``other`` elsewhere."""
    return [kind if number in numbers else other for number in range(layers)]


def block_types(facts: Facts, layers: int) -> Sequence[Kind] | None:
    """A short list that repeats (RecurrentGemma); its attention has a window."""
    words = facts.items("block_types", "_block_types")
    if not words:
        return None
    kinds = [kind_of_word(facts.path + "block_types", word) for word in words]
    windowed: list[Kind] = ["sliding" if kind == "full" else kind for kind in kinds]
    return list(islice(cycle(windowed), layers))


def every_nth(facts: Facts, layers: int) -> Sequence[Kind] | None:
    """``full_attention_interval: 4``: three of the other kind, then one of full attention."""
    pattern = facts.value("sliding_window_pattern", "_sliding_window_pattern")[1]
    if isinstance(pattern, str) and pattern and not pattern.isdigit():
        key = facts.path + "sliding_window_pattern"
        letters = [coded(key, WINDOW_LETTERS, letter) for letter in pattern]
        kinds = list(islice(cycle(letters), layers))
        return [*kinds[:-1], "full"]  # EXAONE 4: the last layer is always global
    for names, other in INTERVALS:
        step = facts.whole(*names)
        if step is not None and (other == "state" or facts.has(*WINDOW)):
            return ["full" if (n + 1) % step == 0 else other for n in range(layers)]
    period = facts.whole("attn_layer_period")
    if period is not None:
        offset = facts.whole("attn_layer_offset", least=0) or 0
        return ["full" if n % period == offset else "state" for n in range(layers)]
    return None


INTERVALS: tuple[tuple[tuple[str, ...], Kind], ...] = (
    (("full_attention_interval", "layer_group_size"), "state"),
    (
        ("sliding_window_pattern", "_sliding_window_pattern", "global_attn_every_n_layers"),
        "sliding",
    ),
)


def after_max_window(facts: Facts, layers: int) -> Sequence[Kind] | None:
    """Qwen2: with ``use_sliding_window`` the layers from ``max_window_layers`` on slide."""
    use = facts.flag("use_sliding_window")
    if use is None:
        return None
    first = facts.whole("max_window_layers", least=0)
    if not use or not facts.has(*WINDOW):
        return all_of("full", layers)
    return ["sliding" if n >= (first or 0) else "full" for n in range(layers)]


def chunked_layers(facts: Facts, layers: int) -> Sequence[Kind] | None:
    """Llama 4: chunked, but every fourth layer without rotary positions attends to everything."""
    if facts.has(*WINDOW) or facts.whole(*CHUNK) is None:
        return None
    rotary = facts.wholes("no_rope_layers")  # 1 where rotary positions are used
    if rotary:
        check_long_enough(facts.path + "no_rope_layers", rotary, layers)
        return ["chunked" if flag else "full" for flag in rotary[:layers]]
    step = facts.whole("no_rope_layer_interval") or 4
    return ["full" if (n + 1) % step == 0 else "chunked" for n in range(layers)]


def windowed(facts: Facts, layers: int, model_type: str) -> Sequence[Kind]:
    """A window without a list: the model's own rule, or every layer."""
    if (unsaid := UNSAID.get(model_type)) is not None:
        if "state" in unsaid or facts.has(*WINDOW):
            return list(islice(cycle(unsaid), layers))
        raise ParameterError(FIELD, "missing_key", key=facts.path + WINDOW[0], other="–")
    slides = facts.whole(*WINDOW[:3], least=0)
    return all_of("sliding" if slides else "full", layers)


RULES: tuple[Callable[[Facts, int], Sequence[Kind] | None], ...] = (
    indexed_layers, block_types, every_nth, after_max_window, chunked_layers,
)  # fmt: skip
