"""Units as the tools spell them, and the canonical unit of every quantity.

Nothing is guessed from a number's size: the unit comes from the key, from a unit field beside the
number or from the format's definition. Quantities and units as in the handed vocabulary.
"""

from typing import Final

from calculators.measurements.record import Number

LATENCIES: Final = frozenset(
    {
        "ttft",
        "tpot",
        "itl",
        "ntpot",
        "e2e",
        "queue",
        "schedule_delay",
        "batch_latency",
        "run_time",
        "first_call",
        "cpu_time",
    }
)
RATES: Final = frozenset(
    {
        "output_token_throughput",
        "input_token_throughput",
        "total_token_throughput",
        "per_request_output_rate",
        "prompt_rate",
        "generation_rate",
    }
)
REQUEST_RATES: Final = frozenset({"request_throughput", "request_rate"})
COUNTS: Final = frozenset(
    {
        "n_measurements",
        "n_requests",
        "n_success",
        "n_failure",
        "n_incomplete",
        "n_skipped",
        "n_samples",
        "n_iterations",
        "concurrency",
        "input_tokens",
        "output_tokens",
        "total_tokens",
        "reasoning_tokens",
    }
)

# How many canonical units one of these is, by canonical unit.
FACTORS: Final[dict[str, dict[str, tuple[int, int]]]] = {
    "ms": {
        "ns": (1, 1_000_000),
        "nanosecond": (1, 1_000_000),
        "nanoseconds": (1, 1_000_000),
        "us": (1, 1000),
        "µs": (1, 1000),
        "μs": (1, 1000),
        "microseconds": (1, 1000),
        "ms": (1, 1),
        "msec": (1, 1),
        "millisecond": (1, 1),
        "milliseconds": (1, 1),
        "ms/token": (1, 1),
        "s": (1000, 1),
        "sec": (1000, 1),
        "second": (1000, 1),
        "seconds": (1000, 1),
        "s/token": (1000, 1),
        "min": (60_000, 1),
        "minutes": (60_000, 1),
    },
    "tokens_per_s": dict.fromkeys(
        (
            "tokens/s",
            "tokens/sec",
            "tokens/second",
            "tok/s",
            "t/s",
            "tokens_per_s",
            "tokens/sec/user",
            "tokens/s/user",
            "tokens_per_second",
            "per sec",
        ),
        (1, 1),
    ),
    "requests_per_s": dict.fromkeys(
        (
            "requests/s",
            "requests/sec",
            "requests/second",
            "req/s",
            "queries/s",
            "qps",
            "requests_per_s",
            "requests_per_second",
            "per sec",
            "1/s",
        ),
        (1, 1),
    )
    | {"requests/min": (1, 60)},
    "count": dict.fromkeys(("", "count", "tokens", "token", "requests", "request"), (1, 1)),
}
FACTORS["s"] = {
    name: (up // 1000, down) if up % 1000 == 0 else (up, down * 1000)
    for name, (up, down) in FACTORS["ms"].items()
}


def canonical(quantity: str) -> str | None:
    """The unit in which a quantity is recorded; None for a bare ``value`` or ``range``."""
    if quantity in LATENCIES:
        return "ms"
    if quantity == "duration":
        return "s"
    if quantity in RATES:
        return "tokens_per_s"
    if quantity in REQUEST_RATES:
        return "requests_per_s"
    return "count" if quantity in COUNTS else None


def known(unit: str, canonical_unit: str | None) -> bool:
    """Whether the unit can be converted to the canonical one."""
    return canonical_unit is not None and unit.strip().lower() in FACTORS[canonical_unit]


def convert(value: Number, unit: str, canonical_unit: str | None) -> Number:
    """``(2, "s", "ms") → 2000``. Raises KeyError for a unit that has no such conversion."""
    if canonical_unit is None:
        return value
    up, down = FACTORS[canonical_unit][unit.strip().lower()]
    scaled = value * up
    return scaled if down == 1 else scaled / down
