"""Questions about samples, result files and comparisons, for the list of ``questions``."""

import json

from tests.measurements.measurement_samples import CASES, VLLM, VLLM_DETAIL

DEEP = 10_000
NUMBERS = ("", "x", "1.5", "-1", "9" * 80, "１")
SAMPLES = [
    {},
    {"percentile": "99", "confidence": "99"},
    {"percentile": "50", "count": "1000"},
    {"samples": "1.5\n2\n3.25\n" * 40},
    {"samples": "1\n2\n3\n", "percentile": "50"},
    {"samples": "7"},
    {"samples": "1.5\nmany\n"},
    {"samples": "1," * 200_001},
    {"percentile": "100"},
    {"percentile": "1e400"},
    *({"count": text} for text in NUMBERS),
    {"no_such_field": "1"},
]
BAD_FILES = [
    "\ufeff\ufeff",
    "words",
    '{"a": ',
    '{"a": "b',
    '{"a" 1}',
    '[{"a": 1}, {1}]',
    "[" * DEEP,
    '{"a": ' + "9" * 5000 + "}",
    "results:\n  a: &x 1\n",
    "results:\n a: b\n   c\n  d: e\n- f\n",
    "results:\n  - 'open\n",
    "results:\n  a: {b: c}\n",
    "results:\n" + "- " * 200 + "a\n",
    "build_commit,n_prompt,n_gen,avg_ns\n1,2,3\n",
    f'build_commit,n_prompt,n_gen,avg_ns\n"{"x" * 140_000}\n',
    json.dumps({"metrics": {"request_latency": {"mean": 1, "cv": 2}}}),
    json.dumps(VLLM | {"ttfts": 3, "itls": 4}),
    json.dumps({"benchmarks": [3], "machine_info": {}}),
    json.dumps({"benchmarks": [], "machine_info": {}}),
]
RUN = json.dumps(VLLM_DETAIL)


def router(*warm_ms, runs=1, **changes):
    """A report of the router with these times in each of its runs."""
    run = {"boundary": "router_decide", "prompt_tokens": 15, "cold_ms": 9.0, "warm_ms": warm_ms}
    report = {
        "schema": "critical-path/router-latency",
        "version": 1,
        "dtype": "float32",
        "device": {"asked": "cpu", "used": "cpu", "name": "CPU"},
        "software": {"python": "3"},
        "checkpoint": {"model": "m"},
        "load": {"loop": "closed"},
        "runs": [run] * runs,
    }
    return json.dumps(report | changes)


FEW = router(10.0, 11.0, 12.0, 13.0, 14.0)
MANY = router(*(10.0 + place % 7 for place in range(60)))


def paired(first, second=None, **values):
    """A comparison of two texts, the second by default the first."""
    return {"first": first, "second": first if second is None else second, **values}


PAIRS = [
    *(("samples", values) for values in SAMPLES),
    ("result-file", {}),
    *(("result-file", {"file": case[2]}) for case in CASES if isinstance(case[2], str)),
    *(("result-file", {"file": text}) for text in BAD_FILES),
    ("compare", {}),
    ("compare", paired(RUN)),
    ("compare", paired(RUN, json.dumps(VLLM))),
    ("compare", paired(FEW, router(20.0, 22.0, 24.0, 26.0, 28.0))),
    ("compare", paired(MANY)),
    ("compare", paired(FEW, router(1.0, 2.0, dtype="bfloat16"))),
    ("compare", paired(router(), router())),
    ("result-file", {"file": router(10.0, 11.0, runs=30)}),
    ("compare", {"first": RUN}),
    ("compare", paired(RUN, first_place="7")),
    *(("compare", paired(RUN, first_place=text)) for text in NUMBERS),
    *(("compare", paired(text)) for text in BAD_FILES),
    ("compare", {"no_such_field": "1"}),
]
