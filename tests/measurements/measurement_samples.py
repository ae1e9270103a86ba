"""Small result files written for these tests, one or more a format, with what they say.

Each case is (name, file name, text, companions, expectations); an expectation is
(measurement, quantity, stat, value or reason).
"""

import json

NAN, INF = float("nan"), float("inf")


def lines(*rows):
    """Appended JSON objects."""
    return "\n".join(json.dumps(row) for row in rows) + "\n"


VLLM = {
    "date": "20260101-000000",
    "backend": "vllm",
    "model_id": "m",
    "num_prompts": 10,
    "request_rate": "inf",
    "max_concurrency": None,
    "duration": 2.0,
    "completed": 8,
    "total_input_tokens": 80,
    "total_output_tokens": 40,
    "request_throughput": 4.0,
    "output_throughput": 20.0,
    "mean_ttft_ms": 12.5,
    "median_ttft_ms": 12.0,
    "std_ttft_ms": 0.0,
    "p99.9_ttft_ms": 20.0,
    "mean_itl_ms": 0.0,
    "std_itl_ms": 0.0,
}
VLLM_FAILED = VLLM | {"completed": 0, "failed": 10, "mean_ttft_ms": 0.0, "median_ttft_ms": 0.0}
VLLM_DETAIL = VLLM | {
    "completed": 3,
    "failed": 1,
    "num_prompts": 4,
    "ttfts": [0.1, 0.2, 0.0, 0.4],
    "itls": [[0.01, 0.02], [0.03], [], [0.05]],
    "errors": ["", "", "Traceback\nTimeoutError", ""],
    "generated_texts": ["secret one", "secret two", "", "secret three"],
    "input_lens": [1, 2, 3, 4],
    "output_lens": [3, 2, 0, 2],
}
SGLANG = {
    "backend": "sglang",
    "dataset_name": "random",
    "request_rate": INF,
    "max_concurrency": None,
    "random_input_len": 8,
    "total_output_tokens_retokenized": 0,
    "completed": 300,
    "duration": 10.0,
    "median_ttft_ms": 0.0,
    "mean_ttft_ms": 0.0,
    "std_ttft_ms": 0.0,
    "median_e2e_latency_ms": 55.0,
    "p95_itl_ms": 0.0,
    "total_output_tokens": 900,
}
ONE_BATCH = {
    "run_name": "default",
    "batch_size": 4,
    "input_len": 1024,
    "output_len": 8,
    "prefill_latency": 0.25,
    "prefill_throughput": 16384.0,
    "median_decode_latency": 0.01,
    "median_decode_throughput": 400.0,
    "total_latency": 0.32,
    "overall_throughput": 12900.0,
}
GENAI = {
    "request_throughput": {"unit": "requests/sec", "avg": 2.5},
    "request_latency": {
        "unit": "ms",
        "avg": 100.0,
        "p50": 90.0,
        "p99": 150.0,
        "min": "80.0",
        "max": "160.0",
        "std": "12.5",
    },
    "time_to_first_token": {"unit": "ns", "avg": 2_000_000, "p95": 3_000_000},
    "inter_token_latency": {"unit": "us", "avg": 500},
    "output_token_throughput": {"unit": "tokens/sec", "avg": 250.0},
    "request_count": {"unit": "count", "avg": 20.0},
    "output_sequence_length": {"unit": "tokens", "avg": 50.0, "min": 10, "max": 90},
    "input_config": {
        "model_names": ["big-model"],
        "perf_analyzer": {"stimulus": {"concurrency": 4}},
    },
}
AIPERF = {
    "schema_version": "1.1",
    "request_count": {"unit": "requests", "avg": 5, "count": 5},
    "time_to_first_token": {"unit": "ms", "avg": 9.0, "p50": 8.0, "sum": 45.0, "count": 5},
    "error_summary": [
        {"error_details": {"code": 500, "type": "ServerError"}, "count": 2},
        {"error_details": {"type": "Timeout"}, "count": 1},
    ],
    "input_config": {
        "endpoint": {"model_names": ["m1"]},
        "loadgen": {"concurrency": 3, "request_rate": 7.5},
    },
}
AIPERF_ROWS = (
    {
        "metadata": {"request_start_ns": 1759522419154568961, "benchmark_phase": "warmup"},
        "metrics": {"time_to_first_token": {"value": 999.0, "unit": "ms"}},
        "error": None,
    },
    {
        "metadata": {"request_start_ns": 1759522419154568963, "benchmark_phase": "profiling"},
        "metrics": {
            "time_to_first_token": {"value": 10.0, "unit": "ms"},
            "output_sequence_length": {"value": 4, "unit": "tokens"},
        },
        "error": None,
    },
    {
        "metadata": {"request_start_ns": 1759522419154568962},
        "metrics": {},
        "error": {"code": 503, "type": "Unavailable", "message": "busy"},
    },
    {
        "metadata": {"request_start_ns": 1759522419154568999},
        "metrics": {
            "time_to_first_token": {"value": 20.0, "unit": "ms"},
            "output_sequence_length": {"value": 6, "unit": "tokens"},
        },
        "error": None,
    },
)


