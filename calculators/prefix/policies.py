"""Eviction policies of SGLang's tree: the lowest score goes first.

Source: SGLang 0.5.23, ``mem_cache/evict_policy.py`` (tail-optimised LRU is Zhang et al.,
arXiv:2510.15152). The command line offers lru, lfu, slru, priority and tlru; fifo, mru and filo
remain in the code only. Left out: the floating-point budgets of the Rust tree.
"""

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from calculators.prefix.node import Node

SLRU_THRESHOLD = 2  # hits from which a node is protected
EVER = 1 << 40  # above every moment: a score is (first criterion) * EVER + (moment)


type Score = Callable[["Node"], int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Policy:
    """A policy by name.

    ``score`` orders candidates. ``grows`` says that a node's score never falls, so one queue entry
    a node, corrected when it comes to the front, gives the exact order. ``beyond`` (tail-optimised
    LRU) is how many tokens at the end of a conversation are not worth keeping; the tree then
    records how deep each branch has been.
    """

    name: str
    score: Score
    grows: bool = True
    beyond: int | None = None

    def score_in(self, width: int) -> Score:
        """The score for a tree whose keys have ``width`` elements a token."""
        return self.score if self.beyond is None else tail_score(self.beyond * width)


def tail_score(beyond: int) -> Score:
    """Nodes that begin past ``history - beyond`` elements first, then the least recently used."""

    def score(node: "Node") -> int:
        before = node.depth - len(node.key)
        safe = before >= max(node.history - beyond, 0)
        return node.last_access - EVER if safe else node.last_access

    return score


LRU = Policy(name="lru", score=attrgetter("last_access"))
FIFO = Policy(name="fifo", score=attrgetter("created"))
LFU = Policy(name="lfu", score=lambda node: node.hits * EVER + node.last_access)
SLRU = Policy(
    name="slru", score=lambda node: (node.hits >= SLRU_THRESHOLD) * EVER + node.last_access
)
PRIORITY = Policy(name="priority", score=lambda node: node.priority * EVER + node.last_access)
MRU = Policy(name="mru", score=lambda node: -node.last_access, grows=False)
FILO = Policy(name="filo", score=lambda node: -node.created)

FIXED = {policy.name: policy for policy in (LRU, LFU, SLRU, PRIORITY, FIFO, MRU, FILO)}
