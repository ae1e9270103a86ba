"""The text of a stack: short, and the same stack when read again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculators.form.errors import ParameterError
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
)
from calculators.kv.notation import from_text, to_text

SIZE = st.integers(1, 9999)
SHAPE = {"heads": SIZE, "k_width": SIZE, "v_width": SIZE}
CACHE = st.one_of(
    st.builds(FullAttention, **SHAPE),
    st.builds(SlidingAttention, **SHAPE, window=SIZE),
    st.builds(ChunkedAttention, **SHAPE, chunk=SIZE),
    st.builds(CrossAttention, **SHAPE, positions=st.none() | SIZE),
    st.builds(LatentAttention, rank=SIZE, rope=st.integers(0, 99), window=st.none() | SIZE),
    st.builds(IndexKeys, width=SIZE),
    st.builds(
        State, heads=SIZE, head_rows=SIZE, head_columns=st.integers(0, 99),
        groups=st.integers(0, 9), conv_kernel=st.integers(1, 9),
        dtype=st.sampled_from([None, "float32", "bfloat16"]),
    ),
    st.builds(SharedCache),
)  # fmt: skip
LAYER = st.lists(CACHE, max_size=2).map(tuple)
STACK = st.lists(
    st.tuples(st.lists(LAYER, min_size=1, max_size=3), st.integers(1, 4)), min_size=1, max_size=4
).map(lambda groups: Stack(tuple(layer for part, n in groups for layer in part * n)))


@given(STACK)
def test_round_trip(stack):
    """Every stack comes back from its text."""
    assert stack == from_text("layers", to_text(stack))


@pytest.mark.parametrize(
    "text",
    [
        "36*full:8x128",
        "10*(5*sliding:16x128@1024,full:16x128),2*sliding:16x128@1024",
        "16*(3*state:48x128x128.g16.k4.float32,full:4x256)",
        "3*mla:512-64/index:128,57*mla:512-64",
        "4*full:6x64/cross:6x64@1500",
        "20*full:2x256,15*shared",
        "full:8x128,2*none",
    ],
)
def test_text_is_as_short_as_one_would_write_it(text):
    """Repeats are folded as a person would fold them."""
    assert text == to_text(from_text("layers", text))


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        pytest.param("empty", " ", id="nothing"),
        pytest.param("not_layers", "full", id="no shape"),
        pytest.param("not_layers", "sliding:8x128", id="a window is due"),
        pytest.param("not_layers", "full:8x128@5", id="full attention has none"),
        pytest.param("not_layers", "(full:8x128", id="open bracket"),
        pytest.param("not_layers", "full:8x128)", id="closing bracket"),
        pytest.param("not_layers", "full:8x128,", id="comma at the end"),
        pytest.param("not_layers", "2*", id="nothing to repeat"),
        pytest.param("not_layers", "(" * 9 + "none" + ")" * 9, id="too deep"),
        pytest.param("not_layers", "<script>", id="markup"),
        pytest.param("too_many", "9999*(9999*none)", id="too many layers"),
        pytest.param("too_large", "99999*none", id="too large a number"),
        pytest.param("too_small", "full:0x128", id="no heads"),
        pytest.param("too_long", f"full:{'9' * 100}x1", id="endless number"),
        pytest.param("text_too_long", "x" * 30000, id="endless text"),
        pytest.param("unknown_dtype", "state:1x1x1.odd", id="type of a state"),
    ],
)
def test_what_is_not_a_stack_is_refused(reason, text):
    """Each mistake ends in its own reason."""
    with pytest.raises(ParameterError) as caught:
        from_text("layers", text)

    assert ("layers", reason) == (caught.value.field, caught.value.reason)


@given(st.text(alphabet="fulmsaidtenocrhk:x-@.,*()/0123456789", max_size=40))
def test_any_text_ends_in_a_stack_or_a_reason(text):
    """No text of the notation's letters ends in another exception."""
    try:
        stack = from_text("layers", text)
    except ParameterError:
        return

    assert stack == from_text("layers", to_text(stack))
