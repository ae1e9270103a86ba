"""Layer kinds: what each keeps for a sequence, and on one rank."""

import pytest

from calculators.kv.layers import (
    ChunkedAttention,
    CrossAttention,
    FullAttention,
    IndexKeys,
    LatentAttention,
    SharedCache,
    SlidingAttention,
    Stack,
    State,
    full,
)

FULL = FullAttention(heads=8, k_width=128, v_width=128)
SLIDING = SlidingAttention(heads=8, k_width=192, v_width=128, window=128)
LATENT = LatentAttention(rank=512, rope=64)
DELTA = State(heads=48, head_rows=128, head_columns=128, groups=16, conv_kernel=4, dtype="float32")


@pytest.mark.parametrize(
    ("elements", "cache"),
    [
        pytest.param(2 * 8 * 128, FULL, id="K and V of every head"),
        pytest.param(8 * (192 + 128), SLIDING, id="K and V of different widths"),
        pytest.param(512 + 64, LATENT, id="latent attention has no factor 2"),
        pytest.param(128, IndexKeys(width=128), id="one index key for all heads"),
        pytest.param(0, DELTA, id="a state does not grow"),
        pytest.param(0, SharedCache(), id="a shared cache is not its own"),
    ],
)
def test_elements_per_token(elements, cache):
    """Each kind adds exactly its rows for a token."""
    assert elements == cache.elements_per_token


@pytest.mark.parametrize(
    ("retained", "cache"),
    [
        pytest.param(8192, FULL, id="full"),
        pytest.param(128, SLIDING, id="sliding"),
        pytest.param(
            4096, ChunkedAttention(heads=1, k_width=1, v_width=1, chunk=4096), id="chunked"
        ),
        pytest.param(
            1500, CrossAttention(heads=1, k_width=1, v_width=1, positions=1500), id="cross, fixed"
        ),
        pytest.param(8192, CrossAttention(heads=1, k_width=1, v_width=1), id="cross, as the input"),
        pytest.param(0, DELTA, id="state"),
    ],
)
def test_retained(retained, cache):
    """Windows and chunks bound what is kept of 8,192 tokens."""
    assert retained == cache.retained(8192)


@pytest.mark.parametrize(
    ("heads", "ranks"), [(8, 1), (4, 2), (1, 8), pytest.param(1, 16, id="replicated")]
)
def test_heads_are_split_and_never_below_one(heads, ranks):
    """More ranks than KV heads replicate them."""
    assert heads == FULL.on_rank(ranks).heads


def test_latent_attention_is_replicated():
    """Every tensor-parallel rank keeps the whole latent row."""
    assert LATENT == LATENT.on_rank(8)


def test_state_of_the_delta_rule():
    """Qwen3.5-27B: 3 x (48 x 128 + 2 x 16 x 128) convolution and 48 x 128 x 128 state elements."""
    assert (30720, 786432) == (DELTA.conv_elements, DELTA.recurrent_elements)


@pytest.mark.parametrize("ranks", [1, 2, 4, 8, 16])
def test_state_is_split(ranks):
    """As long as ranks divide heads and groups, the parts add up to the whole."""
    part = DELTA.on_rank(ranks)

    assert DELTA.conv_elements == ranks * part.conv_elements
    assert DELTA.recurrent_elements == ranks * part.recurrent_elements


def test_groups_are_replicated_where_they_do_not_divide():
    """A Mamba 2 layer with one group keeps that group on every rank."""
    mamba = State(heads=128, head_rows=64, head_columns=256, groups=1, conv_kernel=4)

    assert 1 == mamba.on_rank(4).groups


def test_stack_counts_and_runs():
    """Counts join equal caches of the whole stack, runs only neighbours."""
    stack = Stack(((SLIDING,), (FULL,), (SLIDING,), (SLIDING,)))

    assert {SLIDING: 3, FULL: 1} == stack.counts
    assert ((1, (SLIDING,)), (1, (FULL,)), (2, (SLIDING,))) == stack.runs


def test_index_keys_are_not_kv_elements():
    """The elements of DeepSeek-V3.2 are those of its latent rows."""
    assert 61 * 576 == Stack(((LATENT, IndexKeys(width=128)),) * 61).elements_per_token


@pytest.mark.parametrize(
    ("shares", "layers", "ranks"),
    [
        pytest.param([16, 16], 32, 2, id="equal"),
        pytest.param([20, 21, 20], 61, 3, id="one left over: the last rank but one"),
        pytest.param([15, 15, 16, 15], 61, 4, id="one left over of four"),
        pytest.param([15, 16, 16, 15], 62, 4, id="two left over"),
        pytest.param([1, 1, 0], 2, 3, id="fewer layers than ranks"),
    ],
)
def test_pipeline_shares(shares, layers, ranks):
    """Layers left over go to the last ranks but the very last."""
    stack = full(layers, 8, 128)

    found = [len(stack.part(rank, ranks).layers) for rank in range(ranks)]

    assert layers == sum(found)
    assert shares == found
