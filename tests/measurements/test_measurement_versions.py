"""Other versions' key names, odd spellings of no number, and what stands around the results."""

import json

import measurement_samples as samples
import pytest

from calculators.measurements.read import read_source, read_text
from calculators.measurements.scan import evened
from scripts.archive.opening import open_bytes

ODD = ("-NaN", "nan", "-nan", "-nan(ind)", "inf", "-inf", "+inf", "Inf", "infinity", "+Infinity")


@pytest.mark.parametrize("word", ODD)
def test_odd_spellings_of_no_number_are_not_finite(word):
    """What C, Go or a shell prints in place of a number is null with its reason."""
    text = json.dumps(samples.VLLM | {"p99_ttft_ms": 12345.5}).replace("12345.5", word)
    figure = read_text(text).measurements[0].figure("ttft", "p99")

    assert (None, "not_finite") == (figure.value, figure.reason)


def test_a_sample_that_overflows_in_its_unit_is_no_sample():
    """1e308 seconds is no number of milliseconds: the series is incomplete, not infinite."""
    [found] = read_text('{"avg_latency": 1.0, "latencies": [1e308, 2.0]}').measurements

    assert ((2000.0,), False) == (found.samples[0].values, found.samples[0].complete)


def test_evening_keeps_every_offset_and_every_string():
    """Only numbers change, and nothing moves."""
    text = '{"a": -nan, "b": "x: nan, [inf]", "c": [inf, -Infinity, +inf], "d": -1}'

    assert '{"a":  NaN, "b": "x: nan, [inf]", "c": [NaN, -Infinity,  NaN], "d": -1}' == evened(text)


def figures(reading):
    """All figures of a reading."""
    return [
        (f.quantity, f.stat, f.value, f.reason) for m in reading.measurements for f in m.figures
    ]


AROUND = [
    ("mark", "\ufeff", "", 1),
    ("log lines", "INFO 12:00 [main] starting {x}\nWARN: slow\n", "\nDone [ok].\n", 1),
    ("log objects", '{"level": "info", "msg": "hello"}\n', '\n{"level": "info"}\n', 1),
]
JSON_FILES = [
    pytest.param(case[2], id=case[0])
    for case in samples.CASES
    if case[2].lstrip()[:1] in {"{", "["}
]


@pytest.mark.parametrize("text", JSON_FILES)
@pytest.mark.parametrize(
    ("before", "behind"), [pytest.param(b, e, id=name) for name, b, e, _ in AROUND]
)
def test_what_stands_around_a_result_changes_no_figure(text, before, behind):
    """Byte order marks, log lines and JSON log objects are passed over."""
    alone = read_text(text, "a.json")
    found = read_text(f"{before}{text}{behind}", "a.json")
    found.check()

    assert (alone.format, figures(alone)) == (found.format, figures(found))


ONE_A_FILE = [
    pytest.param(text, id=name)
    for name, text in (
        ("pytest-benchmark", samples.PYTEST),
        ("bencher", samples.BENCHER),
        ("asv", samples.ASV_1),
        ("guidellm", samples.GUIDELLM_1),
        ("vllm", samples.VLLM),
    )
]


@pytest.mark.parametrize("document", ONE_A_FILE)
def test_several_objects_in_a_file_are_several_measurements(document):
    """Two reports in one file are read as two, each with a pointer of its own."""
    text = json.dumps(document)
    alone, twice = read_text(text), read_text(f"{text}\n{text}\n")
    twice.check()

    assert figures(alone) * 2 == figures(twice)


def value_of(text, quantity, stat=None, name="a.json"):
    """The value of a figure of a file's first measurement, or its reason."""
    figure = read_source(open_bytes(text.encode(), name)).measurements[0].figure(quantity, stat)
    return figure.reason if figure.value is None else figure.value


