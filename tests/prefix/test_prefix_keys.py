"""How far two keys agree, packed and as plain lists, against a loop over their tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculators.prefix.keys import TOKEN_BYTES, goes_on, pack, shared_length

token = st.sampled_from((0, 1, 2, 300, 2**32 - 1))
tokens = st.lists(token, max_size=12)


def slow(span, key, at, end, page):
    """Leading tokens that agree, in whole pages."""
    count = 0
    for mine, theirs in zip(span, key[at:end], strict=False):
        if mine != theirs:
            break
        count += 1
    return count - count % page


@given(span=tokens, before=tokens, after=tokens, cut=st.integers(0, 12), page=st.integers(1, 3))
def test_shared_length_is_what_a_loop_finds(span, before, after, cut, page):
    """Lists and packed keys agree as far as their tokens do, and both lists stay as they were."""
    key = [*before, *span[:cut], *after]
    at, end = len(before), len(key)
    expected, held = slow(span, key, at, end, page), (list(span), list(key))
    unit = page * TOKEN_BYTES
    packed = shared_length(pack(span), pack(key), at * TOKEN_BYTES, end * TOKEN_BYTES, unit)

    assert expected == shared_length(span, key, at, end, page)
    assert expected * TOKEN_BYTES == packed
    assert held == (span, key)


@given(span=tokens, before=tokens, after=tokens)
def test_goes_on_is_a_comparison_of_slices(span, before, after):
    """It says what a slice says, at the beginning and later, and leaves the span as it was."""
    for key in ([*before, *after], [*before, *span, *after]):
        for at in {0, len(before)}:
            held = list(span)

            assert (key[at : at + len(span)] == span) == goes_on(key, span, at)
            assert held == span


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        pytest.param([1, 2], True, id="the same"),
        pytest.param([1, 2, 0], True, id="longer"),
        pytest.param([1], False, id="shorter"),
        pytest.param([1, 1, 9], False, id="below"),
        pytest.param([1, 3], False, id="above"),
    ],
)
def test_a_list_begins_with_another(key, expected):
    """Only a list that has all of the other at its beginning does."""
    assert expected is goes_on(key, [1, 2], 0)
