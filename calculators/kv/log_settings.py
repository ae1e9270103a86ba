"""A read log as an engine's setting: options by name, and what the log does not say.

Left out: options that lie outside the lines that ``logs`` knows; they have their defaults, and
``log_match`` tries what could stand in for them.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from calculators.form.errors import ParameterError, excerpt
from calculators.kv.catalogue import MODELS
from calculators.kv.dtypes import DTYPES, dtype
from calculators.kv.engine_params import CACHE_DTYPES, CACHE_TYPES, EngineParams
from calculators.kv.layers import FullAttention, Stack
from calculators.kv.logs import Log
from calculators.kv.models import Model
from calculators.kv.notation import MOST_ELEMENTS, MOST_LAYERS
from calculators.kv.shape import Shape, known_shape

MOST_DIGITS = 12  # of a whole number in a log
FIRST_BY_CONCURRENCY = (0, 21)  # vLLM release; 0.20 still divided blocks by groups (#43308)
# Ends of model names that change nothing about the cache.
TUNED = re.compile(r"-(instruct|it|chat|base|hf|thinking|awq|gptq|int4|int8|4bit|w4a16|w8a8)$")


def whole(text: str) -> int | None:
    """A whole number of sane size, or None."""
    digits = text.partition(".")[0]
    return int(digits) if digits.isdigit() and len(digits) <= MOST_DIGITS else None


def positive(text: str) -> int | None:
    """A whole number above 0, or None."""
    return whole(text) or None


def decimal(text: str) -> Fraction | None:
    """A decimal above 0, or None."""
    try:
        value = Fraction(text[:MOST_DIGITS])
    except (ValueError, ZeroDivisionError):
        return None
    return value if value > 0 else None


def switch(text: str) -> bool | None:
    """``true`` or ``false``."""
    return {"true": True, "false": False}.get(text)


type Reader = Callable[[str], Any]

# A log's field → the form's field and how its text is read.
OPTIONS: Mapping[str, Mapping[str, tuple[str, Reader]]] = {
    "vllm": {
        "available_kv_cache_memory_gib": ("available_gib", decimal),
        "max_model_len": ("max_model_len", positive),
        "max_num_batched_tokens": ("max_num_batched_tokens", positive),
        "tensor_parallel_size": ("tensor_parallel_size", positive),
        "pipeline_parallel_size": ("pipeline_parallel_size", positive),
        "decode_context_parallel_size": ("decode_context_parallel_size", positive),
        "num_speculative_tokens": ("num_speculative_tokens", whole),
        "block_size": ("block_size", positive),
        "num_gpu_blocks": ("num_gpu_blocks_override", positive),
    },
    "sglang": {
        "tp_size": ("tp_size", positive),
        "pp_size": ("pp_size", positive),
        "dp_size": ("dp_size", positive),
        "page_size": ("page_size", positive),
        "mem_fraction_static": ("mem_fraction_static", decimal),
        "swa_full_tokens_ratio": ("swa_full_tokens_ratio", decimal),
        "mamba_full_memory_ratio": ("mamba_full_memory_ratio", decimal),
    },
    "llamacpp": {
        "n_ctx": ("ctx_size", positive),
        "n_seq_max": ("parallel", positive),
        "n_ubatch": ("ubatch_size", positive),
        "kv_unified": ("kv_unified", switch),
    },
    "tensorrt_llm": {
        "free_gib": ("available_gib", decimal),
        "tokens_per_block": ("tokens_per_block", positive),
        "free_gpu_memory_fraction": ("free_gpu_memory_fraction", decimal),
        "tp_size": ("tp_size", positive),
        "pp_size": ("pp_size", positive),
    },
}


@dataclass(frozen=True, kw_only=True)
class Setting:
    """An engine's options as a log states them; ``stated`` are the form's fields that it set."""

    params: EngineParams
    stated: frozenset[str]

    def changed(self, **changes: Any) -> "Setting":
        """With other values, as if the log had stated them."""
        return Setting(params=replace(self.params, **changes), stated=self.stated | changes.keys())


def setting_of(log: Log) -> Setting:
    """The options that the lines state; values that no option can have are passed over."""
    changes: dict[str, Any] = {}
    for field, (name, read) in OPTIONS[log.engine].items():
        value = read(log.fields[field]) if field in log.fields else None
        if value is not None:
            changes[name] = value
    changes |= types_of(log)
    if log.engine == "vllm" and "version" in log.fields:
        changes["report"] = report_of(log.fields["version"])
    params = EngineParams(engine=log.engine, memory="available")
    return Setting(params=replace(params, **changes), stated=frozenset(changes))


def report_of(version: str) -> str:
    """Which generation of the token line a release prints."""
    numbers = [int(part) for part in re.findall(r"\d{1,4}", version)[:2]]
    return "concurrency" if tuple(numbers) >= FIRST_BY_CONCURRENCY else "groups"


def types_of(log: Log) -> dict[str, str]:
    """The cache's type (or types) and the model's, where they are known ones."""
    found: dict[str, str] = {}
    if stated := known_type(log.fields.get("kv_cache_dtype"), CACHE_DTYPES.get(log.engine, ())):
        found["kv_cache_dtype"] = stated
    if stated := known_type(log.fields.get("dtype"), ("bfloat16", "float16", "float32")):
        found["dtype"] = stated
    for field, name in (("type_k", "cache_type_k"), ("type_v", "cache_type_v")):
        if stated := known_type(log.fields.get(field), CACHE_TYPES):
            found[name] = stated
    return found


def known_type(text: str | None, accepted: tuple[str, ...]) -> str | None:
    """A type as the form names it; None for one that this engine does not have."""
    if text is None or text in accepted:
        return text
    try:
        name = dtype("log", text).name
    except ParameterError:
        return None
    return next((n for n in accepted if n == name or DTYPES.get(n) == DTYPES[name]), None)


def shape_of_log(log: Log) -> Shape:
    """The shape of the model that a log names, or that llama.cpp prints.

    Raises ParameterError ``model_not_known`` or ``model_not_named``.
    """
    if log.engine == "llamacpp":
        return printed_shape(log)
    name = log.fields.get("model")
    if name is None:
        raise ParameterError("source", "model_not_named")
    known = named(name)
    if known is None:
        raise ParameterError("source", "model_not_known", text=excerpt(name))
    return known_shape(known)


def named(name: str) -> Model | None:
    """The known model of a name or path, whatever its organisation, tuning and packing."""
    wanted = plain_name(name)
    return next((model for known, model in MODELS.items() if plain_name(known) == wanted), None)


def plain_name(name: str) -> str:
    """``meta-llama/Meta-Llama-3.1-8B-Instruct → llama-3.1-8b``."""
    last = name.rstrip("/").rpartition("/")[2].lower().removeprefix("meta-")
    while (shorter := TUNED.sub("", last)) != last:
        last = shorter
    return last


def printed_shape(log: Log) -> Shape:
    """Rows of full attention as wide as llama.cpp prints; windows need a model or a config."""
    layers = positive(log.fields.get("n_layer") or log.fields.get("layers", ""))
    k_width = positive(log.fields.get("n_embd_k_gqa", ""))
    v_width = positive(log.fields.get("n_embd_v_gqa", "")) or k_width
    windowed = (whole(log.fields.get("n_swa", "")) or 0) > 0
    if layers is None or k_width is None or v_width is None or windowed:
        raise ParameterError("source", "model_not_named")
    if layers > MOST_LAYERS or max(k_width, v_width) > MOST_ELEMENTS:
        raise ParameterError("source", "model_not_named")
    row = FullAttention(heads=1, k_width=k_width, v_width=v_width)
    return Shape(stack=Stack(((row,),) * layers))
