"""Arrivals, traces, clients, and what a run says about its own steadiness."""

import gzip
import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from calculators.form.errors import ParameterError
from calculators.serving import arrivals, clients, engine, fast, traces
from calculators.serving.columns import of_outcomes, of_trace
from calculators.serving.costs import Linear
from calculators.serving.request import Request
from calculators.serving.settings import Settings
from calculators.serving.steadiness import steadiness

TRACES = Path(__file__).parents[2].parent / "shared" / "traces"
LINEAR = Linear(a=6600, b=45, c=150)


def constant(instants, prompt=10, output=1):
    """Requests of one shape at the given instants."""
    return [
        Request(id=f"{index:06}", arrival=instant, prompt=prompt, output=output)
        for index, instant in enumerate(instants)
    ]


def test_poisson_is_the_stated_recipe():
    """Cumulative expovariate draws of random.Random(seed), each rounded to 1e-6 s."""
    draw, now, expected = random.Random(20260101), 0.0, []  # noqa: S311 - a simulation
    for _ in range(5):
        now += draw.expovariate(2.0)
        expected.append(round(round(now, 6) * 1_000_000))

    assert expected == arrivals.poisson(5, 2.0, 20260101)


@pytest.mark.parametrize(
    ("instants", "rate"),
    [
        pytest.param(arrivals.poisson(20_000, 5.0, 1), 5.0, id="poisson"),
        pytest.param(arrivals.bursty(20_000, 5.0, 2.0, 1), 5.0, id="bursty"),
        pytest.param(arrivals.on_off(20_000, 10.0, 1.0, 1.0, 1), 5.0, id="on and off"),
        pytest.param(arrivals.uniform(20_000, 5.0), 5.0, id="uniform"),
    ],
)
def test_processes_keep_their_rate(instants, rate):
    """Over many requests the mean rate is the stated one, and instants do not fall."""
    assert rate == pytest.approx(len(instants) / (instants[-1] / 1e6), rel=0.05)
    assert sorted(instants) == instants


def test_scaled_keeps_the_pattern():
    """Twice the rate halves every distance."""
    assert arrivals.scaled([100, 110, 140], 2.0) == [0, 5, 20]


