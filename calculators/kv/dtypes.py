"""Data types of cached elements: bits per element and what is stored beside them.

Rows are quantised as engines do: a scale per block of elements (llama.cpp, NVFP4), per row
(vLLM's per-token-head types), or none per row at all (per-tensor fp8: the scales are two numbers
a layer and count as nothing). Sources: rules of vLLM ``kv_cache_interface.py`` @001cabc,
llama.cpp ``ggml-common.h``. Left out: TurboQuant slots, and scale tensors per layer.
"""

from dataclasses import dataclass

from calculators.form.errors import ParameterError, excerpt


@dataclass(frozen=True, kw_only=True, slots=True)
class Dtype:
    """How a row of elements is stored.

    ``block`` elements share one scale of ``scale_bits``; a block of None is the whole row.
    """

    name: str
    bits: int
    block: int | None = None
    scale_bits: int = 0

    def row_bits(self, width: int) -> int:
        """Bits of one row of ``width`` elements, a last short block counted as a whole scale."""
        if not self.scale_bits:
            return width * self.bits
        blocks = 1 if self.block is None else -(-width // self.block)
        return width * self.bits + blocks * self.scale_bits


_PLAIN = {
    "float64": 64, "float32": 32, "bfloat16": 16, "float16": 16,
    "fp8_e4m3": 8, "fp8_e5m2": 8, "fp8": 8, "int8": 8, "int4": 4,
}  # fmt: skip
_SCALED = (
    Dtype(name="fp8_per_token_head", bits=8, scale_bits=32),
    Dtype(name="int8_per_token_head", bits=8, scale_bits=32),
    Dtype(name="nvfp4", bits=4, block=16, scale_bits=8),
    Dtype(name="fp4_e2m1", bits=4, block=16, scale_bits=8),
    Dtype(name="mxfp4", bits=4, block=32, scale_bits=8),
    Dtype(name="q8_0", bits=8, block=32, scale_bits=16),
    Dtype(name="q5_1", bits=5, block=32, scale_bits=32),
    Dtype(name="q5_0", bits=5, block=32, scale_bits=16),
    Dtype(name="q4_1", bits=4, block=32, scale_bits=32),
    Dtype(name="q4_0", bits=4, block=32, scale_bits=16),
    Dtype(name="iq4_nl", bits=4, block=32, scale_bits=16),
)
DTYPES: dict[str, Dtype] = {
    dtype.name: dtype
    for dtype in (*(Dtype(name=name, bits=bits) for name, bits in _PLAIN.items()), *_SCALED)
}
ALIASES: dict[str, str] = {
    "f64": "float64", "double": "float64",
    "f32": "float32", "fp32": "float32", "float": "float32",
    "bf16": "bfloat16", "f16": "float16", "fp16": "float16", "half": "float16",
    "float8_e4m3fn": "fp8_e4m3", "float8_e5m2": "fp8_e5m2", "fp8 (per tensor)": "fp8",
    "fp8_inc": "fp8", "e4m3": "fp8_e4m3", "e5m2": "fp8_e5m2", "fp4": "fp4_e2m1",
}  # fmt: skip


def dtype(field: str, name: str) -> Dtype:
    """The type of a name as engines and configs spell it: ``"torch.bfloat16"``, ``"f16"``.

    Raises ParameterError ``unknown_dtype``.
    """
    cleaned = name.strip().lower().removeprefix("torch.")
    found = DTYPES.get(ALIASES.get(cleaned, cleaned))
    if found is None:
        raise ParameterError(field, "unknown_dtype", text=excerpt(name), options=", ".join(DTYPES))
    return found
