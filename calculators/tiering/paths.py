"""The ways of one request to its first token: compute all, load then compute, side by side."""

from dataclasses import dataclass
from fractions import Fraction

from calculators.tiering.breakeven import Prefix
from calculators.tiering.chunks import Load
from calculators.tiering.moved import layer_runs, total
from calculators.tiering.overlap import Meeting, pipelined, two_ended
from calculators.tiering.tier import Tier


@dataclass(frozen=True, kw_only=True, slots=True)
class Path:
    """Times in seconds; all but ``load_s`` are to the end of the whole prompt's prefill.

    ``recompute_s`` computes what the engine's own cache does not have; ``serial_s`` loads, then
    computes the rest; ``layerwise_s`` computes a layer as soon as it is loaded; ``two_ended_s``
    computes from the front and loads from the back at once.
    """

    tier: Tier
    load_s: Fraction
    recompute_s: Fraction
    serial_s: Fraction
    layerwise_s: Fraction
    two_ended_s: Fraction
    meeting: Meeting

    @property
    def saved_s(self) -> Fraction:
        """What loading first saves; negative where it makes TTFT worse."""
        return self.recompute_s - self.serial_s


def path(prefix: Prefix, tier: Tier, plan: Load, prompt: int) -> Path:
    """All ways for a prompt of so many tokens."""
    prefill = prefix.prefill
    size = total(prefix.stack, prefix.store, plan.start, plan.end)
    load_s = tier.seconds(size, plan.operations)
    suffix_s = prefill.seconds(plan.reused, prompt)
    meeting = meet(prefix, tier, plan)
    return Path(
        tier=tier,
        load_s=load_s,
        recompute_s=prefill.seconds(plan.engine_hit, prompt),
        serial_s=load_s + suffix_s,
        layerwise_s=layerwise(prefix, tier, plan, suffix_s),
        two_ended_s=meeting.seconds + suffix_s,
        meeting=meeting,
    )


def layerwise(prefix: Prefix, tier: Tier, plan: Load, suffix_s: Fraction) -> Fraction:
    """End of the suffix's prefill when each layer starts as soon as its KV is there."""
    if not plan.operations:
        return suffix_s
    share = suffix_s / max(1, len(prefix.stack.layers))
    runs = (
        (count, size / tier.bytes_per_s, share)
        for count, size in layer_runs(prefix.stack, prefix.store, plan.start, plan.end)
    )
    return pipelined(runs, tier.rounds(plan.operations) * tier.latency_s)


def meet(prefix: Prefix, tier: Tier, plan: Load) -> Meeting:
    """Cake's schedule over the chunks that would be loaded."""
    size, chunks = prefix.chunks.tokens, plan.operations

    def boundary(count: int) -> int:
        """Where the first ``count`` chunks end."""
        return plan.end if count == chunks else min(plan.start + count * size, plan.end)

    def compute(count: int) -> Fraction:
        return prefix.prefill.seconds(plan.engine_hit, boundary(count))

    def load(count: int) -> Fraction:
        start = boundary(chunks - count)
        return tier.seconds(total(prefix.stack, prefix.store, start, plan.end), count)

    return two_ended(chunks, compute, load)
