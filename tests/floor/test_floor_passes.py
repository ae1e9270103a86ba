"""Passes: hand-worked figures, a naive count as oracle, and what must always hold."""

from fractions import Fraction

import pytest
from floor_models import (
    GIGA,
    H100,
    LLAMA_8B,
    TERA,
    machine,
    mixture,
    model,
    token_by_token,
)
from hypothesis import given
from hypothesis import strategies as st

from calculators.floor.attending import EXPANDED_WIDTH, SELECTED_TOKENS
from calculators.floor.batches import compute_bound_batch, critical_batch
from calculators.kv.dtypes import dtype

MS = Fraction(1, 1000)
STACKS = (
    "32*full:8x128",
    "8*(3*sliding:8x64@128,full:8x64)",
    "6*chunked:4x64@64",
    "61*mla:512-64",
    "12*(mla:512-64/index:128)",
    "4*(3*state:32x64x128.g8.k4,full:2x128)",
    "4*cross:8x64@150,4*cross:8x64,full:8x64",
    "full:8x128,shared,none",
)


def test_llama_on_an_h100():
    """16.06 GB over 3.35 TB/s are 4.79 ms; 32 sequences of 2,048 tokens add 8.59 GB, 2.56 ms."""
    one = model().steps(2048).step(32)

    assert Fraction(16_060_522_496, 3350 * GIGA) == one.weights_s
    assert Fraction(32 * 2048 * 131_072, 3350 * GIGA) == one.kv_s
    assert 479 == round(one.weights_s / MS * 100)
    assert 256 == round(one.kv_s / MS * 100)
    assert one.weights_s + one.kv_s == one.seconds
    assert "memory" == one.bound


def test_the_work_of_that_step():
    """2 FLOP a parameter and sequence, and 2 × 32 heads × 256 × 2,048 keys × 32 layers."""
    one = model().steps(2048).step(32)

    assert 2 * 8_030_261_248 * 32 == one.linear_flop
    assert 32 * 2 * 32 * 32 * 256 * 2048 == one.attention_flop
    assert (one.linear_flop + one.attention_flop) / Fraction(989 * TERA) == one.compute_s
    assert (one.linear_flop + one.attention_flop) / (
        16_060_522_496 + 32 * 2048 * 131_072
    ) == one.intensity


