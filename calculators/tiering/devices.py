"""Peak rates of devices, as ``data/devices/devices.json`` states them with their sources.

Peaks of data sheets: what a prefill achieves is a part of them (``efficiency_percent``).
"""

from dataclasses import dataclass
from fractions import Fraction

FLOP_PER_TFLOP = 10**12
OTHER = "other"


@dataclass(frozen=True, kw_only=True, slots=True)
class Device:
    """Dense 16-bit TFLOP/s."""

    name: str
    tflop_per_s: Fraction


DEVICES: dict[str, Device] = {
    name: Device(name=name, tflop_per_s=Fraction(rate))
    for name, rate in (
        ("A100 SXM", "312"),
        ("H100 SXM", "989"),
        ("H200 SXM", "989"),
        ("B200 SXM", "2250"),
        ("L40S", "362.05"),
    )
}
