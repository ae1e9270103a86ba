"""Whole traces: GPU memory finds what the prefix lab finds, and tiers only add to it."""

import gzip
from fractions import Fraction
from pathlib import Path

import pytest

from calculators.prefix.block_policies import replay_blocks
from calculators.prefix.generate import Shape, generate
from calculators.prefix.readers.hashed import MOONCAKE, read_hashed
from calculators.prefix.trace import in_blocks
from calculators.tiering.hierarchy import Level, Setup
from calculators.tiering.recompute import ClosedForm, Prefill
from calculators.tiering.simulate import simulate

CONVERSATION = (
    Path(__file__).parents[2].parent / "shared/traces/mooncake_conversation_trace.jsonl.gz"
)
PREFILL = Prefill(work=ClosedForm(layers=80, hidden_size=8192), per_s=Fraction(2496 * 10**12))


def own():
    """A generated chat in blocks of 64."""
    return in_blocks(generate(Shape(groups=30, turns=5)), 64)


def conversation():
    """Mooncake's trace."""
    return read_hashed(gzip.decompress(CONVERSATION.read_bytes()).decode(), MOONCAKE)


def expected(trace, replay):
    """What a cache without tiers finds of each request, with at least one token computed."""
    return [
        min(run, (tokens - 1) // trace.block_tokens)
        for run, tokens in zip(replay.runs, trace.input_tokens, strict=True)
    ]


TRACES = [
    pytest.param(own, 300, id="generated"),
    pytest.param(
        conversation,
        3_000,
        id="conversation",
        marks=pytest.mark.skipif(
            not CONVERSATION.is_file(), reason="the Mooncake trace is not at hand"
        ),
    ),
]


@pytest.mark.parametrize(("make", "capacity"), TRACES)
def test_gpu_memory_is_the_block_cache_of_the_prefix_lab(make, capacity):
    """Without tiers, each request finds what a plain block LRU finds, the last token computed."""
    trace = make()
    outcome = simulate(trace, Setup(gpu_blocks=capacity, levels=(), prefill=PREFILL))
    replay = replay_blocks(trace, "lru", capacity, touch_order="last_to_first", partial=False)

    assert expected(trace, replay) == [found for (found,) in outcome.found]
    assert replay.resident == outcome.flows[0].resident
    assert outcome.ttft_ns == outcome.control_ns


@pytest.mark.parametrize(("make", "capacity"), TRACES)
def test_an_endless_tier_below_finds_the_ceiling(make, capacity):
    """With an unlimited tier, all tiers together find what an unlimited cache finds."""
    trace = make()
    tier = Level(name="host", capacity=None, ns_per_block=Fraction(1))
    outcome = simulate(trace, Setup(gpu_blocks=capacity, levels=(tier,), prefill=PREFILL))
    replay = replay_blocks(trace, "lru", None, partial=False)

    assert expected(trace, replay) == [sum(found) for found in outcome.found]
