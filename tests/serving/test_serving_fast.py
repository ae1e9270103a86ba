"""The fast path gives the same integers as the plain engine."""

import pytest
import serving_strategies as strategies
from hypothesis import given, settings

from calculators.serving import engine, fast, fast_sglang
from calculators.serving.columns import of_pairs
from calculators.serving.costs import Linear
from calculators.serving.settings import Settings


@settings(max_examples=600, deadline=None)
@given(strategies.requests(), strategies.settings(list(fast.POLICIES)), strategies.COSTS)
def test_fast_path_gives_the_same_integers(requests, options, cost):
    """Outcomes with all token times, and the waiting queue, under every option that it covers."""
    plain = engine.run(requests, options, Linear(**cost))

    trace = fast.run(requests, options, Linear(**cost))

    assert plain.outcomes == trace.outcomes()
    assert of_pairs(plain.waiting_steps) == trace.waiting_steps()


@settings(max_examples=150, deadline=None)
@given(strategies.requests(), strategies.settings(list(fast.POLICIES)), strategies.COSTS)
def test_blocks_in_use_are_the_plain_engines(requests, options, cost):
    """Wherever the fast path looks at memory, the plain engine has as many blocks in use."""
    plain = engine.run(requests, options, Linear(**cost))

    used = fast.run(requests, options, Linear(**cost)).used_steps()

    assert set(zip(used.instants, used.counts, strict=True)) <= set(plain.used_steps)


@settings(max_examples=200, deadline=None)
@given(
    strategies.requests(timeouts=False, most=16),
    strategies.settings(["v1", "prefill_first"]),
    strategies.COSTS,
)
def test_fast_path_preempts_alike(requests, options, cost):
    """Under shortage of blocks, without deadlines that would end requests early."""
    plain = engine.run(requests, options, Linear(**cost))

    trace = fast.run(requests, options, Linear(**cost))

    assert plain.outcomes == trace.outcomes()


@pytest.mark.parametrize(
    ("options", "covered"),
    [
        pytest.param({"policy": "v1", "token_budget": 8}, True, id="v1"),
        pytest.param(
            {"policy": "v1", "token_budget": 8, "long_prefill_token_threshold": 4}, False, id="cap"
        ),
        pytest.param({"policy": "orca", "scheduling": "priority"}, False, id="priority"),
        pytest.param({"policy": "sglang"}, False, id="sglang"),
    ],
)
def test_what_the_fast_path_covers(options, covered):
    """Options that could break its reasoning are left to the plain engine."""
    assert covered == fast.covers(Settings(**options))


@pytest.mark.parametrize("policy", [*fast.POLICIES, "sglang"])
def test_no_requests_are_no_work(policy):
    """Nothing arrives, nothing ends, no iteration runs."""
    options = Settings(policy=policy, token_budget=8, num_blocks=4)
    engine_of = fast_sglang if policy == "sglang" else fast

    trace = engine_of.run([], options, Linear(a=1, b=1, c=1))

    assert () == trace.outcomes()
    assert 0 == trace.last_number
