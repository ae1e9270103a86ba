"""config.json to layers: every way in which configs say it, and what they cannot say."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculators.form.errors import ParameterError
from calculators.kv.config import read_config, read_tree
from calculators.kv.notation import from_text, to_text

SHARED = Path(__file__).parents[2].parent / "shared" / "cases" / "configs"
PLAIN = {"num_hidden_layers": 4, "num_attention_heads": 8, "hidden_size": 512}
LATENT = {**PLAIN, "kv_lora_rank": 512, "qk_rope_head_dim": 64, "num_key_value_heads": 8}
DELTA = {
    "linear_num_value_heads": 48, "linear_value_head_dim": 128, "linear_key_head_dim": 128,
    "linear_num_key_heads": 16, "linear_conv_kernel_dim": 4,
}  # fmt: skip
MAMBA = {
    "mamba_num_heads": 64, "mamba_head_dim": 64, "ssm_state_size": 128, "n_groups": 8,
    "conv_kernel": 4,
}  # fmt: skip

CONFIGS = {
    "heads share hidden size": ("4*full:8x64", PLAIN),
    "head_dim wins over hidden over heads": ("4*full:8x128", {**PLAIN, "head_dim": 128}),
    "head_dim of null falls back": ("4*full:8x64", {**PLAIN, "head_dim": None}),
    "GQA": ("4*full:2x64", {**PLAIN, "num_key_value_heads": 2}),
    "MQA by its flag": ("4*full:1x64", {**PLAIN, "multi_query": True}),
    "Falcon's new architecture": (
        "4*full:2x64",
        {**PLAIN, "multi_query": True, "new_decoder_architecture": True, "num_kv_heads": 2},
    ),
    "GPT-2's names": ("12*full:12x64", {"n_layer": 12, "n_head": 12, "n_embd": 768}),
    "Mistral's params.json": (
        "4*full:2x64",
        {"n_layers": 4, "n_heads": 8, "dim": 512, "n_kv_heads": 2},
    ),
    "MPT's nested heads": (
        "4*full:2x64",
        {"n_layers": 4, "n_heads": 8, "d_model": 512, "attn_config": {"kv_n_heads": 2}},
    ),
    "whole floats": ("4*full:8x64", {key: float(value) for key, value in PLAIN.items()}),
    "nested under text_config": ("4*full:8x64", {"text_config": PLAIN, "vision_config": {}}),
    "a nested object without layers": ("4*full:8x64", {**PLAIN, "text_config": {"model_type": []}}),
    "nested twice": ("4*full:8x64", {"thinker_config": {"text_config": PLAIN}}),
    "heads layer by layer": (
        "2*full:2x64,2*full:4x64",
        {**PLAIN, "num_key_value_heads": [2, 2, 4, 4]},
    ),
    "a window that is switched off": (
        "4*full:8x64",
        {**PLAIN, "sliding_window": 128, "use_sliding_window": False},
    ),
    "a window from max_window_layers on": (
        "3*full:8x64,sliding:8x64@128",
        {**PLAIN, "sliding_window": 128, "use_sliding_window": True, "max_window_layers": 3},
    ),
    "a window for all layers": ("4*sliding:8x64@128", {**PLAIN, "sliding_window": 128}),
    "a window of null": ("4*full:8x64", {**PLAIN, "sliding_window": None}),
    "layer_types": (
        "2*(sliding:8x64@128,full:8x64)",
        {
            **PLAIN, "sliding_window": 128,
            "layer_types": ["sliding_attention", "full_attention"] * 2,
        },
    ),
    "every n-th layer is global": (
        "3*sliding:8x64@128,full:8x64",
        {**PLAIN, "sliding_window": 128, "sliding_window_pattern": 4},
    ),
    "EXAONE's letters": (
        "3*sliding:8x64@128,full:8x64",
        {**PLAIN, "sliding_window": 128, "sliding_window_pattern": "LLLG"},
    ),
    "Gemma 2 says nothing of its pattern": (
        "2*(sliding:8x256@128,full:8x256)",
        {**PLAIN, "model_type": "gemma2", "sliding_window": 128},
    ),
    "GPT-Neo's attention_layers": (
        "2*(full:8x64,sliding:8x64@256)",
        {**PLAIN, "attention_layers": ["global", "local"] * 2, "window_size": 256},
    ),
    "chunks, every fourth layer global": (
        "3*chunked:8x64@32,full:8x64",
        {**PLAIN, "attention_chunk_size": 32},
    ),
    "chunks by no_rope_layers": (
        "2*(chunked:8x64@32,full:8x64)",
        {**PLAIN, "attention_chunk_size": 32, "no_rope_layers": [1, 0, 1, 0]},
    ),
    "MiMo's pattern and widths": (
        "full:2x64-32,3*sliding:4x64-32@128",
        {
            **PLAIN, "num_key_value_heads": 2, "head_dim": 64, "v_head_dim": 32,
            "hybrid_layer_pattern": [0, 1, 1, 1], "sliding_window": 128,
            "swa_num_key_value_heads": 4, "swa_head_dim": 64, "swa_v_head_dim": 32,
        },
    ),
    "Gemma 4's global heads": (
        "3*sliding:8x64@128,full:2x256",
        {
            **PLAIN, "num_global_key_value_heads": 2, "global_head_dim": 256,
            "sliding_window": 128,
            "layer_types": ["sliding_attention"] * 3 + ["full_attention"],
        },
    ),
    "a layer with its own width": (
        "3*full:8x64,full:8x512",
        {**PLAIN, "per_layer_config": {"03": {"head_dim": 512}}},
    ),
    "latent attention by its fields": ("4*mla:512-64", LATENT),
    "latent attention switched off": ("4*full:8x64", {**LATENT, "use_mla": False}),
    "a rank of null is none": ("4*full:8x64", {**LATENT, "kv_lora_rank": None}),
    "a sparse indexer": ("4*mla:512-64/index:128", {**LATENT, "index_head_dim": 128}),
    "an indexer shared by layers": (
        "mla:512-64/index:128,3*mla:512-64",
        {**LATENT, "index_head_dim": 128, "indexer_types": ["full"] + ["shared"] * 3},
    ),
    "sparse attention of some layers": (
        "full:8x64,3*full:8x64/index:32",
        {
            **PLAIN,
            "sparse_attention_config": {
                "use_sparse_attention": True, "sparse_index_dim": 32,
                "sparse_attention_freq": [0, 1, 1, 1],
            },
        },
    ),
    "an indexer of the layers that are named so": (
        "mla:512-64,3*mla:512-64/index:128",
        {
            **LATENT, "index_head_dim": 128,
            "layer_types": ["full_attention"] + ["deepseek_sparse_attention"] * 3,
        },
    ),
    "latent layers with a window": (
        "mla:512-64,3*mla:512-64@512",
        {
            **LATENT, "sliding_window": 512,
            "layer_types": ["full_attention"] + ["sliding_attention"] * 3,
        },
    ),
    "two attentions in a layer": (
        "4*mla:512-64/mla:512-64",
        {**LATENT, "model_type": "longcat_flash"},
    ),
    "full_attention_interval": (
        "3*state:48x128x128.g16.k4.float32,full:8x64",
        {**PLAIN, **DELTA, "full_attention_interval": 4, "mamba_ssm_dtype": "float32"},
    ),
    "Nemotron's letters": (
        "state:64x64x128.g8.k4,none,full:8x64,none",
        {**PLAIN, **MAMBA, "hybrid_override_pattern": "M-*E"},
    ),
    "a list of blocks without a number of layers": (
        "state:64x64x128.g8.k4,none,full:8x64",
        {
            **MAMBA, "num_attention_heads": 8, "hidden_size": 512,
            "layers_block_type": ["mamba", "moe", "attention"],
        },
    ),
    "Jamba's period and offset": (
        "2*(state:1024x1x16.k4,full:8x64)",
        {
            **PLAIN, "attn_layer_period": 2, "attn_layer_offset": 1, "mamba_d_state": 16,
            "mamba_d_conv": 4, "mamba_expand": 2,
        },
    ),
    "Bamba's attention layers": (
        "state:64x64x128.g8.k4,2*full:8x64,state:64x64x128.g8.k4",
        {**PLAIN, **MAMBA, "model_type": "bamba", "attn_layer_indices": [1, 2]},
    ),
    "attention and state in one layer": (
        "4*full:8x64/state:24x64x256.g1.k4",
        {
            **PLAIN, "mamba_d_ssm": 1536, "mamba_n_heads": 24, "mamba_d_head": 64,
            "mamba_d_state": 256, "mamba_d_conv": 4, "mamba_n_groups": 1,
        },
    ),
    "Mamba alone": (
        "4*state:1024x1x16.k4",
        {
            "model_type": "mamba", "num_hidden_layers": 4, "hidden_size": 512, "state_size": 16,
            "expand": 2, "conv_kernel": 4,
        },
    ),
    "LFM2's convolutions": (
        "state:512x1x0.k3,full:8x64,state:512x1x0.k3,full:8x64",
        {**PLAIN, "conv_L_cache": 3, "full_attn_idxs": [1, 3]},
    ),
    "Kimi's layer numbers count from 1": (
        "3*state:8x16x16.g8.k4,mla:512-64",
        {
            **LATENT,
            "linear_attn_config": {
                "full_attn_layers": [4], "kda_layers": [1, 2, 3], "num_heads": 8, "head_dim": 16,
                "short_conv_kernel_size": 4,
            },
        },
    ),
    "MiniMax's list of kinds": (
        "state:8x64x64,full:8x64,state:8x64x64,full:8x64",
        {**PLAIN, "attn_type_list": [0, 1, 0, 1]},
    ),
    "RecurrentGemma's repeating blocks": (
        "2*state:512x1x1.k4.float32,sliding:8x64@32,state:512x1x1.k4.float32",
        {
            **PLAIN, "block_types": ["recurrent", "recurrent", "attention"],
            "attention_window_size": 32, "lru_width": 512, "conv1d_width": 4,
        },
    ),
    "Gemma 3 12B leaves its head width to its class": (
        "5*sliding:8x256@1024,full:8x256",
        {
            "model_type": "gemma3",
            "text_config": {
                "model_type": "gemma3_text", "hidden_size": 3840, "num_attention_heads": 16,
                "num_key_value_heads": 8, "num_hidden_layers": 6, "sliding_window": 1024,
            },
        },
    ),
    "LLaVA leaves everything to Llama's class": (
        "32*full:32x128",
        {"model_type": "llava", "text_config": {"model_type": "llama", "vocab_size": 32064}},
    ),
    "a nested class default does not outlive other heads": (
        "32*full:16x128",
        {
            "model_type": "llava",
            "text_config": {
                "model_type": "llama", "num_attention_heads": 16, "hidden_size": 2048,
            },
        },
    ),
    "layers that share a cache": ("2*full:8x64,2*shared", {**PLAIN, "num_kv_shared_layers": 2}),
    "a network found by search": (
        "full:2x64,none,sliding:8x64@128",
        {
            **PLAIN,
            "block_configs": [
                {"attention": {"n_heads_in_group": 4, "no_op": False}},
                {"attention": {"n_heads_in_group": None, "no_op": True}},
                {"attention": {"num_key_value_heads": 8, "window_length": 128}},
            ],
        },
    ),
    "Whisper": (
        "4*full:6x64/cross:6x64@1500",
        {
            "model_type": "whisper", "is_encoder_decoder": True, "decoder_layers": 4,
            "encoder_layers": 6, "num_hidden_layers": 6, "decoder_attention_heads": 6,
            "d_model": 384, "max_source_positions": 1500, "vocab_size": 51865, "num_mel_bins": 80,
        },
    ),
    "T5": (
        "6*full:8x64/cross:8x64",
        {
            "is_encoder_decoder": True, "num_layers": 4, "num_decoder_layers": 6, "num_heads": 8,
            "d_kv": 64, "d_model": 512,
        },
    ),
    "cross attention to images": (
        "full:8x64,cross:8x64,2*full:8x64",
        {**PLAIN, "cross_attention_layers": [1]},
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("layers", "config"), [pytest.param(*pair, id=name) for name, pair in CONFIGS.items()]
)
def test_config_to_layers(layers, config):
    """Each way of saying it ends in the layers that the model's code builds."""
    assert expanded(layers) == expanded(to_text(read_tree(config).stack))