def group(count, **stats):
    """A guidellm status group."""
    zero = {
        "mean": 0.0,
        "median": 0.0,
        "std_dev": 0.0,
        "min": 0.0,
        "max": 0.0,
        "percentiles": {"p001": 0.0, "p05": 0.0, "p95": 0.0, "p999": 0.0},
    }
    return {"successful": zero | stats | {"count": count}, "errored": zero | {"count": 0}}


def guidellm_metrics(done, failed=0):
    """The metrics of one benchmark."""
    ttft = group(
        done,
        **(
            {
                "mean": 11.0,
                "median": 10.0,
                "percentiles": {"p001": 9.0, "p05": 9.5, "p95": 14.0, "p999": 15.0},
            }
            if done
            else {}
        ),
    )
    return {
        "request_totals": {
            "successful": done,
            "errored": failed,
            "incomplete": 1,
            "total": done + failed + 1,
        },
        "time_to_first_token_ms": ttft,
        "inter_token_latency_ms": group(0),
        "request_latency": group(done, **({"mean": 0.5, "median": 0.4} if done else {})),
    }


GUIDELLM_1 = {
    "benchmarks": [
        {
            "type_": "generative_benchmark",
            "id_": "x",
            "args": {"strategy": {"type_": "constant", "rate": 3.0}, "profile": {}},
            "run_stats": {
                "requests_made": {"successful": 2, "errored": 0, "incomplete": 1, "total": 3}
            },
            "worker": {"backend_type": "openai_http", "backend_model": "old-model"},
            "start_time": 100.0,
            "end_time": 104.0,
            "metrics": {k: v for k, v in guidellm_metrics(2).items() if k != "request_totals"},
        }
    ]
}
GUIDELLM_2 = {
    "args": {"model": "mid-model", "target": "http://h"},
    "benchmarks": [
        {
            "scheduler": {"strategy": {"type_": "concurrent", "streams": 8}},
            "duration": 5.0,
            "metrics": guidellm_metrics(3),
        },
        {
            "scheduler": {"strategy": {"type_": "throughput"}},
            "duration": 6.0,
            "metrics": guidellm_metrics(0, 4),
        },
    ],
}
INFERENCE_PERF_FAILED = {
    "load_summary": {"count": 5, "requested_rate": 1.0},
    "successes": {
        "count": 0,
        "latency": {"request_latency": None, "time_to_first_token": None},
        "throughput": {"requests_per_sec": 0.0},
    },
    "failures": {"count": 5, "request_latency": {"mean": 0.1}},
}
MLPERF_OFFLINE = """\
================================================
MLPerf Results Summary
================================================
SUT name : LLAMA
Scenario : Offline
Mode     : PerformanceOnly
Samples per second: 12.5
Tokens per second: 3600.25
Result is : INVALID
  Min duration satisfied : NO

================================================
Additional Stats
================================================
Min latency (ns)                : 1000000000
Max latency (ns)                : 2640000000000
Mean latency (ns)               : 1320000000000
50.00 percentile latency (ns)   : 1300000000000
99.90 percentile latency (ns)   : 2639000000000
================================================
Test Parameters Used
================================================
target_qps : 10
schedule_rng_seed : 18209322760996052031

1 ERROR encountered. See detailed log.
"""
MLPERF_TOKENS = """\
MLPerf Results Summary
Scenario : Interactive
Min Time per Output Token (ns)                : 1000000
99.00 percentile time to output token (ns)   : 2000000
"""
MLPERF_SINGLE = """\
================================================
MLPerf Results Summary
================================================
SUT name : PySUT
Scenario : SingleStream
Mode     : PerformanceOnly
90.0th percentile latency (ns) : 25114400
Result is : VALID
"""


