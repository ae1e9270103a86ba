"""One spelling for each key of a case: engines, configs and people write several.

A key that is not here stays as it is and, if nothing reads it, makes its case "not run".
"""

from collections.abc import Mapping
from typing import Any

from scripts.truth.kv.given import Case, Figures

# Spelling → the name that the adapters read.
FACTS: Mapping[str, str] = {
    "layers": "num_hidden_layers", "num_layers": "num_hidden_layers",
    "n_layers": "num_hidden_layers", "layers_total": "num_hidden_layers",
    "layers_global": "layers_full", "full_layers": "layers_full", "full_attention_layers":
    "layers_full", "attention_layers": "layers_full", "layers_attn": "layers_full",
    "layers_mla": "layers_full", "layers_local": "layers_sliding", "layers_window":
    "layers_sliding", "sliding_layers": "layers_sliding", "swa_layers": "layers_sliding",
    "layers_recurrent": "layers_linear", "layers_state": "layers_linear", "layers_gdn":
    "layers_linear", "layers_kda": "layers_linear", "linear_layers": "layers_linear",
    "mamba_layers": "layers_linear", "chunked_layers": "layers_chunked",
    "cross_layers": "layers_cross", "layers_shared": "num_kv_shared_layers",
    "layers_draft": "num_nextn_predict_layers", "mtp_num_hidden_layers":
    "num_nextn_predict_layers", "num_mtp_modules": "num_nextn_predict_layers",
    "num_kv_heads": "num_key_value_heads", "n_kv_heads": "num_key_value_heads",
    "n_heads": "num_attention_heads", "num_heads": "num_attention_heads",
    "head_size": "head_dim", "n_embd_head_k": "head_dim",
    "head_size_v": "v_head_dim", "n_embd_head_v": "v_head_dim",
    "global_head_dim": "full_head_dim", "num_global_key_value_heads": "full_kv_heads",
    "full_num_key_value_heads": "full_kv_heads", "sliding_num_key_value_heads":
    "sliding_kv_heads", "swa_num_key_value_heads": "sliding_kv_heads", "swa_kv_heads":
    "sliding_kv_heads", "swa_head_dim": "sliding_head_dim", "window": "sliding_window",
    "sliding_window_size": "sliding_window", "window_size": "sliding_window",
    "chunk": "attention_chunk_size", "swa_v_head_dim": "sliding_v_head_dim",
    "d_model": "hidden_size", "sparse_index_dim": "index_head_dim",
    "ssm_state_dtype": "mamba_ssm_dtype",
}  # fmt: skip
GIVEN: Mapping[str, str] = {
    "max_seq_len": "max_model_len", "available_kv_cache_gib": "available_kv_cache_memory_gib",
    "kv_cache_memory_gib": "available_kv_cache_memory_gib", "available_kv_gib":
    "available_kv_cache_memory_gib", "num_blocks": "num_gpu_blocks",
    "num_gpu_blocks_override": "num_gpu_blocks", "gpu_kv_cache_size_tokens":
    "gpu_kv_cache_tokens", "kv_cache_tokens": "gpu_kv_cache_tokens",
    "chunked_prefill_tokens": "max_num_batched_tokens", "mtp": "num_speculative_tokens",
    "dcp": "decode_context_parallel_size", "dcp_size": "decode_context_parallel_size",
    "pcp": "prefill_context_parallel_size", "pcp_size": "prefill_context_parallel_size",
    "encoder_tokens": "max_encoder_tokens", "tokens": "max_total_num_tokens",
    "num_tokens": "max_total_num_tokens", "full_layer_tokens": "full_tokens",
    "full_max_total_num_tokens": "full_tokens", "dp_attention_size": "dp_size",
    "avail_mem_gib": "free_after_weights_gib", "total_memory_gib": "total_gib",
    "gpu_memory_gib": "total_gib",
    "kv_cache_free_gpu_mem_fraction": "free_gpu_memory_fraction", "free_fraction":
    "free_gpu_memory_fraction", "n_parallel": "slots", "parallel": "slots", "n_seq_max": "slots",
    "np": "slots", "ubatch": "n_ubatch", "ubatch_size": "n_ubatch", "ctx_size": "n_ctx",
    "cache_type_k": "type_k", "cache_type_v": "type_v", "n_ctx_per_seq": "n_ctx_seq",
    "context_length": "context", "seq_len": "context", "disable_hybrid":
    "disable_hybrid_kv_cache_manager",
}  # fmt: skip
# A figure's spelling → the names under which the engines' figures may stand.
EXPECTED: Mapping[str, tuple[str, ...]] = {
    "tokens": ("gpu_kv_cache_tokens", "max_total_num_tokens", "max_tokens", "cells"),
    "num_tokens": ("gpu_kv_cache_tokens", "max_total_num_tokens", "max_tokens"),
    "kv_cache_tokens": ("gpu_kv_cache_tokens", "max_total_num_tokens", "max_tokens"),
    "num_blocks": ("num_gpu_blocks", "blocks"),
    "maximum_concurrency": ("max_concurrency",), "concurrency": ("max_concurrency",),
    "num_groups": ("groups",), "needed_kv_gib": ("needed_gib",),
    "kv_cache_needed_gib": ("needed_gib",), "estimated_max_len": ("estimated_max_model_len",),
    "block_size": ("attention_block_size", "block_size"),
    "mamba_padding_percent": ("mamba_page_padding_percent",),
    "k_size_gb": ("K_size_gb",), "v_size_gb": ("V_size_gb",), "k_size_gib": ("K_size_gb",),
    "K_size_gib": ("K_size_gb",), "V_size_gib": ("V_size_gb",), "kv_size_gib": ("kv_size_gb",),
    "swa_layer_tokens": ("swa_tokens",), "full_layer_tokens": ("max_total_num_tokens",),
    "full_tokens": ("max_total_num_tokens",), "cell_size": ("cell_size_bytes",),
    "max_mamba_cache_size": ("states",), "mamba_states": ("states",),
    "kv_self_size_mib": ("kv_mib",), "size_mib": ("kv_mib",), "kv_cells": ("cells",),
    "non_swa_mib": ("full_mib",), "non_swa_cells": ("full_cells",), "rs_mib": ("recurrent_mib",),
    "size_per_token_bytes": ("bytes_per_token",), "kv_bytes_per_token": ("bytes_per_token",),
}  # fmt: skip
CASE: Mapping[str, str] = {
    "tensor_parallel_size": "tp", "tp_size": "tp", "pipeline_parallel_size": "pp",
    "pp_size": "pp", "data_parallel_size": "dp", "dp_size": "dp", "kv_cache_dtype": "kv_dtype",
}  # fmt: skip
ENGINES: Mapping[str, str] = {
    "trt": "tensorrt-llm", "tensorrt": "tensorrt-llm", "llamacpp": "llama.cpp",
    "llama-cpp": "llama.cpp", "llama_cpp": "llama.cpp", "ik_llama": "llama.cpp",
    "koboldcpp": "llama.cpp", "ollama": "llama.cpp", "lm studio": "llama.cpp",
    "doc": "document", "transformers": "document", "hf": "document", "lmcache": "document",
    "generic": "document", "estimate": "document", "gguf": "document",
}  # fmt: skip
# Facts of a model on which no cache depends.
NO_MATTER = {
    "vocab_size", "intermediate_size", "max_position_embeddings", "architectures", "torch_dtype",
    "dtype", "num_experts", "num_experts_per_tok", "num_local_experts", "n_routed_experts",
    "moe_intermediate_size", "rope_theta", "tie_word_embeddings", "q_lora_rank",
    "layers_mlp", "layers_moe", "qk_nope_head_dim", "qk_head_dim", "index_n_heads", "index_topk",
    "parameters", "n_vocab",
}  # fmt: skip
# Inputs that say how the printed memory came about, not what is made of it.
GIVEN_NO_MATTER = {
    "gpu", "gpus", "gpu_memory_utilization", "enforce_eager", "enable_prefix_caching",
    "weights_gib", "weight_gib", "max_running_requests", "chunked_prefill_size", "context_len",
    "flash_attn", "n_batch", "moe_backend", "attention_backend",
}  # fmt: skip


