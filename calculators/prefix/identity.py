"""What makes a vLLM block the same block: its tokens, everything before it, and extra keys.

Source: vLLM ``v1/core/kv_cache_utils.py`` at 001cabc (``hash_block_tokens``,
``generate_block_hash_extra_keys``). vLLM starts the chain with a random seed unless
PYTHONHASHSEED is set; here it starts with nothing, since only equality matters.
"""

from collections.abc import Iterator
from hashlib import sha256

from calculators.prefix.cache import Prompt
from calculators.prefix.keys import TOKEN_BYTES

type Identity = bytes | int
"""A full block: a chained hash, or a trace's own id, which is one already."""


def extra_keys(prompt: Prompt, start: int, end: int) -> tuple[object, ...]:
    """Extra keys of the block ``start`` to ``end`` in tokens.

    The adapter stands in every block, an image in each block that it touches together with its
    place relative to the block, the salt in the first block only: later ones inherit it.
    """
    images = tuple(
        (image.identity, image.start - start)
        for image in prompt.images
        if image.start < end and image.start + image.length > start
    )
    adapter, salt = prompt.namespace
    return (adapter, images, salt if start == 0 else None)


def block_identities(prompt: Prompt, block_size: int) -> Iterator[bytes]:
    """The identity of every full block, in order."""
    parent = b""
    width = block_size * TOKEN_BYTES
    for at in range(0, len(prompt.tokens) - width + 1, width):
        start = at // TOKEN_BYTES
        extra = repr(extra_keys(prompt, start, start + block_size)).encode()
        parent = sha256(parent + prompt.tokens[at : at + width] + extra).digest()
        yield parent
