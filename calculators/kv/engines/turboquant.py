"""vLLM's TurboQuant slots: packed K and V of one head and token, scales included.

Read in ``vllm/model_executor/layers/quantization/turboquant/config.py`` @1471680: fp8 keys, or
packed indices with a float16 norm; packed values with a float16 scale and zero; the slot rounded
up to an even number of bytes. The first and last two layers stay in the model's type unless the
model has state layers. Left out: head widths that differ between K and V, which it does not have.
"""

from dataclasses import dataclass

from calculators.kv.layers import FullAttention, Layer, Stack, State

NORM_BYTES = 2
SCALE_AND_ZERO_BYTES = 4
FP8_BITS = 8
BOUNDARY_LAYERS = 2  # at each end


@dataclass(frozen=True, slots=True)
class TurboQuant:
    """A preset of ``kv_cache_dtype``: bits of a key's and of a value's element."""

    name: str
    key_bits: int
    value_bits: int

    def slot_bytes(self, width: int) -> int:
        """Bytes of one head's K and V for one token: ``k8v4, 128 → 196``."""
        norm = 0 if self.key_bits == FP8_BITS else NORM_BYTES
        key = -(-width * self.key_bits // 8) + norm
        slot = key + -(-width * self.value_bits // 8) + SCALE_AND_ZERO_BYTES
        return slot + slot % 2


PRESETS: dict[str, TurboQuant] = {
    preset.name: preset
    for preset in (
        TurboQuant("turboquant_k8v4", 8, 4),
        TurboQuant("turboquant_4bit_nc", 4, 4),
        TurboQuant("turboquant_k3v4_nc", 3, 4),
        TurboQuant("turboquant_3bit_nc", 3, 3),
    )
}


@dataclass(frozen=True, kw_only=True, slots=True)
class BoundaryAttention(FullAttention):
    """A first or last layer, which TurboQuant leaves in the model's own type."""


def with_boundaries(stack: Stack) -> Stack:
    """The layers as TurboQuant treats them: both ends unquantised, but not of hybrid models."""
    if any(isinstance(cache, State) for cache in stack.counts):
        return stack
    size = min(BOUNDARY_LAYERS, len(stack.layers) // 2)
    last = len(stack.layers) - size
    return Stack(
        tuple(
            unquantised(layer) if index < size or index >= last else layer
            for index, layer in enumerate(stack.layers)
        )
    )


def unquantised(layer: Layer) -> Layer:
    """The layer with its full attention marked."""
    return tuple(
        BoundaryAttention(heads=cache.heads, k_width=cache.k_width, v_width=cache.v_width)
        if type(cache) is FullAttention
        else cache
        for cache in layer
    )
