"""The payload: exact bytes, written out."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculators.form.errors import ParameterError
from calculators.form.lengths import Lengths, Run
from calculators.kv.dtypes import DTYPES, dtype
from calculators.kv.layers import FullAttention, SlidingAttention, Stack, State, full
from calculators.kv.notation import from_text
from calculators.kv.payload import curve, payload, per_token

BF16 = dtype("dtype", "bfloat16")


def lengths(*runs):
    """Lengths of (tokens, sequences)."""
    return Lengths(tuple(Run(*run) for run in runs))


def test_the_default_of_the_page():
    """32 layers, 8 heads of 128, four sequences of 8,192 tokens: 4 GiB, written out."""
    found = payload(full(32, 8, 128), BF16, lengths((8192, 4)))

    assert "2 × 32 × 8 × 128 × 2 × 8192 × 4 = 4294967296 bytes" == found.expression


@pytest.mark.parametrize(
    ("expression", "layers", "kv", "runs"),
    [
        pytest.param(
            "2 × 1 × 8 × 128 × 2 × (8192 + 4096 × 3)", "full:8x128", "bf16", [(8192, 1), (4096, 3)],
            id="different lengths",
        ),
        pytest.param(
            "1 × 4 × (192 + 128) × 2 × 10 × 1", "full:4x192-128", "bf16", [(10, 1)],
            id="V narrower than K",
        ),
        pytest.param(
            "61 × 576 × 2 × 10 × 1", "61*mla:512-64", "bf16", [(10, 1)], id="latent: no factor 2"
        ),
        pytest.param(
            "2 × 1 × 8 × 136 × 10 × 1", "full:8x128", "q8_0", [(10, 1)], id="rows with scales"
        ),
        pytest.param(
            "2 × 1 × 8 × 128 × 4/8 × 10 × 1", "full:8x128", "int4", [(10, 1)], id="half bytes"
        ),
        pytest.param(
            "2 × 1 × 8 × 64 × 2 × (128 × 2 + 100)", "sliding:8x64@128", "bf16",
            [(500, 2), (100, 1)], id="a window bounds what is kept",
        ),
        pytest.param(
            "1 × 30720 × 2 × 3 + 1 × 786432 × 4 × 3", "state:48x128x128.g16.k4.float32", "fp8",
            [(9, 3)], id="a state keeps its own types",
        ),
    ],
)  # fmt: skip
def test_written_product(expression, layers, kv, runs):
    """The factors stand in the order of the formula, and multiply to the total."""
    found = payload(from_text("layers", layers), dtype("kv", kv), lengths(*runs))

    assert expression == " + ".join(term.expression for term in found.terms)
    assert sum(found_value(term.expression) for term in found.terms) == found.bytes


def found_value(expression):
    """The value of a written product, computed by Python."""
    return Fraction(eval(expression.replace("×", "*").replace("4/8", "Fraction(4, 8)")))  # noqa: S307


def test_bytes_stay_exact_beyond_floats():
    """10^18 tokens are counted to the byte."""
    found = payload(full(1, 1, 1), BF16, lengths((10**18 + 1, 1)))

    assert 4 * (10**18 + 1) == found.bytes


NUMBERS = st.tuples(
    st.integers(1, 20), st.integers(1, 16), st.integers(1, 300), st.integers(1, 300),
    st.integers(1, 50), st.integers(1, 100),
)  # fmt: skip


@given(NUMBERS, st.sampled_from(sorted(DTYPES)))
def test_payload_against_counting(numbers, name):
    """The product equals a count row by row and token by token."""
    layers, heads, k, v, window, tokens = numbers
    kv = DTYPES[name]
    stack = Stack(
        (
            (FullAttention(heads=heads, k_width=k, v_width=v),),
            (SlidingAttention(heads=heads, k_width=k, v_width=v, window=window),),
        )
        * layers
    )
    bits = 0
    for _ in range(layers):
        for kept in (tokens, min(tokens, window)):
            for _token in range(kept):
                bits += heads * (kv.row_bits(k) + kv.row_bits(v))

    assert Fraction(bits, 8) == payload(stack, kv, lengths((tokens, 1))).bytes


def test_per_token_counts_growing_rows_only():
    """A hybrid model's next token costs its attention layers alone."""
    stack = Stack(((State(heads=48, head_rows=128, head_columns=128),), *full(1, 4, 256).layers))

    assert 2 * 4 * 256 * 2 == per_token(stack, BF16)


@pytest.mark.parametrize(
    ("bits", "name"),
    [
        (32 * 16, "f16"), (34 * 8, "q8_0"), (18 * 8, "q4_0"), (18 * 8, "iq4_nl"), (20 * 8, "q4_1"),
        (22 * 8, "q5_0"), (24 * 8, "q5_1"), (32 * 8 + 32, "fp8_per_token_head"),
        (32 * 4 + 2 * 8, "nvfp4"), (32 * 4 + 8, "mxfp4"), (32 * 32, "torch.float32"),
    ],
)  # fmt: skip
def test_bits_of_32_values(bits, name):
    """A row of 32 values, scales included, as the engines' tables give it."""
    assert bits == dtype("dtype", name).row_bits(32)


def test_unknown_dtype_is_named():
    """A type that is not known is repeated in the error."""
    with pytest.raises(ParameterError) as caught:
        dtype("kv_cache_dtype", "fp7")

    assert ("unknown_dtype", "fp7") == (caught.value.reason, caught.value.limits["text"])


@given(
    st.lists(
        st.sampled_from(
            [
                "3*full:8x128",
                "full:4x192-128",
                "5*sliding:4x64@1024",
                "2*mla:512-64",
                "4*full:6x64/cross:6x64@1500",
                "3*state:48x128x128.g16.k4.float32",
            ]
        ),
        min_size=1,
        max_size=4,
        unique=True,
    ),
    st.sampled_from(sorted(DTYPES)),
    st.lists(st.integers(1, 10**6), min_size=1, max_size=5),
    st.integers(1, 10**4),
)
def test_the_curve_is_the_payload(layers, kv, spots, sequences):
    """Each point of the plot is the payload at that length."""
    stack = from_text("stack", ", ".join(layers))
    expected = [
        payload(stack, dtype("dtype", kv), lengths((spot, sequences))).bytes for spot in spots
    ]

    assert expected == curve(stack, dtype("dtype", kv), spots, sequences)
