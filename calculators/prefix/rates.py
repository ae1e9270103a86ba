"""Hit rates with their definitions: one word a metric, and nothing hidden in it.

Engines, papers and dashboards divide different things by different things; the switches below
cover those of rules/prefix.md section e. Every rate is computed from what each request found.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import fsum
from typing import Literal

from calculators.form.errors import ParameterError
from calculators.prefix.trace import Trace


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What every request of a trace found, in blocks, and what the cache did in total.

    ``runs`` are leading runs of present blocks, ``anywhere`` all present blocks of the request,
    whether or not something before them was missing. ``lookups`` are the blocks looked up: all,
    or the full ones where partial blocks are not stored.
    """

    runs: tuple[int, ...]
    anywhere: tuple[int, ...]
    lookups: tuple[int, ...]
    evictions: int
    resident: int
    refused: int = 0

    @property
    def hit_blocks(self) -> int:
        """Blocks reused, counted as prefixes."""
        return sum(self.runs)


@dataclass(frozen=True, kw_only=True, slots=True)
class Definition:
    """Switches of a hit rate.

    ``over`` "looked_up" divides by the blocks looked up, "full" by the full blocks of the prompts.
    ``recompute_last`` caps reuse at ``(input_length - 1) // block`` blocks.
    ``average`` "per_request" is the mean of the requests' ratios; one without a full block counts
    as 0. ``warmup`` requests at the start are served but not counted.
    """

    unit: Literal["blocks", "tokens"] = "tokens"
    scope: Literal["prefix", "anywhere"] = "prefix"
    over: Literal["looked_up", "full"] = "looked_up"
    recompute_last: bool = True
    average: Literal["pooled", "per_request"] = "pooled"
    warmup: int = 0


def rate(trace: Trace, outcome: Outcome, definition: Definition) -> Fraction | float | None:
    """The rate under a definition; None if nothing was counted.

    Pooled rates are exact; a mean of ratios is a float, since its exact denominator is endless.
    """
    pairs = list(counted(trace, outcome, definition))
    if definition.average == "per_request":
        return fsum(found / of for found, of in pairs if of) / len(pairs) if pairs else None
    whole = sum(of for _, of in pairs)
    return Fraction(sum(found for found, _ in pairs), whole) if whole else None


def counted(trace: Trace, outcome: Outcome, definition: Definition) -> Iterator[tuple[int, int]]:
    """Numerator and denominator of every request past the warm-up."""
    if definition.warmup > len(trace):
        raise ParameterError("warmup", "too_large", text=str(definition.warmup), maximum=len(trace))
    anywhere = definition.scope == "anywhere"
    if anywhere and definition.unit == "tokens":
        raise ParameterError("scope", "tokens_need_prefixes")
    blocks = outcome.anywhere if anywhere else outcome.runs
    for index in range(definition.warmup, len(trace)):
        found = blocks[index]
        if definition.recompute_last and not anywhere:
            found = min(found, last_reusable(trace, index))
        if definition.unit == "tokens":
            length = trace.input_tokens[index]
            yield min(found * trace.block_tokens, length), length
        elif definition.over == "full":
            yield found, trace.full_block_counts[index]
        else:
            yield found, outcome.lookups[index]


def last_reusable(trace: Trace, index: int) -> int:
    """Blocks that leave at least one token to compute."""
    return max(trace.input_tokens[index] - 1, 0) // trace.block_tokens


def reused_tokens(trace: Trace, outcome: Outcome, *, recompute_last: bool = False) -> int:
    """Tokens of the prompts that need no prefill: ``Σ min(block × run, input_length)``."""
    definition = Definition(recompute_last=recompute_last)
    return sum(found for found, _ in counted(trace, outcome, definition))


def requests_with_hit(outcome: Outcome) -> Fraction:
    """Share of requests that reused at least one block."""
    return Fraction(sum(run > 0 for run in outcome.runs), len(outcome.runs) or 1)