def event(key, value, line):
    """A line of LoadGen's detail log."""
    body = {
        "key": key,
        "value": value,
        "time_ms": line * 0.5,
        "namespace": "mlperf::logging",
        "event_type": "POINT_IN_TIME",
        "metadata": {"is_error": False, "line_no": line},
    }
    return f":::MLLOG {json.dumps(body)}"


MLPERF_DETAIL = "\n".join(
    [
        event("loadgen_version", "5.1.0 @ 091d51f041", 0),
        event("effective_schedule_rng_seed", 18209322760996052031, 1),
        event("result_query_count", 73728, 2),
        event("result_99.00_percentile_latency_ns", 136069232834, 3),
        event("result_first_token_mean_latency_ns", 918456323, 4),
        ':::MLLOG {"key": "cut',
    ]
)
LLAMA_ROW = {
    "build_commit": "abc",
    "model_type": "m",
    "gpu_info": "",
    "cpu_info": "CPU X",
    "n_prompt": 0,
    "n_gen": 16,
    "n_depth": 512,
    "test_time": "2026-01-01T00:00:00Z",
    "avg_ns": 2000000,
    "stddev_ns": 0,
    "avg_ts": 8000.0,
    "stddev_ts": 0.5,
    "samples_ns": [1000000, 3000000],
    "samples_ts": [16000.0, 5333.0],
}
LLAMA_CSV = """\
ggml_vulkan: Found 1 device
build_commit,model_type,n_prompt,n_gen,avg_ns,stddev_ns,avg_ts,stddev_ts
"abc","m","512","0","1000000","5","512000.0","1.5"
"abc","m","512","128","2000000","6","320000.0","2.5"
"""
INFERENCEX = {
    "hw": "h200-nv",
    "tp": 8,
    "ep": 1,
    "dp_attention": "false",
    "conc": 64,
    "model": "m",
    "framework": "sglang",
    "precision": "fp8",
    "tput_per_gpu": 1000.0,
    "median_ttft": 0.5,
    "p99_ttft": 1.5,
    "median_tpot": 0.02,
    "median_intvty": 50.0,
    "p99_tpot": 0.04,
    "p99_intvty": 25.0,
    "std_tpot": 0.001,
    "std_intvty": 1000.0,
    "mean_e2el": 12.0,
}
LMBENCH = """\
prompt_tokens,generation_tokens,ttft,generation_time,user_id,question_id,launch_time,finish_time
100,20,0.5,1.0,1,1,1000.0,1001.5
100,0,0,0,2,1,1000.5,1003.5
100,30,0.7,1.3,3,1,1001.0,1003.0
"""
LLMD_01 = {
    "version": "0.1",
    "scenario": {
        "model": {"name": "m"},
        "host": {"accelerator": [{"model": "H100"}]},
        "platform": {"engine": [{"name": "vllm", "version": "0.10"}]},
    },
    "metrics": {
        "time": {"duration": 20.5},
        "requests": {"total": 10, "failures": 10},
        "latency": {"time_to_first_token": {"units": "ms", "mean": 5.0, "p99p9": 9.0}},
        "throughput": {"output_tokens_per_sec": 100.0},
    },
}
PYTEST = {
    "machine_info": {"cpu": {"brand_raw": "CPU"}},
    "commit_info": {"id": "c", "dirty": False},
    "version": "5.1",
    "datetime": "2026-01-01T00:00:00",
    "benchmarks": [
        {
            "name": "a",
            "stats": {
                "mean": 0.5,
                "median": 0.5,
                "rounds": 2,
                "iterations": 1,
                "min": 0.4,
                "max": 0.6,
                "stddev": 0.1,
            },
        }
    ],
}
GOOGLE = (
    '{"context": {"date": "d"}, "benchmarks": [\n'
    '{"name": "a", "iterations": 10, "real_time": 5, "cpu_time": NaN, "time_unit": "us"},\n'
    '{"name": "a_mean", "run_type": "aggregate", "aggregate_name": "mean", "real_time": 6,'
    ' "cpu_time": 4, "time_unit": "ms"},\n'
    '{"name": "a_median", "run_type": "aggregate", "aggregate_name": "median",'
    ' "real_time": 7, "cpu_time": 4, "time_unit": "s"},\n'
    '{"name": "a_cv", "run_type": "aggregate", "aggregate_name": "cv", "real_time": 0.1,'
    ' "cpu_time": 0.2, "time_unit": "ns"},\n'
    '{"name": "a_RMS", "run_type": "aggregate", "aggregate_name": "RMS", "rms": 0.01},\n'
    '{"name": "b", "run_type": "iteration", "error_occurred": true,'
    ' "error_message": "no device", "iterations": 0, "real_time": 0, "cpu_time": 0,'
    ' "time_unit": "ns"}]}'
)
HYPERFINE = {
    "results": [
        {
            "command": "x",
            "mean": 0.5,
            "stddev": None,
            "median": 0.5,
            "user": 0.1,
            "system": 0.1,
            "min": 0.5,
            "max": 0.5,
            "times": [0.5],
            "exit_codes": [None],
        }
    ]
}
ASV_2 = (
    '{"version": 2, "commit_hash": "c0ffee", "date": 1700000000000, "params": {"cpu": "C"},'
    ' "result_columns": ["result", "params", "version", "started_at", "duration",'
    ' "stats_ci_99_a", "stats_ci_99_b", "stats_q_25", "stats_q_75"],'
    ' "results": {"time_a": [[0.002], [], "v", 1, 2, [0.001], [0.003], [0.0015], [0.0025]],'
    ' "time_p": [[0.1, null, NaN, 0.4], [["1", "2"], ["a", "b"]]],'
    ' "mem_x": [[1024], []], "time_dead": [null, []]}}'
)
ASV_UNITS = {
    "time_a": {"code": "", "unit": "seconds"},
    "time_p": {"code": "", "unit": "seconds"},
    "mem_x": {"code": "", "unit": "bytes"},
    "time_dead": {"code": "", "unit": "seconds"},
    "version": 2,
}
ASV_1 = {
    "version": 1,
    "commit_hash": "c",
    "results": {
        "scalar": 0.5,
        "gone": None,
        "object": {"result": [1.5, 2.5], "params": [["8", "16"]]},
    },
}
K6 = {
    "metrics": {
        "http_req_duration": {
            "type": "trend",
            "contains": "time",
            "values": {
                "avg": 12.0,
                "min": 1.0,
                "med": 10.0,
                "max": 99.0,
                "p(90)": 20.0,
                "p(99.9)": 30.0,
            },
        },
        "http_reqs": {"values": {"count": 100, "rate": 9.5}},
        "http_req_failed": {"values": {"rate": 0.03, "passes": 3, "fails": 97}},
    },
    "state": {"testRunDurationMs": 10500.0},
}
K6_EXPORT = {
    "metrics": {
        "http_req_duration": {"avg": 12.0, "med": 10.0, "p(95)": 25.0},
        "http_reqs": {"count": 100, "rate": 9.5},
    }
}
LOCUST = """\
Type,Name,Request Count,Failure Count,Median Response Time,Average Response Time,\
Min Response Time,Max Response Time,Average Content Size,Requests/s,Failures/s,50%,95%,99.9%,100%
GET,/a,10,2,20,21.5,3,90,100,1.5,0.3,20,80,90,90
,Aggregated,3,3,5,5.0,5,5,0,0.5,0.5,5,5,5,5
"""
BENCHER = {"adapter::json": {"latency": {"value": 10.5, "lower_value": 10.5, "upper_value": 10.5}}}
ACTION = (
    'window.BENCHMARK_DATA = {"lastUpdate": 1, "repoUrl": "u", "entries": {"Go": [{"commit":'
    ' {"id": "c"}, "date": 5, "tool": "go", "benches": [{"name": "B", "value": 3.5,'
    ' "unit": "ns/op", "range": "± 2%"}]}]}}'
)
PYTORCH = [
    {
        "benchmark": {"name": "vLLM benchmark", "extra_info": {"args": {"seed": 0}}},
        "model": {"name": "m"},
        "metric": {"name": "p99_ttft_ms", "benchmark_values": [7.5]},
    }
]
NMISSING, ALLFAILED, NOTFINITE = "zero_means_missing", "all_failed", "not_finite"
NA, NS = "not_applicable", "not_stated"

