"""Start-up logs: every wording, whatever stands around it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculators.form.errors import ParameterError
from calculators.kv.logs import PATTERNS, read_log

VLLM = """\
INFO 08-19 14:58:10 [api_server.py:1882] vLLM API server version 0.19.0
(EngineCore pid=7) INFO [core.py:75] Initializing a V1 LLM engine (v0.19.0) with config: \
model='google/gemma-3-27b-it', dtype=torch.bfloat16, max_seq_len=8192, tensor_parallel_size=1, \
pipeline_parallel_size=1, kv_cache_dtype=auto
INFO [scheduler.py:222] Chunked prefill is enabled with max_num_batched_tokens=8192.
(EngineCore pid=7) INFO [gpu_model_runner.py:1] Model loading took 51.51 GiB memory and 9 seconds
(EngineCore pid=7) INFO [gpu_worker.py:277] Available KV cache memory: 19.53 GiB
(EngineCore pid=7) WARNING [kv_cache_utils.py] Add 8 padding layers, may waste at most 15.38% KV \
cache memory
(EngineCore pid=7) INFO [kv_cache_utils.py:849] GPU KV cache size: 36,560 tokens
(EngineCore pid=7) INFO [kv_cache_utils.py:853] Maximum concurrency for 8,192 tokens per \
request: 4.46x
"""
VLLM_FIELDS = {
    "version": "0.19.0", "model": "google/gemma-3-27b-it", "dtype": "torch.bfloat16",
    "max_model_len": "8192", "tensor_parallel_size": "1", "pipeline_parallel_size": "1",
    "kv_cache_dtype": "auto", "max_num_batched_tokens": "8192", "weight_gib": "51.51",
    "available_kv_cache_memory_gib": "19.53", "padding_layers": "8", "padding_percent": "15.38",
    "gpu_kv_cache_tokens": "36560", "max_concurrency": "4.46",
}  # fmt: skip
SGLANG = """\
[2025-07-22 10:00:00] server_args=ServerArgs(model_path='Qwen/Qwen3-235B-A22B-FP8', tp_size=4, \
page_size=1, mem_fraction_static=0.93)
[2025-07-22 10:01:00 TP0] Load weight end. type=Qwen3Moe, avail mem=20.1 GB, mem usage=58.2 GB.
[2025-07-22 10:01:01 TP0] KV Cache is allocated. #tokens: 367404, K size: 8.23 GB, V size: 8.23 GB
[2025-07-22 10:01:09 TP0] max_total_num_tokens=367404, chunked_prefill_size=8192, \
max_running_requests=2048, context_len=40960, available_gpu_mem=3.11 GB
"""
SGLANG_FIELDS = {
    "model": "Qwen/Qwen3-235B-A22B-FP8", "tp_size": "4", "page_size": "1",
    "mem_fraction_static": "0.93", "weight_gib": "58.2", "max_total_num_tokens": "367404",
    "K_size_gib": "8.23", "V_size_gib": "8.23", "max_running_requests": "2048",
    "context_len": "40960", "available_gpu_mem_gib": "3.11",
}  # fmt: skip
LLAMA = """\
print_info: n_layer          = 36
print_info: n_swa            = 128
llama_context: n_seq_max     = 4
llama_context: n_ctx         = 65536
llama_context: n_ubatch      = 512
llama_context: kv_unified    = true
llama_kv_cache_unified_iswa: creating non-SWA KV cache, size = 65536 cells
llama_kv_cache_unified:      CUDA0 KV buffer size =  2304.00 MiB
llama_kv_cache_unified_iswa: creating     SWA KV cache, size = 1024 cells
llama_kv_cache_unified: size =   36.00 MiB (  1024 cells,  18 layers,  4/1 seqs), \
K (f16):   18.00 MiB, V (f16):   18.00 MiB
"""
LLAMA_FIELDS = {
    "n_layer": "36", "n_swa": "128", "n_seq_max": "4", "n_ctx": "65536", "n_ubatch": "512",
    "kv_unified": "true", "full_cells": "65536", "kv_buffer_mib": "2304.00", "swa_cells": "1024",
    "kv_mib": "36.00", "cells": "1024", "layers": "18", "type_k": "f16", "k_mib": "18.00",
    "type_v": "f16", "v_mib": "18.00",
}  # fmt: skip
TENSORRT = """\
[TensorRT-LLM][INFO] Memory usage when calculating max tokens in paged kv cache: \
total: 39.39 GiB, available: 21.89 GiB
[TensorRT-LLM][INFO] Number of blocks in KV cache primary pool: 631
[TensorRT-LLM][INFO] Number of tokens per block: 64.
[TensorRT-LLM][INFO] [MemUsageChange] Allocated 19.72 GiB for max tokens in paged KV cache (40384).
"""
TENSORRT_FIELDS = {
    "total_gib": "39.39", "free_gib": "21.89", "blocks": "631", "tokens_per_block": "64",
    "allocated_gib": "19.72", "max_tokens": "40384",
}  # fmt: skip
LOGS = {
    "vllm": (VLLM_FIELDS, VLLM),
    "sglang": (SGLANG_FIELDS, SGLANG),
    "llamacpp": (LLAMA_FIELDS, LLAMA),
    "tensorrt_llm": (TENSORRT_FIELDS, TENSORRT),
}


@pytest.mark.parametrize("engine", LOGS)
def test_whole_logs(engine):
    """Every figure of a log becomes a field, and nothing else does."""
    fields, text = LOGS[engine]
    log = read_log("log", text)

    assert (log.engine, dict(log.fields)) == (engine, fields)


@pytest.mark.parametrize("engine", LOGS)
def test_colours_and_line_ends(engine):
    """Colour codes, CRLF and lines of other programs change nothing."""
    fields, text = LOGS[engine]
    coloured = "".join(
        f"\x1b[32mINFO\x1b[0m {line}\x1b[0m\r\nunrelated line\r\n" for line in text.splitlines()
    )

    assert dict(read_log("log", coloured).fields) == fields


@pytest.mark.parametrize(
    ("field", "value", "line"),
    [
        ("num_gpu_blocks", "1381", "INFO 01-30 03:19:14 kv_cache_utils.py:395] # GPU blocks: 1381"),
        ("num_gpu_blocks", "1952", "INFO executor.py:82] # GPU blocks: 1952, # CPU blocks: 512"),
        ("num_gpu_blocks", "57656", "Engine 000: cache_config_info … num_gpu_blocks is: 57656"),
        ("max_concurrency", "10.79", "Maximum concurrency for 2048 tokens per request: 10.79x"),
        ("attention_block_size", "784", "Setting attention block size to 784 tokens to ensure"),
        ("mamba_page_padding_percent", "0.13", "Padding mamba page size by 0.13% to ensure"),
        ("tensor_parallel_size", "2", "args: {'model': 'x', 'tensor_parallel_size': 2}"),
        ("weight_gib", "67.7229", "Loading model weights took 67.7229 GB"),
        ("context_parallel", "8", "Multiplying the GPU KV cache size by the cp_world_size 8 ("),
        ("kv_size_gib", "43.67", "KV Cache is allocated. #tokens: 975424, KV size: 43.67 GB"),
        ("swa_tokens", "51189", "memory pool. full_layer_tokens=63987, swa_layer_tokens=51189"),
        ("kv_mib", "1560.00", "llama_init_from_file: kv self size  = 1560.00 MB"),
        ("blocks", "116617", "[window size=2051], tokens per block=32, primary blocks=116617"),
        ("max_tokens", "10718", "[TensorRT-LLM][INFO] Using 10718 tokens in paged KV cache."),
    ],
)  # fmt: skip
def test_single_lines(field, value, line):
    """Wordings of older and newer releases."""
    assert read_log("log", line).fields[field] == value


def test_interleaved_ranks():
    """Ranks that print different figures are kept apart; the least of them counts."""
    log = read_log(
        "log",
        "(Worker_TP0 pid=1) INFO Available KV cache memory: 8.11 GiB\n"
        "(Worker_TP1 pid=2) INFO Available KV cache memory: 7.98 GiB\n"
        "(Worker_TP1 pid=2) INFO GPU KV cache size: 178,880 tokens\n"
        "(Worker_TP0 pid=1) INFO GPU KV cache size: 178,880 tokens\n",
    )

    assert log.fields["available_kv_cache_memory_gib"] == "7.98"
    assert log.by_rank == {"available_kv_cache_memory_gib": {"TP0": "8.11", "TP1": "7.98"}}


def test_a_restarted_server_counts_by_its_last_lines():
    """Of two starts in one log the later figures count."""
    log = read_log("log", "GPU KV cache size: 100 tokens\nGPU KV cache size: 200 tokens\n")

    assert log.fields["gpu_kv_cache_tokens"] == "200"


@pytest.mark.parametrize(
    ("reason", "text"),
    [("empty_text", " \n "), ("no_log_lines", "hello\nworld"), ("text_too_long", "x" * 20_000_001)],
    ids=["empty", "another log", "endless"],
)
def test_refusals(reason, text):
    """What is no log of these engines is said in one reason."""
    with pytest.raises(ParameterError) as caught:
        read_log("log", text)

    assert (caught.value.field, caught.value.reason) == ("log", reason)


WORDS = st.sampled_from([line for _, text in LOGS.values() for line in text.splitlines()])


@given(st.lists(WORDS | st.text(max_size=30), max_size=6), st.integers(0, 200))
def test_any_text_ends_in_fields_or_a_reason(lines, cut):
    """No mixture of log lines and other text ends in another exception."""
    try:
        log = read_log("log", "\n".join(lines)[cut:])
    except ParameterError:
        return

    assert log.fields
    assert {item.engine for item in log.found} == {log.engine}


def test_patterns_give_as_many_fields_as_groups():
    """Every alternative of a pattern gives each of its fields once."""
    for known in PATTERNS:
        alternatives = known.regex.pattern.count("|Loading")
        assert known.regex.groups == len(known.fields) * (1 + alternatives)


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        pytest.param(
            {"available_kv_cache_memory_gib": "3.81"},
            "INFO worker.py:241] the rest of the memory reserved for KV Cache is 3.81GiB.",
            id="vLLM V0's memory",
        ),
        pytest.param(
            {"num_gpu_blocks": "1952"}, "# GPU blocks: 1952, # CPU blocks: 2048", id="V0's blocks"
        ),
        pytest.param(
            {"num_gpu_blocks": "512"},
            "Overriding num_gpu_blocks=9000 with num_gpu_blocks_override=512",
            id="blocks overridden",
        ),
        pytest.param(
            {"max_model_len": "32768", "kv_cache_dtype": "fp8", "gpu_memory_utilization": "0.9"},
            "non-default args: {'max_model_len': 32768, 'kv_cache_dtype': 'fp8', "
            "'gpu_memory_utilization': 0.9}",
            id="vLLM's arguments",
        ),
        pytest.param(
            {"num_speculative_tokens": "2"},
            "speculative_config=SpeculativeConfig(method='mtp', num_spec_tokens=2)",
            id="speculation",
        ),
        pytest.param(
            {
                "max_model_len": "118000", "needed_gib": "6.30",
                "estimated_max_model_len": "114432", "available_kv_cache_memory_gib": "6.11",
            },
            "ValueError: To serve at least one request with the model's max seq len (118000), "
            "(6.30 GiB KV cache is needed, which is larger than the available KV cache memory "
            "(6.11 GiB). Based on the available memory, the estimated maximum model length is "
            "114432. Try increasing `gpu_memory_utilization`",
            id="a refusal",
        ),
        pytest.param(
            {"max_model_len": "8", "needed_gib": "1.00", "available_kv_cache_memory_gib": "0.01"},
            "max seq len (8), (1.00 GiB KV cache is needed, which is larger than the available KV "
            "cache memory (0.01 GiB). Try increasing",
            id="a refusal without a length",
        ),
        pytest.param(
            {"tp_size": "8", "dp_size": "8", "swa_full_tokens_ratio": "0.8",
             "kv_cache_dtype": "fp8_e4m3", "mamba_full_memory_ratio": "0.9"},
            "ServerArgs(tp_size=8, kv_cache_dtype='fp8_e4m3', swa_full_tokens_ratio=0.8, "
            "dp_size=8, mamba_full_memory_ratio=0.9, enable_dp_attention=True)",
            id="SGLang's arguments",
        ),
        pytest.param(
            {"tp_size": "8", "page_size": "1"},
            "ServerArgs(page_size=1, tp_size=8, kv_cache_dtype='auto', dp_size=8, "
            "enable_dp_attention=False)",
            id="SGLang's replicas do not split attention",
        ),
    ],
)  # fmt: skip
def test_wordings_of_other_versions(fields, line):
    """Lines that only some releases print."""
    assert fields == read_log("log", line).fields


AVAILABLE = "the available KV cache memory"


@pytest.mark.parametrize("mark", ["", "▎ ", "> "])
def test_a_refusal_quoted_in_three_lines(mark):
    """Threads break vLLM's one line (kaito #2132, spark-vllm-docker #396): it is one message."""
    lines = [
        "ValueError: To serve at least one request with the model's max seq len (196608),",
        f"23.25 GiB KV cache is needed, which is larger than {AVAILABLE} (22.5 GiB).",
        "Based on the available memory, the estimated maximum model length is 190272.",
    ]
    log = read_log("log", "\n".join(mark + line for line in lines))

    assert log.fields == {
        "max_model_len": "196608", "needed_gib": "23.25",
        "available_kv_cache_memory_gib": "22.5", "estimated_max_model_len": "190272",
    }  # fmt: skip
    assert {item.line for item in log.found} == {1}
