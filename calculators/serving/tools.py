"""The same run under the metric names and formulas of the benchmark tools.

Sources (repository@commit path) stand with each tool. All of them report completed requests only;
our own attainment over all arrived ones is in `slo`. Left out: what a tool's client adds (event
loop delays, re-tokenised chunks) and warm-up windows.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from calculators.serving.columns import Columns, known
from calculators.serving.distribution import Distribution, Rule, of_ratios
from calculators.serving.request import Time

type Metric = Callable[[Columns], Distribution]


@dataclass(frozen=True, kw_only=True, slots=True)
class Tool:
    """A tool: its percentile rule and its metrics by the tool's own names."""

    name: str
    source: str
    rule: Rule
    metrics: Mapping[str, Metric]


def kept(columns: Columns, values: list[Time | None]) -> Distribution:
    """Of finished requests, those that have the value."""
    return known(columns.of_finished(values))


def ttft(columns: Columns) -> Distribution:
    """First chunk with content minus send time."""
    if columns.first_content is columns.first_token:
        return first_token(columns)
    return kept(columns, columns.ttft_content)


def first_token(columns: Columns) -> Distribution:
    """First token, whether or not it has content."""
    return columns.ttft_distribution if columns.all_finished else kept(columns, columns.ttft)


def e2e(columns: Columns) -> Distribution:
    """Last token minus send time."""
    return known(columns.e2e)


def tpot(columns: Columns) -> Distribution:
    """(latency - TTFT) / (tokens - 1), without requests of one token."""
    if columns.first_content is columns.first_token:
        return mean_gap(columns)
    times = zip(columns.ttft_content, columns.e2e, columns.tokens, strict=True)
    return of_ratios(
        (total - first, tokens - 1)
        for first, total, tokens in times
        if first is not None and total is not None and tokens > 1
    )


def mean_gap(columns: Columns) -> Distribution:
    """(last token - first token) / (tokens - 1)."""
    return columns.tpot_distribution


def per_token(columns: Columns) -> Distribution:
    """Latency / tokens, the first token included."""
    pairs = zip(columns.e2e, columns.tokens, strict=True)
    return of_ratios((time, tokens) for time, tokens in pairs if time is not None and tokens)


def gaps(columns: Columns) -> Distribution:
    """All gaps between tokens, pooled."""
    return columns.gaps


TOOLS: tuple[Tool, ...] = (
    Tool(
        name="vLLM bench serve",
        source="vllm-project/vllm@009e6d4 vllm/benchmarks/serve.py",
        rule="linear",
        metrics={"TTFT": ttft, "TPOT": tpot, "ITL": gaps, "E2EL": e2e},
    ),
    Tool(
        name="SGLang bench_serving",
        source="sgl-project/sglang@0033168 python/sglang/bench_serving.py",
        rule="linear",
        metrics={"TTFT": ttft, "TPOT": tpot, "ITL": gaps, "E2E Latency": e2e},
    ),
    Tool(
        name="AIPerf",
        source="ai-dynamo/aiperf@db4f639 docs",
        rule="linear",
        metrics={"Time to First Token": ttft, "Inter Token Latency": tpot, "Request Latency": e2e},
    ),
    Tool(
        name="guidellm",
        source="vllm-project/guidellm@ee7a774 request_stats.py",
        rule="cdf",
        metrics={"TTFT": first_token, "TPOT": per_token, "ITL": mean_gap, "Request latency": e2e},
    ),
    Tool(
        name="llmperf",
        source="ray-project/llmperf@f1d6bed",
        rule="linear",
        metrics={"ttft": ttft, "inter token latency": per_token, "end to end latency": e2e},
    ),
    Tool(
        name="inference-perf",
        source="kubernetes-sigs/inference-perf@7de5ef2 docs/metrics.md",
        rule="linear",
        metrics={"TTFT": ttft, "TPOT": tpot, "NTPOT": per_token, "ITL": gaps, "latency": e2e},
    ),
    Tool(
        name="MLPerf",
        source="mlcommons/inference@b66003e tools/submission/submission_checker/constants.py",
        rule="floor_index",
        metrics={"TTFT": first_token, "TPOT": mean_gap, "query latency": e2e},
    ),
)
