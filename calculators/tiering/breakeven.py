"""When loading beats computing: the least bandwidth at a length, the least length at a tier.

The Mooncake paper's inequality, ``B/G > 2 d s / (gqa (a p d + b d²))``, is the special case of a
dense model without latency, chunks and overhead: both sides are bytes over FLOP of one prefix.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from calculators.kv.layers import Stack
from calculators.tiering.chunks import Chunks, load
from calculators.tiering.moved import Store, total
from calculators.tiering.recompute import Prefill
from calculators.tiering.tier import BYTES_PER_GB, Tier

MOST_LENGTHS = 1024  # chunk counts that are looked at
MOST_TOKENS = 262_144


@dataclass(frozen=True, kw_only=True, slots=True)
class Prefix:
    """One way to store and compute a model's prefixes."""

    stack: Stack
    store: Store
    chunks: Chunks
    prefill: Prefill

    def load_seconds(self, tier: Tier, tokens: int) -> Fraction:
        """Time to load a prefix of whole chunks from a tier."""
        plan = load(tokens, 0, self.chunks)
        return tier.seconds(self.bytes(plan.end), plan.operations)

    def bytes(self, tokens: int) -> int | Fraction:
        """Bytes of the first tokens."""
        return total(self.stack, self.store, 0, tokens)


def least_bandwidth_gb_per_s(
    prefix: Prefix, tokens: int, tier: Tier | None = None
) -> Fraction | None:
    """Above it, loading is faster than computing; None where latency alone takes longer."""
    plan = load(tokens, 0, prefix.chunks)
    left = prefix.prefill.seconds(0, plan.end)
    if tier is not None:
        left -= tier.rounds(plan.operations) * tier.latency_s
    if left <= 0:
        return None
    return prefix.bytes(plan.end) / left / BYTES_PER_GB


def lengths(chunks: Chunks) -> range:
    """The lengths that are looked at: whole chunks, at most ``MOST_LENGTHS`` of them."""
    most = max(1, MOST_TOKENS // chunks.tokens)
    step = -(-most // MOST_LENGTHS) * chunks.tokens
    return range(step, step * min(most, MOST_LENGTHS) + 1, step)


def least_tokens(prefix: Prefix, tiers: Iterable[Tier]) -> list[int | None]:
    """For each tier the least length from which loading stays faster up to the longest looked at.

    None where it is not faster at the longest. Looked at one by one, longest first, since rounds
    of latency make the difference jump.
    """
    found: dict[int, int | None] = {}
    waiting = dict(enumerate(tiers))
    last: dict[int, int | None] = dict.fromkeys(waiting)
    for tokens in reversed(lengths(prefix.chunks)):
        plan = load(tokens, 0, prefix.chunks)
        size = prefix.bytes(plan.end)
        compute = prefix.prefill.seconds(0, plan.end)
        for index, tier in list(waiting.items()):
            if tier.seconds(size, plan.operations) < compute:
                last[index] = tokens
            else:
                found[index] = last[index]
                del waiting[index]
        if not waiting:
            break
    return [found.get(index, last[index]) for index in last]
