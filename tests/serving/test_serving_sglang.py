"""SGLang's policy: its fast path against the plain engine, retraction and the order of waiting."""

from dataclasses import replace
from fractions import Fraction

import serving_strategies as strategies
from hypothesis import given, settings
from hypothesis import strategies as st

from calculators.serving import engine, fast_sglang
from calculators.serving.columns import of_pairs
from calculators.serving.costs import Linear
from calculators.serving.request import Request
from calculators.serving.settings import Settings

COST = Linear(a=2, b=1, c=1)


@st.composite
def options(draw):
    """Options under which memory runs short and prompts are cut into chunks."""
    return Settings(
        policy="sglang",
        max_num_seqs=draw(st.none() | st.integers(1, 4)),
        block_size=draw(st.integers(1, 4)),
        num_blocks=draw(st.none() | st.integers(4, 24)),
        watermark_blocks=draw(st.integers(0, 1)),
        max_prefill_tokens=draw(st.integers(4, 40)),
        chunked_prefill_size=draw(st.none() | st.integers(1, 12)),
        new_token_ratio=Fraction(draw(st.integers(1, 10)), 10),
        min_new_token_ratio=Fraction(1, 10),
        new_token_ratio_steps=draw(st.integers(1, 30)),
    )


@settings(max_examples=600, deadline=None)
@given(strategies.requests(timeouts=False, most=14), options())
def test_fast_path_gives_the_same_integers(requests, sglang):
    """Outcomes with all token times, and the waiting queue."""
    plain = engine.run(requests, sglang, COST)

    trace = fast_sglang.run(requests, sglang, COST)

    assert plain.outcomes == trace.outcomes()
    assert of_pairs(plain.waiting_steps) == trace.waiting_steps()


def test_retraction_takes_the_one_with_fewest_tokens():
    """Two requests outgrow the memory: the later one has shown less and goes."""
    requests = [
        Request(id="old", arrival=0, prompt=2, output=12),
        Request(id="new", arrival=9, prompt=2, output=12),
    ]
    tight = Settings(policy="sglang", num_blocks=20, new_token_ratio=Fraction(1, 10))

    run = engine.run(requests, replace(tight, min_new_token_ratio=Fraction(1, 10)), COST)

    assert [outcome.preemptions for outcome in run.outcomes] == [0, 1]
    assert [outcome.status for outcome in run.outcomes] == ["finished"] * 2


def test_longest_prefix_goes_first():
    """A cached prefix overtakes in the queue, unless more than 128 requests wait."""
    shared = {"prompt": 40, "output": 1, "prefix_group": "g", "prefix_len": 36}
    first = Request(id="a", arrival=0, **shared)
    plain = Request(id="b", arrival=1, prompt=40, output=1)
    cached = Request(id="c", arrival=2, **shared)
    crowd = [Request(id=f"x{i:03}", arrival=3, prompt=1, output=1) for i in range(127)]
    lpm = Settings(policy="sglang", max_num_seqs=1, prefix_cache=True, block_size=4)

    few = engine.run([first, plain, cached], lpm, COST)
    many = engine.run([first, plain, cached, *crowd], lpm, COST)

    assert [one.emitted[0] for one in few.schedule] == ["a", "c", "b"]
    assert [one.emitted[0] for one in many.schedule[:3]] == ["a", "b", "c"]
