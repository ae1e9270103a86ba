"""A trace through SGLang's tree or vLLM's pool: what each request reused, at any capacity."""

from collections.abc import Iterator, Sequence

from calculators.prefix.blocks import BlockPool
from calculators.prefix.keys import TOKEN_BYTES, unpack
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
        lookups=trace.stored_block_counts(partial=partial),
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


def replay_pool(trace: Trace, num_gpu_blocks: int) -> Outcome:
    """A block trace through vLLM's pool at zero service time; the trace's ids are identities.

    The partial block at the end of a prompt takes memory and is never found. A request that needs
    more blocks than there are is refused.
    """
    pool = BlockPool(num_gpu_blocks)
    runs, anywhere, refused = [], [], 0
    for index, key in enumerate(trace.keys):
        identities: list[bytes | int] = list(unpack(key))
        full = trace.full_block_counts[index]
        usable = max(trace.input_tokens[index] - 1, 0) // trace.block_tokens
        hits = pool.find(identities[:usable])
        runs.append(len(hits))
        anywhere.append(sum(map(pool.cached.__contains__, identities[:usable])))
        new = -(-trace.input_tokens[index] // trace.block_tokens) - len(hits)
        if pool.shortage(hits, new):
            refused += 1
            runs[-1] = 0
            continue
        pool.hold(hits)
        blocks = hits + pool.take(new)
        pool.publish(blocks[:full], identities[:full])
        pool.release(blocks)
    return Outcome(
        runs=tuple(runs),
        anywhere=tuple(anywhere),
        lookups=trace.block_counts,
        evictions=pool.evictions,
        resident=pool.cached_blocks,
        refused=refused,
    )