def test_a_prompt_is_compute_bound():
    """2,048 tokens: 32.9 TFLOP of matrices, 1.1 of attention over the causal half."""
    one = model().prefill(0, 2048)

    assert 2 * 8_030_261_248 * 2048 == one.linear_flop
    assert 2 * 32 * 32 * 256 * (2048 * 2049 // 2) == one.attention_flop
    assert "compute" == one.bound
    assert 344 == round(one.seconds / MS * 10)


def test_deepseek_in_absorbed_form():
    """128 heads × (2 × 512 + 64) a key and layer; 1,152 bytes a row, whole on every card."""
    weights = mixture(671_026_419_200, 37_552_297_472, 256, 8, "fp8")
    steps = model("61*mla:512-64", weights, machine(16), heads=128).steps(4096)

    assert 61 * 4096 * 1152 == steps.kv_bytes
    assert Fraction(2 * 128 * 61 * 4096 * 1088, 16) == steps.attention_flop


def test_a_prompt_takes_the_cheaper_form_of_latent_rows():
    """320 multiply-adds a pair and head expanded, 1,088 absorbed; narrow rows stay absorbed."""
    wide, narrow = (model(f"mla:{shape}", heads=1).prefill(0, 1) for shape in ("512-64", "64-64"))

    assert 2 * 320 == 2 * EXPANDED_WIDTH == wide.attention_flop
    assert 2 * 192 == narrow.attention_flop


def test_an_indexer_limits_what_is_read():
    """Of 100,000 rows 2,048 are read, and the index keys of all; memory keeps every row."""
    one = model("mla:512-64/index:128", heads=128)

    assert SELECTED_TOKENS * 1152 + 100_000 * 256 == one.steps(100_000).kv_bytes
    assert 100_000 * (1152 + 256) == one.kept_bytes(100_000)


def test_a_state_is_read_and_written():
    """4 × 8 × 16 elements of 16 bits: 1,024 bytes, twice in a step, once kept."""
    one = model("state:4x8x16")

    assert 2 * 1024 == one.steps(7).kv_bytes == one.steps(7000).kv_bytes
    assert 1024 == one.kept_bytes(7)
    assert (0, 1024) == (one.prefill(0, 9).kv_bytes, one.prefill(5, 9).kv_bytes)


@pytest.mark.parametrize(
    ("context", "rows"), [(1, 1), (63, 63), (64, 64), (65, 1), (128, 64), (130, 2)]
)
def test_a_chunk_is_read_as_far_as_it_is_filled(context, rows):
    """The 65th token opens a chunk of 64 and sees itself alone."""
    assert rows * 4 == model("chunked:1x1@64").steps(context).kv_bytes


@given(st.integers(1, 40), st.integers(0, 60), st.integers(1, 60))
def test_pairs_of_a_window_are_counted_one_by_one(window, start, tokens):
    """Every query of the prompt with every key that its window still holds."""
    one = model(f"sliding:1x1@{window}", heads=1).prefill(start, start + tokens)

    assert 2 * 2 * token_by_token(window, start, start + tokens) == one.attention_flop
    assert 4 * min(start, window - 1) == one.kv_bytes


@given(
    st.integers(1, 12), st.integers(1, 8), st.integers(1, 64), st.integers(1, 300),
    st.integers(1, 300), st.integers(1, 8), st.sampled_from(("bfloat16", "fp8", "q8_0")),
)  # fmt: skip
def test_a_step_written_out_naively(layers, kv_heads, width, context, batch, cards, name):  # noqa: PLR0913, PLR0917 - one step
    """Bytes and FLOP of each layer, head and sequence, added up."""
    kv = dtype("dtype", name)
    found = model(f"{layers}*full:{kv_heads}x{width}", on=machine(cards), heads=8, kv=kv)
    one = found.steps(context).step(batch)
    mine = max(1, kv_heads // cards)
    row = Fraction(kv.row_bits(width), 8)
    read = sum((mine * 2 * context * row for _ in range(layers)), Fraction(0)) * batch
    done = Fraction(2 * 8 * 2 * width * context * layers * batch, cards)
    linear = Fraction(2 * LLAMA_8B.parameters * batch, cards)
    memory = (Fraction(2 * LLAMA_8B.parameters, cards) + read) / (3350 * GIGA)

    assert read == one.kv_bytes
    assert max(memory, (linear + done) / (989 * TERA)) == one.seconds


@pytest.mark.parametrize("stack", STACKS)
def test_a_prompt_in_two_parts_is_the_same_work(stack):
    """What the second part computes is what the whole has beyond the first."""
    one = model(stack)
    whole, first, second = (one.prefill(*part) for part in ((0, 900), (0, 400), (400, 900)))

    if "cross" not in stack:  # of an input of unknown length the second part sees more
        assert whole.attention_flop == first.attention_flop + second.attention_flop
    assert whole.linear_flop == first.linear_flop + second.linear_flop
    assert 0 == first.kv_bytes


@pytest.mark.parametrize("stack", STACKS)
@given(st.integers(1, 5000), st.integers(1, 5000), st.integers(1, 64))
def test_more_of_anything_takes_no_less(stack, batch, context, cards):
    """A larger batch is never quicker, more cards are never slower."""
    weights = mixture(10**9, 10**8, 64, 4)
    steps, more = (
        model(stack, weights, machine(count), heads=8).steps(context)
        for count in (cards, cards + 1)
    )

    assert steps.step(batch).seconds <= steps.step(batch + 1).seconds
    assert more.step(batch).seconds <= steps.step(batch).seconds
    assert steps.tokens_per_s(batch) * steps.step(batch).seconds == batch


@pytest.mark.parametrize("stack", [stack for stack in STACKS if "chunked" not in stack])
@given(st.integers(1, 5000), st.integers(1, 500))
def test_a_longer_context_takes_no_less(stack, context, batch):
    """But for chunks, which start anew, a longer context is never quicker."""
    one = model(stack)

    assert one.steps(context).step(batch).seconds <= one.steps(context + 1).step(batch).seconds
    assert one.kept_bytes(context) <= one.kept_bytes(context + 1)


def test_the_critical_batch_of_an_h100():
    """989 × 2 / (2 × 3.35) = 295.2, so 296; with 8-bit weights half of it, 148."""
    half = mixture(10**9, 10**9, 1, 1, "fp8")

    assert 296 == critical_batch(model().steps(1))
    assert 148 == critical_batch(model(weights=half).steps(1))


def first(batches, holds):
    """The first that holds, going through one by one."""
    return next(batch for batch in batches if holds(batch))


@pytest.mark.parametrize("context", [1, 50, 200, 400])
@pytest.mark.parametrize("weights", [LLAMA_8B, mixture(8 * 10**9, 10**9, 16, 1)])
def test_the_turning_points_by_trying_every_batch(weights, context):
    """Bisection finds the least batch at which the inequality holds, if there is one."""
    steps = model(weights=weights).steps(context)
    linear = first(range(1, 10**5), lambda n: steps.step(n).linear_s >= steps.step(n).weights_s)
    turn = compute_bound_batch(steps)

    assert linear == critical_batch(steps)
    if turn is not None and turn < 10**4:
        assert turn == first(
            range(1, 10**5), lambda n: steps.step(n).compute_s >= steps.step(n).memory_s
        )


def test_reading_the_cache_can_forbid_a_turning_point():
    """At 2,176 tokens a sequence's KV takes 85 µs to read, its token 16 µs to compute: never."""
    assert compute_bound_batch(model().steps(2176)) is None
    assert "memory" == model().steps(2176).step(10**6).bound


@given(st.integers(1, 2000), st.integers(1, 64))
def test_beyond_the_turning_point_steps_are_compute_bound(context, heads):
    """One sequence fewer is memory-bound, the turning point itself is not."""
    steps = model(heads=heads * 8, on=H100).steps(context)
    turn = compute_bound_batch(steps)

    if turn is None:
        assert steps.step(10**9).memory_s > steps.step(10**9).compute_s
    else:
        assert steps.step(turn).compute_s >= steps.step(turn).memory_s
        assert turn == 1 or steps.step(turn - 1).compute_s < steps.step(turn - 1).memory_s


def test_a_pass_reads_something():
    """Every weight is of some bytes: the intensity exists also without a cache."""
    assert 1 == model("none", mixture(10, 10, 1, 1)).steps(1).step(1).intensity
