"""vLLM's pool against rules read from its source and figures it printed."""

import dataclasses
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculators.form.errors import ParameterError
from calculators.kv.dtypes import dtype
from calculators.kv.engines import vllm
from calculators.kv.engines.vllm_pages import Options, attention_block, page_bytes, pages
from calculators.kv.engines.vllm_steps import derivation
from calculators.kv.layers import Stack
from calculators.kv.notation import from_text

GIB = 1024**3
GEMMA = "10*(5*sliding:16x128@1024,full:16x128),2*sliding:16x128@1024"
QWEN_27B = "16*(3*state:48x128x128.g16.k4.float32,full:4x256)"
QWEN_35B = "10*(3*state:32x128x128.g16.k4.float32,full:2x256)"


def options(**changes):
    """Options with a bfloat16 cache unless said otherwise."""
    bf16 = dtype("dtype", "bfloat16")
    kv = dtype("kv", changes.pop("kv", "bfloat16"))
    return Options(kv_cache_dtype=kv, dtype=bf16, **changes)


def stack(text):
    """Layers of a text."""
    return from_text("layers", text)


def only(text):
    """The one cache of a text."""
    return next(iter(stack(text).counts))


@pytest.mark.parametrize(
    ("size", "text", "kv"),
    [
        pytest.param(16 * 8 * 256 * 2, "full:8x128", "bf16", id="full"),
        pytest.param(16 * 8 * (192 + 128) * 2, "full:8x192-128", "bf16", id="full, V narrower"),
        pytest.param(16 * 8 * 2 * 192 * 2, "sliding:8x192-128@9", "bf16", id="sliding: K's width"),
        pytest.param(16 * 8 * 256, "full:8x128", "fp8", id="fp8 a tensor: no scales"),
        pytest.param(
            16 * 8 * 256 + 2 * 16 * 8 * 4, "full:8x128", "fp8_per_token_head", id="scales a row"
        ),
        pytest.param(16 * 8 * 2 * (64 + 8), "full:8x128", "nvfp4", id="NVFP4"),
        pytest.param(16 * 8 * 2 * 128, "sliding:8x128@9", "nvfp4", id="sliding NVFP4: unpacked"),
        pytest.param(16 * 576 * 2, "mla:512-64", "bf16", id="latent: one tensor"),
        pytest.param(16 * 132, "index:128", "bf16", id="index keys: fp8 with scales"),
    ],
)
def test_page_bytes(size, text, kv):
    """A page of 16 tokens in one layer."""
    assert page_bytes(only(text), 16, options(kv=kv)) == size


def test_ds_mla_rows():
    """``fp8_ds_mla`` takes 656 bytes a token."""
    assert page_bytes(only("mla:512-64"), 64, options(kv="fp8", ds_mla=True)) == 64 * 656


@pytest.mark.parametrize(
    ("count", "text", "changes"),
    [
        pytest.param(512, "full:8x128", {}, id="full"),
        pytest.param(513, "sliding:8x128@1024", {}, id="sliding, all of it in one batch"),
        pytest.param(
            193, "sliding:8x128@1025", {"max_num_batched_tokens": 2048}, id="window and one batch"
        ),
        pytest.param(
            192, "chunked:8x128@1024", {"max_num_batched_tokens": 2048}, id="chunk and one batch"
        ),
        pytest.param(512, "cross:8x128@1500", {}, id="the encoder budget, not 1,500 positions"),
        pytest.param(94, "cross:8x128", {"max_encoder_tokens": 1500}, id="a stated budget"),
        pytest.param(1, QWEN_27B, {}, id="a state"),
        pytest.param(3, QWEN_27B, {"num_speculative_tokens": 2}, id="a state a draft token"),
        pytest.param(2, QWEN_27B, {"mamba_cache_mode": "align"}, id="states kept at block ends"),
        pytest.param(64, "full:8x128", {"decode_context_parallel_size": 8}, id="a share of tokens"),
    ],
)
def test_pages_of_a_request(count, text, changes):
    """Pages that 8,192 tokens can need in one layer."""
    chosen = options(max_model_len=8192, **changes)

    assert pages(vllm.groups_of(stack(text), chosen)[0].spec, chosen) == count