def expanded(text):
    """Layers one by one, so that a different folding does not matter."""
    return from_text("layers", text).layers


REFUSALS = {
    "no layers": ("missing_key", {"num_attention_heads": 8, "hidden_size": 512}),
    "no heads": ("missing_key", {"num_hidden_layers": 4, "hidden_size": 512}),
    "no width": ("missing_key", {"num_hidden_layers": 4, "num_attention_heads": 8}),
    "width does not divide": ("does_not_divide", {**PLAIN, "num_attention_heads": 7}),
    "text where a number is due": ("text_for_number", {**PLAIN, "num_hidden_layers": "many"}),
    "a number as text": ("text_for_number", {**PLAIN, "num_attention_heads": "8"}),
    "a number as text in a list": (
        "text_for_number",
        {**PLAIN, "num_key_value_heads": [8, "8", 8, 8]},
    ),
    "a flag as text": ("key_not_flag", {**PLAIN, "use_sliding_window": "false"}),
    "a type's name as a number": ("key_not_text", {**PLAIN, "model_type": 4}),
    "layer_types as a text": ("key_not_list", {**PLAIN, "layer_types": "full_attention"}),
    "layer_types as an object": ("key_not_list", {**PLAIN, "layer_types": {"0": "full"}}),
    "a list of layers as a number": ("key_not_list", {**PLAIN, "cross_attention_layers": 1}),
    "text_config as a text": ("key_not_object", {**PLAIN, "text_config": "llama"}),
    "quantization_config as a list": ("key_not_object", {**PLAIN, "quantization_config": [8]}),
    "per_layer_config as a list": ("key_not_object", {**PLAIN, "per_layer_config": [{}]}),
    "one layer's config as a number": ("key_not_object", {**PLAIN, "per_layer_config": {"0": 1}}),
    "a layer that is no number": ("bad_value", {**PLAIN, "per_layer_config": {"first": {}}}),
    "a block that is no object": ("key_not_object", {**PLAIN, "block_configs": [1]}),
    "a block without attention": ("missing_key", {**PLAIN, "block_configs": [{"ffn": {}}]}),
    "indexers of too few layers": (
        "layers_differ",
        {**LATENT, "index_head_dim": 128, "indexer_types": ["full"]},
    ),
    "rotary marks of too few layers": (
        "layers_differ",
        {**PLAIN, "attention_chunk_size": 32, "no_rope_layers": [1, 0]},
    ),
    "sparse marks of too few layers": (
        "layers_differ",
        {
            **PLAIN,
            "sparse_attention_config": {
                "use_sparse_attention": True,
                "sparse_index_dim": 32,
                "sparse_attention_freq": [1],
            },
        },
    ),
    "true where a number is due": ("bad_value", {**PLAIN, "num_hidden_layers": True}),
    "a part of a layer": ("bad_value", {**PLAIN, "num_hidden_layers": 4.5}),
    "negative": ("out_of_range", {**PLAIN, "num_key_value_heads": -1}),
    "endless layers": ("too_many", {**PLAIN, "num_hidden_layers": 1_000_000}),
    "a list too short": ("layers_differ", {**PLAIN, "layer_types": ["full_attention"]}),
    "an unknown kind of layer": ("layer_kind", {**PLAIN, "layer_types": ["quantum"] * 4}),
    "compressed attention": ("layer_kind", {**PLAIN, "compress_ratios": [4] * 4}),
    "looped layers": ("layer_kind", {**PLAIN, "n_recurrent_loops": 2}),
    "hashed memories": ("layer_kind", {**PLAIN, "model_type": "reformer"}),
    "a state without a shape": ("state_shape", {**PLAIN, "layer_types": ["linear_attention"] * 4}),
    "an encoder": ("no_decoder", {**PLAIN, "model_type": "bert", "vocab_size": 30522}),
    "an encoder by its architecture": (
        "no_decoder",
        {**PLAIN, "architectures": ["NewForMaskedLM"], "vocab_size": 1},
    ),
    "an image model": ("no_decoder", {**PLAIN, "model_type": "vit", "patch_size": 16}),
    "nothing at all": ("no_decoder", {}),
    "a window without a size": (
        "missing_key",
        {**PLAIN, "layer_types": ["sliding_attention"] * 4},
    ),
    "an unknown type": ("unknown_dtype", {**PLAIN, "dtype": "fp7"}),
}


