"""Speed of the KV calculators: from an edit to the answer, and a trace of 20,000 rows.

Each figure is the best of several whole answers through the door that the page uses. The trace
is made here: prompts and outputs from a fixed seed, as a CSV of Azure's columns.
"""

import json
import random
import time
from collections.abc import Iterator

from calculators.kv.log_lab import EXAMPLE
from calculators.web import answer

ROWS = 20_000
REPEATS = 5

type Figure = tuple[str, float, str]
"""What was measured, the value, its unit."""


def trace() -> str:
    """A CSV with rows of a few hundred to a few thousand tokens."""
    draw = random.Random(20_000)  # noqa: S311 - lengths, not secrets
    rows = (
        f"0,{int(draw.lognormvariate(6.5, 1))},{int(draw.lognormvariate(5, 1))}"
        for _ in range(ROWS)
    )
    return "\n".join(("TIMESTAMP,ContextTokens,GeneratedTokens", *rows))


def best_ms(calculator: str, values: dict[str, str]) -> float:
    """The shortest of several answers, in milliseconds."""
    request = json.dumps({"calculator": calculator, "lang": "en", "values": values})
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        answer(request)
        times.append(time.perf_counter() - start)
    return 1000 * min(times)


def figures() -> Iterator[Figure]:
    """Every figure of this module, in order."""
    yield "kv, defaults", best_ms("kv", {}), "ms"
    for engine in ("vllm", "sglang", "llamacpp", "tensorrt_llm"):
        values = {"engine": engine, "model": "openai/gpt-oss-20b"}
        yield f"kv-engine, {engine}, hybrid windows", best_ms("kv-engine", values), "ms"
    yield "kv-log, explained", best_ms("kv-log", {"log": EXAMPLE}), "ms"
    unexplained = EXAMPLE.replace("2,591,776", "2,591,777")
    yield "kv-log, not explained", best_ms("kv-log", {"log": unexplained}), "ms"
    text = trace()
    for stage in ("finished", "random"):
        values = {"trace": text, "stage": stage}
        yield f"kv-lengths, {ROWS} rows, {stage}", best_ms("kv-lengths", values), "ms"
