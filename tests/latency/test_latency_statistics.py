"""Quantile rules, exact intervals, sample sizes, the rank test and the bootstrap."""

import itertools
import math
from fractions import Fraction
from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calculators.latency.comparability import comparability
from calculators.latency.compare import mann_whitney, ratio_of_medians, u_counts
from calculators.latency.intervals import (
    Interval,
    above_maximum,
    below,
    interval,
    needed_for,
    shortest,
    stated,
)
from calculators.latency.overlap import Span, rankable
from calculators.latency.quantiles import RULES

P50, P95, P99, P999 = Fraction(1, 2), Fraction(19, 20), Fraction(99, 100), Fraction(999, 1000)
TWENTY_FIVE = [float(value) for value in range(1, 26)]

RULE_CASES = [
    ("r7", P95, 23.8),
    ("nearest_rank", P95, 24.0),
    ("floor_index", P95, 24.0),
    ("step_cdf", P95, 24.0),
    ("r7", P99, 24.76),
    ("nearest_rank", P99, 25.0),
    ("r7", P50, 13.0),
    ("step_cdf", P50, 13.0),
    ("floor_index", P50, 13.0),
]


@pytest.mark.parametrize(("rule", "probability", "expected"), RULE_CASES)
def test_rules_at_25_samples(rule, probability, expected):
    """The rules differ at 25 samples exactly as their tools do."""
    assert math.isclose(expected, RULES[rule](TWENTY_FIVE, probability))


def test_step_cdf_of_two_samples_is_the_smaller():
    """The p50 of guidellm for 11.276 and 11.686 ms is 11.276, not the mean."""
    assert RULES["step_cdf"]([11.276, 11.686], P50) == 11.276


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=60), st.fractions(0, 1))
def test_rules_stay_inside_the_sample(samples, probability):
    """Every rule gives a value between the smallest and the largest sample."""
    ordered = sorted(samples)

    for rule in RULES.values():
        assert ordered[0] <= rule(ordered, probability) <= ordered[-1]


INTERVALS = [
    (25, P50, 8, 18),
    (30, P50, 10, 21),
    (100, P50, 40, 60),
    (200, P50, 86, 114),
    (25, P95, 22, None),
    (100, P95, 90, 100),
    (200, P95, 184, 197),
    (500, P95, 465, 485),
    (1000, P95, 936, 964),
    (500, P99, 490, 500),
    (1000, P99, 983, 997),
]


@pytest.mark.parametrize(("n", "probability", "lower", "upper"), INTERVALS)
def test_interval_ranks(n, probability, lower, upper):
    """The ranks of the 95 % interval, one-sided where the tail is too thin."""
    found = stated(n, probability)
    found.check()

    assert (lower, upper) == (found.lower, found.upper)


@given(st.integers(2, 120), st.fractions(Fraction(1, 10), Fraction(9, 10)))
@settings(max_examples=40)
def test_shortest_interval_is_the_shortest(n, p):
    """No pair of ranks that covers 95 % is closer together, by trying every pair."""
    total = [0.0, *below(n, p)]
    pairs = [
        high - low
        for low in range(1, n)
        for high in range(low + 1, n + 1)
        if total[high] - total[low] >= 0.95
    ]
    found = shortest(n, p)

    if pairs:
        assert min(pairs) == found.upper - found.lower
    else:
        assert not found.bounded or found.coverage < 0.95


def test_coverages_of_25_samples():
    """X(8)..X(18) covers the median with 95.7 %, X(22) bounds the p95 with 96.6 %."""
    assert [95.7, 96.6] == [round(100 * interval(25, p).coverage, 1) for p in (P50, P95)]


def test_p95_above_the_largest_of_25():
    """The true p95 lies above the largest of 25 samples with probability 27.7 %."""
    assert round(100 * above_maximum(25, P95), 1) == 27.7