@pytest.mark.parametrize(
    ("reason", "config"), [pytest.param(*pair, id=name) for name, pair in REFUSALS.items()]
)
def test_refusals_are_named(reason, config):
    """What cannot be decided ends in its reason, for the field of the config."""
    with pytest.raises(ParameterError) as caught:
        read_tree(config)

    assert ("config", reason) == (caught.value.field, caught.value.reason)


@pytest.mark.parametrize(
    ("key", "config"),
    [
        pytest.param("num_hidden_layers", {**PLAIN, "num_hidden_layers": "4"}, id="a text"),
        pytest.param("num_key_value_heads[1]", {**PLAIN, "num_key_value_heads": [1, "1", 1, 1]},
                     id="an entry of a list"),
        pytest.param("text_config.head_dim", {"text_config": {**PLAIN, "head_dim": "64"}},
                     id="a nested key"),
        pytest.param("layer_types", {**PLAIN, "layer_types": 4}, id="a structural key"),
        pytest.param("per_layer_config.2", {**PLAIN, "per_layer_config": {"2": []}},
                     id="a layer's own object"),
    ],
)  # fmt: skip
def test_the_key_is_named(key, config):
    """A value of the wrong type is refused with the path of its key."""
    with pytest.raises(ParameterError) as caught:
        read_config(json.dumps(config))

    assert key == caught.value.limits["key"]


