"""A place that KV is fetched from: bandwidth, latency of an operation, operations in flight.

``seconds = ⌈operations / parallel⌉ × latency + bytes / bandwidth``: the latency is paid once for
each round of operations in flight, the bandwidth is shared. Leaves out other users of the link.
"""

from dataclasses import dataclass
from fractions import Fraction

BYTES_PER_GB = 10**9
PARTS_PER_MILLION = 10**6


@dataclass(frozen=True, kw_only=True, slots=True)
class Tier:
    """``gb_per_s`` is what is achieved into GPU memory, over all ranks."""

    name: str
    gb_per_s: Fraction
    latency_us: Fraction = Fraction(0)
    parallel: int = 1

    @property
    def bytes_per_s(self) -> Fraction:
        """10⁹ bytes a GB."""
        return self.gb_per_s * BYTES_PER_GB

    @property
    def latency_s(self) -> Fraction:
        """Latency of one round."""
        return self.latency_us / PARTS_PER_MILLION

    def rounds(self, operations: int) -> int:
        """Rounds of operations in flight."""
        return -(-operations // self.parallel)

    def seconds(self, size: int | Fraction, operations: int) -> Fraction:
        """Time to move ``size`` bytes in so many operations; none without an operation."""
        if not operations:
            return Fraction(0)
        return self.rounds(operations) * self.latency_s + size / self.bytes_per_s
