"""Trace files, and the distribution of what N live sequences keep."""

import gzip
import itertools
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculators.form.errors import ParameterError
from calculators.kv.occupancy import (
    chance,
    distribution,
    grid_of,
    live_lengths,
    moments,
    most_sequences,
)
from calculators.kv.traces import Shape, read_trace

TRACES = Path(__file__).parents[2].parent / "shared" / "traces"
AZURE = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.68,374,44\n2023,396,109\n"
MOONCAKE = '{"timestamp": 0, "input_length": 6758, "output_length": 500, "hash_ids": [0, 1]}\n'
BURST = (
    "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
    "5,ChatGPT,472,18,490,Conversation log\n9,ChatGPT,0,0,0,Conversation log\n"
)


@pytest.mark.parametrize(
    ("kind", "shapes", "text"),
    [
        pytest.param("azure", {(374, 44): 1, (396, 109): 1}, AZURE, id="Azure"),
        pytest.param("mooncake", {(6758, 500): 2}, MOONCAKE * 2, id="Mooncake"),
        pytest.param("burstgpt", {(472, 18): 1}, BURST, id="BurstGPT"),
        pytest.param("histogram", {(100, 0): 3, (200, 0): 1}, "length,count\n100,3\n200,1", id="h"),
        pytest.param("list", {(8192, 0): 1, (4096, 0): 3}, "8192, 4096x3", id="as in a form"),
        pytest.param("list", {(1, 0): 1, (2, 0): 2}, "1\r\n2\r\n2\r\n", id="a number a line"),
    ],
)
def test_formats(kind, shapes, text):
    """Every format is known by its first line; a byte order mark does not matter."""
    trace = read_trace("trace", "\ufeff" + text)

    assert trace.format == kind
    assert {(s.prompt, s.output): n for s, n in trace.shapes.items()} == shapes


def test_rows_without_tokens_are_counted():
    """Failed requests of BurstGPT are left out and counted."""
    trace = read_trace("trace", BURST)

    assert (trace.requests, trace.skipped) == (1, 1)


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        pytest.param("empty_text", "\n \n", id="empty"),
        pytest.param("trace_row", AZURE + "2023,12\n", id="a row cut off"),
        pytest.param("trace_row", AZURE + "2023,twelve,3\n", id="a word"),
        pytest.param("trace_row", MOONCAKE + '{"input_length":', id="JSON cut off"),
        pytest.param("trace_row", MOONCAKE + "[1]", id="not an object"),
        pytest.param("trace_row", '{"input_length": 1e400}', id="a float"),
        pytest.param("trace_row", "1 2 -3", id="negative"),
        pytest.param("trace_row", "9" * 400, id="endless"),
        pytest.param("trace_row", '{"a":' * 9999, id="deep"),
        pytest.param("no_lengths", "0 0", id="no tokens"),
    ],
)
def test_bad_files(reason, text):
    """The row that cannot be read is named."""
    with pytest.raises(ParameterError) as caught:
        read_trace("trace", text)

    assert caught.value.reason == reason


@given(st.text(alphabet='0123456789,x. {}":inputlegh_\n', max_size=60))
def test_any_text_ends_in_lengths_or_a_reason(text):
    """No text ends in another exception."""
    try:
        trace = read_trace("trace", text)
    except ParameterError:
        return

    assert trace.requests > 0


SHAPES = st.dictionaries(
    st.builds(Shape, st.integers(1, 20), st.integers(1, 8)), st.integers(1, 3), min_size=1,
    max_size=4,
)  # fmt: skip


@given(SHAPES)
def test_a_random_moment_counts_every_output_token(shapes):
    """One weight for each token that is ever decoded, at the length that it sees."""
    counted = Counter()
    for shape, count in shapes.items():
        for done in range(1, shape.output + 1):
            counted[shape.prompt + done] += count

    assert live_lengths(shapes, "random") == counted


def test_stages():
    """A live sequence keeps its prompt, or all of it."""
    shapes = {Shape(100, 20): 3}

    assert live_lengths(shapes, "started") == {100: 3}
    assert live_lengths(shapes, "finished") == {120: 3}
    assert live_lengths({Shape(100, 0): 1}, "random") == {100: 1}


LENGTHS = st.dictionaries(st.integers(1, 12), st.integers(1, 5), min_size=1, max_size=4)


@given(LENGTHS, st.integers(1, 4), st.integers(1, 30))
def test_chance_against_counting(lengths, sequences, pool):
    """The chance equals a count over every combination of lengths."""
    total = Fraction(0)
    for draw in itertools.product(lengths.items(), repeat=sequences):
        if sum(length for length, _ in draw) > pool:
            total += math.prod(weight for _, weight in draw)
    expected = float(total / sum(lengths.values()) ** sequences)

    assert chance(grid_of(lengths, pool), sequences) == pytest.approx(expected, abs=1e-12)


@given(LENGTHS, st.integers(20, 60), st.sampled_from([0.5, 0.1, 0.01]))
def test_most_sequences_is_the_last_below_the_risk(lengths, pool, risk):
    """One more sequence would break the risk."""
    grid = grid_of(lengths, pool)
    most = most_sequences(grid, risk)

    assert most == 0 or chance(grid, most) <= risk
    assert chance(grid, most + 1) > risk


def test_one_length_is_division():
    """Sequences of one length fit as often as it divides the pool, for any risk."""
    grid = grid_of({100: 7}, 1050)

    assert most_sequences(grid, 0.01) == 10
    assert grid.exact


def test_a_coarse_grid_keeps_the_mean():
    """Splitting keeps the mean exactly and widens the spread by at most a quarter unit squared."""
    lengths = {1000: 1, 3333: 2}
    grid = grid_of(lengths, 1_000_000)
    mean, variance = moments(lengths)
    on_grid = {n * grid.unit: weight for n, weight in enumerate(grid.weights) if weight}
    grid_mean, grid_variance = moments(on_grid)

    assert not grid.exact
    assert float(grid_mean) == pytest.approx(float(mean))
    assert 0 <= grid_variance - variance <= Fraction(grid.unit**2, 4) + 1


def test_sum_of_many_is_nearly_normal():
    """For 300 sequences the chance agrees with the normal law within its known error."""
    lengths = dict.fromkeys(range(1, 101), 1)
    mean, variance = moments(lengths)
    pool = int(300 * mean + 2 * math.sqrt(300 * variance))

    assert chance(grid_of(lengths, pool), 300) == pytest.approx(0.0228, abs=0.002)


def test_distribution_sums_to_what_fits():
    """The plotted probabilities and the chance of exceeding make one."""
    grid = grid_of({3: 1, 5: 1}, 40)

    assert sum(distribution(grid, 9)) + chance(grid, 9) == pytest.approx(1)


def test_too_wide_a_range_is_refused():
    """Lengths that would need millions of cells one by one end in one reason."""
    with pytest.raises(ParameterError) as caught:
        live_lengths({Shape(1, 50_000_000): 1}, "random")

    assert caught.value.reason == "lengths_too_wide"


@pytest.mark.skipif(not TRACES.is_dir(), reason="the handed traces are not beside this tree")
@pytest.mark.parametrize(
    ("requests", "name"),
    [(19366, "azure_llm_2023_conv.csv.gz"), (12031, "mooncake_conversation_trace.jsonl.gz")],
)
def test_handed_traces(requests, name):
    """Whole traces are read without a row left out."""
    with gzip.open(TRACES / name, "rt", encoding="utf-8") as file:
        trace = read_trace("trace", file.read())

    assert (trace.requests, trace.skipped) == (requests, 0)
