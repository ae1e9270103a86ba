"""What of a model's weights a forward pass must read, and multiply with.

Of a mixture of experts, a pass over N tokens reads those experts that at least one of them is
routed to: with independent uniform routing the expected share 1 − (1 − k/E)^N. Real routing is
neither, which shifts that share. The input embedding is looked up, not read, and the output
projection is needed for the last token of a prompt only. Left out: layers of multi-token
prediction, and scales of quantisation beyond those of the type.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from calculators.floor.counts import BILLION
from calculators.form.errors import ParameterError
from calculators.kv.dtypes import Dtype

MULTIPLY_ADD = 2  # FLOP
SCALE = 1 << 128  # of the fixed-point powers


@dataclass(frozen=True, kw_only=True, slots=True)
class Experts:
    """``per_token`` of ``total`` routed experts in each layer that has any."""

    total: int
    per_token: int

    @property
    def share(self) -> Fraction:
        """k/E."""
        return Fraction(self.per_token, self.total)

    def read_share(self, tokens: int) -> Fraction:
        """The expected share of experts that ``tokens`` tokens use, short by less than 2^-110."""
        return 1 - power_above(1 - self.share, tokens)


@dataclass(frozen=True, kw_only=True)
class Weights:
    """Numbers of parameters. ``active`` are those that one token uses, shared ones included.

    ``embedding`` is vocabulary × hidden size, once in ``parameters`` where ``tied``, else twice;
    0 where it is not known.
    """

    parameters: int
    active: int
    dtype: Dtype
    experts: Experts | None = None
    embedding: int = 0
    tied: bool = False

    def check(self) -> None:
        """Refuse numbers that contradict one another: then a pass reads something.

        ParameterErrors ``larger_than``, ``table_too_large``, ``tables_too_large`` and
        ``experts_do_not_fit``.
        """
        experts, tables = self.experts, self.embedding * (1 if self.tied else 2)
        if self.active > self.parameters:
            text, most = billions(self.active), billions(self.parameters)
            raise ParameterError("active_parameters_b", "larger_than", text=text, maximum=most)
        if experts is not None and experts.per_token > experts.total:
            text, most = str(experts.per_token), str(experts.total)
            raise ParameterError("experts_per_token", "larger_than", text=text, maximum=most)
        if tables > self.active:
            text, most = billions(tables), billions(self.active)
            if self.tied:
                raise ParameterError("embedding_b", "table_too_large", text=text, maximum=most)
            raise ParameterError("embedding_b", "tables_too_large", text=text, maximum=most)
        if self.always < 0:
            raise ParameterError("active_parameters_b", "experts_do_not_fit")

    @cached_property
    def routed(self) -> Fraction:
        """Parameters of all routed experts: what is not active is the share (1 − k/E) of them."""
        if self.experts is None or self.experts.share == 1:
            return Fraction(0)
        return (self.parameters - self.active) / (1 - self.experts.share)

    @property
    def looked_up(self) -> int:
        """Parameters of which a token needs a row only."""
        return 0 if self.tied else self.embedding

    @cached_property
    def always(self) -> Fraction:
        """Parameters that every pass reads."""
        return self.parameters - self.looked_up - self.routed

    @property
    def multiplied(self) -> int:
        """Parameters that one token of a decode step is multiplied with."""
        return self.active - self.looked_up

    @cached_property
    def bytes_each(self) -> Fraction:
        """Bytes of a parameter, its share of a scale included."""
        scale = Fraction(self.dtype.scale_bits, self.dtype.block) if self.dtype.block else 0
        return (self.dtype.bits + scale) / Fraction(8)

    def read_bytes(self, tokens: int) -> Fraction:
        """Bytes that a pass over so many tokens reads; of experts the expectation."""
        share = self.experts.read_share(tokens) if self.experts and self.routed else 0
        return (self.always + self.routed * share) * self.bytes_each

    def decode_flop(self, tokens: int) -> int:
        """FLOP of all matrices for one token of each of ``tokens`` sequences."""
        return MULTIPLY_ADD * self.multiplied * tokens

    def prefill_flop(self, tokens: int) -> int:
        """FLOP of all matrices for a prompt: only its last token goes through the vocabulary."""
        return MULTIPLY_ADD * (
            (self.multiplied - self.embedding) * tokens + min(tokens, 1) * self.embedding
        )


def billions(count: int) -> str:
    """Parameters as the form takes them: ``335544320 → 0.33554432``."""
    return f"{count // BILLION}.{count % BILLION:09d}".rstrip("0").removesuffix(".")


def power_above(base: Fraction, exponent: int) -> Fraction:
    """``base ** exponent`` of 0 ≤ base ≤ 1, rounded up by less than 2^-110 of 1.

    An exact power of a million digits would take longer than the rest of the answer.
    """
    result, square = SCALE, up(base.numerator * SCALE, base.denominator)
    while exponent:
        if exponent & 1:
            result = up(result * square, SCALE)
        square = up(square * square, SCALE)
        exponent >>= 1
    return Fraction(result, SCALE)


def up(numerator: int, denominator: int) -> int:
    """The quotient rounded up."""
    return -(-numerator // denominator)
