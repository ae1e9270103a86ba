"""What micro-benchmark files cannot say: there is no request, no token and no load in them."""

from typing import Final

SERVING: Final = frozenset(
    {
        "ttft",
        "tpot",
        "itl",
        "ntpot",
        "e2e",
        "queue",
        "schedule_delay",
        "batch_latency",
        "n_requests",
        "n_incomplete",
        "request_rate",
        "concurrency",
        "request_throughput",
        "output_token_throughput",
        "input_token_throughput",
        "total_token_throughput",
        "per_request_output_rate",
        "prompt_rate",
        "generation_rate",
        "input_tokens",
        "output_tokens",
        "total_tokens",
        "reasoning_tokens",
    }
)
UNCOUNTED: Final = SERVING | {"n_success", "n_failure"}
