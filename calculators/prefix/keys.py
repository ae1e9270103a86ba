"""What a prefix cache compares: token ids, packed or in a plain list, and the namespace.

Left out: token ids beyond 32 bits (no vocabulary is that large). Block hashes of any size are
numbered densely by the trace readers before they come here.
"""

from array import array
from collections.abc import Sequence
from typing import NamedTuple

from calculators.form.errors import ParameterError

TOKEN_BYTES = 4
PAIR_BYTES = 8
FIRST_SLICE = 1024  # elements of the first comparison
LARGEST_TOKEN = 2**32 - 1

type Key = bytes | list[int]
"""Packed tokens, four bytes each in native order, or the plain list. A tree uses one of them."""


class Namespace(NamedTuple):
    """What separates requests that must not share: adapter or version, and the cache salt.

    Two requests share only if both parts agree; None is a namespace of its own
    (SGLang 0.5.23, ``RadixKey._check_compatible``). An empty salt is no salt.
    """

    extra_key: str | None = None
    cache_salt: str | None = None


NO_NAMESPACE = Namespace()


def namespace(extra_key: str | None = None, cache_salt: str | None = None) -> Namespace:
    """The namespace of a request; an empty salt counts as none."""
    return Namespace(extra_key, cache_salt or None)


def pack(tokens: Sequence[int]) -> bytes:
    """``[1, 2] → b"\\1\\0\\0\\0\\2\\0\\0\\0"``. ParameterError for an id that is none."""
    try:
        return array("I", tokens).tobytes()
    except (OverflowError, TypeError):
        wrong = next(t for t in tokens if type(t) is not int or not 0 <= t <= LARGEST_TOKEN)
        raise ParameterError(
            "tokens", "not_a_token", text=repr(wrong)[:40], minimum=0, maximum=LARGEST_TOKEN
        ) from None


def unpack(key: bytes) -> list[int]:
    """The token ids of a packed key."""
    tokens = array("I")
    tokens.frombytes(key)
    return tokens.tolist()


def pack_pairs(tokens: Sequence[int]) -> bytes:
    """Keys of EAGLE mode: N tokens give N - 1 pairs of neighbours, eight bytes each."""
    single = array("I", pack(tokens))
    pairs = array("I", bytes(PAIR_BYTES * max(len(single) - 1, 0)))
    pairs[0::2] = single[:-1]
    pairs[1::2] = single[1:]
    return pairs.tobytes()


def shared_length(span: Key, key: Key, at: int, end: int, unit: int) -> int:
    """How many leading elements ``span`` shares with ``key[at:end]``, in whole units.

    Compares slices that double in length, then looks into the one that differs: a comparison of
    two slices costs far less than a step of a Python loop (the same idea as SGLang's
    ``RadixKey.match_at``).
    """
    length = min(len(span), end - at)
    low, step = 0, FIRST_SLICE
    while low < length:
        high = min(low + step, length)
        mine, other = span[low:high], key[at + low : at + high]
        if mine != other:
            shared = low + first_difference(mine, other)
            return shared - shared % unit
        low = high
        step *= 2
    return length


def first_difference(one: Key, other: Key) -> int:
    """The first place at which two keys of equal length differ: ``(b"abc", b"abd") → 2``."""
    if isinstance(one, bytes):
        differing = int.from_bytes(one) ^ int.from_bytes(other)
        return len(one) - (differing.bit_length() + 7) // 8
    low, high = 0, len(one)
    while high - low > 1:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low
