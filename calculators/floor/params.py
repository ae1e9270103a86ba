# ruff: noqa: RUF009 - a field is made once, on purpose
"""The form: a model with its parameters, cards, and the load; and what they say together.

What neither the form nor a pasted config states is looked up in the lists of known models; what
those do not know either is asked for.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from calculators.floor.cards import CARDS, COMPUTE_DTYPES, GIGA, TERA
from calculators.floor.counts import BILLION, Count, known
from calculators.floor.passes import Machine, Model
from calculators.floor.weights import Experts, Weights, billions
from calculators.form import fields
from calculators.form.errors import ParameterError, excerpt
from calculators.kv.capacity import Memory, weight_bytes
from calculators.kv.catalogue import MODELS
from calculators.kv.dtypes import DTYPES, dtype
from calculators.kv.engines.steps import GIB, MIB
from calculators.kv.notation import MOST_ELEMENTS
from calculators.kv.shape import SOURCES, Shape, ShapeParams, short_values
from calculators.tiering.devices import OTHER
from calculators.tiering.widths import WIDTHS

MOST_TOKENS = 100_000_000
MOST_B = "1000000"
HUNDRED = 100
TYPED = "typed"
TYPE: Mapping[str, Any] = {"group": "weights", "when": ("counts", (TYPED,))}
HEADS = ("num_attention_heads", "n_head")
VOCABULARY = ("vocab_size",)
HIDDEN = ("hidden_size", "n_embd", "d_model")
EXPERTS = ("n_routed_experts", "num_experts", "num_local_experts", "moe_num_experts")
PER_TOKEN = (
    "num_experts_per_tok", "experts_per_token", "num_experts_per_token", "top_k_experts",
    "moe_top_k", "moe_topk", "moe_k",
)  # fmt: skip
MOST_HEADS = 100_000
MOST_EXPERTS = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Params(ShapeParams):
    """The form."""

    source: str = fields.choice("model", SOURCES, group="shape")
    model: str = fields.choice(
        "meta-llama/Meta-Llama-3.1-8B",
        tuple(MODELS),
        labelled=False,
        group="shape",
        when=("source", ("model",)),
    )
    dtype: str = fields.choice("bfloat16", tuple(DTYPES), labelled=False, group="shape")
    counts: str = fields.choice("known", ("known", TYPED), group="weights")
    parameters_b: Fraction | None = fields.decimal("", minimum="0.0001", maximum=MOST_B, **TYPE)
    active_parameters_b: Fraction | None = fields.decimal(
        "", minimum="0.0001", maximum=MOST_B, **TYPE
    )
    experts: int | None = fields.integer(None, minimum=1, maximum=MOST_EXPERTS, **TYPE)
    experts_per_token: int | None = fields.integer(None, minimum=1, maximum=MOST_EXPERTS, **TYPE)
    embedding_b: Fraction | None = fields.decimal("", minimum="0", maximum=MOST_B, **TYPE)
    tied_embeddings: bool = fields.switch(**TYPE)
    query_heads: int | None = fields.integer(None, minimum=1, maximum=MOST_HEADS, **TYPE)
    weight_dtype: str = fields.choice("bfloat16", tuple(DTYPES), labelled=False, group="weights")
    device: str = fields.choice("H100 SXM", (*CARDS, OTHER), labelled=False, group="devices")
    tflop_per_s: Fraction = fields.decimal(
        "989", minimum="0.001", maximum="1000000", group="devices", when=("device", (OTHER,))
    )
    memory_gb_per_s: Fraction = fields.decimal(
        "3350", minimum="0.001", maximum="1000000", group="devices", when=("device", (OTHER,))
    )
    gpu_memory_mib: int = fields.integer(
        81_559, minimum=1, maximum=100_000_000, group="devices", when=("device", (OTHER,))
    )
    compute_dtype: str = fields.choice("bfloat16", COMPUTE_DTYPES, group="devices")
    device_count: int = fields.integer(1, minimum=1, maximum=4096, group="devices")
    compute_efficiency_percent: Fraction = fields.decimal(
        "100", minimum="0.1", maximum="100", group="devices"
    )
    memory_efficiency_percent: Fraction = fields.decimal(
        "100", minimum="0.1", maximum="100", group="devices"
    )
    gpu_memory_utilization: Fraction = fields.decimal(
        "0.9", minimum="0.0001", maximum="1", group="devices"
    )
    overhead_gib: Fraction = fields.decimal("2", minimum="0", maximum="1000000", group="devices")
    batch: int = fields.integer(32, minimum=1, maximum=1_000_000, group="load")
    prompt_tokens: int = fields.integer(2048, minimum=1, maximum=MOST_TOKENS, group="load")
    cached_tokens: int = fields.integer(0, minimum=0, maximum=MOST_TOKENS, group="load")
    output_tokens: int = fields.integer(256, minimum=1, maximum=MOST_TOKENS, group="load")
    context_tokens: int | None = fields.integer(None, minimum=1, maximum=MOST_TOKENS, group="load")

    @property
    def context(self) -> int:
        """Tokens that a decoding sequence looks at: stated, else those of half its answer."""
        if self.context_tokens is not None:
            return self.context_tokens
        return self.cached_tokens + self.prompt_tokens + self.output_tokens // 2


def model_of(params: Params, shape: Shape) -> Model:
    """Weights and cache of the form's model on its cards."""
    stated = facts(params)
    return Model(
        machine=machine_of(params),
        weights=weights_of(params, stated),
        stack=shape.stack,
        kv=dtype("dtype", params.dtype),
        query_heads=query_heads(params, stated),
        own=shape.model,
    )


