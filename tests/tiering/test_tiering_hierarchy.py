"""The hierarchy on a trace: scenarios by hand, the obvious twin, conservation, corrupted states."""

from dataclasses import asdict, replace
from fractions import Fraction

import pytest
import tiering_twins as twins
from hypothesis import given, settings
from hypothesis import strategies as st

from calculators.form.errors import ParameterError
from calculators.prefix.invariants import BrokenInvariantError
from calculators.prefix.keys import pack
from calculators.prefix.trace import Trace
from calculators.tiering.hierarchy import PREFETCH_POLICIES, WRITE_POLICIES, Level, Setup
from calculators.tiering.places import POLICIES, check, place
from calculators.tiering.recompute import Prefill, TokenCount
from calculators.tiering.simulate import simulate

SIZE = 4
PREFILL = Prefill(work=TokenCount(), per_s=Fraction(10**9))  # one token a nanosecond
# Blocks, tokens, arrival in ns. Block size 4; each prompt has one token more than its blocks.
ROWS = [([1, 2], 9, 0), ([3], 5, 100), ([1, 2], 9, 200), ([4, 5], 9, 300)]


def trace_of(rows):
    """Rows as a trace; an id for the partial block at the end, too."""
    return Trace(
        format="test",
        block_tokens=SIZE,
        keys=tuple(pack(ids) for ids, _, _ in rows),
        input_tokens=tuple(tokens for _, tokens, _ in rows),
        arrivals_ms=tuple(now / 10**6 for _, _, now in rows),
    )


def host(capacity=3, **rest):
    """A tier with round numbers: 1 ns of latency, 2 ns a block."""
    given_ = {"name": "host", "ns_per_block": Fraction(2), "latency_ns": 1} | rest
    return Level(capacity=capacity, **given_)


def setup_of(*levels, gpu=2, **rest):
    """GPU memory of two blocks."""
    return Setup(gpu_blocks=gpu, levels=levels, prefill=PREFILL, **rest)


def figures(outcome):
    """What the scenarios state: per request, then per tier."""
    flows = [tuple(asdict(flow).values()) for flow in outcome.flows]
    return outcome.found, outcome.ttft_ns, outcome.control_ns, flows


# Tiers: used, put in, written from above, evicted, left.
GPU_FLOW = (1, 6, 0, 4, 2)
SCENARIOS = [
    pytest.param(
        "write_through",
        [(0, 0), (0, 0), (1, 1), (0, 0)],
        [9, 5, 4, 9],  # the third: 1 + 2 to load a block, 1 token to compute
        (1, 5, 5, 2, 3),
        id="through",
    ),
    pytest.param(
        "write_through_selective",
        [(0, 0), (0, 0), (1, 0), (0, 0)],
        [9, 5, 5, 9],
        (0, 1, 1, 0, 1),  # block 1, when it was used again
        id="selective",
    ),
    pytest.param(
        "write_back",
        [(0, 0), (0, 0), (1, 1), (0, 0)],
        [9, 5, 4, 9],
        (1, 3, 3, 0, 3),  # blocks 2, 3 and 1, each when GPU memory drops it
        id="back",
    ),
]


@pytest.mark.parametrize(("write", "found", "ttft", "flow"), SCENARIOS)
def test_four_requests_by_hand(write, found, ttft, flow):
    """Exact integers of the same four requests under each write policy."""
    outcome = simulate(trace_of(ROWS), setup_of(host(write=write)))

    assert (found, ttft, [9, 5, 5, 9], [GPU_FLOW, flow]) == figures(outcome)


TWICE = [([1, 2, 3], 13, 0), ([1, 2, 3], 13, 1000)]
SLOW = {"name": "ssd", "ns_per_block": Fraction(10), "latency_ns": 0, "prefetched": True}


@pytest.mark.parametrize(
    ("policy", "found", "ttft"),
    [
        pytest.param({"prefetch": "wait_complete"}, (1, 2), 21, id="waits, and is worse than 9"),
        pytest.param({"prefetch": "best_effort"}, (1, 0), 9, id="does not wait"),
        pytest.param({"prefetch": "timeout", "timeout_base_ns": 10}, (1, 1), 15, id="one came"),
        pytest.param({"prefetch": "timeout", "timeout_base_ns": 15}, (1, 1), 20, id="till the end"),
        pytest.param(
            {"prefetch": "timeout", "timeout_ns_per_1024": 2560}, (1, 2), 21, id="by tokens"
        ),
    ],
)
def test_prefetch_policies_by_hand(policy, found, ttft):
    """Two blocks of 10 ns each against 8 tokens of 1 ns: waiting loses, best effort computes."""
    outcome = simulate(trace_of(TWICE), setup_of(host(None, **SLOW), gpu=1, **policy))

    assert (found, ttft, 9) == (outcome.found[1], outcome.ttft_ns[1], outcome.control_ns[1])


def test_a_queue_hides_a_prefetch():
    """A request that waits 10 ns for its turn has one block by then, under best effort."""
    rows = [([1, 2, 3], 13, 0), ([7, 8, 9], 11, 1000), ([1, 2, 3], 13, 1001)]
    outcome = simulate(trace_of(rows), setup_of(host(None, **SLOW), prefetch="best_effort"))

    assert ((0, 1), 10 + 9, 10 + 13) == (
        outcome.found[2],
        outcome.ttft_ns[2],
        outcome.control_ns[2],
    )