def test_numbers_as_text_matter_only_where_they_are_used():
    """A key that the cache does not depend on may hold anything."""
    assert "4*full:8x64" == to_text(read_tree({**PLAIN, "vocab_size": "many"}).stack)


TEXTS = {
    "empty": ("empty_text", " \n"),
    "cut off": ("cut_off", json.dumps(PLAIN)[:30]),
    "cut off in a word": ("cut_off", '{"num_hidden_layers": 4, "hid'),
    "a list": ("not_an_object", "[1, 2]"),
    "a number": ("not_an_object", "42"),
    "HTML": ("html", "<!doctype html><html>"),
    "comments": ("not_json", '{"num_hidden_layers": 4, // layers\n "hidden_size": 512}'),
    "50 MB": ("text_too_long", " " * 50_000_000),
    "nested 10,000 deep": ("too_deep", '{"a":' * 10_000 + "1" + "}" * 10_000),
    "10,000 digits": ("out_of_range", '{"num_hidden_layers": ' + "9" * 10_000 + "}"),
    "NaN": ("bad_value", '{"num_hidden_layers": NaN}'),
    "1e400": ("bad_value", '{"num_hidden_layers": 1e400}'),
    "a picture": ("not_text", "\ufffdPNG\r\n\x1a\n\x00\x00\x00\rIHDR"),
    "NUL in the middle": ("not_text", '{"num_hidden_layers":\x00 4}'),
    "a key twice": ("key_twice", '{"num_hidden_layers": 4, "num_hidden_layers": 5}'),
    "a nested key twice": ("key_twice", '{"text_config": {"head_dim": 1, "head_dim": true}}'),
    "full-width digits": ("text_for_number", '{"num_hidden_layers": "３２"}'),
}


