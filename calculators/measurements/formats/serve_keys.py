"""The flat key family that vLLM's serving benchmark made common: ``p99_ttft_ms`` and the like.

vLLM bench serve, SGLang bench_serving and InferenceX all write it, with different units and gaps.
Figures of a run where nothing succeeded are null, as numpy's answers for an empty list are 0.
"""

import re
from typing import Final

from calculators.measurements.sheet import Sheet

STATS: Final = {"mean": "mean", "median": "p50", "std": "std", "min": "min", "max": "max"}
QUANTITIES: Final = {
    "ttft": "ttft",
    "tpot": "tpot",
    "itl": "itl",
    "e2el": "e2e",
    "e2e_latency": "e2e",
    "client_queue_time": "queue",
}
KEY: Final = re.compile(
    r"(mean|median|std|min|max|p\d+(?:\.\d+)?)_(ttft|tpot|itl|e2el|e2e_latency|client_queue_time)"
    r"(_ms)?\Z"
)


def stat_of(word: str) -> str:
    """``median → p50``, ``p99.0 → p99``."""
    return STATS.get(word, word.removesuffix(".0"))


def latencies(sheet: Sheet, bare_unit: str | None = None) -> None:
    """Every latency key of the family; keys without ``_ms`` have ``bare_unit`` or are not taken."""
    for key in list(sheet.node):
        match = KEY.match(key)
        if match is None or (not match[3] and bare_unit is None):
            continue
        unit = "ms" if match[3] else bare_unit or ""
        sheet.number(key, QUANTITIES[match[2]], stat_of(match[1]), unit)


def settle_zeros(sheet: Sheet) -> None:
    """All failed or not: what the zeros among the latencies mean."""
    if sheet.value("n_success") == 0:
        sheet.all_failed()
    else:
        sheet.missing_zeros()


def failures(sheet: Sheet) -> None:
    """Failed requests: stated by newer versions, else what was asked for minus what completed."""
    sheet.number("failed", "n_failure")
    asked, done = sheet.value("n_requests"), sheet.value("n_success")
    if not sheet.has("n_failure") and asked is not None and done is not None and asked >= done:
        sheet.put(
            asked - done,
            "n_failure",
            source="num_prompts, completed",
            computed="num_prompts - completed",
        )
    failed = sheet.value("n_failure")
    if failed:
        sheet.note("failures_outside_statistics", failed=failed)
