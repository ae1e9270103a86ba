"""A trace: requests in order, each as the numbers of its blocks or its tokens.

Left out: session structure (a prefix says what is shared, whoever sent it) and the text itself.
"""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from calculators.prefix.keys import NO_NAMESPACE, TOKEN_BYTES, Namespace, unpack
from calculators.prefix.radix_serve import Visit


@dataclass(frozen=True, kw_only=True)
class Trace:
    """Columns of equal length, one entry a request.

    ``keys`` are packed symbols (four bytes each): with ``block_tokens`` 1 the tokens, else block
    ids, each standing for ``block_tokens`` tokens and everything before them; the last one of a
    request may be a partial block. Times are milliseconds from the start.
    """

    format: str
    block_tokens: int
    keys: tuple[bytes, ...]
    input_tokens: tuple[int, ...]
    output_tokens: tuple[int, ...] = ()
    arrivals_ms: tuple[float, ...] = ()
    namespaces: tuple[Namespace, ...] = ()

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def block_counts(self) -> tuple[int, ...]:
        """Blocks (or tokens) of each request, a partial one at the end included."""
        return tuple(len(key) // TOKEN_BYTES for key in self.keys)

    @cached_property
    def full_block_counts(self) -> tuple[int, ...]:
        """Blocks of each request that are full."""
        return tuple(length // self.block_tokens for length in self.input_tokens)

    @cached_property
    def reusable_block_counts(self) -> tuple[int, ...]:
        """Blocks of each request that may be reused while at least one token is computed."""
        return tuple(max(length - 1, 0) // self.block_tokens for length in self.input_tokens)

    @cached_property
    def unique_blocks(self) -> int:
        """Different block ids, those of each namespace counted apart."""
        seen: dict[Namespace, set[int]] = {}
        for key, namespace in zip(self.keys, self.all_namespaces, strict=True):
            seen.setdefault(namespace, set()).update(unpack(key))
        return sum(map(len, seen.values()))

    @property
    def all_namespaces(self) -> tuple[Namespace, ...]:
        """The namespace of each request."""
        return self.namespaces or (NO_NAMESPACE,) * len(self.keys)

    def stored_keys(self, *, partial: bool = True) -> Iterator[bytes]:
        """The keys as a cache stores them; without ``partial`` the full blocks only."""
        if partial:
            yield from self.keys
            return
        for key, full in zip(self.keys, self.full_block_counts, strict=True):
            yield key[: full * TOKEN_BYTES]

    def stored_block_counts(self, *, partial: bool = True) -> tuple[int, ...]:
        """Blocks of each of ``stored_keys``."""
        if partial:
            return self.block_counts
        return tuple(map(min, self.block_counts, self.full_block_counts))

    @cached_property
    def engine_visits(self) -> list[Visit]:
        """``visits()``, kept: each new capacity or policy in a form asks for them again."""
        usable = (max(len(key) - TOKEN_BYTES, 0) for key in self.keys)
        return list(zip(self.keys, usable, self.all_namespaces, strict=True))

    def visits(
        self, *, page_size: int = 1, keep_last: bool = False, partial: bool = True
    ) -> list[Visit]:
        """What ``radix_serve.serve_all`` takes.

        With ``keep_last`` the whole prompt may be reused, as a lookup of block ids counts it;
        without it at least one symbol is always computed, as the engine does.
        """
        if page_size == 1 and partial and not keep_last:
            return self.engine_visits
        unit = page_size * TOKEN_BYTES
        spare = 0 if keep_last else TOKEN_BYTES
        return [
            (
                key[: len(key) // unit * unit],
                max(len(key) - spare, 0) // unit * unit,
                namespace,
            )
            for key, namespace in zip(
                self.stored_keys(partial=partial), self.all_namespaces, strict=True
            )
        ]


def in_blocks(trace: Trace, block_size: int) -> Trace:
    """A token trace as block ids, chained like vLLM's: an id stands for all that is before it.

    The partial block at the end gets an id too, as in the published traces. A trace that is in
    blocks already stays as it is.
    """
    if trace.block_tokens > 1:
        return trace
    numbers: dict[tuple[object, ...], int] = {}
    width = block_size * TOKEN_BYTES
    keys = []
    for key, namespace in zip(trace.keys, trace.all_namespaces, strict=True):
        parent: object = namespace
        ids = array("I")
        for at in range(0, len(key), width):
            parent = numbers.setdefault((parent, key[at : at + width]), len(numbers))
            ids.append(parent)
        keys.append(ids.tobytes())
    return replace(trace, block_tokens=block_size, keys=tuple(keys), namespaces=())


@lru_cache(maxsize=1)  # the cache's settings do not change it
def reuse_gaps_ms(trace: Trace) -> tuple[float, ...]:
    """For each request that finds anything in an unlimited cache: since when it lay unused.

    The time from the last use of the deepest block that it finds; block traces only.
    """
    last_used: dict[int, float] = {}
    gaps = []
    for key, now in zip(trace.keys, trace.arrivals_ms, strict=True):
        blocks = unpack(key)
        known = [block for block in blocks if block in last_used]
        if known:
            gaps.append(now - last_used[known[-1]])
        last_used.update(dict.fromkeys(blocks, now))
    return tuple(gaps)