@pytest.mark.parametrize(
    ("reason", "text"), [pytest.param(*pair, id=name) for name, pair in TEXTS.items()]
)
def test_bad_texts(reason, text):
    """Each kind of bad text ends in one reason, never in a traceback."""
    with pytest.raises(ParameterError) as caught:
        read_config(text)

    assert reason == caught.value.reason


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("\ufeff" + json.dumps(PLAIN), id="byte order mark"),
        pytest.param(json.dumps(PLAIN, indent=1).replace("\n", "\r\n"), id="CRLF"),
        pytest.param(json.dumps({**PLAIN, "rope_theta": float("nan")}), id="NaN that no one needs"),
        pytest.param(json.dumps({**PLAIN, "seed": 10**300}), id="a long number no one needs"),
        pytest.param('{"num_hidden_layers": 4, ' + json.dumps(PLAIN)[1:], id="a key twice, equal"),
        pytest.param(json.dumps({**PLAIN, "note": "\ufffd"}), id="a replacement character"),
    ],
)
def test_harmless_oddities(text):
    """A mark, line ends and odd values of other keys change nothing."""
    assert "4*full:8x64" == to_text(read_config(text).stack)


def test_what_was_used_and_what_was_not():
    """The reading lists the keys that it used with their values, and the rest by name."""
    reading = read_tree({**PLAIN, "torch_dtype": "bfloat16", "rope_theta": 1e6})

    assert 4 == reading.facts["num_hidden_layers"]
    assert "bfloat16" == reading.dtype
    assert ("rope_theta",) == reading.ignored


