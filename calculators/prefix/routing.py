"""Several instances behind a router: what maximising hits costs in queueing.

Each instance has a cache of its own and serves one prefill at a time: service = ``overhead_ms`` +
computed tokens / ``prefill_tokens_per_ms``; requests wait in order of arrival. The router sees
every instance's tree and queue at once, without delay. Left out: decode, batching, stale views.

Policies and their sources:
- ``round_robin``, ``least_loaded`` (fewest requests that have not finished).
- ``longest_prefix``: the longest match, then the fewest requests.
- ``threshold`` (sglang router, PR 2170): if max - min > absolute and max > min x relative, least
  loaded; else the longest match if it covers at least ``cache_threshold`` of the prompt, else the
  instance with the smallest tree, whatever its load (the harm is described in PR 14532).
- ``discounted`` (vLLM production-stack, PR 1035): matched / prompt - beta (load - mean) /
  max(1, mean).
- ``overlap_load`` (Dynamo): least (tokens to prefill / block + blocks of active requests). The
  exact weights of Dynamo were not read; these are stated here.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from calculators.form.errors import ParameterError, excerpt
from calculators.prefix.keys import TOKEN_BYTES
from calculators.prefix.policies import LRU, Policy
from calculators.prefix.radix import RadixTree
from calculators.prefix.radix_serve import Visit, serve_all
from calculators.prefix.trace import Trace


@dataclass(frozen=True, kw_only=True, slots=True)
class Cluster:
    """The instances and the router. ``capacity`` is of each instance, in symbols of the trace."""

    instances: int = 4
    capacity: int = 20_000
    page_size: int = 1
    prefill_tokens_per_ms: float = 8.0
    overhead_ms: float = 5.0
    absolute: int = 32
    relative: float = 1.1
    cache_threshold: float = 0.5
    beta: float = 1.0
    block: int = 16
    policy: Policy = LRU


class Instance:
    """One engine: its tree, what it still has to finish, when it will be free."""

    def __init__(self, cluster: Cluster) -> None:
        self.tree = RadixTree(page_size=cluster.page_size, policy=cluster.policy)
        self.pending: deque[tuple[float, int]] = deque()
        self.free_at = 0.0
        self.active_tokens = 0
        self.served = 0

    def settle(self, now: float) -> None:
        """Forget what has finished."""
        while self.pending and self.pending[0][0] <= now:
            self.active_tokens -= self.pending.popleft()[1]

    @property
    def load(self) -> int:
        """Requests that have not finished."""
        return len(self.pending)


def peek(tree: RadixTree, visit: Visit) -> int:
    """The elements that a request would find, read without touching anything."""
    key, usable, namespace = visit
    node = tree.roots.get(namespace)
    at = 0
    while node is not None and at < usable:
        child = tree.child(node, key, at)
        if child is None:
            break
        end = min(child.depth, usable)
        if key[at:end] != child.key[: end - at]:
            return at + common(child.key, key, at, end, tree.unit)
        node, at = child, end
    return at


def common(span: bytes | list[int], key: bytes | list[int], at: int, end: int, unit: int) -> int:
    """Shared whole pages of a node that parts from the key."""
    length = 0
    while (
        key[at + length : at + length + unit] == span[length : length + unit] and at + length < end
    ):
        length += unit
    return length


type Route = Callable[["Router", Visit], Instance]


class Router:
    """The router's view of a moment."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.instances = [Instance(cluster) for _ in range(cluster.instances)]
        self.turn = 0

    def matches(self, visit: Visit) -> list[tuple[int, Instance]]:
        """What each instance holds of a request, in elements."""
        return [(peek(instance.tree, visit), instance) for instance in self.instances]


def round_robin(router: Router, _visit: Visit) -> Instance:
    """The next in turn."""
    router.turn += 1
    return router.instances[(router.turn - 1) % len(router.instances)]


def least_loaded(router: Router, _visit: Visit) -> Instance:
    """The fewest unfinished requests; the first of equals."""
    return min(router.instances, key=lambda instance: instance.load)


def longest_prefix(router: Router, visit: Visit) -> Instance:
    """The longest match, whatever it queues."""
    return max(router.matches(visit), key=lambda pair: (pair[0], -pair[1].load))[1]


