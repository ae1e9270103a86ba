"""Derivations: every written expression, computed anew, gives the value beside it."""

import math
import re

import pytest

from calculators.kv.dtypes import dtype
from calculators.kv.engines import llamacpp, sglang, tensorrt_llm, vllm, vllm_steps
from calculators.kv.engines.steps import GIB
from calculators.kv.engines.vllm_pages import Options
from calculators.kv.notation import from_text

STACKS = {
    "plain": "32*full:8x128",
    "several widths": "2*full:8x128,2*full:4x192-128",
    "latent": "61*mla:512-64",
    "sparse": "61*mla:512-64/index:128",
    "windows": "10*(5*sliding:16x128@1024,full:16x128),2*sliding:16x128@1024",
    "two widths of head": "5*(5*sliding:8x256@1024,full:2x512)",
    "states": "16*(3*state:48x128x128.g16.k4.float32,full:4x256)",
}
TYPES = ["bf16", "fp8", "fp8_per_token_head"]


def value(expression):
    """The value of a written expression."""
    text = expression.replace("×", "*").replace("÷", "/").replace("−", "-")
    text = text.replace("⌊", "math.floor(").replace("⌈", "math.ceil(")
    return eval(re.sub("[⌋⌉]", ")", text), {"math": math, "min": min})  # noqa: S307


def check(lines):
    """Every line's expression gives its value, within the shown digits."""
    seen = list(lines)
    assert seen
    for line in seen:
        assert value(line.expression) == pytest.approx(float(line.value), rel=1e-5), line


@pytest.mark.parametrize(
    ("name", "kv"),
    [
        (name, kv)
        for name in STACKS
        for kv in TYPES
        # The pages of these two have no common size: vLLM refuses them, and so do we.
        if (name, kv) != ("two widths of head", "fp8_per_token_head")
    ],
)
def test_vllm(name, kv):
    """From the bytes of a token to the printed lines."""
    bf16, layers = dtype("dtype", "bf16"), STACKS[name]
    options = Options(kv_cache_dtype=dtype("kv", kv), dtype=bf16, max_model_len=8192)
    lines = vllm_steps.derivation(vllm.pool(from_text("layers", layers), options, 10 * GIB))

    if kv == "fp8_per_token_head" and "mla" in layers:  # one scale more than the row has
        lines = (line for line in lines if line.name != "token_bytes")
    check(lines)


@pytest.mark.parametrize("layers", STACKS.values(), ids=STACKS)
def test_sglang(layers):
    """From the cell to the tokens of both pools."""
    stack = from_text("layers", layers)
    bf16 = dtype("dtype", "bf16")
    options = sglang.Options(kv_cache_dtype=bf16, dtype=bf16)

    check(sglang.derivation(stack, sglang.pool(stack, options, 10 * GIB), 10 * GIB))


@pytest.mark.parametrize("unified", [True, False])
@pytest.mark.parametrize("kv", ["f16", "q8_0"])
@pytest.mark.parametrize("layers", [STACKS[name] for name in ("plain", "latent", "windows")])
def test_llamacpp(layers, kv, unified):
    """From the context to the bytes of both buffers, which add up to the whole."""
    stack = from_text("layers", layers)
    kind = dtype("kv", kv)
    options = llamacpp.Options(
        ctx_size=65535, cache_type_k=kind, cache_type_v=kind, parallel=4, kv_unified=unified
    )
    lines = list(llamacpp.derivation(stack, options))

    check(lines)
    total = sum(line.value for line in lines if line.name in {"k_bytes", "v_bytes"})
    assert total == llamacpp.allocate(stack, options).bytes


@pytest.mark.parametrize("layers", [STACKS[name] for name in ("plain", "latent", "several widths")])
def test_tensorrt(layers):
    """From the bytes of a token to the pool."""
    stack = from_text("layers", layers)
    options = tensorrt_llm.Options(kv_cache_dtype=dtype("kv", "fp16"))
    pool = tensorrt_llm.pool(stack, options, 10 * GIB)

    check(tensorrt_llm.derivation(stack, options, pool, 10 * GIB))
