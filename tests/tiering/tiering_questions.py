"""Questions to the three forms: every way, note, status and refusal.

``GOOD`` are (calculator, values) that have an answer, ``BAD`` (calculator, values, field) that are
refused for a field; for the list of questions that build, CPython and Pyodide answer alike.
"""

import json

CONFIG = json.dumps(
    {
        "model_type": "llama",
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "hidden_size": 4096,
        "torch_dtype": "bfloat16",
    }
)
ROWS = "\n".join(
    json.dumps({"timestamp": t, "input_length": 1100, "output_length": 5, "hash_ids": ids})
    for t, ids in ((0, [1, 2, 3]), (0, [1, 2, 4]), (0, [1, 2, 3]))
)


GOOD = [
    ("tiering", {}),
    ("tiering", {"config": CONFIG}),
    ("tiering", {"config": CONFIG, "work": "counted", "parameters_billion": "8"}),
    ("tiering", {"work": "measured", "tokens_per_s": "5000", "overhead_ms": "20"}),
    ("tiering", {"engine": "hicache", "prefix_tokens": "200"}),
    ("tiering", {"engine": "offloading", "engine_hit": "8000", "ssd_gib": "1000"}),
    ("tiering", {"prefix_tokens": "280", "engine_hit": "272"}),
    ("tiering", {"prefix_tokens": "100", "save_unfull_chunk": "1"}),
    ("tiering", {"prefix_tokens": "1", "device": "other", "tflop_per_s": "1e6"}),
    ("tiering", {"prefix_tokens": "100000000", "chunk_size": "1"}),
    ("tiering", {f"{tier}_gb_per_s": "" for tier in ("host", "ssd", "network", "object")}),
    ("tiering", {"model": "google/gemma-4-26B-A4B", "every_row": "1"}),
    ("tiering", {"stack": "16*(3*state:48x128x128.g16.k4.float32,full:4x256)", "work": "measured"}),
    ("tiering", {"stack": "4*none", "work": "measured"}),
    ("tiering-trace", {}),
    ("tiering-trace", {"trace": ROWS, "gpu_gib": "1", "host_gib": "0", "ssd_gib": "0"}),
    ("tiering-trace", {"trace": ROWS, "remote_gib": "9", "instances": "2", "prefetch": "timeout"}),
    ("tiering-trace", {"kind": "documents", "host_write": "write_back", "host_policy": "lfu"}),
    ("tiering-trace", {"work": "measured", "ssd_write": "write_through_selective"}),
    ("tiering-trace", {"gpu_gib": "1", "shared": "20000", "groups": "3"}),
    ("tiering-transfer", {}),
    ("tiering-transfer", {"layerwise": "1", "link": "parallel", "config": CONFIG}),
    ("tiering-transfer", {"requests_per_s": "20"}),
    ("tiering-transfer", {"requests_per_s": "5"}),
    ("tiering-transfer", {"requests_per_s": "0"}),
    ("tiering-transfer", {"link_gb_per_s": "0.01", "output_tokens": "1"}),
]


BAD = [
    ("tiering", {"prefix_tokens": "0"}, "prefix_tokens"),
    ("tiering", {"engine_hit": "9000"}, "engine_hit"),
    ("tiering", {"layers": "80"}, "hidden_size"),
    ("tiering", {"layers": "80", "work": "counted"}, "query_heads"),
    ("tiering", {"config": "{"}, "config"),
    ("tiering", {"ssd_gb_per_s": "fast"}, "ssd_gb_per_s"),
    ("tiering", {"host_gb_per_s": "0"}, "host_gb_per_s"),
    ("tiering", {"efficiency_percent": "120"}, "efficiency_percent"),
    ("tiering-trace", {"gpu_gib": "0"}, "gpu_gib"),
    ("tiering-trace", {"stack": ""}, "stack"),
    ("tiering-trace", {"stack": "80*full:8x9000000", "dtype": "float64"}, "host_gib"),
    ("tiering-trace", {"trace": "{}"}, "trace"),
    ("tiering-trace", {"hidden_size": ""}, "hidden_size"),
    ("tiering-trace", {"remote_gib": "-1"}, "remote_gib"),
    ("tiering-transfer", {"link_gb_per_s": ""}, "link_gb_per_s"),
    ("tiering-transfer", {"step_ms": "0"}, "step_ms"),
]

QUESTIONS = [*GOOD, *((name, values) for name, values, _ in BAD)]
