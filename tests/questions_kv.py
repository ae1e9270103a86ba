"""Questions to the KV calculators beyond the workbench, for the list of ``questions``."""

from calculators.kv.catalogue import MODELS
from calculators.kv.engine_params import CACHE_DTYPES, ENGINES, EngineParams
from calculators.kv.engines.steps import GIB
from calculators.kv.estimates import estimate
from calculators.kv.notation import from_text
from calculators.kv.shape import Shape, known_shape

LLAMA_TEXT = '{"num_hidden_layers": 4, "num_attention_heads": 8, "hidden_size": 512}'
HYBRID = "16*(3*state:48x128x128.g16.k4.float32,full:4x256)"
GEMMA = "10*full:16x128,52*sliding:16x128@1024"
EVERY = (
    "full:8x128,sliding:8x128@64,chunked:8x128@64,cross:8x128@1500,cross:8x128,mla:512-64,"
    "mla:512-64@64,index:128,state:8x8x8.g2.k4,state:512x1x0.k3,shared,none,full:8x192-128"
)
LOGS = {
    "vllm": (
        "engine (v0.19.0) with config: model='openai/gpt-oss-20b', dtype=torch.bfloat16, "
        "max_seq_len=8192\n(Worker_TP0 pid=1) Available KV cache memory: 59.32 GiB\n"
        "(Worker_TP1 pid=2) Available KV cache memory: 59.40 GiB\n"
        "GPU KV cache size: 2,591,776 tokens\n"
        "Maximum concurrency for 8,192 tokens per request: 316.07x\n"
    ),
    "sglang": (
        "ServerArgs(model_path='Qwen/Qwen3-235B-A22B-FP8', tp_size=4)\n"
        "KV Cache is allocated. #tokens: 367404, K size: 8.23 GB, V size: 8.23 GB\n"
    ),
    "llamacpp": (
        "print_info: n_layer = 60\nprint_info: n_embd_k_gqa = 6656\n"
        "llama_context: n_ctx = 512\nllama_context: n_seq_max = 1\n"
        "llama_kv_cache: size = 780.00 MiB ( 512 cells, 60 layers, 1/1 seqs), "
        "K (f16): 390.00 MiB, V (f16): 390.00 MiB\n"
    ),
    "tensorrt_llm": (
        "Number of tokens per block: 32.\n"
        "[MemUsageChange] Allocated 68.69 GiB for max tokens in paged KV cache (643136).\n"
    ),
}


def engine(**values):
    """A question to the engine calculator."""
    return "kv-engine", values


def layers(text, **values):
    """A question to it about a stack in short notation."""
    return engine(source="stack", stack=text, memory="available", **values)


def log(text, **values):
    """A question to the log calculator."""
    return "kv-log", {"log": text, **values}


def lengths(text, **values):
    """A question to the lengths calculator."""
    return "kv-lengths", {"trace": text, **values}


def vllm_log(tokens, extra="", gib="59.32"):
    """A log of gpt-oss-20b with another token line."""
    return log(
        f"model_name\nengine (v0.19.0) with config: model='openai/gpt-oss-20b', max_seq_len=8192\n"
        f"Available KV cache memory: {gib} GiB\nGPU KV cache size: {tokens:,} tokens\n{extra}"
    )


def hidden(layers_text, head, secret, gib=20, says=None, **known):
    """A log whose lines come from a setting that it does not state."""
    shape = Shape(stack=from_text("stack", layers_text))
    params = EngineParams(memory="available", **known, **secret)
    lines = estimate(shape, params, int(gib * GIB), 1000).printed
    if says is not None:
        lines = lines.replace(f"memory: {gib:.2f}", f"memory: {says}")
    return log(f"{head}\n{lines}\n", source="stack", stack=layers_text)


def speculating():
    """A log of a model that speculates with its own draft layer, without a word of it."""
    shape = known_shape(MODELS["Qwen/Qwen3.5-27B"])
    params = EngineParams(memory="available", num_speculative_tokens=2)
    lines = estimate(shape, params, 20 * GIB, 1000).printed
    return log(
        f"{V19} model='Qwen/Qwen3.5-27B'\n{lines}\n", source="model", model="Qwen/Qwen3.5-27B"
    )


