"""Separate prefill and decode workers against the oracle, and the fast path against both."""

import pytest
import serving_oracle as oracle
import serving_strategies as strategies
from hypothesis import given, settings
from hypothesis import strategies as st

from calculators.form.errors import ParameterError
from calculators.serving import disaggregated, fast_disaggregated
from calculators.serving.columns import of_outcomes
from calculators.serving.costs import Linear
from calculators.serving.disaggregated import Split
from calculators.serving.request import Request

SPLITS = st.fixed_dictionaries(
    {
        "x0": st.integers(0, 4),
        "x1": st.integers(0, 2),
        "link": st.sampled_from(["parallel", "serial"]),
        "max_prefill_batch": st.none() | st.integers(1, 3),
        "max_decode_seqs": st.none() | st.integers(1, 3),
    }
)
SIDES = st.sampled_from(["prefill", "decode"])
COST = {"a": 2, "b": 1, "c": 1}


@settings(max_examples=200, deadline=None)
@given(strategies.requests(timeouts=False), SPLITS, SIDES)
def test_two_workers_and_a_link_follow_the_assumptions(requests, params, side):
    """Token times, starts and transfers are those of the program written from A14 and A15."""
    expected = oracle.disaggregated(
        [{k: getattr(r, k) for k in ("id", "arrival", "prompt", "output")} for r in requests],
        {**params, "first_token": side},
        COST,
    )

    run = disaggregated.run(requests, Split(**params, first_shown_by=side), Linear(**COST))

    assert [(r["id"], r["tokens"], r["first"], r["transfer"]) for r in expected] == [
        (o.request.id, list(o.token_times), o.first_scheduled, o.transfer) for o in run.outcomes
    ]


@settings(max_examples=200, deadline=None)
@given(
    strategies.requests(timeouts=False, most=14),
    SPLITS,
    SIDES,
    st.integers(1, 3),
    st.integers(1, 3),
)
def test_fast_path_gives_the_same_metrics(requests, params, side, prefill, decode):
    """All columns, with several workers on each side."""
    split = Split(**params, first_shown_by=side, prefill_workers=prefill, decode_workers=decode)
    plain = of_outcomes(disaggregated.run(requests, split, Linear(**COST)).outcomes)

    columns = fast_disaggregated.run(requests, split, Linear(**COST))

    assert plain == columns
    assert plain.gaps == columns.gaps


@settings(max_examples=100, deadline=None)
@given(strategies.requests(), SPLITS, SIDES, st.none() | st.integers(0, 80))
def test_every_request_has_one_outcome(requests, params, side, horizon):
    """With deadlines and a horizon nothing is lost, and no token comes after its deadline."""
    split = Split(**params, first_shown_by=side, horizon=horizon, block_size=2, num_blocks=8)

    run = disaggregated.run(requests, split, Linear(**COST))

    assert sorted(r.id for r in requests) == sorted(o.request.id for o in run.outcomes)
    for outcome in run.outcomes:
        deadline = outcome.request.deadline
        assert deadline is None or all(time <= deadline for time in outcome.token_times)


def test_side_of_the_first_token_moves_ttft():
    """The same request: 6 from the prefill side; 6 + transfer 5 + decode 3 from the other."""
    request = Request(id="A", arrival=0, prompt=4, output=3)

    seen = {
        side: disaggregated.run(
            [request], Split(x0=1, x1=1, first_shown_by=side), Linear(a=2, b=1, c=1)
        )
        .outcomes[0]
        .ttft
        for side in ("prefill", "decode")
    }

    assert seen == {"prefill": 6, "decode": 14}


@pytest.mark.parametrize("field", ["prefill_workers", "decode_workers", "max_decode_seqs"])
def test_impossible_splits_are_named(field):
    """No worker, no seat."""
    with pytest.raises(ParameterError) as caught:
        Split(**{field: 0})

    assert field == caught.value.field