EARLY_VLLM = {
    "date": "20240410-163300", "backend": "vllm", "version": "N/A", "model_id": "m", "best_of": 1,
    "use_beam_search": False, "num_prompts": 9, "request_rate": "inf", "duration": 3.0,
    "completed": 9, "request_inthroughput": 3.0, "input_throughput": 90.0, "mean_ttft_ms": 5.0,
}  # fmt: skip
EARLY_SGLANG = {
    "backend": "sglang", "dataset_name": "random", "request_rate": 4.0, "completed": 8,
    "total_input": 80, "total_output": 160, "total_output_retokenized": 160,
    "median_e2e_latency": 900.0, "median_ttft": 12.5, "output_token_throughput": 40.0,
    "random_input_len": 10, "benchmark_duration": 4.0,
}  # fmt: skip
ONE_BATCH_SERVER = {
    "run_name": "default", "batch_size": 16, "input_len": 8, "output_len": 4, "latency": 1.5,
    "ttft": 0.2, "overall_throughput": 110.0, "last_gen_throughput": 30.0, "acc_length": -1.0,
}  # fmt: skip
GENAI_CSV = """Metric,avg,min,p99
Time To First Token (ms),"1,234.56",0.50,"12,345,678.90"

Metric,Value
Output Token Throughput (per sec),1456.21
Request Throughput (per sec),2.73
"""
SINGLE_STREAM = """MLPerf Results Summary
Scenario : SingleStream
QPS w/ loadgen overhead         : 80.5
Mean First Token latency (ns)   : 5000000
"""
LLMD_OLD = """version: '0.1'
scenario: {model: {name: m}}
metrics:
  time: {duration: 12.5}
  requests: {total: 10, failures: 0}
  latency:
    time_to_first_token: {units: s, mean: 0.5, p99: .nan}
    request_latency: {units: furlong, mean: 5}
"""
EMPTY_GROUP = {
    "benchmarks": [
        {"metrics": {"time_to_first_token_ms": {"successful": {"count": 0, "mean": 0.0}}}}
    ]
}
LOCUST = """Type,Name,Request Count,Failure Count,Median Response Time,Requests/s,50%,95%
GET,/a,0,0,N/A,0.0,N/A,N/A
"""
SHARE = {
    "context": {"library_version": "1"},
    "benchmarks": [
        {
            "name": "a_share", "run_type": "aggregate", "aggregate_name": "share",
            "aggregate_unit": "percentage", "real_time": 0.5, "time_unit": "ns",
        }
    ],
}  # fmt: skip
ONE_TOKEN = {
    **samples.VLLM, "completed": 2, "ttfts": [0.005, 0.0], "errors": ["", ""], "itls": [[], []],
}  # fmt: skip
VERSIONS = [
    ("vllm early rate", json.dumps(EARLY_VLLM), "request_throughput", None, 3.0),
    ("vllm early input rate", json.dumps(EARLY_VLLM), "input_token_throughput", None, 90.0),
    ("sglang early is in ms", json.dumps(EARLY_SGLANG), "ttft", "p50", 12.5),
    ("sglang early end to end", json.dumps(EARLY_SGLANG), "e2e", "p50", 900.0),
    ("sglang early duration", json.dumps(EARLY_SGLANG), "duration", None, 4.0),
    ("sglang early tokens", json.dumps(EARLY_SGLANG), "output_tokens", "total", 160),
    ("one batch, server", json.dumps(ONE_BATCH_SERVER), "batch_latency", None, 1500.0),
    ("one batch has no TTFT", json.dumps(ONE_BATCH_SERVER), "ttft", None, "not_applicable"),
    ("grouped thousands", GENAI_CSV, "ttft", "mean", 1234.56),
    ("grouped millions", GENAI_CSV, "ttft", "p99", 12345678.9),
    ("per sec of tokens", GENAI_CSV, "output_token_throughput", None, 1456.21),
    ("per sec of requests", GENAI_CSV, "request_throughput", None, 2.73),
    ("SingleStream rate", SINGLE_STREAM, "request_throughput", None, 80.5),
    ("SingleStream first token", SINGLE_STREAM, "ttft", "mean", 5.0),
    ("empty group, no counts", json.dumps(EMPTY_GROUP), "ttft", "mean", "zero_means_missing"),
    ("locust N/A", LOCUST, "e2e", "p50", "not_stated"),
    ("google share is no time", json.dumps(SHARE), "run_time", None, "not_stated"),
    ("zero among the samples", json.dumps(ONE_TOKEN), "ttft", "p90", "not_stated"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "quantity", "stat", "expected"), [pytest.param(*v[1:], id=v[0]) for v in VERSIONS]
)
def test_other_versions_say(text, quantity, stat, expected):
    """A version's own names and units give the value, or null with its reason."""
    assert expected == value_of(text, quantity, stat)


@pytest.mark.parametrize(
    ("quantity", "stat", "expected"),
    [("ttft", "mean", 500.0), ("ttft", "p99", "not_finite"), ("e2e", "mean", "not_stated")],
)
def test_old_report_of_llm_d(quantity, stat, expected):
    """Version 0.1 as YAML; a unit that nobody knows gives no number."""
    assert expected == value_of(LLMD_OLD, quantity, stat, "report.yaml")


def test_a_cut_prompt_is_noted():
    """A router's row of which the encoder saw a part says how much; a whole one does not."""
    run = {"boundary": "router_decide", "prompt_tokens": 1024, "warm_ms": [1.0]}
    runs = [run | {"encoded_tokens": 512}, run | {"encoded_tokens": 1026}]
    report = {"schema": "critical-path/router-latency", "runs": runs}
    cut, whole = read_text(json.dumps(report)).measurements

    assert [("prompt_cut", {"encoded": 512, "prompt": 1024})] == [
        (note.code, note.data) for note in cut.notes
    ]
    assert () == whole.notes
