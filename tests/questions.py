"""Questions to every calculator, answered bit-identically by the build, CPython and Pyodide.

A list to read: default values, every way to state a shape, sizes beyond 2^53, both kinds of export,
addresses, and at least one question for every reason that an answer can be refused for.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from calculators.kv.dtypes import DTYPES
from calculators.registry import MODULES
from tests import questions_archive, questions_kv
from tests.floor import floor_questions
from tests.prefix import prefix_questions
from tests.serving import serving_questions
from tests.tiering import tiering_questions

LLAMA = {
    "model_type": "llama",
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "hidden_size": 4096,
    "torch_dtype": "bfloat16",
    "vocab_size": 128256,
}
DEEP = 10_000


@dataclass(frozen=True)
class Question:
    """What a page asks, without the language."""

    calculator: str
    values: Mapping[str, str] = field(default_factory=dict)
    query: str | None = None
    export: str | None = None

    def request(self, lang):
        """The request as the door takes it."""
        about = {"calculator": self.calculator, "lang": lang, "values": dict(self.values)}
        extra = {"query": self.query, "export": self.export}
        return json.dumps(
            about | {k: v for k, v in extra.items() if v is not None}, ensure_ascii=False
        )


def kv(export=None, **values):
    """A question to the KV workbench."""
    return Question("kv", values, export=export)


def stack(text, **values):
    """A stack in short notation."""
    return kv(source="stack", stack=text, **values)


def config(tree=None, text=None, nest=0, **values):
    """A pasted config, as a tree or as text; ``"NEST"`` becomes that many lists in one another."""
    text = json.dumps(tree) if text is None else text
    nested = text.replace('"NEST"', "[" * nest + "]" * nest)
    return kv(source="config", config=nested, **values)


def without(*names, **changes):
    """Llama's config without some keys and with others."""
    return {k: v for k, v in LLAMA.items() if k not in names} | changes


