"""Iteration times from a model's size and a device's peaks.

An iteration reads all weights once and the KV cache of the decoding sequences, and does
2 · parameters FLOP a token; the slower of the two counts, each at its efficiency, plus a fixed
overhead. Leaves out attention FLOP, activations, communication between devices, mixture of
experts (there the parameters read and used differ) and everything kernels lose beyond the one
efficiency. Times are whole microseconds, rounded up.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm

from calculators.serving.limits import within
from calculators.serving.request import Time

MICROSECONDS = 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Device:
    """Peak dense 16-bit FLOP/s and memory bandwidth in bytes/s, with their source."""

    name: str
    flop_per_s: int
    bytes_per_s: int
    source: str


BLIS = "inference-sim/inference-sim hardware_config.json @f90a1e3"
DEVICES: tuple[Device, ...] = (
    Device(name="A100 80GB", flop_per_s=312 * 10**12, bytes_per_s=2_039 * 10**9, source=BLIS),
    Device(name="H100 SXM", flop_per_s=9_895 * 10**11, bytes_per_s=3_350 * 10**9, source=BLIS),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """What of a model matters here: parameters, their bytes, KV bytes a token."""

    parameters: int
    bytes_per_parameter: Fraction
    kv_bytes_per_token: int


# Counted from each model's config.json; weights and KV of 16 bits. Beside: (layers, KV heads,
# head size).
MODELS: dict[str, Shape] = {
    "llama_2_7b": Shape(
        parameters=6_738_415_616,  # (32, 32, 128)
        bytes_per_parameter=Fraction(2),
        kv_bytes_per_token=2 * 2 * 32 * 32 * 128,
    ),
    "llama_3_1_8b": Shape(
        parameters=8_030_261_248,  # (32, 8, 128)
        bytes_per_parameter=Fraction(2),
        kv_bytes_per_token=2 * 2 * 32 * 8 * 128,
    ),
    "qwen3_8b": Shape(
        parameters=8_190_735_360,  # (36, 8, 128)
        bytes_per_parameter=Fraction(2),
        kv_bytes_per_token=2 * 2 * 36 * 8 * 128,
    ),
    "llama_3_1_70b": Shape(
        parameters=70_553_706_496,  # (80, 8, 128)
        bytes_per_parameter=Fraction(2),
        kv_bytes_per_token=2 * 2 * 80 * 8 * 128,
    ),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Roofline:
    """The slower of computing and reading, plus ``overhead_us`` for each iteration."""

    shape: Shape
    device: Device
    compute_efficiency: Fraction = Fraction(1)
    memory_efficiency: Fraction = Fraction(1)
    overhead_us: Fraction = Fraction(0)
    parts: tuple[int, int, int, int, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse efficiencies that are none. Raises ParameterError."""
        for name in ("compute_efficiency", "memory_efficiency"):
            within(name, getattr(self, name), Fraction(1, 1000), 1)
        object.__setattr__(self, "parts", self.line())

    @property
    def reads_context(self) -> bool:
        """The KV cache is read."""
        return True

    @property
    def coefficients(self) -> None:
        """The larger of two lines is no line."""

    def growth(self, decodes: int) -> None:
        """Rounding and the change of the slower side leave no constant growth."""

    def compute_us(self, tokens: int) -> Fraction:
        """Time to do the FLOP of so many tokens."""
        flop = 2 * self.shape.parameters * tokens
        return flop / (self.device.flop_per_s * self.compute_efficiency) * MICROSECONDS

    def memory_us(self, context: int) -> Fraction:
        """Time to read the weights and ``context`` tokens of KV cache."""
        weights = self.shape.parameters * self.shape.bytes_per_parameter
        read = weights + context * self.shape.kv_bytes_per_token
        return read / (self.device.bytes_per_s * self.memory_efficiency) * MICROSECONDS

    def line(self) -> tuple[int, int, int, int, int]:
        """Compute a token, weights, KV a token and overhead over one common denominator.

        So that an iteration costs a few operations on integers and no fraction.
        """
        weights, token = self.memory_us(0), self.memory_us(1) - self.memory_us(0)
        parts = (self.compute_us(1), weights, token, self.overhead_us)
        common = lcm(*(part.denominator for part in parts))
        first, second, third, fourth = (int(part * common) for part in parts)
        return first, second, third, fourth, common

    def duration(self, prefill: int, decodes: int, context: int) -> Time:
        """Time of one iteration in whole µs."""
        compute, weights, token, overhead, common = self.parts
        computing, reading = compute * (prefill + decodes), weights + token * context
        slower = computing if computing > reading else reading  # noqa: FURB136 - max() is slower
        return -(-(slower + overhead) // common)
