"""A routing decision: mode, conversation, prefill, scores, cost, ranking. No model is called.

``score`` is the timed part "encode + scores"; ``decide`` is the whole call. Candidate descriptors
are encoded at the first decision of a process and kept, so the first call pays for them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from scripts.router.conversation import Message, assemble
from scripts.router.engine import Engine
from scripts.router.pool import Candidate, Pool

Mode = Literal["economy", "balanced", "quality"]
# How much of the normalised cost is taken off the similarity.
COST_WEIGHTS: dict[Mode, float] = {"economy": 0.6, "balanced": 0.25, "quality": 0.05}
LONG_TOKENS = 4000
EXPECTED_OUTPUT_TOKENS = 500  # of an answer, for the cost estimate
PER_MILLION = 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Ranked:
    """A candidate's place: similarity, estimated cost in the pool's currency, and their balance."""

    candidate: Candidate
    similarity: float
    cost: float
    balance: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """The mode that was resolved and every candidate that fits, best first."""

    mode: Mode
    prompt_tokens: int
    ranking: tuple[Ranked, ...]


@dataclass(kw_only=True, slots=True)
class Router:
    """A pool and an engine; the descriptors' vectors are stacked once and kept."""

    pool: Pool
    engine: Engine
    stacked: np.ndarray[Any, Any] | None = field(default=None)

    def descriptors(self) -> np.ndarray[Any, Any]:
        """One row a candidate."""
        if self.stacked is None:
            self.stacked = np.stack(
                [self.engine.encode(one.descriptor) for one in self.pool.candidates]
            )
        return self.stacked

    def score(self, text: str) -> np.ndarray[Any, Any]:
        """Encode a text and score every candidate by cosine similarity."""
        scores: np.ndarray[Any, Any] = self.descriptors() @ self.engine.encode(text)
        return scores

    def decide(self, messages: Sequence[Message], mode: Mode | None = None) -> Decision:
        """Rank the candidates for a conversation."""
        text = assemble(messages)
        tokens = len(self.engine.checkpoint.tokenizer.encode(text))
        resolved = mode or resolve(text, tokens)
        scores = self.score(text)
        fitting = [
            (one, float(score))
            for one, score in zip(self.pool.candidates, scores, strict=True)
            if one.context_tokens >= tokens + EXPECTED_OUTPUT_TOKENS
        ]
        ranking = rank(fitting, tokens, COST_WEIGHTS[resolved])
        return Decision(mode=resolved, prompt_tokens=tokens, ranking=ranking)


def resolve(text: str, tokens: int) -> Mode:
    """The mode when none is asked for: quality for long or code-bearing conversations."""
    if tokens > LONG_TOKENS or "```" in text:
        return "quality"
    return "economy" if tokens < 64 and "\n" not in text else "balanced"  # noqa: PLR2004


def cost(candidate: Candidate, tokens: int) -> float:
    """The estimated cost of one answer."""
    return (
        tokens * candidate.input_per_million + EXPECTED_OUTPUT_TOKENS * candidate.output_per_million
    ) / PER_MILLION


def rank(
    fitting: Sequence[tuple[Candidate, float]], tokens: int, weight: float
) -> tuple[Ranked, ...]:
    """Best balance first; equal ones in the pool's order."""
    costs = [cost(one, tokens) for one, _ in fitting]
    dearest = max(costs, default=0.0) or 1.0
    rows = [
        Ranked(
            candidate=one, similarity=score, cost=price, balance=score - weight * price / dearest
        )
        for (one, score), price in zip(fitting, costs, strict=True)
    ]
    return tuple(sorted(rows, key=lambda row: -row.balance))