V19 = "engine (v0.19.0) with config: max_seq_len=8192, max_num_batched_tokens=8192"
PLAIN = "32*full:8x128"
DEEP = "80*full:8x128"
WINDOWS = "6*(full:1x64,sliding:1x64@300)"
LLAMA_HEAD = "llama_context: n_ctx = 4096"
HIDDEN = [
    hidden(GEMMA, "max_num_batched_tokens=8192 max_seq_len=8192", {"report": "concurrency"}),
    hidden(GEMMA, "engine (v0.19.0) with max_seq_len=8192", {"max_num_batched_tokens": 2048}),
    hidden(PLAIN, V19, {"kv_cache_dtype": "fp8"}),
    hidden(PLAIN, V19, {"tensor_parallel_size": 4}),
    hidden(PLAIN, V19.replace("8192", "8200", 1), {"block_size": 64}, max_model_len=8200),
    hidden(HYBRID, V19, {"mamba_cache_mode": "align"}),
    hidden(GEMMA, V19, {"disable_hybrid_kv_cache_manager": True}),
    hidden(PLAIN, f"{V19}\n(Worker_TP1) Available KV cache memory: 20.00 GiB\n(Worker_TP0)", {},
           says="18.00"),
    hidden(PLAIN, V19, {}, says="18.00"),
    speculating(),
    hidden(DEEP, "", {"page_size": 128}, engine="sglang"),
    hidden(PLAIN, "", {"tp_size": 4}, engine="sglang"),
    hidden(PLAIN, "Number of tokens per block: 32.", {"kv_cache_dtype": "fp8"},
           engine="tensorrt_llm"),
    hidden(WINDOWS, LLAMA_HEAD, {"parallel": 3}, ctx_size=4096, engine="llamacpp"),
    hidden(WINDOWS, f"{LLAMA_HEAD}\nn_seq_max = 4", {"kv_unified": False}, ctx_size=4096,
           engine="llamacpp"),
    hidden(WINDOWS, f"{LLAMA_HEAD}\nn_seq_max = 4\nkv_unified = true", {"ubatch_size": 1024},
           ctx_size=4096, engine="llamacpp"),
    hidden(WINDOWS, f"{LLAMA_HEAD}\nn_seq_max = 4\nkv_unified = true", {"swa_full": True},
           ctx_size=4096, engine="llamacpp"),
]  # fmt: skip


def pasted(text):
    """A question to the workbench about a config's text."""
    return "kv", {"source": "config", "config": text}