CASES = [
    (
        "vllm inf, gap in failures",
        "a.json",
        json.dumps(VLLM),
        {},
        [
            (0, "request_rate", None, NOTFINITE),
            (0, "concurrency", None, NA),
            (0, "n_failure", None, 2),
            (0, "ttft", "std", 0.0),
            (0, "ttft", "p99.9", 20.0),
            (0, "itl", "mean", NMISSING),
            (0, "itl", "std", NMISSING),
            (0, "ttft", "p95", NS),
        ],
    ),
    (
        "vllm all failed",
        "a.json",
        json.dumps(VLLM_FAILED),
        {},
        [
            (0, "ttft", "mean", ALLFAILED),
            (0, "ttft", "p50", ALLFAILED),
            (0, "n_success", None, 0),
            (0, "request_throughput", None, 4.0),
            (0, "itl", "std", ALLFAILED),
        ],
    ),
    (
        "vllm appended, cut",
        "a.json",
        lines(VLLM, VLLM_FAILED) + '{"completed": 3, "dur',
        {},
        [(None, "n_measurements", None, 2), (1, "ttft", "mean", ALLFAILED)],
    ),
    (
        "vllm detail",
        "a.json",
        json.dumps(VLLM_DETAIL),
        {},
        [
            (0, "ttft", "min", 100.0),
            (0, "ttft", "max", 400.0),
            (0, "ttft", "mean", 12.5),
            (0, "itl", "max", 50.0),
        ],
    ),
    (
        "vllm BOM and log lines",
        "a.json",
        "\ufeff[2026-01-01 00:00:00] INFO start\nWARNING: x\n" + json.dumps(VLLM),
        {},
        [(0, "ttft", "mean", 12.5), (None, "n_measurements", None, 1)],
    ),
    ("vllm pytorch", "a.pytorch.json", json.dumps(PYTORCH), {}, [(0, "ttft", "p99", 7.5)]),
    (
        "vllm latency",
        "a.json",
        json.dumps({"avg_latency": 2.0, "latencies": [1.0, 3.0], "percentiles": {"50": 2.0}}),
        {},
        [
            (0, "batch_latency", "mean", 2000.0),
            (0, "batch_latency", "max", 3000.0),
            (0, "n_samples", None, 2),
            (0, "ttft", "p50", NA),
        ],
    ),
    (
        "sglang empty answers",
        "a.jsonl",
        lines(SGLANG),
        {},
        [
            (0, "ttft", "p50", NMISSING),
            (0, "ttft", "std", NMISSING),
            (0, "itl", "p95", NMISSING),
            (0, "e2e", "p50", 55.0),
            (0, "request_rate", None, NOTFINITE),
            (0, "request_throughput", None, 30.0),
        ],
    ),
    (
        "sglang one batch",
        "a.jsonl",
        lines(ONE_BATCH, ONE_BATCH | {"batch_size": 8}),
        {},
        [
            (None, "n_measurements", None, 2),
            (1, "batch_latency", None, 320.0),
            (0, "prompt_rate", None, 16384.0),
            (0, "generation_rate", "p50", 400.0),
            (0, "ttft", "p50", NA),
            (0, "total_token_throughput", None, 12900.0),
        ],
    ),
    (
        "genai-perf",
        "a.json",
        json.dumps(GENAI),
        {},
        [
            (0, "e2e", "min", 80.0),
            (0, "e2e", "std", 12.5),
            (0, "ttft", "mean", 2.0),
            (0, "itl", "mean", 0.5),
            (0, "request_throughput", None, 2.5),
            (0, "n_success", None, 20),
            (0, "n_failure", None, NS),
            (0, "concurrency", None, 4),
            (0, "output_tokens", "max", 90),
            (0, "output_token_throughput", "mean", 250.0),
        ],
    ),
    (
        "aiperf",
        "a.json",
        json.dumps(AIPERF),
        {},
        [
            (0, "ttft", "p50", 8.0),
            (0, "n_failure", None, 3),
            (0, "n_success", None, 5),
            (0, "concurrency", None, 3),
            (0, "request_rate", None, 7.5),
        ],
    ),
    (
        "aiperf records",
        "profile_export.jsonl",
        lines(*AIPERF_ROWS),
        {},
        [
            (0, "n_requests", None, 3),
            (0, "n_success", None, 2),
            (0, "n_failure", None, 1),
            (0, "ttft", "p50", 15.0),
            (0, "ttft", "max", 20.0),
            (0, "output_tokens", "total", 10),
        ],
    ),
    (
        "aiperf records all failed",
        "profile_export.jsonl",
        lines(AIPERF_ROWS[2]),
        {},
        [(0, "ttft", "p50", ALLFAILED), (0, "n_success", None, 0)],
    ),
    (
        "guidellm generation 1",
        "a.json",
        json.dumps(GUIDELLM_1),
        {},
        [
            (0, "n_success", None, 2),
            (0, "request_rate", None, 3.0),
            (0, "ttft", "p0.1", 9.0),
            (0, "ttft", "p5", 9.5),
            (0, "ttft", "p99.9", 15.0),
            (0, "e2e", "p50", 400.0),
            (0, "itl", "mean", NMISSING),
            (0, "duration", None, 4.0),
        ],
    ),
    (
        "guidellm generation 2",
        "a.json",
        json.dumps(GUIDELLM_2),
        {},
        [
            (None, "n_measurements", None, 2),
            (0, "concurrency", None, 8),
            (0, "request_rate", None, NA),
            (1, "ttft", "mean", ALLFAILED),
            (1, "n_incomplete", None, 1),
            (1, "n_failure", None, 4),
        ],
    ),
    (
        "inference-perf all failed",
        "a.json",
        json.dumps(INFERENCE_PERF_FAILED),
        {},
        [
            (0, "ttft", "p50", ALLFAILED),
            (0, "e2e", "p99", ALLFAILED),
            (0, "n_failure", None, 5),
            (0, "request_throughput", None, 0),
        ],
    ),
    (
        "mlperf offline",
        "mlperf_log_summary.txt",
        MLPERF_OFFLINE,
        {},
        [
            (0, "request_throughput", None, 12.5),
            (0, "output_token_throughput", None, 3600.25),
            (0, "request_rate", None, NA),
            (0, "e2e", "max", 2640000.0),
            (0, "e2e", "p99.9", 2639000.0),
        ],
    ),
    (
        "mlperf time per output token",
        "mlperf_log_summary.txt",
        MLPERF_TOKENS,
        {},
        [(0, "tpot", "min", 1.0), (0, "tpot", "p99", 2.0)],
    ),
    (
        "mlperf single stream",
        "mlperf_log_summary.txt",
        MLPERF_SINGLE,
        {},
        [(0, "e2e", "p90", 25.1144)],
    ),
    (
        "mlperf detail",
        "mlperf_log_detail.txt",
        MLPERF_DETAIL,
        {},
        [
            (2, "value", None, 73728),
            (2, "n_requests", None, 73728),
            (3, "e2e", "p99", 136069.232834),
            (4, "ttft", "mean", 918.456323),
        ],
    ),
    (
        "llama-bench rows",
        "a.jsonl",
        lines(LLAMA_ROW, LLAMA_ROW),
        {},
        [
            (None, "n_measurements", None, 2),
            (1, "generation_rate", "mean", 8000.0),
            (1, "run_time", "p50", 2.0),
            (1, "prompt_rate", "mean", NA),
        ],
    ),
    (
        "llama-bench csv",
        "a.csv",
        LLAMA_CSV,
        {},
        [
            (0, "prompt_rate", "mean", 512000.0),
            (1, "value", "mean", 320000.0),
            (1, "prompt_rate", "mean", NA),
            (1, "run_time", "mean", 2.0),
        ],
    ),
    (
        "inferencex",
        "agg.json",
        json.dumps(INFERENCEX),
        {},
        [
            (0, "ttft", "p50", 500.0),
            (0, "tpot", "p99", 40.0),
            (0, "concurrency", None, 64),
            (0, "per_request_output_rate", "p50", 50.0),
            (0, "per_request_output_rate", "p99", NS),
            (0, "per_request_output_rate", "std", NS),
            (0, "n_failure", None, NS),
            (0, "total_token_throughput", None, NS),
        ],
    ),
    (
        "lmbench",
        "a.csv",
        LMBENCH,
        {},
        [
            (0, "n_requests", None, 3),
            (0, "n_success", None, 2),
            (0, "ttft", "p50", 600.0),
            (0, "e2e", "max", 2000.0),
            (0, "output_tokens", "total", 50),
        ],
    ),
    (
        "llm-d 0.1 all failed",
        "a.json",
        json.dumps(LLMD_01),
        {},
        [
            (0, "ttft", "mean", ALLFAILED),
            (0, "n_success", None, 0),
            (0, "duration", None, 20.5),
            (0, "output_token_throughput", "mean", 100.0),
        ],
    ),
    (
        "pytest-benchmark",
        "a.json",
        json.dumps(PYTEST),
        {},
        [(0, "run_time", "p50", 500.0), (0, "run_time", "p95", NS), (0, "n_samples", None, 2)],
    ),
    (
        "google-benchmark",
        "a.json",
        GOOGLE,
        {},
        [
            (0, "run_time", "mean", 0.005),
            (0, "cpu_time", "mean", NOTFINITE),
            (1, "run_time", "mean", 6.0),
            (2, "run_time", "p50", 7000.0),
            (3, "run_time", "cv", 0.1),
            (4, "run_time", "mean", NS),
            (5, "run_time", "mean", ALLFAILED),
        ],
    ),
    (
        "hyperfine one run",
        "a.json",
        json.dumps(HYPERFINE),
        {},
        [
            (0, "run_time", "std", NS),
            (0, "n_success", None, 0),
            (0, "n_failure", None, 1),
            (0, "run_time", "mean", 500.0),
        ],
    ),
    (
        "asv 2",
        "a.json",
        ASV_2,
        {"benchmarks.json": json.dumps(ASV_UNITS)},
        [
            ("time_a", "run_time", None, 2.0),
            ("time_a", "run_time", "p25", 1.5),
            ("time_p[1,a]", "run_time", None, 100.0),
            ("time_p[1,b]", "run_time", None, ALLFAILED),
            ("time_p[2,a]", "run_time", None, NA),
            ("mem_x", "value", None, 1024),
            ("time_dead", "run_time", None, ALLFAILED),
            (None, "n_skipped", None, 1),
            (None, "n_failure", None, 2),
            (None, "n_success", None, 4),
        ],
    ),
    (
        "asv 1 without units",
        "a.json",
        json.dumps(ASV_1),
        {},
        [
            ("scalar", "value", None, 0.5),
            ("gone", "value", None, ALLFAILED),
            ("object[16]", "value", None, 2.5),
            ("scalar", "run_time", None, NS),
        ],
    ),
    (
        "k6",
        "a.json",
        json.dumps(K6),
        {},
        [
            (0, "e2e", "p50", 10.0),
            (0, "e2e", "p99.9", 30.0),
            (0, "n_failure", None, 3),
            (0, "n_success", None, 97),
            (0, "duration", None, 10.5),
            (0, "ttft", "p50", NS),
        ],
    ),
    (
        "k6 export",
        "a.json",
        json.dumps(K6_EXPORT),
        {},
        [(0, "e2e", "p95", 25.0), (0, "n_failure", None, NS)],
    ),
    (
        "locust",
        "a_stats.csv",
        LOCUST,
        {},
        [
            (0, "e2e", "p50", 20),
            (0, "e2e", "p99.9", 90),
            (0, "n_success", None, 8),
            (1, "e2e", "p95", ALLFAILED),
            (0, "request_throughput", None, 1.5),
        ],
    ),
    ("bencher", "a.json", json.dumps(BENCHER), {}, [("adapter::json", "value", None, 10.5)]),
    ("github action", "data.js", ACTION, {}, [(0, "value", None, 3.5)]),
]
