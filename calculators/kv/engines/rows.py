"""Bytes of a cached token as engines store it, where that differs from elements times width.

FlashMLA's fp8 rows (``fp8_ds_mla``; vLLM and SGLang): the latent part in fp8 with one float32
scale for 128 elements, the rotary part in bfloat16; 656 bytes for 512 + 64. Index keys are fp8
with the same scales: 132 bytes for 128. Sources: vLLM ``kv_cache_interface.py`` @001cabc, SGLang
``model_runner_kv_cache_mixin.py`` @001ccef.
"""

from calculators.kv.dtypes import Dtype
from calculators.kv.layers import Cache, FullAttention, IndexKeys, LatentAttention

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


def token_expression(cache: Cache, kv: Dtype, *, ds_mla: bool = False) -> str:
    """How :func:`token_bytes` comes about: ``8 × (128 + 128) × 2``."""
    if isinstance(cache, IndexKeys):
        return f"({cache.width} + {fp8_scaled(cache.width) - cache.width})"
    if isinstance(cache, LatentAttention):
        if ds_mla:
            return f"({fp8_scaled(cache.rank)} + {cache.rope} × {ROPE_BYTES})"
        return bytes_expression(f"({cache.rank} + {cache.rope})", cache.rank + cache.rope, kv)
    if not isinstance(cache, FullAttention):
        return "0"
    if kv.scale_bits:
        rows = " + ".join(bits_text(kv.row_bits(width)) for _, width in cache.rows)
        return f"{cache.heads} × ({rows})"
    return f"{cache.heads} × ({cache.k_width} + {cache.v_width}) × {bits_text(kv.bits)}"


def bytes_expression(elements: str, width: int, kv: Dtype) -> str:
    """Elements times their bytes, or the bytes of a row with its scales."""
    return bits_text(kv.row_bits(width)) if kv.scale_bits else f"{elements} × {bits_text(kv.bits)}"


def bits_text(bits: int) -> str:
    """``16 → "2"``, ``4 → "4/8"``."""
    return f"{bits}/8" if bits % 8 else str(bits // 8)