def canonical(case: Case) -> Case:
    """The case with one spelling for each key; where a spelling and its name both stand, both.

    ``written`` are the facts as they stand, for a reading as a config.
    """
    renamed = spelt(case, CASE)
    engine = str(renamed["engine"]).lower()
    known = next((name for start, name in ENGINES.items() if engine.startswith(start)), engine)
    written = renamed.get("config_facts") or {}
    facts = spelt(written, FACTS)
    given = spelt(renamed["given"], GIVEN)
    inner = spelt(given, CASE)
    moved: dict[str, Any] = {name: inner[name] for name in ("tp", "pp") if name in inner}
    given = {k: v for k, v in given.items() if CASE.get(k, k) not in moved}
    return {
        "tp": 1, "pp": 1, "kv_dtype": None, "block_size": None, "engine_version": None,
        "model": "", **renamed, **moved, "engine": known,
        "given": {k: v for k, v in given.items() if k not in GIVEN_NO_MATTER},
        "config_facts": {k: v for k, v in facts.items() if k not in NO_MATTER},
        "written": written,
    }  # fmt: skip


def with_spellings(figures: Figures) -> Figures:
    """Figures under every name that a case may ask for them by."""
    more = {
        spelling: figures[name]
        for spelling, names in EXPECTED.items()
        if spelling not in figures
        for name in reversed(names)
        if name in figures
    }
    return {**more, **figures}


def spelt(keys: Figures, names: Mapping[str, str]) -> dict[str, Any]:
    """The mapping under its names."""
    return {
        key
        if name in keys or (isinstance(value, list) and name.startswith("layers_"))
        else name: value
        for key, value in keys.items()
        for name in (names.get(key, key),)  # a list of layers is a config's, not a count
    }
