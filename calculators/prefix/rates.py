"""Hit rates with their definitions: one word a metric, and nothing hidden in it.

Engines, papers and dashboards divide different things by different things; the switches below
cover those of rules/prefix.md section e. Every rate is computed from what each request found.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import repeat
from math import fsum
from operator import mul
from typing import Literal

from calculators.form.errors import ParameterError
from calculators.prefix.invariants import MisuseError
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
    found, of = counted(trace, outcome, definition)
    if definition.average == "per_request":
        shares = (mine / whole for mine, whole in zip(found, of, strict=True) if whole)
        return fsum(shares) / len(of) if of else None
    whole = sum(of)
    return Fraction(sum(found), whole) if whole else None


def counted(
    trace: Trace, outcome: Outcome, definition: Definition
) -> tuple[Sequence[int], Sequence[int]]:
    """Numerators and denominators of all requests past the warm-up."""
    if definition.warmup > len(trace):
        raise ParameterError("warmup", "too_large", text=str(definition.warmup), maximum=len(trace))
    anywhere = definition.scope == "anywhere"
    if anywhere and definition.unit == "tokens":
        raise MisuseError("tokens are counted by prefixes only")
    counts = slice(definition.warmup, None)
    found: Sequence[int] = (outcome.anywhere if anywhere else outcome.runs)[counts]
    if definition.recompute_last and not anywhere:
        found = list(map(min, found, trace.reusable_block_counts[counts]))
    if definition.unit == "tokens":
        lengths = trace.input_tokens[counts]
        tokens = map(mul, found, repeat(trace.block_tokens))
        return list(map(min, tokens, lengths)), lengths
    return found, (trace.full_block_counts if definition.over == "full" else outcome.lookups)[
        counts
    ]


def reused_tokens(trace: Trace, outcome: Outcome, *, recompute_last: bool = False) -> int:
    """Tokens of the prompts that need no prefill: ``Σ min(block × run, input_length)``."""
    return sum(counted(trace, outcome, Definition(recompute_last=recompute_last))[0])


def requests_with_hit(outcome: Outcome) -> Fraction:
    """Share of requests that reused at least one block."""
    return Fraction(sum(run > 0 for run in outcome.runs), len(outcome.runs) or 1)
