"""Prefill on one worker, decode on another: how long the KV travels, and when that is a loss.

The serving lab's disaggregated workers take a transfer as ``x0 + x1 · prompt tokens``;
:func:`line` gives these two. Leaves out shares of a link among concurrent transfers beyond the
mean wait of a serial link, and protocols (handshakes are ``latency_us``).
"""

from dataclasses import dataclass
from fractions import Fraction

from calculators.kv.layers import Stack
from calculators.tiering.moved import Store, layer_runs, total
from calculators.tiering.overlap import pipelined
from calculators.tiering.tier import Tier

MICROSECONDS = 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Handover:
    """The KV of one prompt on its way: ``exposed_s`` is what comes after the prefill's end."""

    bytes: int | Fraction
    prefill_s: Fraction
    transfer_s: Fraction
    exposed_s: Fraction

    @property
    def hidden_s(self) -> Fraction:
        """What the prefill covers."""
        return self.transfer_s - self.exposed_s


def handover(  # noqa: PLR0913 - what is sent, how, and what runs beside it
    stack: Stack,
    store: Store,
    link: Tier,
    tokens: int,
    *,
    prefill_s: Fraction,
    layerwise: bool,
) -> Handover:
    """The transfer of a prompt; layer-wise, a layer is sent as soon as it is computed.

    The prefill's time is dealt out to the layers equally.
    """
    size = total(stack, store, 0, tokens)
    whole = link.seconds(size, 1)
    if not layerwise:
        return Handover(bytes=size, prefill_s=prefill_s, transfer_s=whole, exposed_s=whole)
    share = prefill_s / max(1, len(stack.layers))
    runs = (
        (count, share, of / link.bytes_per_s) for count, of in layer_runs(stack, store, 0, tokens)
    )
    exposed = pipelined(runs) - prefill_s + link.latency_s
    return Handover(bytes=size, prefill_s=prefill_s, transfer_s=whole, exposed_s=exposed)


def line(stack: Stack, store: Store, link: Tier) -> tuple[Fraction, Fraction]:
    """(x0, x1) in µs of the serving lab: ``x0 + x1 · prompt tokens``, exact without windows.

    With windows the line holds for prompts that fill none; recurrent states count in ``x0``.
    """
    one, two = (Fraction(total(stack, store, 0, tokens)) for tokens in (1, 2))
    per_byte = MICROSECONDS / link.bytes_per_s
    return link.latency_us + (2 * one - two) * per_byte, (two - one) * per_byte


@dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """Prompts a second, and what one costs each side. Times in seconds.

    ``step_s`` is a decode iteration, ``prefill_s`` a prompt's prefill.
    """

    requests_per_s: Fraction
    prefill_s: Fraction
    step_s: Fraction
    output_tokens: int

    @property
    def prefill_share(self) -> Fraction:
        """Share of a worker's time that prefills take when each of two workers does both."""
        return self.requests_per_s * self.prefill_s / 2

    @property
    def decode_s(self) -> Fraction:
        """Decode of one request that nothing interrupts."""
        return self.step_s * (self.output_tokens - 1)

    @property
    def interrupted_s(self) -> Fraction | None:
        """What prefills of others add to a decode on a worker that does both; None: it saturates.

        A worker that spends the share ρ on prefills decodes 1 - ρ of the time, so a decode of
        length D takes D / (1 - ρ).
        """
        share = self.prefill_share
        return None if share >= 1 else self.decode_s * share / (1 - share)


def least_output_tokens(load: Load, exposed_s: Fraction) -> int | None:
    """The least output from which separate workers finish sooner; None: at no length.

    Compared are one prefill and one decode worker with two that do both: the exposed transfer
    against the time that a decode loses to prefills. Queues before the prefill are left out.
    """
    share = load.prefill_share
    if share >= 1:
        return 1
    if share == 0:
        return None
    return int(exposed_s * (1 - share) / (share * load.step_s)) + 2


def utilisation(load: Load, transfer_s: Fraction) -> Fraction:
    """Share of the time that one serial link is busy; at 1 and above transfers queue up."""
    return load.requests_per_s * transfer_s


def mean_wait_s(load: Load, transfer_s: Fraction) -> Fraction | None:
    """Mean wait for a serial link under Poisson arrivals of equal transfers (M/D/1)."""
    busy = utilisation(load, transfer_s)
    return None if busy >= 1 else busy * transfer_s / (2 * (1 - busy))