@pytest.mark.parametrize(
    ("block", "text", "changes"),
    [
        pytest.param(784, QWEN_27B, {}, id="27B bf16"),
        pytest.param(1056, QWEN_35B, {}, id="35B-A3B"),
        pytest.param(2096, QWEN_35B, {"kv": "fp8"}, id="35B-A3B fp8"),
        pytest.param(1568, QWEN_27B, {"kv": "fp8"}, id="27B fp8"),
        pytest.param(1568, QWEN_27B, {"kv": "fp8", "tensor_parallel_size": 2}, id="27B fp8 tp2"),
        pytest.param(
            1600, QWEN_27B, {"kv": "fp8", "num_speculative_tokens": 2}, id="27B fp8, two drafts"
        ),
        pytest.param(4096, QWEN_27B, {"block_size": 4096}, id="large enough already"),
        pytest.param(16, "full:8x128", {}, id="no state: as it was"),
    ],
)
def test_enlarged_attention_block(block, text, changes):
    """Beside state layers the attention block grows until its page holds a state."""
    chosen = options(**changes)
    ranked = stack(text).on_rank(chosen.tensor_parallel_size)

    assert attention_block(list(ranked.counts), chosen) == block


@pytest.mark.parametrize(
    ("layers", "padding", "text"),
    [
        pytest.param([32], 0, "32*full:8x128", id="one kind: one group"),
        pytest.param([10, 9, 9, 9, 9, 8, 8], 8, None, id="Gemma 3: ten a group, the rest padded"),
        pytest.param([13, 12], 1, "13*full:8x64,12*sliding:8x64@128", id="similar: the larger"),
        pytest.param([12] * 4, 0, "12*(3*chunked:8x128@8192,full:8x128)", id="Llama 4"),
        pytest.param([16] * 4, 0, QWEN_27B, id="states and attention"),
        pytest.param([1], 0, "2*full:8x128,2*full:4x128", id="several widths: one page"),
        pytest.param([1], 0, "61*mla:512-64/index:128", id="latent rows and index keys: one page"),
    ],
)
def test_groups(layers, padding, text):
    """Layers of a kind are dealt out to groups of equal size."""
    groups = vllm.groups_of(stack(text or GEMMA), options(max_model_len=8192))

    assert sorted((group.layers for group in groups), reverse=True) == layers
    assert sum(group.padding_layers for group in groups) == padding


def test_pages_are_made_equal():
    """Gemma 4: the full layers' blocks are enlarged until all pages are as large."""
    groups = vllm.groups_of(stack("5*(5*sliding:8x256@1024,full:2x512)"), options())

    assert {group.spec.page_bytes for group in groups} == {16 * 8192}
    assert {group.spec.block_size for group in groups} == {16, 32}


def test_pages_that_cannot_be_made_equal():
    """Widths that do not divide are refused with their pages, as in vLLM."""
    with pytest.raises(ParameterError) as caught:
        vllm.groups_of(stack("full:3x64,sliding:2x64@128"), options())

    assert caught.value.reason == "pages_differ"


def test_without_the_hybrid_manager():
    """Windows count as full attention: one group of all layers."""
    chosen = options(max_model_len=8192, disable_hybrid_kv_cache_manager=True)

    assert [group.layers for group in vllm.groups_of(stack(GEMMA), chosen)] == [62]


def test_states_need_the_hybrid_manager():
    """Without it vLLM does not start a model with state layers."""
    with pytest.raises(ParameterError) as caught:
        vllm.groups_of(stack(QWEN_27B), options(disable_hybrid_kv_cache_manager=True))

    assert caught.value.reason == "hybrid_disabled"


def test_gemma3_27b_as_printed():
    """19.53 GiB on one H100: 36,560 tokens and 4.46 requests of 8,192 (vLLM 0.19.0)."""
    found = vllm.pool_of_blocks(stack(GEMMA), options(max_model_len=8192), 15999)

    assert (found.tokens, f"{found.concurrency:.2f}") == (36560, "4.46")
    assert found.pages_per_request == (513, 513, 513, 513, 513, 513, 512)


def test_both_generations_of_the_token_line():
    """Blocks over groups up to 0.19; concurrency times length from 0.24."""
    old = vllm.pool_of_blocks(stack(QWEN_27B), options(max_model_len=32768), 1487)
    new = dataclasses.replace(old, options=options(max_model_len=32768, report="concurrency"))

    assert old.tokens == 290864
    assert new.tokens == int(1487 / 45 * 32768)


