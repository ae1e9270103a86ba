"""The keys that a case may have, and how its inputs are read."""

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from calculators.kv.dtypes import Dtype, dtype
from calculators.kv.engines.steps import GIB, printed_range
from calculators.kv.states import EXPAND, GROUPS, KERNEL, MAMBA_HEAD_DIM, MAMBA_HEADS, STATE_SIZE

type Case = Mapping[str, Any]
type Figures = Mapping[str, Any]

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
    "sliding_v_head_dim", "num_nextn_predict_layers",
    "linear_num_heads", "linear_head_dim", "short_conv_kernel_size", "linear_attn_config",
    "conv_L_cache", "lru_width", "conv1d_width", "mamba_d_head",
    *STATE_SIZE, *KERNEL, *GROUPS, *MAMBA_HEADS, *MAMBA_HEAD_DIM, *EXPAND,
}  # fmt: skip
GIVEN = {
    "max_model_len", "available_kv_cache_memory_gib", "max_num_batched_tokens", "num_gpu_blocks",
    "gpu_kv_cache_tokens", "mamba_cache_mode", "num_speculative_tokens", "kernel_block_size",
    "decode_context_parallel_size", "prefill_context_parallel_size", "max_encoder_tokens",
    "disable_hybrid_kv_cache_manager", "max_total_num_tokens", "full_tokens", "page_size",
    "swa_full_tokens_ratio", "mamba_full_memory_ratio", "available_gib", "dp_size",
    "allocated_gib", "free_gib", "free_memory_gib", "free_gpu_memory_fraction", "max_tokens",
    "kv_mib_f16", "n_ctx_requested", "n_ctx", "slots", "kv_unified", "n_ubatch", "swa_full",
    "context", "sequences", "batch", "batch_size", "max_num_seqs", "tokens_per_block",
    "free_after_weights_gib", "total_gib", "mem_fraction_static", "type_k", "type_v", "n_ctx_seq",
    "n_rs_seq", "cross_kv_cache_fraction", "kv_mib_q8_0", "kv_mib_q4_0", "available_bytes",
}  # fmt: skip


def first(facts: Mapping[str, Any], *names: str, default: Any = None) -> Any:
    """The value of the first name that is there and not null."""
    return next((facts[name] for name in names if facts.get(name) is not None), default)


SPELLINGS = {
    "fp8 (per token head)": "fp8_per_token_head", "fp8 per token head": "fp8_per_token_head",
    "fp8_per_token": "fp8_per_token_head", "int8 (per token head)": "int8_per_token_head",
    "fp8 (per tensor)": "fp8", "fp8 per tensor": "fp8", "auto": "bf16", "fp8_ds_mla": "fp8",
    "fp4": "fp4_e2m1", "turbo": "bf16",
}  # fmt: skip


def dtype_name(case: Case) -> str:
    """The cache's type as the case spells it; of ``f16 -> q8_0, q4_0`` the first."""
    return str(case["kv_dtype"] or "bf16").split("->")[0].strip().lower()


def kv_dtype(case: Case) -> Dtype:
    """The cache's type; of a K and a V type the K's."""
    name = re.split(r"[/,]|\s+\+\s+", dtype_name(case))[0].removeprefix("k ").strip()
    if name.startswith("turboquant"):
        return dtype("kv_dtype", "bf16")  # its slots have bytes of their own
    return dtype("kv_dtype", SPELLINGS.get(name, name.replace("-", "_")))


def gib_range(value: float) -> tuple[int, int]:
    """The bytes that print as this many GiB with two decimals."""
    low, high = printed_range(Fraction(str(value)))
    return -(-(low * GIB).numerator // (low * GIB).denominator), int(high * GIB)
