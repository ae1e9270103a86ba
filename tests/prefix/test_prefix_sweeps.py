"""Sweeps in one pass and the ceiling against replays and brute force."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prefix_twins import SlowTree, belady

from calculators.form.errors import ParameterError
from calculators.prefix.block_policies import replay_blocks
from calculators.prefix.cache import Prompt
from calculators.prefix.ceiling import ceiling
from calculators.prefix.distances import lru_curve
from calculators.prefix.generate import KINDS, Shape, generate
from calculators.prefix.keys import TOKEN_BYTES, pack
from calculators.prefix.policy_choice import NAMES, policy
from calculators.prefix.radix import RadixTree
from calculators.prefix.rates import reused_tokens
from calculators.prefix.replay import replay_pool, replay_tree
from calculators.prefix.segments import segments_of
from calculators.prefix.trace import Trace
from calculators.prefix.vllm import VllmCache

BLOCK = 4


def chained(prompts):
    """A block trace of token lists: equal prefixes in whole or final blocks share an id."""
    ids = {}
    keys = []
    for tokens in prompts:
        ends = [*range(BLOCK, len(tokens), BLOCK), len(tokens)]
        keys.append(pack([ids.setdefault(tuple(tokens[:end]), len(ids)) for end in ends]))
    return Trace(
        format="test",
        block_tokens=BLOCK,
        keys=tuple(keys),
        input_tokens=tuple(map(len, prompts)),
    )


lists = st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=22), min_size=1, max_size=25)
prompts = lists.map(chained)


@pytest.mark.parametrize("touch_order", ["first_to_last", "last_to_first"])
@pytest.mark.parametrize("partial", [True, False])
@given(trace=prompts)
def test_one_pass_gives_every_capacity_of_block_lru(touch_order, partial, trace):
    """Stack distances give what a replay gives at each capacity that holds a request."""
    curve = lru_curve(trace, touch_order=touch_order, partial=partial)
    longest = max(trace.block_counts)
    for capacity in (*range(longest, longest + 12), None):
        outcome = replay_blocks(trace, "lru", capacity, touch_order=touch_order, partial=partial)
        expected = (
            outcome.hit_blocks,
            reused_tokens(trace, outcome),
            reused_tokens(trace, outcome, recompute_last=True),
        )

        assert expected == curve.at(capacity)


@given(trace=prompts, capacity=st.integers(0, 20))
def test_ceiling_equals_belady_on_single_blocks(trace, capacity):
    """Runs with tails trimmed reuse exactly what Belady's rule on single blocks does."""
    blocks = [list(memoryview(key).cast("I")) for key in trace.keys]

    assert belady(blocks, capacity) == list(ceiling(segments_of(trace), capacity))


@given(trace=prompts, extra=st.integers(0, 8), name=st.sampled_from(NAMES))
def test_no_policy_beats_the_ceiling(trace, extra, name):
    """Neither engine reuses more blocks than the ceiling at the same capacity."""
    capacity = max(trace.block_counts) + extra
    best = sum(ceiling(segments_of(trace), capacity))
    chosen = policy(name, threshold=3, next_prompt_estimate=1)

    assert replay_tree(trace, chosen, capacity, keep_last=True).hit_blocks <= best
    assert replay_pool(trace, capacity).hit_blocks <= best


@given(lists=lists, extra=st.integers(0, 8))
def test_block_ids_and_tokens_give_vllm_the_same_hits(lists, extra):
    """A trace of block ids through the pool hits what its tokens hit in the engine's cache."""
    trace = chained(lists)
    capacity = max(trace.block_counts) + extra
    cache = VllmCache(capacity, block_size=BLOCK)
    expected = []
    for tokens in lists:
        lease = cache.begin(Prompt(tokens=pack(tokens)))
        expected.append(lease.reused // BLOCK)
        cache.finish(lease)

    assert expected == list(replay_pool(trace, capacity).runs)


@pytest.mark.parametrize("kind", KINDS)
def test_replay_equals_the_slow_tree_on_a_generated_trace(kind):
    """A whole trace through the hot loop reuses what the five calls of the slow tree reuse."""
    trace = generate(
        Shape(kind=kind, groups=4, turns=3, shared=20, question=6, answer=6, salt=True)
    )
    twin = SlowTree(4)
    capacity = 240
    expected = [
        twin.serve(list(memoryview(key).cast("I")), usable // TOKEN_BYTES, capacity, space)
        for key, usable, space in trace.visits(page_size=4)
    ]

    assert expected == list(replay_tree(trace, capacity=capacity, page_size=4).runs)


def test_memory_of_the_tree_grows_with_nodes_not_with_requests():
    """Serving the same requests again adds no node and no queue entry."""
    trace = generate(Shape(groups=10))
    tree = RadixTree()
    for _ in range(3):
        for key, usable, space in trace.visits():
            tree.serve(key, usable, 10**9, space)
        tree.check()
        counts = (tree.nodes, tree.total)
    entries = len(tree.queue) + len(tree.fresh)

    assert counts == (tree.nodes, tree.total)
    assert entries <= tree.nodes


@pytest.mark.parametrize(
    "act",
    [
        pytest.param(lambda trace: replay_tree(trace, capacity=0), id="tree"),
        pytest.param(lambda trace: replay_blocks(trace, "lru", 0), id="blocks"),
        pytest.param(lambda trace: replay_blocks(trace, "best", 1), id="unknown policy"),
        pytest.param(lambda trace: ceiling(segments_of(trace), -1), id="ceiling"),
        pytest.param(lambda trace: lru_curve(trace).at(-1), id="curve"),
    ],
)
def test_capacities_that_make_no_sense_are_refused(act):
    """Capacity 0 and unknown policies raise ParameterError."""
    with pytest.raises(ParameterError):
        act(chained([[1, 2, 3]]))