NEEDED = [
    (P95, "one", 59),
    (P99, "one", 299),
    (P999, "one", 2995),
    (P95, "two", 72),
    (P99, "two", 368),
    (P999, "two", 3688),
]


@pytest.mark.parametrize(("probability", "sides", "expected"), NEEDED)
def test_samples_needed(probability, sides, expected):
    """The smallest n with any upper bound, and one sample fewer has none."""
    assert expected == needed_for(probability, sides=sides)
    if sides == "two":
        assert interval(expected, probability).upper == expected
        assert interval(expected - 1, probability).upper is None


@given(st.integers(1, 40), st.fractions(Fraction(1, 50), Fraction(49, 50)))
@settings(max_examples=60)
def test_binomial_is_exact(n, p):
    """The cumulated binomial equals the sum of exact fractions."""
    exact = itertools.accumulate(
        Fraction(math.comb(n, k)) * p**k * (1 - p) ** (n - k) for k in range(n + 1)
    )

    assert below(n, p) == pytest.approx([float(value) for value in exact], abs=1e-9)


def test_corrupt_interval_is_found():
    """An interval whose ranks are out of order or outside the sample fails its check."""
    for lower, upper in ((9, 3), (0, 3), (1, 11)):
        bad = Interval(n=10, probability=P50, lower=lower, upper=upper, coverage=0.9)
        with pytest.raises(ValueError, match="ranks"):
            bad.check()


def slow_counts(n, m):
    """U of every order of n and m samples, counted one by one."""
    counts = [0] * (n * m + 1)
    for chosen in itertools.combinations(range(n + m), n):
        others = [place for place in range(n + m) if place not in chosen]
        counts[sum(a > b for a in chosen for b in others)] += 1
    return counts


@pytest.mark.parametrize(("n", "m"), [(1, 1), (2, 3), (4, 4), (5, 3)])
def test_exact_counts_of_u(n, m):
    """The product of polynomials counts what enumeration counts."""
    assert slow_counts(n, m) == u_counts(n, m)


def test_exact_test_of_separated_samples():
    """Five against five without overlap: p = 2 / C(10, 5)."""
    found = mann_whitney([1, 2, 3, 4, 5], [6, 7, 8, 9, 10])

    assert (0, True) == (found.u, found.exact)
    assert math.isclose(2 / 252, found.p)


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=12),
    st.lists(st.integers(0, 9), min_size=1, max_size=12),
)
def test_u_counts_pairs(first, second):
    """U is the number of pairs in which the first is larger, ties half; p is a probability."""
    found = mann_whitney(first, second)
    pairs = sum((a > b) + (a == b) / 2 for a in first for b in second)

    assert math.isclose(pairs, found.u)
    assert 0 <= found.p <= 1


def test_bootstrap_repeats_with_its_seed():
    """The same seed gives the same interval, and it holds the ratio of the medians."""
    first, second = [10.0, 11, 12, 13, 14], [20.0, 22, 24, 26, 28]
    found = ratio_of_medians(first, second)

    assert found == ratio_of_medians(first, second)
    assert median(second) / median(first) == found.value
    assert found.low <= found.value <= found.high


def test_silence_is_not_equality():
    """A condition that one side does not state leaves the verdict unknown."""
    stated = dict.fromkeys(
        ("boundary", "hardware", "software", "model", "dtype", "load", "percentile_rule"), "x"
    )

    assert comparability(stated, stated).verdict == "comparable"
    assert comparability(stated, stated | {"dtype": None}).verdict == "unknown"
    assert comparability(stated, stated | {"dtype": "y", "load": None}).verdict == "different"


def test_overlapping_rows_have_no_order():
    """Rows may be ranked only when every pair of intervals is apart; an open end overlaps."""
    apart = [Span(low=1, high=2), Span(low=3, high=4)]

    assert rankable(apart)
    assert not rankable([*apart, Span(low=1.5, high=1.7)])
    assert not rankable([Span(low=1, high=None), Span(low=3, high=4)])
