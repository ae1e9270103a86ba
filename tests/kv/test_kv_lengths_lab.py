"""The lengths calculator: its figures against theory and against simple counts."""

import json
import math

import pytest

from calculators.kv.lengths_lab import Params, solve
from calculators.show.blocks import numbers_of
from calculators.web import answer


def figures(**values):
    """The figures of an answer."""
    return {
        name: quantity.value
        for name, quantity in numbers_of(solve(Params(**values), lambda _: None).blocks).items()
    }


@pytest.mark.parametrize(
    ("chance", "sequences"), [(0, 10), (100, 11)], ids=["exactly full", "one too many"]
)
def test_equal_lengths(chance, sequences):
    """Ten equal sequences fill the pool and never exceed it; eleven always do."""
    found = figures(trace="8192x10", pool_tokens=81_920, sequences=sequences)

    assert found["chance"] == pytest.approx(chance, abs=1e-6)
    assert found["allowed"] == found["by_longest"] == found["by_mean"] == 10


def test_two_lengths_are_binomial():
    """With lengths of 1 and 2 the sum is a shifted binomial count."""
    found = figures(trace="1, 2", pool_tokens=140, sequences=100)
    more = sum(math.comb(100, k) for k in range(41, 101)) / 2**100

    assert found["chance"] == pytest.approx(100 * more, rel=1e-9)


def test_the_allowed_number_keeps_the_risk():
    """The stated number is the largest whose chance stays within the risk."""
    most = int(figures()["allowed"])

    assert figures(sequences=most)["chance"] <= 0.1 < figures(sequences=most + 1)["chance"]


@pytest.mark.parametrize("stage", ["finished", "random", "started"])
def test_stages_have_sentences(stage):
    """A trace with outputs is worded for every stage."""
    trace = "ContextTokens,GeneratedTokens\n100,50\n300,20\n"
    values = {"trace": trace, "stage": stage, "pool_tokens": "1000", "sequences": "2"}
    reply = answer(json.dumps({"calculator": "kv-lengths", "lang": "zh", "values": values}))

    assert "概率" in json.loads(reply)["status"]
