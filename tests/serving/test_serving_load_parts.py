"""Parts of the load calculator: windows of time, the chunk rule, patience, files of sweeps."""

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from serving_questions import SWEEP

from calculators.form.errors import ParameterError
from calculators.form.parse import parse
from calculators.serving import load_workbench, sweep_file
from calculators.serving.chunk_rule import chunk_blocks, chunk_tokens
from calculators.serving.distribution import distribution, of_ratios
from calculators.serving.load_params import Params, cost_of, requests_of
from calculators.serving.load_plots import WINDOWS, knee, windows
from calculators.serving.patience import PATIENCE_S, estimate_s
from calculators.serving.roofline import DEVICES, MODELS, Roofline
from calculators.serving.systems import Meter, Watched, kept_run
from calculators.serving.trace import Steps
from scripts.sweep.__main__ import main

SHARES = tuple(Fraction(percent, 100) for percent in (0, 1, 50, 90, 99, 100))
RATIOS = st.lists(st.tuples(st.integers(0, 10**9), st.integers(1, 60)), max_size=40)
QUIET = {"count": "40", "prompt": "200, 50", "output": "5, 9", "sweep": "0"}


def solved(**values):
    """The answer of the load calculator and what it told meanwhile."""
    told = []
    params = parse(load_workbench.Params, {**QUIET, **values})
    return load_workbench.solve(params, told.append), told


def table(result, name):
    """A table of an answer."""
    return next(block for block in result.blocks if getattr(block, "id", None) == name)


@given(RATIOS)
def test_quotients_are_the_fractions(pairs):
    """The quick way gives the sorted sample of exact fractions: values, percentiles, sum."""
    slow = distribution(Fraction(part, whole) for part, whole in pairs)

    quick = of_ratios(pairs)

    assert slow.values == list(quick.values)
    assert [slow.percentile(share) for share in SHARES] == [
        quick.percentile(share) for share in SHARES
    ]
    assert sum((Fraction(*pair) for pair in pairs), Fraction(0)) == slow.total == quick.total


def test_quotients_that_round_alike_keep_their_order():
    """Two fractions that are one float are told apart."""
    whole = 2**60
    pairs = [(whole + 1, whole + 2), (whole, whole + 1)]

    assert [Fraction(*pairs[1]), Fraction(*pairs[0])] == of_ratios(pairs).values[:]


def test_a_window_shows_its_largest_value():
    """A peak shorter than a window is not lost, and what lasts goes on into the next."""
    steps = Steps([0, 10, 11, 4_000_000], [1, 9, 2, 0])

    shown = windows(steps, 0, 4_000_000)

    assert [9.0, 2.0, 2.0] == [value for _, value in shown[:3]]
    assert len(shown) == WINDOWS


def test_the_knee_is_before_the_first_miss():
    """A later load that meets the share by luck does not count."""
    assert knee([(1.0, 1.0), (2.0, 0.9), (3.0, 1.0)], 0.99) == 1.0
    assert knee([(1.0, 0.5)], 0.99) is None


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"slo_ttft_ms": "90"}, id="ttft limit"),
        pytest.param({"slo_tpot_ms": "9", "slo_share": "0.5", "decodes": "3"}, id="other limits"),
        pytest.param({"tool": "guidellm", "warm_up_percent": "40"}, id="looked at otherwise"),
        pytest.param({"rate": "30"}, id="another workload"),
        pytest.param({"c_us": "900"}, id="another cost"),
        pytest.param({"num_blocks": "30"}, id="less memory"),
    ],
)
def test_kept_runs_give_the_same_answer(changed):
    """What was kept of an earlier question never shows in the answer to another one."""
    kept_run.cache_clear()
    fresh, _ = solved(**changed)
    kept_run.cache_clear()
    solved()

    assert fresh == solved(**changed)[0]


def test_chunk_is_what_the_limit_leaves():
    """40 ms, of which 20 fixed, at 20 µs a token: 1,000; at one decode too many: nothing."""
    assert 1000 == chunk_tokens(40_000, 20_000, 20, 0, 40)
    assert 0 == chunk_tokens(40_000, 20_000, 20, 500, 40)
    assert chunk_tokens(40_000, 20_000, 20, 501, 40) is None
    assert () == chunk_blocks(10, 20_000, 20, 0, 40)