def threshold(router: Router, visit: Visit) -> Instance:
    """Affinity until the loads part."""
    cluster = router.cluster
    loads = [instance.load for instance in router.instances]
    apart = max(loads) - min(loads) > cluster.absolute
    if apart and max(loads) > min(loads) * cluster.relative:
        return least_loaded(router, visit)
    matched, best = max(router.matches(visit), key=lambda pair: pair[0])
    if matched >= cluster.cache_threshold * len(visit[0]) and matched:
        return best
    return min(router.instances, key=lambda instance: instance.tree.size)


def discounted(router: Router, visit: Visit) -> Instance:
    """Matched share minus what the load is above the mean."""
    mean = sum(instance.load for instance in router.instances) / len(router.instances)

    def score(pair: tuple[int, Instance]) -> float:
        matched, instance = pair
        excess = (instance.load - mean) / max(1.0, mean)
        return matched / max(len(visit[0]), 1) - router.cluster.beta * excess

    return max(router.matches(visit), key=score)[1]


def overlap_load(router: Router, visit: Visit) -> Instance:
    """The least work: new prefill blocks plus blocks in use."""
    block = router.cluster.block

    def cost(pair: tuple[int, Instance]) -> float:
        matched, instance = pair
        return ((len(visit[0]) - matched) / TOKEN_BYTES + instance.active_tokens) / block

    return min(router.matches(visit), key=cost)[1]


ROUTES: dict[str, Route] = {
    "round_robin": round_robin,
    "least_loaded": least_loaded,
    "longest_prefix": longest_prefix,
    "threshold": threshold,
    "discounted": discounted,
    "overlap_load": overlap_load,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Routed:
    """What a routing did, one entry a request; lengths in tokens, times in ms.

    ``wait_ms`` is the time before prefill starts, ``prefill_ms`` the prefill itself; both together
    are the TTFT of this model.
    """

    instance: tuple[int, ...]
    reused: tuple[int, ...]
    wait_ms: tuple[float, ...]
    prefill_ms: tuple[float, ...]
    input_tokens: int

    @property
    def hit_rate(self) -> float:
        """Reused tokens over prompt tokens."""
        return sum(self.reused) / max(self.input_tokens, 1)

    @property
    def mean_ttft_ms(self) -> float:
        """Mean of waiting plus prefill."""
        return (sum(self.wait_ms) + sum(self.prefill_ms)) / max(len(self.wait_ms), 1)

    def share(self, instances: int) -> tuple[float, ...]:
        """The share of requests of each instance."""
        return tuple(self.instance.count(i) / len(self.instance) for i in range(instances))


def route(trace: Trace, name: str, cluster: Cluster) -> Routed:
    """A trace through a router. ParameterError for an unknown policy or a trace without times."""
    if name not in ROUTES:
        raise ParameterError(
            "route", "not_an_option", text=excerpt(name), options=", ".join(ROUTES)
        )
    if not trace.arrivals_ms or (len(trace) > 1 and not any(trace.arrivals_ms)):
        raise ParameterError("trace", "no_times")
    router = Router(cluster)
    rows = [
        serve(router, name, trace, index, visit)
        for index, visit in enumerate(trace.visits(page_size=cluster.page_size))
    ]
    instance, reused, wait, prefill = zip(*rows, strict=True)
    return Routed(
        instance=instance,
        reused=reused,
        wait_ms=wait,
        prefill_ms=prefill,
        input_tokens=sum(trace.input_tokens),
    )


def serve(
    router: Router, name: str, trace: Trace, index: int, visit: Visit
) -> tuple[int, int, float, float]:
    """Route one request: instance, reused tokens, wait and prefill."""
    now = trace.arrivals_ms[index]
    for instance in router.instances:
        instance.settle(now)
    chosen = ROUTES[name](router, visit)
    cluster = router.cluster
    [found] = serve_all(chosen.tree, [visit], cluster.capacity * TOKEN_BYTES)
    length = trace.input_tokens[index]
    reused = min(found // TOKEN_BYTES * trace.block_tokens, length - 1)
    prefill = cluster.overhead_ms + (length - reused) / cluster.prefill_tokens_per_ms
    start = max(now, chosen.free_at)
    chosen.free_at = start + prefill
    chosen.pending.append((chosen.free_at, length))
    chosen.active_tokens += length
    return router.instances.index(chosen), reused, start - now, prefill
