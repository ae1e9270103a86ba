"""The batches at which a step changes its nature: reading against multiplying.

Both are the least whole batch, found by bisection: what multiplying gains on reading with each
sequence is constant, the weights read grow ever less, so the sign changes once.
"""

from fractions import Fraction

from calculators.floor.passes import Steps


def critical_batch(steps: Steps) -> int:
    """From here on the matrices take longer to multiply with than to read; cache left aside.

    Dense: peak × bytes of a parameter / (2 × bandwidth).
    """
    return least(steps, steps.step(1).linear_s)


def compute_bound_batch(steps: Steps) -> int | None:
    """From here on a step is compute-bound; None where reading the cache alone takes longer."""
    one = steps.step(1)
    gain_s = one.compute_s - one.kv_s
    return least(steps, gain_s) if gain_s > 0 else None


def least(steps: Steps, gain_s: Fraction) -> int:
    """The least N with N × gain ≥ the time to read the weights for N tokens."""
    weights, machine = steps.model.weights, steps.model.machine
    per_byte = 1 / (machine.bytes_per_s * machine.cards)

    def enough(batch: int) -> bool:
        return batch * gain_s >= weights.read_bytes(batch) * per_byte

    whole = (weights.always + weights.routed) * weights.bytes_each * per_byte
    low, high = 0, max(1, -(-whole // gain_s))
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return int(high)
