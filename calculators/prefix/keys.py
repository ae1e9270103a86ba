"""What a prefix cache compares: token ids, packed or in a plain list, and the namespace.

Left out: token ids beyond 32 bits (no vocabulary is that large). Block hashes of any size are
numbered densely by the trace readers before they come here.
"""

from array import array
from collections.abc import Sequence
from typing import Any, NamedTuple

from calculators.prefix.invariants import MisuseError

TOKEN_BYTES = 4
PAIR_BYTES = 8
SHORT_SLICE = 256  # bytes from which two slices are subtracted and not halved further
LARGEST_TOKEN = 2**32 - 1
ENDLESS: Any = float("inf")  # above every token

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
    """Four bytes a token, in native order. MisuseError, naming it, for an id that is none."""
    try:
        return array("I", tokens).tobytes()
    except (OverflowError, TypeError):
        wrong = next(t for t in tokens if type(t) is not int or not 0 <= t <= LARGEST_TOKEN)
        raise MisuseError(repr(wrong)[:40]) from None


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

    Slices are compared, not elements: a comparison of two slices costs far less than a step of a
    Python loop (the same idea as SGLang's ``RadixKey.match_at``).
    """
    length = min(len(span), end - at)
    if isinstance(span, list) and isinstance(key, list):
        shared = shared_elements(span, key, at, length)
    else:
        shared = shared_bytes(bytes(span), bytes(key), at, length)
    return shared - shared % unit


def shared_bytes(one: bytes, other: bytes, at: int, length: int) -> int:
    """How many of ``length`` bytes agree: halve, then subtract what is short as integers."""
    low, high = 0, length
    while high - low > SHORT_SLICE:
        middle = (low + high) // 2
        if other.startswith(one[low:middle], at + low):
            low = middle
        else:
            high = middle
    mine, theirs = one[low:high], other[at + low : at + high]
    differing = int.from_bytes(mine) ^ int.from_bytes(theirs)
    return high - (differing.bit_length() + 7) // 8


def shared_elements(one: list[int], other: list[int], at: int, length: int) -> int:
    """As ``shared_bytes`` for lists: guess the place by single elements, then make sure."""
    low, high = 0, length
    while low < high:
        middle = (low + high) // 2
        if one[middle] == other[at + middle]:
            low = middle + 1
        else:
            high = middle
    rest = one[low:]
    del one[low:]
    guessed = goes_on(other, one, at)
    one += rest
    if guessed:
        return low
    return next(i for i in range(low) if one[i] != other[at + i])


def goes_on(key: list[int], span: list[int], at: int) -> bool:
    """Whether a list has ``span`` at a place, as ``bytes.startswith`` says it of packed keys.

    A slice of a list counts a reference to each of its elements, all over the memory, and costs
    ten times as much as a comparison, which skips what is one and the same object. At the
    beginning none is needed: in the order of lists a list that begins with ``span`` is the only
    one that is not below it and is below ``span`` with something endless behind it.
    """
    if at:
        return key[at : at + len(span)] == span
    if key < span:
        return False
    span.append(ENDLESS)
    below = key < span
    span.pop()
    return below


def cut(key: Key, length: int) -> tuple[Key, Key]:
    """A key in two. A list is cut in place, which spares copying its longer half."""
    if isinstance(key, bytes):
        return key[:length], key[length:]
    rest = key[length:]
    del key[length:]
    return key, rest