def test_a_shared_store_serves_the_other_instance():
    """What one instance stored, another finds only where the store is shared."""
    for shared, found in ((True, (0, 3)), (False, (0, 0))):
        level = host(None, **(SLOW | {"name": "remote", "shared": shared}))
        outcome = simulate(trace_of(TWICE), setup_of(level, gpu=9, instances=2))

        assert found == outcome.found[1]


def test_thresholds_leave_short_hits():
    """A hit below the least tokens is computed although it is there."""
    for least, found in ((8, (1, 2)), (9, (1, 0))):
        outcome = simulate(trace_of(TWICE), setup_of(host(None, least_tokens=least), gpu=1))

        assert found == outcome.found[1]


def test_one_token_is_always_computed():
    """A prompt of whole blocks that lie in GPU memory computes its last block."""
    outcome = simulate(trace_of([([1, 2], 8, 0), ([1, 2], 8, 100)]), setup_of())

    assert ([(0,), (1,)], [8, 4]) == (outcome.found, outcome.ttft_ns)


def random_rows():
    """Requests that share prefixes: paths in a small tree of block ids, with a ragged end."""

    @st.composite
    def request(draw):
        path = draw(st.lists(st.integers(0, 1), min_size=0, max_size=5))
        ids, number = [], 1
        for step in path:
            number = number * 2 + step
            ids.append(number)
        extra = draw(st.integers(1 if not ids else 0, SIZE - 1))
        return [*ids, *([1000 + number] if extra else [])], len(ids) * SIZE + extra

    def timed(requests, gaps):
        now, rows = 0, []
        for (ids, tokens), gap in zip(requests, gaps, strict=False):
            now += gap
            rows.append((ids, tokens, now))
        return rows

    return st.builds(
        timed,
        st.lists(request(), min_size=1, max_size=25),
        st.lists(st.integers(0, 30), min_size=25, max_size=25),
    )


def random_level(name):
    """Any tier."""
    return st.builds(
        Level,
        name=st.just(name),
        capacity=st.one_of(st.none(), st.integers(1, 8)),
        ns_per_block=st.fractions(0, 9, max_denominator=7),
        latency_ns=st.integers(0, 5),
        parallel=st.integers(1, 3),
        policy=st.sampled_from(POLICIES),
        write=st.sampled_from(WRITE_POLICIES),
        least_tokens=st.integers(0, 2 * SIZE),
        prefetched=st.booleans(),
        shared=st.booleans(),
    )


SETUPS = st.builds(
    Setup,
    gpu_blocks=st.integers(1, 6),
    levels=st.lists(st.sampled_from("abc"), max_size=3, unique=True).flatmap(
        lambda names: st.tuples(*map(random_level, names))
    ),
    prefill=st.just(PREFILL),
    gpu_policy=st.sampled_from(POLICIES),
    instances=st.integers(1, 3),
    promote=st.booleans(),
    prefetch=st.sampled_from(PREFETCH_POLICIES),
    timeout_base_ns=st.integers(0, 20),
    timeout_ns_per_1024=st.integers(0, 3000),
)


@settings(max_examples=400, deadline=None)
@given(random_rows(), SETUPS)
def test_the_same_as_the_obvious_twin(rows, setup):
    """Any small trace under any setup: the same finds, times and flows."""
    found, ttft, control, flows = twins.run(rows, setup, SIZE)
    outcome = simulate(trace_of(rows), setup)

    assert found == outcome.found
    assert ttft == outcome.ttft_ns
    assert control == outcome.control_ns
    assert flows == [asdict(flow) for flow in outcome.flows]


@settings(max_examples=60, deadline=None)
@given(random_rows(), SETUPS)
def test_tokens_are_conserved(rows, setup):
    """Tokens computed and tokens of blocks found are all tokens of all prompts."""
    outcome = simulate(trace_of(rows), setup)
    reused = sum(map(sum, outcome.found)) * SIZE

    assert sum(tokens for _, tokens, _ in rows) == outcome.computed_tokens + reused


def corrupted():
    """Outcomes that cannot be, each from a sound one."""
    sound = simulate(trace_of(ROWS), setup_of(host()))
    gpu, below = sound.flows
    yield "lost", replace(sound, flows=(replace(gpu, resident=3), below))
    yield "used", replace(sound, flows=(gpu, replace(below, used=2)))
    yield "written", replace(sound, flows=(gpu, replace(below, written=6)))
    yield "found", replace(sound, blocks=[0, 1, 2, 2], found=[(0, 0), (0, 0), (2, 1), (0, 0)])


@pytest.mark.parametrize("outcome", [pytest.param(o, id=name) for name, o in corrupted()])
def test_a_corrupted_outcome_is_noticed(outcome):
    """Blocks that are lost or made raise."""
    with pytest.raises(BrokenInvariantError):
        outcome.check()


def test_an_overfull_place_is_noticed():
    """More blocks than fit raise."""
    full = place("lru", 1)
    full.use([1])
    full.blocks[2] = 1

    with pytest.raises(BrokenInvariantError):
        check(full)


@pytest.mark.parametrize(
    ("policy", "capacity", "reason"),
    [
        pytest.param("best", 1, "not_an_option", id="policy"),
        pytest.param("lru", 0, "too_small", id="capacity"),
        pytest.param("lfu", 0, "too_small", id="capacity of LFU"),
    ],
)
def test_no_place_without_sense(policy, capacity, reason):
    """A policy that is none and a capacity of nothing are refused."""
    with pytest.raises(ParameterError) as caught:
        place(policy, capacity)

    assert reason == caught.value.reason
