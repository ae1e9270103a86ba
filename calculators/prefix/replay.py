"""A trace through SGLang's tree: what each request reused, at any capacity and policy."""

from collections.abc import Iterator, Sequence

from calculators.prefix.keys import TOKEN_BYTES
from calculators.prefix.limits import at_least
from calculators.prefix.policies import LRU, Policy
from calculators.prefix.radix import RadixTree
from calculators.prefix.radix_serve import serve_all
from calculators.prefix.rates import Outcome
from calculators.prefix.trace import Trace

UNLIMITED = 1 << 60


def replay_tree(  # noqa: PLR0913 # each switch is a choice of the reader
    trace: Trace,
    policy: Policy = LRU,
    capacity: int | None = None,
    *,
    page_size: int = 1,
    keep_last: bool = False,
    partial: bool = True,
) -> Outcome:
    """Replay a trace in file order at zero service time.

    ``capacity`` and the outcome are in symbols of the trace: blocks of a block trace, tokens of a
    token trace. See ``Trace.visits`` for ``keep_last``.
    """
    if capacity is not None:
        at_least("capacity", capacity, 1)
    tree = RadixTree(page_size=page_size, policy=policy)
    visits = trace.visits(page_size=page_size, keep_last=keep_last, partial=partial)
    limit = UNLIMITED if capacity is None else capacity * TOKEN_BYTES
    reused = tuple(length // TOKEN_BYTES for length in serve_all(tree, visits, limit))
    return Outcome(
        runs=reused,
        anywhere=reused,
        lookups=tuple(len(key) // TOKEN_BYTES for key in trace.stored_keys(partial=partial)),
        evictions=tree.evicted,
        resident=tree.total,
        refused=tree.refused,
    )


def runs_at(
    trace: Trace, policy: Policy, capacities: Sequence[int], page_size: int
) -> Iterator[tuple[int, ...]]:
    """What each request reuses at each capacity, in symbols of the trace."""
    visits = trace.visits(page_size=page_size)
    for capacity in capacities:
        tree = RadixTree(page_size=page_size, policy=policy)
        reused = serve_all(tree, visits, capacity * TOKEN_BYTES)
        yield tuple(length // TOKEN_BYTES for length in reused)
