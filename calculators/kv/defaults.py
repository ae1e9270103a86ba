"""What a config may leave out because its model's class has a default for it.

``transformers`` writes a nested ``text_config`` without the keys that equal the class's defaults,
so that Gemma 3 12B, for one, states neither ``head_dim`` nor its window's pattern: hidden size over
heads would be 240 where the model has 256. The figures are those of ``transformers`` 5.24.0,
``models/<name>/configuration_<name>.py``. A default that was used is named in the reading.
"""

# fmt: off
# The head width of classes in which it does not follow from the hidden size.
HEAD_DIM: dict[str, int] = {
    "afmoe": 128, "axk1": 64, "axk2": 32, "bailing_hybrid": 64, "beam": 128, "cohere2_moe": 128,
    "cosmos3_edge_text": 128, "cwm": 128, "deepseek_v2": 64, "deepseek_v3": 64,
    "deepseek_v32": 64, "deepseek_v4": 512, "diffusion_gemma_text": 256, "dory": 256,
    "embedding_gemma2_text": 256, "ernie4_5": 128, "flint": 128, "gemma": 256, "gemma2": 256,
    "gemma3_text": 256, "gemma3n_text": 256, "gemma4_text": 256, "gemma4_unified_text": 256,
    "glm": 128, "glm4": 128, "glm_moe_dsa": 64, "gpt_oss": 64, "helium": 128, "hrm_text": 128,
    "hy_v3": 128, "hy_v4": 64, "hy_v4_vl_text": 64, "inkling2_loop_text": 128,
    "inkling2_text": 128, "inkling_text": 128, "internlm3": 128, "iquestcoder": 128,
    "kimi_linear": 64, "kolibri1": 128, "laguna": 128, "lara_mini": 128, "lfm3": 128,
    "llama4_text": 128, "longcat_flash": 64, "mellum": 128, "mimo_v2_flash": 192,
    "minicpm3": 32, "minimax_m2": 128, "minimax_m3_vl_text": 128, "ministral3": 128,
    "mistral4": 128, "mistral_large4_text": 64, "molmo2_text": 128, "muse_glimmer_text": 128,
    "muse_spark_text": 64, "nemotron_h": 128, "paddleocr_vl_text": 128, "qwen3": 128,
    "qwen3_5_moe_text": 256, "qwen3_5_text": 256, "qwen3_next": 256, "qwen3_vl_text": 128,
    "qwen4_exp_text": 256, "sarvam_mla": 64, "sarvam_moe": 64, "seed_oss": 128,
    "solar_open": 128, "t5gemma2_text": 256, "vaultgemma": 256, "youtu": 64, "zaya": 128,
}
# Everything else that a nested config of these classes may leave out. KV heads stand here only
# where the class has fewer of them than heads: else they follow the heads.
NESTED: dict[str, dict[str, int]] = {
    "aria_text": {
        "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
    },
    "cohere2": {
        "num_hidden_layers": 40, "hidden_size": 8192, "num_attention_heads": 64,
        "sliding_window": 4096,
    },
    "deepseek_v3": {
        "num_hidden_layers": 61, "hidden_size": 7168, "num_attention_heads": 128,
        "kv_lora_rank": 512, "qk_rope_head_dim": 64,
    },
    "emu3_text_model": {
        "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
        "num_key_value_heads": 8,
    },
    "ernie4_5_vl_moe_text": {
        "num_hidden_layers": 28, "hidden_size": 2560, "num_attention_heads": 20,
        "num_key_value_heads": 4,
    },
    "exaone4": {
        "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
        "sliding_window": 4096,
    },
    "gemma": {
        "num_hidden_layers": 28, "hidden_size": 3072, "num_attention_heads": 16,
    },
    "gemma2": {
        "num_hidden_layers": 26, "hidden_size": 2304, "num_attention_heads": 8,
        "num_key_value_heads": 4, "sliding_window": 4096,
    },
    "gemma3_text": {
        "num_hidden_layers": 26, "hidden_size": 2304, "num_attention_heads": 8,
        "num_key_value_heads": 4, "sliding_window": 4096,
    },
    "gemma3n_text": {
        "num_hidden_layers": 35, "hidden_size": 2048, "num_attention_heads": 8,
        "num_key_value_heads": 2, "sliding_window": 512, "num_kv_shared_layers": 15,
    },
    "gemma4_text": {
        "num_hidden_layers": 30, "hidden_size": 2304, "num_attention_heads": 8,
        "num_key_value_heads": 4, "sliding_window": 512, "num_kv_shared_layers": 0,
    },
    "glm4v_moe_text": {
        "num_hidden_layers": 46, "hidden_size": 4096, "num_attention_heads": 96,
        "num_key_value_heads": 8,
    },
    "glm4v_text": {
        "num_hidden_layers": 40, "hidden_size": 4096, "num_attention_heads": 32,
        "num_key_value_heads": 2,
    },
    "glm_ocr_text": {
        "num_hidden_layers": 16, "hidden_size": 1024, "num_attention_heads": 16,
        "num_key_value_heads": 8,
    },
    "granite": {
        "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
    },
    "hunyuan_vl_text": {
        "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
    },
    "lfm2": {
        "num_hidden_layers": 32, "hidden_size": 2560, "num_attention_heads": 32,
        "num_key_value_heads": 8, "conv_L_cache": 3,
    },
    "llama": {
        "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
    },
    "llama4_text": {
        "num_hidden_layers": 48, "hidden_size": 5120, "num_attention_heads": 40,
        "num_key_value_heads": 8, "attention_chunk_size": 8192,
    },
    "minimax_m3_vl_text": {
        "num_hidden_layers": 60, "hidden_size": 6144, "num_attention_heads": 64,
        "num_key_value_heads": 4,
    },
    "ministral3": {
        "num_hidden_layers": 34, "hidden_size": 4096, "num_attention_heads": 32,
        "num_key_value_heads": 8,
    },
    "mistral": {
        "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
        "num_key_value_heads": 8, "sliding_window": 4096,
    },
    "mixtral": {
        "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
        "num_key_value_heads": 8,
    },
    "mllama_text_model": {
        "num_hidden_layers": 40, "hidden_size": 4096, "num_attention_heads": 32,
        "num_key_value_heads": 8,
    },
    "molmo2_text": {
        "num_hidden_layers": 36, "hidden_size": 4096, "num_attention_heads": 32,
        "num_key_value_heads": 8,
    },
    "nemotron_h": {
        "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8,
    },
    "opt": {
        "num_hidden_layers": 12, "hidden_size": 768, "num_attention_heads": 12,
    },
    "paddleocr_vl_text": {
        "num_hidden_layers": 18, "hidden_size": 1024, "num_attention_heads": 16,
        "num_key_value_heads": 2,
    },
    "persimmon": {
        "num_hidden_layers": 36, "hidden_size": 4096, "num_attention_heads": 64,
    },
    "phi3": {
        "num_hidden_layers": 32, "hidden_size": 3072, "num_attention_heads": 32,
    },
    "qwen2": {
        "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
    },
    "qwen2_5_omni_text": {
        "num_hidden_layers": 28, "hidden_size": 3584, "num_attention_heads": 28,
        "num_key_value_heads": 4,
    },
    "qwen2_5_vl_text": {
        "num_hidden_layers": 80, "hidden_size": 8192, "num_attention_heads": 64,
        "num_key_value_heads": 8,
    },
    "qwen2_vl_text": {
        "num_hidden_layers": 80, "hidden_size": 8192, "num_attention_heads": 64,
        "num_key_value_heads": 8,
    },
    "qwen3": {
        "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
    },
    "qwen3_5_moe_text": {
        "num_hidden_layers": 40, "hidden_size": 2048, "num_attention_heads": 16,
        "num_key_value_heads": 2, "linear_num_value_heads": 32, "linear_num_key_heads": 16,
        "linear_value_head_dim": 128, "linear_key_head_dim": 128, "linear_conv_kernel_dim": 4,
    },
    "qwen3_5_text": {
        "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 16,
        "num_key_value_heads": 4, "linear_num_value_heads": 32, "linear_num_key_heads": 16,
        "linear_value_head_dim": 128, "linear_key_head_dim": 128, "linear_conv_kernel_dim": 4,
    },
    "qwen3_moe": {
        "num_hidden_layers": 24, "hidden_size": 2048, "num_attention_heads": 32,
        "num_key_value_heads": 4,
    },
    "qwen3_omni_moe_text": {
        "num_hidden_layers": 28, "hidden_size": 2048, "num_attention_heads": 28,
        "num_key_value_heads": 4,
    },
    "qwen3_vl_moe_text": {
        "num_hidden_layers": 24, "hidden_size": 2048, "num_attention_heads": 16,
    },
    "qwen3_vl_text": {
        "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
    },
    "smollm3": {
        "num_hidden_layers": 36, "hidden_size": 2048, "num_attention_heads": 16,
        "num_key_value_heads": 4,
    },
}
# fmt: on