def test_draft_layers_stand_apart():
    """Layers that predict further tokens are not in the stack."""
    reading = read_tree({**LATENT, "num_nextn_predict_layers": 2})

    assert ("4*mla:512-64", "2*mla:512-64") == (to_text(reading.stack), to_text(reading.draft))


@pytest.mark.parametrize(
    ("kv_dtype", "block"),
    [
        pytest.param(None, {"quant_method": "fp8"}, id="weights say nothing"),
        pytest.param(None, {"quant_method": "x", "kv_cache_scheme": None}, id="null"),
        pytest.param("fp8", {"kv_cache_scheme": {"num_bits": 8, "type": "float"}}, id="scheme"),
        pytest.param("fp8", {"kv_cache_scheme": "FP8"}, id="scheme by name"),
        pytest.param("fp8", {"kv_cache_quant_algo": "FP8"}, id="modelopt"),
    ],
)
def test_quantisation_of_the_cache(kv_dtype, block):
    """Only a block that names the cache's type sets it."""
    assert kv_dtype == read_tree({**PLAIN, "quantization_config": block}).kv_dtype


def test_a_window_without_layers_is_an_assumption():
    """That every layer slides is said, with the key that would settle it."""
    reading = read_tree({**PLAIN, "sliding_window": 128})

    assert [("window_layers", "layer_types")] == [(a.name, a.key) for a in reading.assumptions]


def test_class_defaults_are_named():
    """A figure that the config leaves to its model's class is an assumption, by its key."""
    reading = read_tree({"model_type": "llava", "text_config": {"model_type": "llama"}})

    assert ("class_default", "num_hidden_layers") in [(a.name, a.key) for a in reading.assumptions]


def test_a_bare_config_is_not_filled_from_its_class():
    """At the top level a missing number of layers is asked for."""
    with pytest.raises(ParameterError) as caught:
        read_tree({"model_type": "llama", "num_attention_heads": 8, "hidden_size": 512})

    assert caught.value.limits["key"] == "num_hidden_layers"


def test_values_by_layer_need_no_order():
    """Equal layers are built once, also in a long model."""
    reading = read_tree({**PLAIN, "num_hidden_layers": 10_000})

    assert 1 == len({id(layer) for layer in reading.stack.layers})


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 2**70) | st.floats() | st.text(max_size=5)
    | st.sampled_from(["full_attention", "mamba", "32", "float8"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)  # fmt: skip


@given(
    st.sampled_from([config for _, config in CONFIGS.values()]),
    st.lists(st.tuples(st.integers(0, 99), VALUES), min_size=1, max_size=3),
)
def test_any_value_anywhere_ends_in_an_answer_or_a_reason(config, changes):
    """No value of any key ends in another exception."""
    changed = dict(config)
    for place, value in changes:
        changed[list(changed)[place % len(changed)]] = value
    try:
        reading = read_config(json.dumps(changed))
    except ParameterError as error:
        assert "config" == error.field  # noqa: PT017
    else:
        assert 10_000 >= len(reading.stack.layers)


@given(st.integers(0, 200), st.sampled_from([config for _, config in CONFIGS.values()]))
def test_any_cut_ends_in_an_answer_or_a_reason(length, config):
    """A config cut anywhere is refused with one reason."""
    text = json.dumps(config)[:length]
    try:
        read_config(text)
    except ParameterError as error:
        assert error.reason in {"cut_off", "not_json", "empty_text"}  # noqa: PT017


@pytest.mark.skipif(not SHARED.is_dir(), reason="the handed config files are not beside this tree")
def test_handed_config_files():
    """Every whole file ends in layers, but for the model with compressed attention."""
    refused = []
    for path in sorted(SHARED.glob("*.json")):
        try:
            read_config(path.read_text(encoding="utf-8"))
        except ParameterError:
            refused.append(path.stem)

    assert ["deepseek-ai--DeepSeek-V4-Flash"] == refused
