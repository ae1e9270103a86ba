"""The plain engine against an independent step-by-step program, and its invariants."""

from fractions import Fraction
from pathlib import Path

import pytest
import serving_oracle as oracle
import serving_strategies as strategies
from hypothesis import given, settings
from hypothesis import strategies as st

from calculators.form.errors import ParameterError
from calculators.serving import engine
from calculators.serving.costs import Linear
from calculators.serving.request import Request
from calculators.serving.settings import Settings
from calculators.serving.state import Live, Memory
from scripts.truth.__main__ import verdicts_of

FCFS = ["static", "orca", "prefill_first", "chunked", "v1"]
HANDED = Path(__file__).parents[2].parent / "shared" / "cases" / "serving_cases.json"
FIELDS = ("id", "arrival", "prompt", "output", "timeout", "prefix_group", "prefix_len")


def as_dictionary(request):
    """A request as the oracle takes it."""
    return {name: getattr(request, name) for name in FIELDS}


def facts(outcome):
    """What the oracle also knows of a request."""
    return (
        outcome.request.id,
        outcome.status,
        outcome.reason,
        outcome.end,
        list(outcome.token_times),
        outcome.first_scheduled,
        outcome.preemptions,
        outcome.recomputed,
        outcome.cached,
    )


def oracle_facts(request):
    """The same facts, from the oracle."""
    keys = [
        "id",
        "status",
        "reason",
        "end",
        "tokens",
        "first",
        "preemptions",
        "recomputed",
        "cached",
    ]
    return tuple(request[key] for key in keys)


@settings(max_examples=400, deadline=None)
@given(strategies.requests(), strategies.options(FCFS), strategies.COSTS, st.integers(0, 6))
def test_engine_follows_the_assumptions(requests, options, cost, cap):
    """Outcomes, schedule and queue are those of a program written from the assumptions alone."""
    if options["policy"] == "v1":
        options = {**options, "long_prefill_token_threshold": cap}
    params = {name: value for name, value in options.items() if name != "policy"}
    expected = oracle.simulate(
        [as_dictionary(request) for request in requests], options["policy"], params, cost
    )

    run = engine.run(requests, Settings(**options), Linear(**cost))

    assert [oracle_facts(r) for r in expected.all] == [facts(o) for o in run.outcomes]
    assert expected.steps == list(run.waiting_steps)
    assert expected.schedule == [
        {
            "start": one.start,
            "end": one.end,
            "prefill": dict(one.prefill),
            "decode": list(one.decode),
            "emitted": list(one.emitted),
            "preempted": list(one.preempted),
            "truncated": one.truncated,
        }
        for one in run.schedule
    ]


@settings(max_examples=150, deadline=None)
@given(strategies.requests(), strategies.options([*FCFS, "sglang"]), strategies.COSTS)
def test_nothing_is_lost_and_time_moves_on(requests, options, cost):
    """Each request has one outcome, token times rise strictly, and no end is before its arrival."""
    run = engine.run(requests, Settings(**options), Linear(**cost))

    assert sorted(r.id for r in requests) == sorted(o.request.id for o in run.outcomes)
    for outcome in run.outcomes:
        assert all(gap > 0 for gap in outcome.itl)
        assert outcome.end is None or outcome.end >= outcome.request.arrival
        assert len(outcome.token_times) <= outcome.request.output
        if outcome.status == "finished":
            assert len(outcome.token_times) == outcome.request.output


@settings(max_examples=100, deadline=None)
@given(strategies.requests(timeouts=False), strategies.COSTS, st.integers(1, 16))
def test_computed_tokens_are_conserved(requests, cost, budget):
    """Prefilled tokens are the prompts plus what was recomputed less what was cached."""
    options = Settings(
        policy="v1", token_budget=budget, block_size=2, num_blocks=12, prefix_cache=True
    )

    run = engine.run(requests, options, Linear(**cost))

    served = [o for o in run.outcomes if o.status == "finished"]
    computed = sum(n for one in run.schedule for _, n in one.prefill)
    computed += sum(len(one.decode) for one in run.schedule)
    kept = sum(o.request.kv_positions for o in served)
    assert kept == computed - sum(o.recomputed - o.cached for o in served)


@settings(max_examples=100, deadline=None)
@given(strategies.requests(timeouts=False), strategies.settings(["orca", "v1"]), strategies.COSTS)
def test_littles_law_holds_exactly(requests, options, cost):
    """Requests in the system, integrated over time, are the sum of their times in it."""
    run = engine.run(requests, options, Linear(**cost))
    ended = [
        {"arrival": o.request.arrival, "end": o.end} for o in run.outcomes if o.end is not None
    ]

    area, total = oracle.little(ended)

    assert total == area


def test_times_may_be_fractions():
    """Exact time is not only integers: thirds stay thirds."""
    requests = [Request(id="A", arrival=Fraction(1, 3), prompt=2, output=3)]

    run = engine.run(requests, Settings(policy="orca"), Linear(a=Fraction(1, 7), b=0, c=0))

    assert Fraction(1, 3) + Fraction(3, 7) == run.outcomes[0].end


def test_priority_victims_are_last_in_rank_and_return_by_rank():
    """The priority policy preempts the least urgent, and an urgent late one goes before it."""
    requests = [
        Request(id="low", arrival=0, prompt=4, output=6, priority=2),
        Request(id="high", arrival=0, prompt=4, output=6, priority=0),
        Request(id="late", arrival=5, prompt=2, output=1, priority=1),
    ]
    options = Settings(
        policy="v1", token_budget=16, block_size=2, num_blocks=5, scheduling="priority"
    )

    run = engine.run(requests, options, Linear(a=1, b=1, c=1))

    by_id = {o.request.id: o for o in run.outcomes}
    assert by_id["low"].preemptions == 1
    assert by_id["high"].preemptions == 0
    assert by_id["late"].end < by_id["low"].end


@pytest.mark.parametrize(
    ("options", "field"),
    [
        pytest.param({"policy": "v1"}, "token_budget", id="no budget"),
        pytest.param({"policy": "v1", "token_budget": 0}, "token_budget", id="budget 0"),
        pytest.param({"policy": "orca", "num_blocks": 0}, "num_blocks", id="no blocks"),
        pytest.param({"policy": "orca", "horizon": -1}, "horizon", id="negative horizon"),
        pytest.param(
            {"policy": "orca", "num_blocks": 4, "watermark_blocks": 4}, "watermark_blocks", id="all"
        ),
    ],
)
def test_impossible_settings_are_named(options, field):
    """What no engine could run is refused by the name of its field."""
    with pytest.raises(ParameterError) as caught:
        Settings(**options)

    assert field == caught.value.field


def test_block_counts_are_checked():
    """A lost block does not pass unseen."""
    memory = Memory(2, 4)
    live = Live(Request(id="A", arrival=0, prompt=4, output=1))
    memory.grow(live, 4)
    memory.check([live])
    live.blocks = 1

    with pytest.raises(AssertionError):
        memory.check([live])


@pytest.mark.skipif(not HANDED.exists(), reason="the handed cases are not beside the checkout")
def test_handed_scenarios_pass():
    """Every figure of every handed scenario is met to the integer."""
    outcomes = {verdict.outcome for verdict in verdicts_of(HANDED)}

    assert {"passed"} == outcomes
