"""One point of a sweep: a system under a load, and what came out of it."""

from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any

from calculators.serving import arrivals, engine, fast, fast_disaggregated
from calculators.serving.columns import Columns, of_outcomes, of_trace
from calculators.serving.costs import Linear
from calculators.serving.disaggregated import Split
from calculators.serving.distribution import distribution
from calculators.serving.request import Request
from calculators.serving.settings import Settings
from calculators.serving.steadiness import steadiness

PERCENTILES = {"p50": Fraction(1, 2), "p99": Fraction(99, 100)}


@dataclass(frozen=True, kw_only=True)
class Load:
    """Lengths in (prompt, output) tokens, taken in turn, and the service level in µs."""

    lengths: tuple[tuple[int, int], ...]
    count: int
    slo_ttft_us: int
    slo_tpot_us: int


@dataclass(frozen=True, kw_only=True)
class Point:
    """``policy`` with its token budget ``chunk``, or "pd" with ``split`` (prefill, decode)."""

    policy: str
    rate: float
    seed: int
    chunk: int | None = None
    split: tuple[int, int] | None = None

    @property
    def system(self) -> str:
        """What is compared: everything but load and seed."""
        if self.split:
            return f"pd {self.split[0]}+{self.split[1]}"
        return f"{self.policy} {self.chunk}" if self.chunk else self.policy


def run(point: Point, load: Load, cost: Linear, base: Settings) -> dict[str, Any]:
    """Simulate a point; the result is plain data, the same on every machine."""
    columns = simulate(point, requests(point, load), cost, base)
    good = goods(columns, load)
    steady = steadiness(columns)
    return {
        **{name: value for name, value in asdict(point).items() if value is not None},
        "system": point.system,
        "arrived": len(columns.requests),
        "finished": len(columns.finished()),
        "good": good,
        "attainment": good / len(columns.requests),
        "preemptions": columns.preemptions,
        "labels": list(steady.labels),
        **percentiles("ttft_ms", columns.ttft),
        **percentiles("tpot_ms", list(columns.tpot)),
    }


def requests(point: Point, load: Load) -> list[Request]:
    """Poisson arrivals at the point's rate and seed."""
    instants = arrivals.poisson(load.count, point.rate, point.seed)
    return [
        Request(id=f"{index:07}", arrival=instant, prompt=prompt, output=output)
        for index, instant in enumerate(instants)
        for prompt, output in [load.lengths[index % len(load.lengths)]]
    ]


def simulate(point: Point, made: list[Request], cost: Linear, base: Settings) -> Columns:
    """The fast path where it covers the point."""
    if point.split:
        return fast_disaggregated.run(made, split_of(point, base), cost)
    settings = settings_of(point, base)
    if fast.covers(settings):
        return of_trace(fast.run(made, settings, cost))
    return of_outcomes(engine.run(made, settings, cost).outcomes)


def settings_of(point: Point, base: Settings) -> Settings:
    """The base options with the point's policy and chunk size."""
    policy: Any = point.policy
    return replace(
        base,
        policy=policy,
        token_budget=point.chunk or base.token_budget,
        max_num_batched_tokens=base.max_num_batched_tokens if policy == "prefill_first" else None,
    )


def split_of(point: Point, base: Settings) -> Split:
    """Workers of the point; each transfer takes 50 µs and 21 µs a token (25 GB/s, 524,288 B)."""
    prefill, decode = point.split or (1, 1)
    return Split(
        prefill_workers=prefill,
        decode_workers=decode,
        x0=50,
        x1=21,
        max_decode_seqs=base.max_num_seqs,
    )


def goods(columns: Columns, load: Load) -> int:
    """Finished requests within both limits."""
    limit = Fraction(load.slo_tpot_us)
    return sum(
        status == "finished"
        and ttft is not None
        and ttft <= load.slo_ttft_us
        and (tpot is None or tpot <= limit)
        for status, ttft, tpot in zip(columns.status, columns.ttft, columns.tpot, strict=True)
    )


def percentiles(name: str, values: list[Any]) -> dict[str, float | None]:
    """Percentiles in ms, rounded to µs."""
    found = distribution(value for value in values if value is not None)
    cut = {label: found.percentile(share) for label, share in PERCENTILES.items()}
    return {
        f"{name}_{label}": None if value is None else round(float(value) / 1000, 3)
        for label, value in cut.items()
    }
