"""Metrics as columns are the same from both engines, and percentiles follow their rules."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest
import serving_strategies as strategies
from hypothesis import given, settings
from hypothesis import strategies as st

from calculators.serving import engine, fast, fast_sglang
from calculators.serving.columns import of_outcomes, of_trace
from calculators.serving.costs import Linear
from calculators.serving.distribution import distribution, of_counts, union


@settings(max_examples=300, deadline=None)
@given(strategies.requests(), strategies.settings(list(fast.POLICIES)), strategies.COSTS)
def test_both_engines_give_the_same_columns(requests, options, cost):
    """All metrics, and the distribution of gaps counted by stretches, are those of the tokens."""
    plain = of_outcomes(engine.run(requests, options, Linear(**cost)).outcomes)

    columns = of_trace(fast.run(requests, options, Linear(**cost)))

    for name in ("t_queue", "t_prompt_path", "t_first_content", "ttft", "ttft_content"):
        assert getattr(plain, name) == getattr(columns, name)
    for name in ("e2e", "tpot", "gaps", "preemptions", "recomputed", "cached"):
        assert getattr(plain, name) == getattr(columns, name)


@settings(max_examples=200, deadline=None)
@given(strategies.requests(timeouts=False, most=14), strategies.settings(["sglang"]))
def test_gaps_between_prefills_are_those_of_the_tokens(requests, options):
    """SGLang prefills between decode iterations: who joins sees another gap than who decodes on."""
    sglang = replace(options, prefix_cache=False, max_queue=None, horizon=None)
    cost = Linear(a=2, b=1, c=1)
    plain = of_outcomes(engine.run(requests, sglang, cost).outcomes)

    assert plain.gaps == of_trace(fast_sglang.run(requests, sglang, cost)).gaps


@given(st.lists(st.integers(0, 50)), st.lists(st.integers(0, 50)))
def test_counted_values_are_the_sorted_sample(one, other):
    """Counted, joined or sorted: the same sum, greatest value and percentiles."""
    sample, counted = distribution(one + other), of_counts(Counter(one + other))

    for found in (counted, union([distribution(one), of_counts(Counter(other))])):
        assert (sample.count, sample.total, sample.largest) == (
            found.count,
            found.total,
            found.largest,
        )
        assert [sample.at(index) for index in range(sample.count)] == sorted(one + other)
        assert [found.at(index) for index in range(found.count)] == sorted(one + other)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        pytest.param("linear", Fraction(37, 10), id="numpy: between the last two"),
        pytest.param("floor_index", 4, id="MLPerf: index 3 of 0-3"),
        pytest.param("cdf", 4, id="guidellm: 90 % are at or below"),
    ],
)
def test_percentile_rules_differ(rule, expected):
    """P90 of four values under three rules."""
    assert expected == distribution([1, 2, 3, 4]).percentile(Fraction(9, 10), rule)


@given(st.lists(st.integers(0, 50), min_size=1), st.integers(0, 100))
def test_percentiles_are_those_of_the_sorted_list(values, percent):
    """The counted form gives what indexing the sorted list gives."""
    ordered, share = sorted(values), Fraction(percent, 100)
    index = min(int(len(values) * share), len(values) - 1)

    result = distribution(values)

    assert ordered[index] == result.percentile(share, "floor_index")
    assert ordered[0] == result.percentile(Fraction(0))
    assert ordered[-1] == result.percentile(Fraction(1))
    assert Fraction(sum(values), len(values)) == result.mean
    assert Fraction(sum(v <= 10 for v in values), len(values)) == result.share_up_to(10)