TYPED = [
    kv(),
    kv(layers="1", kv_heads="1", head_dim="1", tokens="1", sequences="1"),
    kv(layers="80", tokens="131072", sequences="1"),
    kv(tokens="8192, 4096x3"),
    kv(tokens="8192，4096×3、1；2"),
    kv(tokens="1\r\n2\r\n3"),
    kv(tokens="1x1000000000"),
    kv(tokens=",".join(str(n) for n in range(1, 400))),
    kv(layers="10000", kv_heads="100000", head_dim="1000000", tokens="1000000000000x1000000000"),
    kv(layers="9999", kv_heads="99991", head_dim="999983", dtype="q4_0", tokens="999999999989"),
    kv(head_dim="33", dtype="nvfp4", tokens="3", sequences="1"),
    *(kv(dtype=name, head_dim="100", tokens="7x3, 5") for name in DTYPES),
]
MODELS = [
    kv(source="model"),
    kv(model="deepseek-ai/DeepSeek-R1"),
    kv(source="model", model="Qwen/Qwen3-8B", dtype="fp8", tokens="100000"),
]
STACKS = [
    stack("36*full:8x128"),
    kv(stack="36*full:8x128"),
    stack("12*(sliding:8x64@128,full:8x64)", tokens="32768", sequences="1"),
    stack("61*mla:512-64", dtype="fp8"),
    stack("2*(mla:512-64/index:128)", tokens="5, 6"),
    stack("full:4x192-128,none,shared"),
    stack("chunked:8x128@8192, cross:20x64@1500, cross:2x64"),
    stack("10*(3*state:48x128x128.g16.k4.float32,full:2x256)", tokens="300000"),
    stack("none"),
    stack("full:2x4,shared,state:2048x1x0.k3"),
    stack("10000*full:10000000x10000000-10000000", tokens="1000000000000"),
    stack(" 2 * ( full:1x1 ,\n 2*(none, full:1x2) ) "),
]
CONFIGS = [
    config(LLAMA),
    config(LLAMA, tokens="1x3", dtype="q8_0"),
    config(without("num_key_value_heads")),
    config(without(head_dim=256)),
    config(without("num_key_value_heads", multi_query=True)),
    config(
        without("hidden_size", "num_hidden_layers", "num_attention_heads", "model_type")
        | {"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12}
    ),
    config({"model_type": "llava", "text_config": LLAMA, "vision_config": {"hidden_size": 1024}}),
    config(without(num_hidden_layers="32", num_attention_heads=32.0)),
    config(without(sliding_window=4096, model_type="mistral")),
    config(without(sliding_window=4096, model_type="gemma3_text", sliding_window_pattern=6)),
    config(without(sliding_window=128, layer_types=["sliding_attention", "full_attention"] * 16)),
    config(without(kv_lora_rank=512, qk_rope_head_dim=64, index_head_dim=128)),
    config(without(num_nextn_predict_layers=1)),
    config(without(is_encoder_decoder=True)),
    config(without(quantization_config={"kv_cache_quant_algo": "FP8"})),
    *(config(without(ignored="NEST"), nest=depth) for depth in (100, 300, 1000, 3000)),
    config(without(unheard_of=[[1]], **{"<script>": "alert(1)", "naïve": "中文\u2028"})),
    config(text="\ufeff" + json.dumps(LLAMA, indent=2).replace("\n", "\r\n")),
    config(text=json.dumps(without(rope_theta=0)).replace('"rope_theta": 0', '"rope_theta": NaN')),
    config(text=json.dumps(without(big=0)).replace('"big": 0', '"big": ' + "9" * 10_000)),
]
BAD_NUMBERS = [
    kv(layers=text)
    for text in ("", " ", "-1", "0", "1.5", "1e400", "NaN", "9" * 10_000, "３２", "many", "1\x00")
] + [
    kv(layers="10001"),
    kv(tokens=""),
    kv(tokens="0"),
    kv(tokens="8192x"),
    kv(tokens="1," * 10_001),
    kv(tokens="1" * 200_001),
    kv(sequences="1000000001"),
    kv(dtype="float7"),
    kv(source="wherever"),
    kv(model="no/such"),
    kv(layer="1"),
    kv(**{"<script>alert(1)</script>": "1"}),
    kv(layers="32", stack="none"),
]
BAD_STACKS = [
    stack(text)
    for text in (
        "", ",", "full", "full:8", "full:8x128@3", "sliding:8x64", "3*", "(", "2*(full:1x1",
        "full:1x1)", "mla:512", "index:", "state:1x2", "state:1x2x3.float7", "<b>", "20000*none",
        "5000*(none,none,none)", "((((((none))))))", "none," * 4001, "nonsense:1x1", "full:0x1",
    )
]  # fmt: skip
BAD_CONFIGS = [
    config(text=text)
    for text in (
        "", "\ufeff\r\n", "[]", "3", '"text"', "null", "{", '{"a": ', '{"a": "b', "{}",
        json.dumps(LLAMA)[:-20], "<!DOCTYPE html><html>", "// comment\n{}", "{'a': 1}", "{,}",
        json.dumps(LLAMA).replace("}", ",}"), "[" * DEEP, '{"a":' * DEEP,
        '{"a":' * DEEP + "1" + "}" * DEEP,
        "x" * 2_000_001, "\x00", "{} {}",
    )
] + [
    config(without("num_hidden_layers")),
    config(without("hidden_size")),
    config(without(hidden_size=4097)),
    config(without(num_hidden_layers="many")),
    config(without(num_hidden_layers=-1)),
    config(without(num_hidden_layers=32.5)),
    config(without(num_hidden_layers=True)),
    config(without(num_hidden_layers=10_001)),
    config(without(num_key_value_heads=10**30)),
    config(without(torch_dtype="float7")),
    config(without(torch_dtype=16)),
    config(without(layer_types=["full_attention"])),
    config(without(layer_types=["quantum_attention"] * 32)),
    config(without(num_key_value_heads=[8, 8])),
    config(without(layer_types=["linear_attention"] * 32)),
    config(without(model_type="rwkv7")),
    config({"model_type": "bert", **without("model_type", "vocab_size")}),
    config({"model_type": "clip_vision_model", "patch_size": 14, "hidden_size": 8}),
    config(without(text_config=3)),
    config(without(kv_lora_rank=512, layer_types=["chunked_attention"] * 32)),
    config(without(kv_lora_rank=512, qk_rope_head_dim=64, is_encoder_decoder=True)),
    config(without(is_encoder_decoder="maybe")),
    config(without(block_configs=[3] * 32, model_type="nemotron-nas")),
    config(without(compress_ratios=[4] * 32)),
    config(without(model_type="deepseek_v4")),
    config(without(model_type="gpt_oss")),
]  # fmt: skip
EXPORTS = [
    kv(export="json"),
    kv(export="csv"),
    kv(export="json", tokens="999999999989", layers="9999", head_dim="999983"),
    kv(export="csv", source="stack", stack="2*mla:512-64,full:1x3", dtype="q4_0"),
    kv(export="json", layers="0"),
    kv(export="csv", source="config", config=json.dumps(LLAMA)),
]
ADDRESSES = [
    Question("kv", query=query)
    for query in (
        "", "?c=kv", "c=kv&layers=80&tokens=8192,+4096x3", "c=kv&stack=12*(full:8x64,none)",
        "c=kv&h=words", "layers=%3Cscript%3Ealert(1)%3C/script%3E", "%3Cb%3E=1", "layers=%zz",
        "layers=" + "9" * 5000, "a=1" + "&a=1" * 300, "x" * 20_001, "c=kv&layer=1", "layers=%00",
        "&&&=&", "c=other&layers=3",
    )
]  # fmt: skip
DEFAULTS = [Question(name) for name in MODULES]
FILES = [
    Question("samples", {"percentile": "1e400"}, export="json"),
    Question("samples", {"samples": "1\n2\n3\n"}, export="csv"),
    *(Question(name, export=export) for name in MODULES for export in ("json", "csv")),
]
HEAD = "prefill_tokens,decodes,time_us\n"
ROW = '{"input_length": 600, "hash_ids": [1, 2]}\n'
TRACE_HEAD = "arrival_s,prompt,output\n"
NESTED = ['{"hash_ids": ' + "[" * DEEP, "[" * DEEP, '{"a":' * DEEP + "1" + "}" * DEEP]
BEYOND = [
    *(
        (name, {"source": "own", "trace": text})
        for name in ("prefix-replay", "prefix-routing")
        for text in (*NESTED, ROW + NESTED[0])
    ),
    *(("tiering-trace", {"trace": text}) for text in NESTED),
    *(("kv-lengths", {"trace": text}) for text in (*NESTED, '{"input_length": 1}\n{\n')),
    ("kv-lengths", {"trace": "TIMESTAMP,ContextTokens,GeneratedTokens\n1\n"}),
    *(
        ("serving-load", {"trace": text})
        for text in (
            *NESTED,
            ROW + "{\n",
            ROW.replace("600", '600, "output_length": 1, "timestamp": "soon"'),
            TRACE_HEAD + "soon,1,1\n",
            TRACE_HEAD + "1\n",
            "TIMESTAMP,ContextTokens,GeneratedTokens\nsoon,1,1\n",
        )
    ),
    ("kv-engine", {"tensor_parallel_size": "8", "decode_context_parallel_size": "4"}),
    *(
        ("serving-load", {"cost": "table", "table": HEAD + row})
        for row in ("", "0,1\n", "0,1,many\n", "0,1,0\n")
    ),
    *(
        ("prefix-replay", {"source": "own", "form": form, "trace": text})
        for form in ("tokens", "text", "mooncake")
        for text in (" \n", ROW + "{\n", '{"hash_ids": [1]}\n')
    ),
    ("prefix-routing", {"source": "own", "trace": "a\n" * 200_001}),
    ("prefix-why", {"earlier": "a b", "later": "a b c", "block_size": "1", "chunk_size": "1"}),
    ("prefix-why", {"between": "\n".join("abcdefgh"), "capacity_tokens": "100"}),
    ("prefix-why", {"between": "d e f " * 60, "capacity_tokens": "100"}),
    ("prefix-why", {"reading": "token_ids", "earlier": "[]", "later": "1"}),
    ("prefix-why", {"reading": "token_ids", "earlier": "1", "later": "[]"}),
    *(
        ("kv-engine", {"source": "stack", "stack": text, "engine": name, "memory": "available"})
        for text in ("4*state:8x8x8.k4", "2*cross:8x64@100", "2*index:128")
        for name in ("llamacpp", "tensorrt_llm")
    ),
]
OF_LABS = [
    *BEYOND,
    *questions_kv.KV_QUESTIONS,
    *questions_archive.PAIRS,
    *prefix_questions.PAIRS,
    *serving_questions.QUESTIONS,
    *tiering_questions.QUESTIONS,
    *floor_questions.QUESTIONS,
]
STRAYS = [Question("no such calculator"), Question("<b>\x00" * 100), Question("")]

QUESTIONS = [
    *DEFAULTS,
    *TYPED,
    *MODELS,
    *STACKS,
    *CONFIGS,
    *BAD_NUMBERS,
    *BAD_STACKS,
    *BAD_CONFIGS,
    *EXPORTS,
    *ADDRESSES,
    *FILES,
    *(Question(name, values) for name, values in OF_LABS),
    *STRAYS,
]
