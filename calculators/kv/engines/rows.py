"""Bytes of a cached token as engines store it, where that differs from elements times width.

FlashMLA's fp8 rows (``fp8_ds_mla``; vLLM and SGLang): the latent part in fp8 with one float32
scale for 128 elements, the rotary part in bfloat16; 656 bytes for 512 + 64. Index keys are fp8
with the same scales: 132 bytes for 128. Sources: vLLM ``kv_cache_interface.py`` @001cabc, SGLang
``model_runner_kv_cache_mixin.py`` @001ccef.
"""

from calculators.kv.dtypes import Dtype
from calculators.kv.layers import Cache, IndexKeys, LatentAttention

SCALED_ELEMENTS = 128
SCALE_BYTES = 4
ROPE_BYTES = 2


def fp8_scaled(width: int) -> int:
    """A row of fp8 elements with its scales: ``128 → 132``."""
    return width + -(-width // SCALED_ELEMENTS) * SCALE_BYTES


def latent_fp8_row(cache: LatentAttention) -> int:
    """A FlashMLA row: ``512 + 64 → 656``."""
    return fp8_scaled(cache.rank) + cache.rope * ROPE_BYTES


def token_bytes(cache: Cache, kv: Dtype, *, ds_mla: bool = False) -> int:
    """Bytes that one token takes in one layer on one rank, scales included."""
    if isinstance(cache, IndexKeys):
        return fp8_scaled(cache.width)
    if ds_mla and isinstance(cache, LatentAttention):
        return latent_fp8_row(cache)
    return -(-sum(count * kv.row_bits(width) for count, width in cache.rows) // 8)