@pytest.mark.parametrize(
    ("blocks", "tp", "text"),
    [
        pytest.param(GIB // (16 * 2 * 32 * 8 * 128 * 2), 1, "32*full:8x128", id="one rank"),
        pytest.param(GIB // (16 * 2 * 32 * 1 * 128 * 2), 8, "32*full:8x128", id="heads split"),
        pytest.param(GIB // (16 * 2 * 32 * 1 * 128 * 2), 16, "32*full:8x128", id="replicated"),
        pytest.param(GIB // (16 * 61 * 576 * 2), 8, "61*mla:512-64", id="latent: every rank"),
    ],
)
def test_blocks_of_one_gib(blocks, tp, text):
    """Floor of memory over a block's bytes on one rank."""
    found = vllm.pool(stack(text), options(tensor_parallel_size=tp), GIB)

    assert found.num_blocks == blocks
    assert found.usable_blocks == blocks - 1
    assert found.allocated_bytes <= GIB


def test_pipeline_ranks_share_the_smallest_number():
    """Of 61 layers on two ranks the one with 31 limits; with less memory, the other does."""
    chosen = options(pipeline_parallel_size=2)
    layers = stack("61*full:8x128")
    page = 16 * 2 * 8 * 128 * 2

    assert vllm.pool(layers, chosen, GIB).num_blocks == GIB // (31 * page)
    assert vllm.pool(layers, chosen, [GIB // 2, GIB]).num_blocks == min(
        GIB // 2 // (31 * page), GIB // (30 * page)
    )


def test_pipeline_ranks_of_a_hybrid_model():
    """Each rank holds the places of its own layers in the whole model's groups."""
    layers = stack("8*(3*sliding:8x64@128,full:8x64)")
    one = vllm.pool(layers, options(), GIB)
    two = vllm.pool(layers, options(pipeline_parallel_size=2), GIB)

    assert two.num_blocks == 2 * one.num_blocks


def test_printed_tokens_to_blocks():
    """A token line stands for as many block counts as there are groups."""
    chosen = options(max_model_len=8192)

    assert list(vllm.blocks_of_tokens(stack(GEMMA), chosen, 36560)) == list(range(15995, 16002))
    assert not list(vllm.blocks_of_tokens(stack(GEMMA), chosen, 36561))


def test_nothing_cached():
    """A model without caches has no pool."""
    with pytest.raises(ParameterError) as caught:
        vllm.groups_of(stack("4*none"), options())

    assert caught.value.reason == "nothing_cached"


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 10**12))
def test_blocks_are_never_more_than_fit(full, sliding, memory):
    """For any two buckets the blocks fit, and one more would not."""
    layers = Stack(stack("full:8x64").layers * full + stack("sliding:8x64@128").layers * sliding)
    found = vllm.pool(layers, options(), memory)
    places = sum(g.layers + g.padding_layers for g in found.groups) // len(found.groups)

    assert found.num_blocks * found.bytes_per_block <= memory
    assert (found.num_blocks + 1) * found.bytes_per_block > memory
    assert found.bytes_per_block == places * 16 * 8 * 64 * 2 * 2
    assert sum(group.layers for group in found.groups) == full + sliding


def test_derivation_ends_in_the_printed_lines():
    """The last lines are what the log shows, and expressions hold the numbers before."""
    layers = stack(GEMMA)
    found = vllm.pool(layers, options(max_model_len=8192), int(Fraction("19.53") * GIB))
    lines = {line.name: line for line in derivation(found)}

    assert lines["tokens"].value == found.tokens
    assert lines["concurrency"].value == found.concurrency
    assert lines["groups"].expression == "⌈52 ÷ 10⌉ + ⌈10 ÷ 10⌉"


MIMO = (
    "full:4x192-128,4*sliding:8x192-128@128,7*(full:4x192-128,5*sliding:8x192-128@128),"
    "full:4x192-128"
)


def test_windows_with_a_narrower_v():
    """MiMo-V2-Flash starts where windowed specs know V's width: pages of 32 and 16 tokens."""
    result = vllm.pool(stack(MIMO), options(max_model_len=8192), 40 * GIB)

    assert {32, 16} == {group.spec.block_size for group in result.groups}
    assert {16 * 8 * (192 + 128) * 2} == {group.spec.page_bytes for group in result.groups}


@given(st.integers(1, 10**6), st.integers(1, 10**5), st.sampled_from(["groups", "concurrency"]))
def test_blocks_of_tokens_invert_the_token_line(blocks, length, report):
    """The block count is among those that print its own token line, and all of them print it."""
    setting = options(max_model_len=length, report=report)
    tokens = vllm.pool_of_blocks(stack(GEMMA), setting, blocks).tokens
    found = vllm.blocks_of_tokens(stack(GEMMA), setting, tokens)
    ends = {vllm.pool_of_blocks(stack(GEMMA), setting, n).tokens for n in (found[0], found[-1])}

    assert blocks in found
    assert {tokens} == ends
