"""Questions to the floor: every kind of layer, note, status and refusal.

``GOOD`` are (calculator, values) that have an answer, ``BAD`` (calculator, values, field) that are
refused for a field; for the list of questions that build, CPython and Pyodide answer alike.
"""

import json

CONFIG = {
    "model_type": "llama",
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "hidden_size": 4096,
    "torch_dtype": "bfloat16",
    "vocab_size": 128256,
    "tie_word_embeddings": False,
}
EXPERTS = {"num_local_experts": 8, "num_experts_per_tok": 2}
HUGE = {
    "stack": "10000*full:100000x1000000",
    "query_heads": "100000",
    "parameters_b": "1000000",
    "active_parameters_b": "999999.9",
    "experts": "1000000",
    "experts_per_token": "999999",
    "batch": "1000000",
    "prompt_tokens": "100000000",
    "cached_tokens": "100000000",
    "context_tokens": "99999999",
    "device_count": "4096",
    "compute_efficiency_percent": "33.3333333",
    "memory_efficiency_percent": "77.7777777",
}
TINY = {
    "stack": "full:1x1",
    "query_heads": "1",
    "parameters_b": "0.001",
    "device": "other",
    "gpu_memory_mib": "100000000",
    "tflop_per_s": "0.001",
    "memory_gb_per_s": "1000000",
    "context_tokens": "1",
}


def text(**changes):
    """A config as it is pasted."""
    return json.dumps(CONFIG | changes)


def typed(stack, heads="32", billions="8", **values):
    """A hand-made model."""
    return ("floor", {"stack": stack, "query_heads": heads, "parameters_b": billions, **values})


GOOD = [
    ("floor", {}),
    ("floor", {"batch": "206"}),
    ("floor", {"batch": "207"}),
    ("floor", {"device": "L40S", "model": "meta-llama/Meta-Llama-3.1-70B"}),
    ("floor", {"context_tokens": "1", "batch": "1000"}),
    ("floor", {"memory_efficiency_percent": "80", "compute_efficiency_percent": "60"}),
    ("floor", {"weight_dtype": "fp8", "compute_dtype": "fp8", "dtype": "fp8"}),
    ("floor", {"weight_dtype": "nvfp4", "device": "B200 SXM", "model": "Qwen/Qwen3-235B-A22B"}),
    ("floor", {"model": "deepseek-ai/DeepSeek-V3", "device_count": "16", "weight_dtype": "fp8"}),
    ("floor", {"model": "zai-org/GLM-5.2", "parameters_b": "744", "active_parameters_b": "40",
               "experts": "256", "experts_per_token": "8", "device_count": "32"}),
    ("floor", {"model": "Qwen/Qwen3.5-35B-A3B", "device": "H200 SXM"}),
    ("floor", {"model": "Qwen/Qwen3.5-27B", "device_count": "2", "cached_tokens": "30000"}),
    ("floor", {"model": "openai/gpt-oss-120b", "weight_dtype": "mxfp4", "device": "A100 SXM"}),
    ("floor", {"model": "meta-llama/Llama-4-Scout-17B-16E-Instruct", "parameters_b": "109",
               "active_parameters_b": "17", "experts": "16", "experts_per_token": "1",
               "device_count": "4", "context_tokens": "8193"}),
    ("floor", {"config": text(), "parameters_b": "8.03"}),
    ("floor", {"config": text(**EXPERTS), "parameters_b": "46.7", "active_parameters_b": "12.9",
               "device_count": "2"}),
    ("floor", {"config": json.dumps({"model_type": "x", "text_config": CONFIG}),
               "parameters_b": "8", "embedding_b": "0.5", "tied_embeddings": "1"}),
    typed("32*full:8x128"),
    typed("none", billions="1"),
    typed("32*(full:8x128,shared)", billions="14"),
    typed("4*cross:20x64@1500,4*cross:2x64,24*full:20x64", heads="20", billions="1.5"),
    typed("30*sliding:8x128@1024", cached_tokens="5000"),
    typed("8*(mla:512-64/index:128)", heads="128", cached_tokens="5000", context_tokens="9000"),
    ("floor", HUGE),
    ("floor", TINY),
]  # fmt: skip
BAD = [
    ("floor", {"model": "gpt2"}, "parameters_b"),
    ("floor", {"model": "gpt2", "parameters_b": "0.124"}, "query_heads"),
    ("floor", {"config": text()}, "parameters_b"),
    ("floor", {"config": "{"}, "config"),
    ("floor", {"config": text(**EXPERTS), "parameters_b": "46.7"}, "active_parameters_b"),
    ("floor", {"active_parameters_b": "4"}, "experts"),
    ("floor", {"active_parameters_b": "4", "experts": "8"}, "experts_per_token"),
    ("floor", {"active_parameters_b": "9"}, "active_parameters_b"),
    ("floor", {"active_parameters_b": "4", "experts": "8", "experts_per_token": "9"},
     "experts_per_token"),
    ("floor", {"parameters_b": "8", "active_parameters_b": "1", "experts": "2",
               "experts_per_token": "1"}, "active_parameters_b"),
    ("floor", {"embedding_b": "5"}, "embedding_b"),
    ("floor", {"embedding_b": "9", "tied_embeddings": "1"}, "embedding_b"),
    ("floor", {"config": text(num_attention_heads=10**30), "parameters_b": "8"}, "config"),
    ("floor", {"config": text(vocab_size=10**30, hidden_size=10**7), "parameters_b": "8"},
     "config"),
    ("floor", {"config": text(num_local_experts=10**7), "parameters_b": "8"}, "config"),
    ("floor", {"device": "A100 SXM", "compute_dtype": "fp8"}, "compute_dtype"),
    ("floor", {"batch": "0"}, "batch"),
    ("floor", {"prompt_tokens": "1e9"}, "prompt_tokens"),
    ("floor", {"device_count": "4097"}, "device_count"),
    ("floor", {"memory_efficiency_percent": "0"}, "memory_efficiency_percent"),
]  # fmt: skip

QUESTIONS = [*GOOD, *((name, values) for name, values, _ in BAD)]
