"""Bytes of real cache tensors of tiny random models, against the payload of their own config.

Runs where PyTorch and transformers are installed; they are no part of this project's tools.
"""

import json
import logging

import pytest

from calculators.form.lengths import Lengths, Run
from calculators.kv.config import read_config
from calculators.kv.dtypes import dtype
from calculators.kv.payload import as_transformers, payload

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")

TOKENS, SEQUENCES, WINDOW = 12, 2, 8
SMALL = {
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_attention_heads": 4,
    "num_hidden_layers": 4,
    "vocab_size": 64,
    "pad_token_id": 0,
}
TINY_GPT = {"n_embd": 64, "n_head": 4, "n_layer": 4, "vocab_size": 64}
GQA = {"num_key_value_heads": 2}
LINEAR = {
    "linear_num_value_heads": 4,
    "linear_num_key_heads": 2,
    "linear_key_head_dim": 16,
    "linear_value_head_dim": 16,
    "linear_conv_kernel_dim": 4,
}
MLA = {
    "kv_lora_rank": 16,
    "qk_rope_head_dim": 8,
    "qk_nope_head_dim": 16,
    "v_head_dim": 16,
    "q_lora_rank": None,
    "first_k_dense_replace": 4,
}
HALF_SLIDING = ["sliding_attention", "full_attention"] * 2
MODELS = {
    "gpt2": TINY_GPT,
    "llama": GQA,
    "qwen3": {**GQA, "head_dim": 32},
    "mistral": {**GQA, "sliding_window": WINDOW},
    "gemma2": {**GQA, "head_dim": 16, "sliding_window": WINDOW},
    "gemma3_text": {**GQA, "head_dim": 16, "sliding_window": WINDOW, "layer_types": HALF_SLIDING},
    "gpt_oss": {
        **GQA, "head_dim": 16, "sliding_window": WINDOW, "num_local_experts": 2,
        "num_experts_per_tok": 1, "layer_types": HALF_SLIDING,
    },
    "falcon": {"multi_query": True, "new_decoder_architecture": False},
    "gpt_bigcode": {**TINY_GPT, "multi_query": True},
    "mamba2": {"num_heads": 8, "head_dim": 16, "state_size": 16, "n_groups": 1, "expand": 2},
    "lfm2": {
        **GQA, "conv_L_cache": 3, "block_auto_adjust_ff_dim": False,
        "layer_types": ["conv", "full_attention"] * 2,
    },
    "qwen3_next": {
        **GQA, **LINEAR, "head_dim": 16, "num_experts": 2, "num_experts_per_tok": 1,
        "moe_intermediate_size": 32, "shared_expert_intermediate_size": 32,
        "layer_types": ["linear_attention", "full_attention"] * 2,
    },
    "deepseek_v3": MLA,
}  # fmt: skip


def tensors(item, seen):
    """Every tensor below a cache object, once each."""
    if isinstance(item, torch.Tensor):
        if id(item) not in seen:
            seen.add(id(item))
            yield item
        return
    if isinstance(item, dict):
        children = item.values()
    elif isinstance(item, list | tuple):
        children = item
    elif hasattr(item, "__dict__") and type(item).__module__.startswith("transformers"):
        if id(item) in seen:
            return
        seen.add(id(item))
        children = vars(item).values()
    else:
        return
    for child in children:
        yield from tensors(child, seen)


def cache_of(name, changes):
    """(config, cache after a forward pass) of a tiny random model."""
    logging.disable(logging.WARNING)
    torch.manual_seed(0)
    small = {} if "n_embd" in changes else SMALL
    config = transformers.AutoConfig.for_model(name, **{**small, **changes})
    model = transformers.AutoModelForCausalLM.from_config(config).to(torch.float32).eval()
    tokens = torch.randint(1, 60, (SEQUENCES, TOKENS))
    with torch.no_grad():
        out = model(tokens, use_cache=True)
    cache = getattr(out, "past_key_values", None)
    return config, cache if cache is not None else out.cache_params


def payload_bytes(stack):
    """The payload in bytes, all of it float32."""
    kv = dtype("kv", "float32")
    return payload(stack, kv, Lengths((Run(TOKENS, SEQUENCES),)), model=kv).bytes


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_real_tensors(name):
    """A forward pass leaves the payload's bytes, windows and convolutions as transformers does.

    Between two passes transformers keeps a full window less one token, and a convolution's whole
    kernel; engines and the payload count the window, and the kernel less one.
    """
    config, cache = cache_of(name, MODELS[name])
    stack = read_config(json.dumps(json.loads(config.to_json_string(use_diff=False)))).stack
    held = sum(t.numel() * t.element_size() for t in tensors(cache, set()) if t.dim() > 1)

    assert held == payload_bytes(as_transformers(stack))
    if as_transformers(stack) == stack:
        assert held == payload_bytes(stack)
