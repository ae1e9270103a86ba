"""One forward pass on one card: bytes read, FLOP done, and the least time that both allow.

Reading and multiplying overlap perfectly, so the longer of the two is the time. Tensor parallelism
splits matrices and query heads evenly over the cards, and the cache as ``kv`` does: KV heads are
replicated once there are more cards than heads, latent rows on every card. Left out: communication
between cards, activations, launches of kernels, sampling, writing the cache of a prompt.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from calculators.floor.attending import (
    Caches,
    Kind,
    caches_on_rank,
    decode_kinds,
    kept_bytes,
    own_type,
    prefill_kinds,
)
from calculators.floor.weights import MULTIPLY_ADD, Weights
from calculators.kv.dtypes import Dtype
from calculators.kv.layers import Stack


@dataclass(frozen=True, kw_only=True, slots=True)
class Machine:
    """Rates that each of ``cards`` equal cards achieves, in FLOP/s and bytes/s."""

    flop_per_s: Fraction
    bytes_per_s: Fraction
    cards: int = 1

    @property
    def ridge(self) -> Fraction:
        """FLOP for each byte at which reading and multiplying take equally long."""
        return self.flop_per_s / self.bytes_per_s


@dataclass(frozen=True, kw_only=True, slots=True)
class Pass:
    """What one card does in a pass."""

    machine: Machine
    weight_bytes: Fraction
    kv_bytes: Fraction
    linear_flop: Fraction
    attention_flop: Fraction

    @property
    def weights_s(self) -> Fraction:
        """Time to read the weights."""
        return self.weight_bytes / self.machine.bytes_per_s

    @property
    def kv_s(self) -> Fraction:
        """Time to read the cache."""
        return self.kv_bytes / self.machine.bytes_per_s

    @property
    def memory_s(self) -> Fraction:
        """Time of all reading."""
        return self.weights_s + self.kv_s

    @property
    def linear_s(self) -> Fraction:
        """Time to multiply with the weights."""
        return self.linear_flop / self.machine.flop_per_s

    @property
    def compute_s(self) -> Fraction:
        """Time of all multiplying."""
        return self.linear_s + self.attention_flop / self.machine.flop_per_s

    @property
    def seconds(self) -> Fraction:
        """The least time: the longer of the two."""
        return max(self.memory_s, self.compute_s)

    @property
    def bound(self) -> str:
        """``compute`` or ``memory``, whichever takes longer."""
        return "compute" if self.compute_s > self.memory_s else "memory"

    @property
    def intensity(self) -> Fraction:
        """FLOP for each byte read; some weights always are."""
        return (self.linear_flop + self.attention_flop) / (self.weight_bytes + self.kv_bytes)


@dataclass(frozen=True, kw_only=True)
class Model:
    """Weights and cache of a model on a machine."""

    machine: Machine
    weights: Weights
    stack: Stack
    kv: Dtype
    query_heads: int
    own: Dtype | None = None

    @cached_property
    def caches(self) -> Caches:
        """The layers as one card keeps them."""
        return caches_on_rank(self.stack, self.machine.cards)

    def decode_kinds(self, context: int) -> tuple[Kind, ...]:
        """What one sequence of a step costs one card, by kind of layer."""
        return decode_kinds(self.caches, self.kv, own_type(self.own), context)

    def prefill_kinds(self, start: int, end: int) -> tuple[Kind, ...]:
        """What a prompt costs one card, by kind of layer."""
        return prefill_kinds(self.caches, self.kv, own_type(self.own), start, end)

    def steps(self, context: int) -> "Steps":
        """Decode steps of sequences of one length."""
        kinds = self.decode_kinds(context)
        return Steps(
            model=self,
            context=context,
            kv_bytes=sum((kind.bytes for kind in kinds), Fraction(0)),
            attention_flop=self.attention_flop(kinds),
        )

    def prefill(self, start: int, end: int) -> Pass:
        """The pass over a prompt of which the first ``start`` tokens are cached."""
        kinds = self.prefill_kinds(start, end)
        cards, tokens = self.machine.cards, end - start
        return Pass(
            machine=self.machine,
            weight_bytes=self.weights.read_bytes(tokens) / cards,
            kv_bytes=sum((kind.bytes for kind in kinds), Fraction(0)),
            linear_flop=Fraction(self.weights.prefill_flop(tokens), cards),
            attention_flop=self.attention_flop(kinds),
        )

    def attention_flop(self, kinds: tuple[Kind, ...]) -> Fraction:
        """FLOP of the query heads of one card."""
        products = sum(kind.multiply_adds for kind in kinds)
        return Fraction(MULTIPLY_ADD * self.query_heads * products, self.machine.cards)

    def kept_bytes(self, tokens: int) -> Fraction:
        """Bytes of cache that a sequence of so many tokens keeps on one card."""
        return kept_bytes(self.caches, self.kv, own_type(self.own), tokens)


@dataclass(frozen=True, kw_only=True, slots=True)
class Steps:
    """Decode steps: every sequence adds ``kv_bytes`` and ``attention_flop`` on each card."""

    model: Model
    context: int
    kv_bytes: Fraction
    attention_flop: Fraction

    def step(self, batch: int) -> Pass:
        """One step of a batch."""
        weights, machine = self.model.weights, self.model.machine
        return Pass(
            machine=machine,
            weight_bytes=weights.read_bytes(batch) / machine.cards,
            kv_bytes=batch * self.kv_bytes,
            linear_flop=Fraction(weights.decode_flop(batch), machine.cards),
            attention_flop=batch * self.attention_flop,
        )

    def tokens_per_s(self, batch: int) -> Fraction:
        """The most tokens a second that a batch can get."""
        return batch / self.step(batch).seconds