def facts(params: Params) -> Mapping[str, Any]:
    """The keys of a pasted config, those of its text decoder over the others."""
    if params.source != "config" or not params.config:
        return {}
    # Needed by a config only, as in ``kv.shape``.
    from calculators.kv.config_text import parse_config  # noqa: PLC0415
    from calculators.kv.facts import FIELD, Facts  # noqa: PLC0415
    from calculators.kv.families import decoder_of  # noqa: PLC0415

    tree = parse_config(FIELD, params.config)
    return {**tree, **decoder_of(Facts(tree)).tree}


def whole(
    stated: Mapping[str, Any], keys: tuple[str, ...], most: int = MOST_ELEMENTS
) -> int | None:
    """The first of the keys that holds a positive whole number.

    ParameterError ``out_of_range`` where it is larger than any model's.
    """
    for key in keys:
        value = stated.get(key)
        if type(value) is int and value > most:
            text = excerpt(str(value))
            raise ParameterError(
                "config", "out_of_range", key=key, text=text, minimum=1, maximum=most
            )
        if type(value) is int and value > 0:
            return value
    return None


def query_heads(params: Params, stated: Mapping[str, Any]) -> int:
    """The field's, the config's or the list's. ParameterError ``width_unknown`` without."""
    given = params.query_heads or whole(stated, HEADS, MOST_HEADS)
    if given is None and params.source == "model" and params.model in WIDTHS:
        _, given = WIDTHS[params.model]
    if given is None:
        raise ParameterError("query_heads", "width_unknown", key=HEADS[0])
    return given


def count_of(params: Params, stated: Mapping[str, Any]) -> Count:
    """Parameters typed, else those of the known model, else what its name says.

    ParameterError ``no_parameters`` where nothing says it.
    """
    listed = known(params.model) if params.source == "model" else None
    if params.parameters_b is not None:
        listed = Count(parameters=int(params.parameters_b * BILLION))
    if listed is None:
        raise ParameterError("parameters_b", "no_parameters")
    embedding, tied = embedding_of(params, stated, listed)
    active = params.active_parameters_b
    return Count(
        parameters=listed.parameters,
        active=listed.active if active is None else int(active * BILLION),
        experts=params.experts or listed.experts or whole(stated, EXPERTS, MOST_EXPERTS),
        per_token=params.experts_per_token
        or listed.per_token
        or whole(stated, PER_TOKEN, MOST_EXPERTS),
        embedding=embedding,
        tied=tied,
    )


def embedding_of(params: Params, stated: Mapping[str, Any], listed: Count) -> tuple[int, bool]:
    """Vocabulary × hidden size, and whether one table serves both ends; 0 where nothing says."""
    if params.embedding_b is not None:
        return int(params.embedding_b * BILLION), params.tied_embeddings
    words, hidden = whole(stated, VOCABULARY), whole(stated, HIDDEN)
    if not words or not hidden:
        return listed.embedding, listed.tied
    tied = stated.get("tie_word_embeddings")
    if tied is None:  # untied, so that too little is counted, not too much; unless two cannot be
        tied = 2 * words * hidden > listed.parameters
    return words * hidden, tied is True


def weights_of(params: Params, stated: Mapping[str, Any]) -> Weights:
    """The weights. ParameterErrors ``active_needed``, ``experts_needed`` and those of check."""
    count = count_of(params, stated)
    if count.active is None and count.experts is not None and count.experts > 1:
        raise ParameterError("active_parameters_b", "active_needed", experts=count.experts)
    active = count.parameters if count.active is None else count.active
    experts = None
    if active < count.parameters:
        if count.experts is None or count.per_token is None:
            missing = "experts" if count.experts is None else "experts_per_token"
            raise ParameterError(missing, "experts_needed")
        experts = Experts(total=count.experts, per_token=count.per_token)
    found = Weights(
        parameters=count.parameters,
        active=active,
        dtype=dtype("weight_dtype", params.weight_dtype),
        experts=experts,
        embedding=count.embedding,
        tied=count.tied,
    )
    found.check()
    return found


def machine_of(params: Params) -> Machine:
    """Rates of one card, each at its efficiency."""
    card = CARDS.get(params.device)
    if card is None:
        flop, read = params.tflop_per_s * TERA, params.memory_gb_per_s * GIGA
    else:
        flop, read = card.flop_per_s(params.compute_dtype), card.bytes_per_s
    return Machine(
        flop_per_s=flop * params.compute_efficiency_percent / HUNDRED,
        bytes_per_s=read * params.memory_efficiency_percent / HUNDRED,
        cards=params.device_count,
    )


def memory_of(params: Params, weights: Weights) -> Memory:
    """What one card's memory holds beside the cache."""
    card = CARDS.get(params.device)
    return Memory(
        total_bytes=params.gpu_memory_mib * MIB if card is None else card.memory_bytes,
        utilization=params.gpu_memory_utilization,
        weight_bytes=weight_bytes(weights.parameters, weights.dtype),
        ranks=params.device_count,
        overhead_bytes=int(params.overhead_gib * GIB),
    )


def shared_values(params: Params, shape: Shape, model: Model) -> dict[str, str]:
    """What an address says in place of a whole config: all that was read from it."""
    short = short_values(params, shape)
    if not short:
        return {}
    weights = model.weights
    read = {
        "counts": TYPED,
        "query_heads": str(model.query_heads),
        "embedding_b": billions(weights.embedding),
        "tied_embeddings": "1" if weights.tied else "",
    }
    if weights.experts is not None:
        read["experts"] = str(weights.experts.total)
        read["experts_per_token"] = str(weights.experts.per_token)
    return short | read
