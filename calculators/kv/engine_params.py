# ruff: noqa: RUF009 - a field is made once, on purpose
"""The form of the engine calculators: a shape, an engine, its own options, and the memory.

Options have the engines' names. What an engine finds out only at run time (activations, CUDA
graphs, buffers) is the field ``overhead_gib`` with a default that is shown. Left out: options
that do not change how much cache there is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from calculators.form import fields
from calculators.kv.capacity import GPUS
from calculators.kv.dtypes import DTYPES
from calculators.kv.shape import SOURCES, ShapeParams

ENGINES = ("vllm", "sglang", "llamacpp", "tensorrt_llm")
PAGED = ("vllm", "sglang", "tensorrt_llm")
OTHER_GPU = "other"
MOST_RANKS = 4096
MOST_TOKENS = 10**9
NONE = "none"
VLLM_MORE: Mapping[str, Any] = {"group": "options", "when": ("vllm_options", ("more",))}
ON_GPU: Mapping[str, Any] = {"group": "memory", "when": ("memory", ("gpu",))}
# What each engine accepts for its cache's type; "auto" is the model's own.
CACHE_DTYPES: dict[str, tuple[str, ...]] = {
    "vllm": (
        "auto", "bfloat16", "float16", "fp8", "fp8_e4m3", "fp8_e5m2", "fp8_ds_mla",
        "fp8_per_token_head", "int8_per_token_head", "nvfp4", "turboquant_k8v4",
        "turboquant_4bit_nc", "turboquant_k3v4_nc", "turboquant_3bit_nc",
    ),
    "sglang": ("auto", "bfloat16", "float16", "fp8_e4m3", "fp8_e5m2", "fp4_e2m1"),
    "tensorrt_llm": ("auto", "bfloat16", "float16", "fp8", "int8", "nvfp4"),
}  # fmt: skip
KV_CACHE_DTYPES = tuple(dict.fromkeys(name for names in CACHE_DTYPES.values() for name in names))
CACHE_TYPES = (
    "float16", "bfloat16", "float32", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class EngineParams(ShapeParams):
    """Shape, engine, its options and the memory."""

    source: str = fields.choice("model", SOURCES, group="shape")
    model: str = fields.choice(
        "meta-llama/Meta-Llama-3.1-8B",
        ShapeParams.__dataclass_fields__["model"].metadata["form"].options,
        labelled=False,
        group="shape",
        when=("source", ("model",)),
    )
    dtype: str = fields.choice(
        "auto", ("auto", "bfloat16", "float16", "float32"), labelled=False, group="shape"
    )
    engine: str = fields.choice("vllm", ENGINES, group="options")
    kv_cache_dtype: str = fields.choice(
        "auto", KV_CACHE_DTYPES, labelled=False, group="options", when=("engine", PAGED)
    )
    max_model_len: int = fields.integer(
        8192, minimum=1, maximum=MOST_TOKENS, group="options", when=("engine", ("vllm",))
    )
    max_num_batched_tokens: int = fields.integer(
        8192, minimum=1, maximum=MOST_TOKENS, group="options", when=("engine", ("vllm",))
    )
    tensor_parallel_size: int = fields.integer(
        1, minimum=1, maximum=MOST_RANKS, group="options", when=("engine", ("vllm",))
    )
    report: str = fields.choice(
        "groups", ("groups", "concurrency"), group="options", when=("engine", ("vllm",))
    )
    vllm_options: str = fields.choice(
        "few", ("few", "more"), group="options", when=("engine", ("vllm",))
    )
    block_size: int = fields.integer(16, minimum=1, maximum=65_536, **VLLM_MORE)
    pipeline_parallel_size: int = fields.integer(1, minimum=1, maximum=MOST_RANKS, **VLLM_MORE)
    data_parallel_size: int = fields.integer(1, minimum=1, maximum=MOST_RANKS, **VLLM_MORE)
    decode_context_parallel_size: int = fields.integer(
        1, minimum=1, maximum=MOST_RANKS, **VLLM_MORE
    )
    num_speculative_tokens: int = fields.integer(0, minimum=0, maximum=1000, **VLLM_MORE)
    mamba_cache_mode: str = fields.choice(
        "none", ("none", "align", "all"), labelled=False, **VLLM_MORE
    )
    disable_hybrid_kv_cache_manager: bool = fields.switch(**VLLM_MORE)
    max_encoder_tokens: int | None = fields.integer(
        None, minimum=1, maximum=MOST_TOKENS, **VLLM_MORE
    )
    num_gpu_blocks_override: int | None = fields.integer(
        None, minimum=2, maximum=10**12, **VLLM_MORE
    )
    tp_size: int = fields.integer(
        1, minimum=1, maximum=MOST_RANKS, group="options",
        when=("engine", ("sglang", "tensorrt_llm")),
    )  # fmt: skip
    pp_size: int = fields.integer(
        1, minimum=1, maximum=MOST_RANKS, group="options",
        when=("engine", ("sglang", "tensorrt_llm")),
    )  # fmt: skip
    dp_size: int = fields.integer(
        1, minimum=1, maximum=MOST_RANKS, group="options", when=("engine", ("sglang",))
    )
    page_size: int = fields.integer(
        1, minimum=1, maximum=65_536, group="options", when=("engine", ("sglang",))
    )
    swa_full_tokens_ratio: Fraction = fields.decimal(
        "0.8", minimum="0.0001", maximum="1000", group="options", when=("engine", ("sglang",))
    )
    mamba_full_memory_ratio: Fraction = fields.decimal(
        "0.9", minimum="0.0001", maximum="1000", group="options", when=("engine", ("sglang",))
    )
    trtllm_rows: bool = fields.switch(group="options", when=("engine", ("sglang",)))
    reserve_padding_state: bool = fields.switch(group="options", when=("engine", ("sglang",)))
    tokens_per_block: int = fields.integer(
        32, minimum=1, maximum=65_536, group="options", when=("engine", ("tensorrt_llm",))
    )
    free_gpu_memory_fraction: Fraction = fields.decimal(
        "0.9", minimum="0.0001", maximum="1", group="options", when=("engine", ("tensorrt_llm",))
    )
    max_tokens: int | None = fields.integer(
        None, minimum=1, maximum=10**12, group="options", when=("engine", ("tensorrt_llm",))
    )
    windows: str = fields.choice(
        "full", ("full", "pools"), group="options", when=("engine", ("tensorrt_llm",))
    )
    max_seq_len: int = fields.integer(
        8192, minimum=1, maximum=MOST_TOKENS, group="options", when=("windows", ("pools",))
    )
    ctx_size: int = fields.integer(
        32768, minimum=1, maximum=MOST_TOKENS, group="options", when=("engine", ("llamacpp",))
    )
    parallel: int = fields.integer(
        4, minimum=1, maximum=MOST_RANKS, group="options", when=("engine", ("llamacpp",))
    )
    kv_unified: bool = fields.switch(default=True, group="options", when=("engine", ("llamacpp",)))
    ubatch_size: int = fields.integer(
        512, minimum=1, maximum=1_000_000, group="options", when=("engine", ("llamacpp",))
    )
    cache_type_k: str = fields.choice(
        "float16", CACHE_TYPES, labelled=False, group="options", when=("engine", ("llamacpp",))
    )
    cache_type_v: str = fields.choice(
        "float16", CACHE_TYPES, labelled=False, group="options", when=("engine", ("llamacpp",))
    )
    swa_full: bool = fields.switch(group="options", when=("engine", ("llamacpp",)))
    n_rs_seq: int = fields.integer(
        0, minimum=0, maximum=1000, group="options", when=("engine", ("llamacpp",))
    )
    fit: bool = fields.switch(group="options", when=("engine", ("llamacpp",)))
    memory: str = fields.choice("gpu", ("gpu", "available"), group="memory")
    available_gib: Fraction = fields.decimal(
        "58.11", minimum="0.001", maximum="1000000", group="memory",
        when=("memory", ("available",)),
    )  # fmt: skip
    gpu: str = fields.choice("H100 80GB", (*GPUS, OTHER_GPU), labelled=False, **ON_GPU)
    gpu_memory_mib: int = fields.integer(
        81_559, minimum=1, maximum=100_000_000, group="memory", when=("gpu", (OTHER_GPU,))
    )
    gpu_memory_utilization: Fraction = fields.decimal(
        "0.9", minimum="0.0001", maximum="1", group="memory", when=("engine", ("vllm",))
    )
    mem_fraction_static: Fraction = fields.decimal(
        "0.88", minimum="0.0001", maximum="1", group="memory", when=("engine", ("sglang",))
    )
    parameters_b: Fraction | None = fields.decimal("", minimum="0", maximum="1000000", **ON_GPU)
    weight_dtype: str = fields.choice("bfloat16", tuple(DTYPES), labelled=False, **ON_GPU)
    weight_gib: Fraction | None = fields.decimal("", minimum="0", maximum="1000000", **ON_GPU)
    overhead_gib: Fraction = fields.decimal("2", minimum="0", maximum="1000000", **ON_GPU)
