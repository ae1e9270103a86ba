# ruff: noqa: RUF009 - a field is made once, on purpose
"""The routing calculator: several instances, and what maximising hits costs in queueing."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from calculators.form import fields
from calculators.form.errors import ParameterError
from calculators.prefix.lab_source import Source, trace_of
from calculators.prefix.routing import ROUTES, Cluster, Routed, route
from calculators.show.blocks import Axis, Message, Notes, Plot, Result, Series, Table
from calculators.show.progress import Progress
from calculators.show.quantity import Quantity

MOST_REQUESTS = 100_000


@dataclass(frozen=True, kw_only=True)
class Params(Source):
    """The form."""

    instances: int = fields.integer(4, minimum=1, maximum=64, group="cluster")
    capacity_tokens: int = fields.integer(40_000, minimum=1, maximum=10**9, group="cluster")
    page_size: int = fields.integer(1, minimum=1, maximum=4096, group="cluster")
    prefill_tokens_per_s: int = fields.integer(
        4000, minimum=1, maximum=10**7, unit="tokens_per_s", group="cluster"
    )
    overhead_ms: Fraction = fields.decimal(
        "5", minimum="0", maximum="100000", unit="ms", group="cluster"
    )
    absolute: int = fields.integer(32, minimum=0, maximum=10**6, group="router")
    relative: Fraction = fields.decimal("1.1", minimum="1", maximum="1000", group="router")
    cache_threshold: Fraction = fields.decimal("0.5", minimum="0", maximum="1", group="router")
    beta: Fraction = fields.decimal("1", minimum="0", maximum="1000", group="router")


def solve(params: Params, progress: Progress) -> Result:
    """The same trace through every policy."""
    trace = trace_of(params)
    if len(trace) > MOST_REQUESTS:
        raise ParameterError("trace", "too_many", maximum=MOST_REQUESTS)
    cluster = cluster_of(params, trace.block_tokens)
    results = {}
    for done, name in enumerate(ROUTES):
        results[name] = route(trace, name, cluster)
        progress((done + 1) / len(ROUTES))
    best = min(results, key=lambda name: results[name].mean_ttft_ms)
    return Result(
        blocks=(table(results, params.instances), plot(results), Notes(items=notes())),
        status=Message("status.done", {"route": Message(f"route.{best}")}),
    )


def cluster_of(params: Params, block_tokens: int) -> Cluster:
    """The cluster of a form, in symbols of the trace."""
    if params.capacity_tokens < block_tokens:
        raise ParameterError(
            "capacity_tokens",
            "too_small",
            text=str(params.capacity_tokens),
            minimum=block_tokens,
            maximum=10**9,
        )
    return Cluster(
        instances=params.instances,
        capacity=params.capacity_tokens // block_tokens,
        page_size=params.page_size if block_tokens == 1 else 1,
        prefill_tokens_per_ms=params.prefill_tokens_per_s / 1000,
        overhead_ms=float(params.overhead_ms),
        absolute=params.absolute,
        relative=float(params.relative),
        cache_threshold=float(params.cache_threshold),
        beta=float(params.beta),
    )


def quantile(values: Sequence[float], share: int) -> float:
    """The value below which ``share`` percent lie, by nearest rank."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * share // 100) - 1)]


def table(results: dict[str, Routed], instances: int) -> Table:
    """One row a policy."""
    rows = []
    for name, found in results.items():
        ttft = [a + b for a, b in zip(found.wait_ms, found.prefill_ms, strict=True)]
        rows.append(
            (
                Message(f"route.{name}"),
                Quantity(100 * found.hit_rate, "percent", 2),
                Quantity(sum(found.wait_ms) / len(ttft), "ms", 1),
                Quantity(found.mean_ttft_ms, "ms", 1),
                Quantity(quantile(ttft, 99), "ms", 1),
                Quantity(100 * max(found.share(instances)), "percent", 1),
            )
        )
    columns = ("route", "hit_rate", "mean_wait", "mean_ttft", "p99_ttft", "busiest")
    return Table(id="routes", columns=columns, rows=tuple(rows))


def plot(results: dict[str, Routed]) -> Plot:
    """Hits against time to first token."""
    return Plot(
        id="tradeoff",
        kind="point",
        x=Axis(name="hit_rate", unit="percent"),
        y=Axis(name="mean_ttft", unit="ms"),
        series=tuple(
            Series(
                name=Message(f"series.{name}"),
                points=((100 * found.hit_rate, found.mean_ttft_ms),),
            )
            for name, found in results.items()
        ),
    )


def notes() -> tuple[Message, ...]:
    """The model in a sentence each."""
    return (Message("note.model"), Message("note.view"), Message("note.unread"))
