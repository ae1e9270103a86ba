"""Questions to the two forms: every workload, cost model, status, note, warning and refusal.

Pairs of a calculator's name and values, for the list of questions that build, CPython and Pyodide
answer alike.
"""

import json

LONG = "9" * 80
SMALL = {"count": "60", "prompt": "200, 50", "output": "5, 9"}
QUICK = {**SMALL, "sweep": "0"}
TABLE = "prefill_tokens,decodes,time_us\n0,1,100\n0,64,900\n2048,1,90000\n2048,64,91000\n"
LINE = "prefill_tokens,decodes,time_us\n0,8,900\n2048,8,91000\n"
TRACE = "arrival_s,prompt,output\n0,5,2\n1,9,3\n"
OVERLOAD = {"count": "200", "rate": "30", "prompt": "2000", "output": "60", "num_blocks": "200"}
SWEEP = {
    "format": "serving-sweep/1",
    "capacity": [
        {
            "system": "v1 2048",
            "share": 0.99,
            "seeds": 2,
            "largest_rate": 4.0,
            "smallest_over_seeds": 2.0,
            "largest_over_seeds": 6.0,
            "attainment_by_rate": [
                {"rate": 2.0, "mean": 1.0, "half_width": 0.0},
                {"rate": 6.0, "mean": 0.9, "half_width": None},
            ],
        }
    ],
}
NO_RATE = {**SWEEP, "capacity": [{**SWEEP["capacity"][0], "attainment_by_rate": [{"rate": -1}]}]}

BY_HAND = [
    {},
    {"scenario": "three", "policy": "static", "link": "serial"},
    {"scenario": "shortage", "policy": "v1", "num_blocks": "5", "token_budget": "16"},
    {"scenario": "shortage", "policy": "prefill_first", "num_blocks": "5"},
    {
        "scenario": "shortage",
        "policy": "prefill_first",
        "num_blocks": "5",
        "max_num_batched_tokens": "4",
    },
    {"scenario": "three", "policy": "prefill_first", "max_num_batched_tokens": "4"},
    {"scenario": "long_prompt", "policy": "v1", "long_prefill_token_threshold": "4"},
    {"scenario": "timeout", "policy": "orca", "max_num_seqs": "1"},
    {"scenario": "three", "policy": "orca", "max_num_seqs": "1", "max_queue": "0"},
    {"scenario": "three", "policy": "sglang", "num_blocks": "3"},
    {"scenario": "three", "policy": "pd", "first_shown_by": "decode", "x1": "1"},
    {"scenario": "three", "policy": "orca", "max_num_seqs": "1", "horizon": "7"},
    {"scenario": "three", "policy": "orca", "horizon": "2"},
    {"requests": "A,0,4,3\nB,1,2,2,9"},
    {"empty_first_chunk": "1", "policy": "v1"},
    {"requests": "A,0,4,90\nlong-name-of-a-request,200,4,3"},
    {"requests": "\n".join(f"r{index},{index},3,2" for index in range(7)), "policy": "pd"},
]
BY_HAND_REFUSED = [
    {"a": ""},
    {"a": "x"},
    {"a": "1.5"},
    {"a": "0"},
    {"a": "99999"},
    {"a": LONG},
    {"a": "１"},
    {"link": "none"},
    {"nothing": "1"},
    {"scenario": "own", "requests": "\n"},
    {"requests": "A,0,0,1"},
    {"requests": "A,0,1,1\nA,0,1,1"},
    {"requests": "\n".join(f"r{index},0,1,1" for index in range(41))},
    {"requests": "A" * 5000},
    {"requests": "A,0,9999,9999"},
]
LOAD = [
    SMALL,
    {**QUICK, "workload": "bursty", "rate": "20"},
    {**QUICK, "workload": "on_off", "tool": "MLPerf"},
    {**QUICK, "workload": "uniform", "link": "serial", "first_shown_by": "decode"},
    {**QUICK, "workload": "closed", "users": "4"},
    {"trace": TRACE, "rate_factor": "2"},
    {**QUICK, "workload": "slots", "rate": "50", "max_concurrency": "2"},
    {**QUICK, "shared_prefix_tokens": "100", "prefix_cache": "1", "num_blocks": ""},
    {"sweep_file": json.dumps(SWEEP)},
    {**QUICK, "cost": "roofline", "count": "20"},
    {**QUICK, "model": "own", "cost": "roofline", "parameters_billion": "1", "count": "5"},
    {**QUICK, "cost": "table", "table": TABLE},
    {**QUICK, "cost": "table", "table": LINE},
    {**QUICK, "timeout_ms": "50", "max_queue": "2", "rate": "50", "output": "400"},
    {**OVERLOAD, "sweep": "0"},
    {"workload": "trace", "trace": TRACE, "sweep": "1"},
]
LOAD_REFUSED = [
    {"rate": "x"},
    {"rate": ""},
    {"rate": LONG},
    {"rate": "１"},
    {"count": "1.5"},
    {"count": "0"},
    {"count": "9999999"},
    {"prompt": ",".join(["1"] * 10_001)},
    {"workload": "none"},
    {"sweep": "perhaps"},
    {"nothing": "1"},
    {"trace": "arrival_s,prompt,output\n0,x,1\n"},
    {"trace": "a,b\n1,2\n"},
    {"trace": "arrival_s,prompt,output\n"},
    {"cost": "table"},
    {"cost": "table", "table": TABLE.rsplit("\n", 2)[0] + "\n"},
    {"table": "x" * 100_001},
    {"cost": "table", "b_us": "3"},
    {"workload": "closed", "count": "100000", "output": "100"},
    {"workload": "sweep_file"},
    {"sweep_file": "[" * 300},
    {"sweep_file": '{"format": "another"}'},
    {"sweep_file": '{"format": "serving-sweep/1", "capacity": []}'},
    {"sweep_file": json.dumps(NO_RATE)},
    {"shared_prefix_tokens": "5", "workload": "trace", "trace": TRACE},
]

QUESTIONS = [
    *(("serving", values) for values in (*BY_HAND, *BY_HAND_REFUSED)),
    *(("serving-load", values) for values in (*LOAD, *LOAD_REFUSED)),
]