def test_roofline_lines_are_the_fractions():
    """The integers over one denominator give the times of the exact formula, rounded up."""
    cost = Roofline(
        shape=MODELS["llama_3_1_8b"],
        device=DEVICES[0],
        compute_efficiency=Fraction(45, 100),
        memory_efficiency=Fraction(8, 10),
    )

    for prefill, decodes, context in ((0, 1, 1), (0, 64, 90_001), (2048, 7, 5000), (1, 0, 0)):
        slower = max(cost.compute_us(prefill + decodes), cost.memory_us(context))
        assert -int(-slower // 1) == cost.duration(prefill, decodes, context)


@pytest.mark.parametrize(
    ("name", "layers", "heads", "kv_heads", "hidden", "wide", "vocabulary", "extra"),
    [
        pytest.param("llama_2_7b", 32, 32, 32, 4096, 11008, 32000, 0, id="Llama 2 7B"),
        pytest.param("llama_3_1_8b", 32, 32, 8, 4096, 14336, 128256, 0, id="Llama 3.1 8B"),
        pytest.param("qwen3_8b", 36, 32, 8, 4096, 12288, 151936, 256, id="Qwen3 8B"),
        pytest.param("llama_3_1_70b", 80, 64, 8, 8192, 28672, 128256, 0, id="Llama 3.1 70B"),
    ],
)
def test_parameters_are_counted_from_the_config(  # noqa: PLR0913, PLR0917 - a whole config
    name, layers, heads, kv_heads, hidden, wide, vocabulary, extra
):
    """Embeddings, attention, gated MLP and norms add up to the parameters stated."""
    size = hidden // heads
    attention = 2 * hidden * hidden + 2 * hidden * kv_heads * size
    layer = attention + 3 * hidden * wide + 2 * hidden + extra
    total = 2 * vocabulary * hidden + layers * layer + hidden

    assert total == MODELS[name].parameters
    assert 2 * 2 * layers * kv_heads * size == MODELS[name].kv_bytes_per_token


def test_a_client_with_a_limit_reports_too_little():
    """Reported plus waited is what the schedule says, and the wait is not 0 under load."""
    result, _ = solved(workload="slots", rate="200", max_concurrency="1")

    for _, reported, waited, scheduled in table(result, "client").rows:
        assert waited.value > 0
        assert reported.value + waited.value == scheduled.value


def test_shared_prefixes_are_reused_where_it_is_asked_for():
    """The note says how many tokens of prefill were saved."""
    keys = {}
    for cache in ("", "1"):
        result, _ = solved(shared_prefix_tokens="48", prefix_groups="1", prefix_cache=cache)
        keys[cache] = [message.key for message in result.blocks[-1].items]

    assert "note.prefix" in keys["1"]
    assert "note.prefix" not in keys[""]


def test_progress_comes_after_every_run_and_ends_at_one():
    """Seven schedulers, six of them at two loads, six chunk sizes."""
    _, told = solved(sweep="1", sweep_points="2")

    assert told == sorted(told)
    assert (7 + 6 * 2 + 6, 1.0) == (len(set(told)), told[-1])


def test_a_single_stepping_run_gives_signs_of_life():
    """Within a run, too: a page that hears nothing for long would give it up."""
    told = []
    cost = Watched(cost_of(Params()), Meter(told.append, 1))

    for _ in range(4_000):
        cost.duration(1, 1, 1)

    assert [0.0, 0.0] == told


@pytest.mark.parametrize("long_run", [False, True])
def test_a_long_run_is_asked_for(long_run):
    """It says how long it would take; a tick starts it."""
    params = Params(workload="closed", count=3_000, long_run=long_run)
    requests, cost = requests_of(params), cost_of(params)

    assert estimate_s(load_workbench.FCFS, 0, requests, params, cost) > PATIENCE_S
    if long_run:
        load_workbench.prepared(params, lambda _done: None)
        return
    with pytest.raises(ParameterError) as caught:
        load_workbench.prepared(params, lambda _done: None)
    assert ("long_run", "too_long_run") == (caught.value.field, caught.value.reason)


def test_the_program_s_own_file_opens(tmp_path):
    """What scripts.sweep writes is what the page reads."""
    path = tmp_path / "sweep.json"
    sizes = ["--rates", "2,20", "--systems", "v1,pd", "--seeds", "2", "--requests", "60"]
    assert main([*sizes, "--workers", "1", "--out", str(path)]) == 0

    result, _ = solved(workload="sweep_file", sweep_file=path.read_text(encoding="utf-8"))

    assert 2 == len(table(result, "capacity").rows)
    assert [2.0, 20.0] == [rate.rate for rate in sweep_file.read(path.read_text())[0].rates]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"share": -1}, id="negative"),
        pytest.param({"share": "x"}, id="text"),
        pytest.param({"share": float("nan")}, id="no number"),
        pytest.param({"seeds": True}, id="true"),
        pytest.param({"largest_rate": 10**400}, id="endless"),
        pytest.param({"attainment_by_rate": 3}, id="no list"),
        pytest.param({"attainment_by_rate": [{"rate": 1}]}, id="missing"),
    ],
)
def test_a_bad_entry_of_a_file_is_named(change):
    """The row and what stands there, never a traceback."""
    text = json.dumps({**SWEEP, "capacity": [{**SWEEP["capacity"][0], **change}]})

    with pytest.raises(ParameterError) as caught:
        sweep_file.read(text)

    assert ("sweep_file", "bad_row", 1) == (
        caught.value.field,
        caught.value.reason,
        caught.value.limits["row"],
    )
