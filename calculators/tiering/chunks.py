"""What a store keeps of a prefix, and what of it a request loads: chunks, pages, thresholds.

LMCache: chunks of 256 tokens, the partial one at the end only with ``save_unfull_chunk``; the
engine's own hit is subtracted, and nothing is loaded below ``min_retrieve_tokens`` (LMCache
``lmcache/v1/config.py`` at 000620e, ``token_database.py`` at 00e744e). HiCache: pages; L3 is
prefetched from 256 tokens on, L2 loaded from 10 (SGLang 0.5.23 ``unified_radix_cache.py``).
"""

from dataclasses import dataclass

LMCACHE_CHUNK = 256
HICACHE_PREFETCH, HICACHE_LOAD = 256, 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Chunks:
    """``tokens`` a chunk (or page); ``least`` tokens below which nothing is loaded."""

    tokens: int = LMCACHE_CHUNK
    partial: bool = False
    least: int = 0

    def stored(self, prefix: int) -> int:
        """Tokens of a prefix that the store has."""
        return prefix if self.partial else prefix // self.tokens * self.tokens


@dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """Tokens ``start`` up to ``end`` are read, of which those from ``engine_hit`` on are new.

    ``needed`` is what the log calls "need to load": negative where the engine has more than the
    store. ``operations`` are chunks read.
    """

    engine_hit: int
    start: int
    end: int
    operations: int
    needed: int

    @property
    def reused(self) -> int:
        """Tokens that need no prefill, from the engine's cache and the store together."""
        return max(self.engine_hit, self.end)


def load(prefix: int, engine_hit: int, chunks: Chunks) -> Load:
    """What a request with a stored prefix loads, after the engine's own hit.

    The skipped part has to be whole chunks, so a chunk that the engine's hit ends in is read
    whole. ``load(280, 272, Chunks())`` needs -16 tokens and reads nothing.
    """
    stored = chunks.stored(prefix)
    needed = stored - engine_hit
    if needed <= 0 or needed < chunks.least:
        return Load(
            engine_hit=engine_hit, start=engine_hit, end=engine_hit, operations=0, needed=needed
        )
    start = engine_hit // chunks.tokens * chunks.tokens
    operations = -(-(stored - start) // chunks.tokens)
    return Load(
        engine_hit=engine_hit, start=start, end=stored, operations=operations, needed=needed
    )
