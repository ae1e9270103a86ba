"""How long a prefill takes: FLOP of a prompt over the rate that a device achieves on it.

Three kinds of work: the closed form of the Mooncake paper (FAST 2025, section 3), a count from
parameters and attention, and a measured rate of tokens. Leaves out memory traffic (a prefill of
hundreds of tokens is bound by arithmetic), communication between devices and batching.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from calculators.kv.layers import Cache, ChunkedAttention, FullAttention, LatentAttention, Stack

MULTIPLY_ADD = 2  # FLOP
ATTENTION_FACTOR, LINEAR_FACTOR = 4, 22  # a and b of the paper


class Work(Protocol):
    """What has to be done for a prompt: FLOP, or tokens where the rate is one of tokens."""

    def amount(self, tokens: int) -> int:
        """The work of the first ``tokens`` of a prompt."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ClosedForm:
    """``l × (a p² d + b p d²)`` of a dense decoder: every query meets every key, no causal half.

    ``a`` counts attention, ``b`` projections and the MLP. A mixture of experts does less, a wide
    MLP more: then count, or measure.
    """

    layers: int
    hidden_size: int
    a: int = ATTENTION_FACTOR
    b: int = LINEAR_FACTOR

    def amount(self, tokens: int) -> int:
        """FLOP of the first tokens."""
        d = self.hidden_size
        return self.layers * (self.a * tokens * tokens * d + self.b * tokens * d * d)


@dataclass(frozen=True, kw_only=True, slots=True)
class Counted:
    """2 FLOP a parameter and token, and attention by the kinds of layers, causal and windowed.

    ``parameters`` are those that one token uses (of a mixture of experts, the active ones). A
    latent cache counts in its absorbed form, ``2 rank + rope`` a pair and head, which is more than
    engines do in a prefill. Recurrent layers count with their parameters only.
    """

    parameters: int
    query_heads: int
    stack: Stack

    def amount(self, tokens: int) -> int:
        """FLOP of the first tokens."""
        attention = sum(
            layers * pair_width(cache) * pairs(cache, tokens)
            for cache, layers in self.stack.counts.items()
        )
        return MULTIPLY_ADD * (self.parameters * tokens + self.query_heads * attention)


@dataclass(frozen=True, slots=True)
class TokenCount:
    """The tokens themselves: the work of a measured rate, which knows no prefix."""

    def amount(self, tokens: int) -> int:
        """As many as there are."""
        return tokens


@dataclass(frozen=True, kw_only=True, slots=True)
class Prefill:
    """Work at a rate: FLOP over the FLOP/s that devices achieve together, or tokens over tokens/s.

    ``overhead_s`` is paid by each part that is computed at all.
    """

    work: Work
    per_s: Fraction
    overhead_s: Fraction = Fraction(0)

    def seconds(self, start: int, end: int) -> Fraction:
        """Time to compute tokens ``start`` up to ``end``, the KV of those before at hand."""
        if end <= start:
            return Fraction(0)
        return self.overhead_s + (self.work.amount(end) - self.work.amount(start)) / self.per_s


def pair_width(cache: Cache) -> int:
    """Multiply-adds of one query head for one query and one key."""
    match cache:
        case FullAttention():
            return cache.k_width + cache.v_width
        case LatentAttention():
            return 2 * cache.rank + cache.rope
        case _:
            return 0


def pairs(cache: Cache, tokens: int) -> int:
    """Pairs of a query and a key that it may look at: ``Σ min(i, reach)`` over the tokens."""
    reach = cache.reach
    if reach is None or tokens <= reach:
        return tokens * (tokens + 1) // 2
    if isinstance(cache, ChunkedAttention):
        chunks, rest = divmod(tokens, reach)
        return chunks * (reach * (reach + 1) // 2) + rest * (rest + 1) // 2
    return reach * (reach + 1) // 2 + (tokens - reach) * reach