def test_waiting_of_an_md1_queue():
    """One seat, one shape, Poisson: mean wait is ρS / (2(1 - ρ)) = 11.67 at ρ = 0.7, S = 10."""
    instants = arrivals.poisson(60_000, 0.07, 5)
    requests = constant([instant // 1000 for instant in instants])
    cost = Linear(a=10_000, b=0, c=0)

    trace = fast.run(requests, Settings(policy="orca", max_num_seqs=1), Linear(a=10_000, b=0, c=0))

    mean = sum(of_trace(trace).t_queue) / len(requests) / cost.a * 10
    assert pytest.approx(11.67, rel=0.05) == mean


OWN = "arrival_s,prompt,output,timeout_s\n1.5,10,2,\n1.0,20,3,4.5\n"
AZURE = (
    "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
    "2023-11-16 18:15:46.6805900,374,44\r\n"
    "2023-11-16 18:15:50.9951690,396,109\r\n"
)
MOONCAKE = (
    '{"timestamp": 1000, "input_length": 600, "output_length": 5, "hash_ids": [1, 2]}\n'
    '{"timestamp": 4000, "input_length": 700, "output_length": 6, "hash_ids": [1, 3]}\n'
)
BURST = (
    "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
    "5,ChatGPT,472,18,490,Conversation log\n"
    "45,ChatGPT,1087,0,1087,Conversation log\n"
    "118,GPT-4,417,276,693,Conversation log\n"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(OWN, [(0, 20, 3), (500_000, 10, 2)], id="own CSV, out of order"),
        pytest.param(AZURE, [(0, 374, 44), (4_314_579, 396, 109)], id="Azure, CRLF, 7 decimals"),
        pytest.param(MOONCAKE, [(0, 600, 5), (3_000_000, 700, 6)], id="Mooncake, ms"),
        pytest.param(BURST, [(0, 472, 18), (113_000_000, 417, 276)], id="BurstGPT, failures out"),
    ],
)
def test_traces_of_all_schemas(text, expected):
    """Arrivals in µs from the first one, with lengths."""
    read = traces.read(text)

    assert expected == [(r.arrival, r.prompt, r.output) for r in read]


@pytest.mark.parametrize(
    ("text", "reason", "row"),
    [
        pytest.param("arrival_s,prompt,output\n0,5,1\n1,x,1\n", "bad_row", 3, id="no number"),
        pytest.param("arrival_s,prompt,output\n0,0,1\n", "bad_row", 2, id="empty prompt"),
        pytest.param("arrival_s,prompt,output\n0,5\n", "bad_row", 2, id="short row"),
        pytest.param('{"timestamp": 1}\n', "bad_row", 1, id="keys missing"),
        pytest.param("{broken\n", "bad_row", 1, id="no JSON"),
        pytest.param("a,b\n1,2\n", "unknown_columns", None, id="other columns"),
        pytest.param("arrival_s,prompt,output\n", "no_rows", None, id="head only"),
        pytest.param("", "unknown_columns", None, id="nothing"),
    ],
)
def test_bad_traces_name_the_row(text, reason, row):
    """What cannot be used is refused by its row."""
    with pytest.raises(ParameterError) as caught:
        traces.read(text)

    assert (reason, row) == (caught.value.reason, caught.value.limits.get("row"))


@pytest.mark.skipif(not TRACES.exists(), reason="the handed traces are not beside the checkout")
@pytest.mark.parametrize(
    ("name", "rows"),
    [
        pytest.param("azure_llm_2023_conv.csv.gz", 19_366, id="Azure conversation"),
        pytest.param("mooncake_synthetic_trace.jsonl.gz", 3_993, id="Mooncake synthetic"),
    ],
)
def test_handed_traces_are_read_whole(name, rows):
    """All rows of the handed traces."""
    text = gzip.decompress((TRACES / name).read_bytes()).decode()

    assert rows == len(traces.read(text))


def test_a_naive_client_hides_its_own_queue():
    """With one slot the reported TTFT is bare service; from the schedule it contains the wait."""
    planned = constant([0, 0, 0], prompt=1, output=1)
    slots = clients.Slots(planned, 1)

    run = engine.run(slots.first, Settings(policy="orca"), Linear(a=10, b=0, c=0), slots.follow)

    shown = [(o.request, o.token_times[0]) for o in run.outcomes]
    view = clients.client_view(shown, slots.intended)
    assert (view.reported_ttft, view.scheduled_ttft, view.client_wait) == (10, 20, 10)


def test_users_think_between_requests():
    """One user, service 10, think time 5: arrivals every 15."""
    users = clients.Users(constant([0, 0, 0]), users=1, think=5)

    run = engine.run(users.first, Settings(policy="orca"), Linear(a=10, b=0, c=0), users.follow)

    assert [o.request.arrival for o in run.outcomes] == [0, 15, 30]


@pytest.mark.parametrize(
    ("rate", "expected"),
    [
        pytest.param(0.5, (), id="half of capacity"),
        pytest.param(2.0, ("over_saturation", "not_stationary"), id="twice the capacity"),
    ],
)
def test_overload_is_labelled(rate, expected):
    """Service of 1 s and one seat: at 2 requests/s the queue grows, at 0.5 it does not."""
    requests = constant(arrivals.poisson(400, rate, 3))

    trace = fast.run(requests, Settings(policy="orca", max_num_seqs=1), Linear(a=10**6, b=0, c=0))

    assert expected == steadiness(of_trace(trace)).labels


def test_a_long_last_answer_is_no_overload():
    """One long answer at the end of a quiet run keeps the worker busy, and no queue grows."""
    quiet = constant([10 * i for i in range(60)])
    long = replace(quiet[-1], output=2_000)

    run = engine.run([*quiet[:-1], long], Settings(policy="orca"), Linear(a=1, b=0, c=0))
    found = steadiness(of_outcomes(run.outcomes))

    assert found.tail > found.window
    assert found.labels == ()


def test_few_requests_get_no_label():
    """Below twenty requests in each half the answer is that it cannot be told."""
    run = engine.run(constant([0, 1]), Settings(policy="orca"), LINEAR)

    assert steadiness(of_outcomes(run.outcomes)).labels == ("too_few",)


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: arrivals.poisson(1, 0.0, 1), id="rate 0"),
        pytest.param(lambda: clients.Slots([], 0), id="no slot"),
        pytest.param(lambda: clients.Users([], 0, Fraction(0)), id="no user"),
    ],
)
def test_impossible_workloads_are_refused(make):
    """No rate, no slot, no user."""
    with pytest.raises(ParameterError):
        make()