CONFIGS = [
    pasted("\ufffdPNG\r\n\x1a\n\x00"),
    pasted('{"num_hidden_layers": 4, "num_hidden_layers": 5}'),
    pasted(LLAMA_TEXT.replace("8", '"8"')),
    *(
        pasted(LLAMA_TEXT.replace("{", '{"' + key + '": ' + value + ", "))
        for key, value in (
            ("use_sliding_window", '"false"'), ("model_type", "4"), ("layer_types", '"full"'),
            ("text_config", "[1]"), ("per_layer_config", '{"first": {}}'),
            ("block_configs", "[1]"), ("block_configs", "[{}]"), ("indexer_types", "[]"),
        )
    ),
]  # fmt: skip
WORKBENCH = [
    ("kv", {"source": "stack", "stack": EVERY, "tokens": "100"}),
    ("kv", {"source": "stack", "stack": "full:4x192-128", "dtype": "q8_0", "tokens": "100, 5"}),
]
ENGINE = [
    engine(),
    *(engine(engine=name) for name in ENGINES),
    *(engine(engine=name, memory="available") for name in ENGINES),
    *(engine(engine=name, model="google/gemma-4-26B-A4B", length="20000") for name in ENGINES),
    *(layers(HYBRID, engine=name) for name in ENGINES),
    *(engine(engine=name, kv_cache_dtype=kv) for name in CACHE_DTYPES for kv in CACHE_DTYPES[name]),
    engine(engine="sglang", kv_cache_dtype="nvfp4"),
    engine(model="deepseek-ai/DeepSeek-V3.2", kv_cache_dtype="fp8_ds_mla", weight_gib="10"),
    engine(model="deepseek-ai/DeepSeek-V3.2"),
    engine(model="deepseek-ai/DeepSeek-V3", engine="sglang", weight_gib="10"),
    engine(model="Qwen/Qwen3.5-27B", vllm_options="more", num_speculative_tokens="2"),
    engine(config=LLAMA_TEXT, parameters_b="1"),
    engine(config=LLAMA_TEXT),
    engine(gpu="other", gpu_memory_mib="1000"),
    engine(gpu="other", gpu_memory_mib="24000", length="200000"),
    engine(max_model_len="131072", gpu="T4", parameters_b="1", length="131072"),
    engine(max_model_len="100", length="200"),
    engine(second_kv_cache_dtype="fp8", second_tp="2"),
    engine(second_tp="3"),
    engine(tensor_parallel_size="2", pipeline_parallel_size="3", data_parallel_size="2"),
    layers(GEMMA, engine="sglang", swa_full_tokens_ratio="0.01", length="20000"),
    layers(GEMMA, pipeline_parallel_size="4"),
    layers(HYBRID, engine="llamacpp", n_rs_seq="3"),
    layers(HYBRID, engine="sglang", reserve_padding_state="1"),
    engine(
        model="deepseek-ai/DeepSeek-V3.2",
        engine="sglang",
        kv_cache_dtype="fp8_e4m3",
        trtllm_rows="1",
        weight_gib="10",
    ),
    engine(decode_context_parallel_size="2"),
    engine(tensor_parallel_size="16", decode_context_parallel_size="2"),
    engine(mamba_cache_mode="align", block_size="64"),
    engine(num_gpu_blocks_override="100", disable_hybrid_kv_cache_manager="1"),
    engine(report="concurrency", model="openai/gpt-oss-20b", max_encoder_tokens="4096"),
    engine(engine="sglang", tp_size="4", dp_size="2", pp_size="2", page_size="64"),
    engine(engine="sglang", model="Qwen/Qwen3.5-27B", mem_fraction_static="0.9"),
    layers(HYBRID, engine="sglang", length="10", available_gib="10"),
    engine(engine="tensorrt_llm", model="openai/gpt-oss-20b", windows="pools", max_tokens="10000"),
    engine(engine="tensorrt_llm", max_tokens="10000", tp_size="2", pp_size="2"),
    engine(engine="llamacpp", ctx_size="10000000", kv_unified="0"),
    engine(engine="llamacpp", ctx_size="10000000", fit="1", swa_full="1", cache_type_k="q8_0"),
    layers("2*(full:8x64,sliding:8x64@100,sliding:8x64@4000)", engine="llamacpp"),
    layers("cross:20x64,full:20x64,cross:20x64@1500"),
    layers("2*mla:512-64@128,full:1x576"),
    layers("full:3x100,sliding:7x64@128"),
    layers("full:8x128,state:8x8x8.k4", disable_hybrid_kv_cache_manager="1"),
    layers("none"),
    layers("4*state:8x8x8.k4", engine="sglang"),
    layers("4*state:8x8x8.k4"),
    layers("4*full:1x1", available_gib="0.001"),
    layers("36*full:8x128", available_gib="4.5", max_model_len="40960"),
    engine(model="XiaomiMiMo/MiMo-V2-Flash", memory="available", available_gib="40"),
]
LOG = [
    log(
        "max seq len (40960), (5.62 GiB KV cache is needed, which is larger than the available KV "
        "cache memory (4.50 GiB). Based on the available memory, the estimated maximum model "
        "length is 32768.",
        source="stack",
        stack="36*full:8x128",
    ),
    log(LOGS["vllm"], tensor_parallel_size="2", max_num_batched_tokens="8192"),
    *(log(text) for text in LOGS.values()),
    log(LOGS["llamacpp"].replace("n_embd_k_gqa", "nothing")),
    log(LOGS["llamacpp"].replace("780.00", "390.00").replace("390.00", "195.00")),
    log(LOGS["llamacpp"], source="stack", stack="60*full:52x128"),
    log(LOGS["tensorrt_llm"], source="model", model="Qwen/Qwen3-0.6B"),
    log(LOGS["tensorrt_llm"], source="config", config=LLAMA_TEXT),
    log("Available KV cache memory: 59.32 GiB\n", source="typed", kv_cache_dtype="fp8"),
    vllm_log(2591776),
    vllm_log(2591777),
    vllm_log(3000),
    vllm_log(2591776, "Maximum concurrency for 8,192 tokens per request: 400.00x\n"),
    log("model='no/such-model', engine (v1) with config: model='no/such-model'"),
    log(""),
    log("hello"),
    log("GPU KV cache size: 5 tokens", source="stack", stack="none"),
    log(
        "config: model='openai/gpt-oss-20b', tensor_parallel_size=3 max_seq_len=8192\n"
        "engine (v0.2) with config: model='openai/gpt-oss-20b'\nGPU KV cache size: 16 tokens"
    ),
]
LENGTHS = [
    ("kv-lengths", {}),
    lengths("8192x10", pool_tokens="81920", sequences="10"),
    lengths("100", pool_tokens="10", sequences="10"),
    lengths("length,count\n100,5\n200,1\n0,3", stage="random"),
    lengths("TIMESTAMP,ContextTokens,GeneratedTokens\n1,100,20\n2,300,5\n", stage="random"),
    lengths("Timestamp,Model,Request tokens,Response tokens\n1,x,100,20\n2,x,0,0\n"),
    lengths('{"timestamp": 1, "input_length": 100, "output_length": 5}\n', stage="started"),
    lengths("TIMESTAMP,ContextTokens,GeneratedTokens\n1,5,90000000\n2,1,1\n", stage="random"),
    lengths("0, 0"),
    lengths("1, many"),
    lengths(""),
    lengths("1x3", risk_percent="200"),
]
COMPARE = [("kv-compare", {"engine": name}) for name in ("all", "vllm", "sglang", "none of them")]
KV_QUESTIONS = [*CONFIGS, *WORKBENCH, *ENGINE, *LOG, *HIDDEN, *LENGTHS, *COMPARE]
