"""Peaks of one card: multiplying, reading memory, and how much memory there is.

The 16-bit rates are those of ``tiering.devices``; bandwidths and 8-bit rates stand with their
sources in ``data/devices/devices.json`` (data sheets by way of ``tianhaox/aiconfigurator``
``src/aiconfigurator/systems/*.yaml``), the memory in ``kv.capacity`` (``nvidia-smi``). Left out:
rates of 4-bit numbers, which those files do not state, and sparse rates, which no server reaches.
"""

from dataclasses import dataclass
from fractions import Fraction

from calculators.form.errors import ParameterError
from calculators.kv.capacity import GPUS
from calculators.tiering.devices import DEVICES

TERA, GIGA = 10**12, 10**9
COMPUTE_DTYPES = ("bfloat16", "fp8")


@dataclass(frozen=True, kw_only=True, slots=True)
class Card:
    """Dense TFLOP/s of 16-bit and, where there is one, 8-bit numbers; GB/s; bytes of memory."""

    name: str
    tflop_per_s: Fraction
    gb_per_s: Fraction
    memory_bytes: int
    fp8_tflop_per_s: Fraction | None = None

    def flop_per_s(self, compute_dtype: str) -> Fraction:
        """The peak for a type. ParameterError ``no_fp8_peak`` where the card has none."""
        if compute_dtype == "bfloat16":
            return self.tflop_per_s * TERA
        if self.fp8_tflop_per_s is None:
            raise ParameterError("compute_dtype", "no_fp8_peak", card=self.name)
        return self.fp8_tflop_per_s * TERA

    @property
    def bytes_per_s(self) -> Fraction:
        """The memory bandwidth."""
        return self.gb_per_s * GIGA


CARDS: dict[str, Card] = {
    name: Card(
        name=name,
        tflop_per_s=DEVICES[name].tflop_per_s,
        gb_per_s=Fraction(gb_per_s),
        memory_bytes=GPUS[gpu].memory_bytes,
        fp8_tflop_per_s=None if fp8 is None else Fraction(fp8),
    )
    for name, gpu, gb_per_s, fp8 in (
        ("A100 SXM", "A100 80GB", 2039, None),
        ("H100 SXM", "H100 80GB", 3350, 1978),
        ("H200 SXM", "H200", 4800, 1978),
        ("B200 SXM", "B200", 8000, 4500),
        ("L40S", "L40S", 864, 733),
    )
}
