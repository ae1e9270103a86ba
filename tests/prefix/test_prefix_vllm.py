"""vLLM's block cache against its documented example, a slow twin, and broken invariants."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prefix_twins import SlowBlocks

from calculators.form.errors import ParameterError
from calculators.prefix.cache import Image, Prompt, SglangCache
from calculators.prefix.identity import block_identities
from calculators.prefix.invariants import BrokenInvariantError, MisuseError
from calculators.prefix.keys import NO_NAMESPACE, Namespace, pack
from calculators.prefix.vllm import VllmCache


def prompt(tokens, namespace=NO_NAMESPACE, images=()):
    """A prompt of token ids."""
    return Prompt(tokens=pack(list(tokens)), namespace=namespace, images=images)


def documented(*, unhashed_first=False):
    """The example of vLLM's design page up to time 6, and its first request."""
    cache = VllmCache(10, block_size=4, unhashed_first=unhashed_first)
    first = list(range(15))
    zero = cache.begin(prompt(first))
    zero = cache.grow(zero, pack([15, 16]))
    one = cache.begin(prompt([*first[:10], 90, 91, 92, 93]))
    return cache, first, zero, one


@pytest.mark.parametrize(
    ("unhashed_first", "queue", "held", "left"),
    [
        pytest.param(
            False, [7, 8, 9, 4, 3, 2, 6, 5, 1, 0], (0, 1, 2, 7, 8, 9, 4, 3), [6, 5], id="page"
        ),
        pytest.param(
            True, [6, 4, 7, 8, 9, 3, 2, 5, 1, 0], (0, 1, 2, 6, 4, 7, 8, 9), [3, 5], id="PR 42656"
        ),
    ],
)
def test_documented_example_frees_in_reverse_and_hands_out_from_the_head(
    unhashed_first, queue, held, left
):
    """The queue is the design page's, and hits leave it first (rule 41).

    Since PR 42656 the half-full ends, 6 and 4, go to the head, so that 3 survives.
    """
    cache, first, zero, one = documented(unhashed_first=unhashed_first)
    cache.finish(zero)
    cache.finish(one)

    assert queue == list(cache.pool.free)

    two = cache.begin(prompt([*first[:12], *range(100, 117)]))

    assert held == two.held
    assert left == list(cache.pool.free)


def test_a_fully_cached_prompt_on_a_block_boundary_recomputes_a_block():
    """At most length - 1 tokens are reused, in whole blocks (rule 40)."""
    cache = VllmCache(8, block_size=4)
    cache.finish(cache.begin(prompt(range(8))))

    assert cache.lookup(prompt(range(8))) == 4
    assert cache.lookup(prompt(range(9))) == 8


def test_identical_blocks_stand_twice_while_both_requests_run():
    """Two running requests with one prompt hold two copies of its last full block (rule 44)."""
    cache = VllmCache(8, block_size=4)
    one, two = cache.begin(prompt(range(4))), cache.begin(prompt(range(4)))

    assert one.held != two.held
    assert cache.pool.cached_blocks == 2
    assert len(cache.pool.cached) == 1


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        pytest.param(prompt(range(8)), prompt(range(8)), 2, id="equal"),
        pytest.param(prompt(range(8)), prompt([*range(7), 9]), 1, id="last token differs"),
        pytest.param(prompt(range(8)), prompt(range(8), Namespace("a")), 0, id="adapter"),
        pytest.param(prompt(range(8)), prompt(range(8), Namespace(None, "s")), 0, id="salt"),
        pytest.param(
            prompt(range(8)),
            prompt(range(8), images=(Image(identity="i", start=5, length=2),)),
            1,
            id="image in the second block",
        ),
        pytest.param(
            prompt(range(8), images=(Image(identity="i", start=3, length=2),)),
            prompt(range(8), images=(Image(identity="j", start=3, length=2),)),
            0,
            id="other image over both blocks",
        ),
    ],
)
def test_extra_keys_separate_blocks(one, other, shared):
    """Adapter, salt and image are part of a block's identity (rule 39)."""
    pairs = zip(block_identities(one, 4), block_identities(other, 4), strict=True)

    assert shared == sum(a == b for a, b in pairs)


requests = st.lists(
    st.tuples(
        st.lists(st.integers(0, 1), min_size=1, max_size=12),
        st.sampled_from((Namespace(), Namespace("a"), Namespace(None, "s"))),
        st.integers(0, 3),
        st.integers(0, 3),
    ),
    max_size=30,
)


@given(script=requests, block_size=st.integers(1, 4))
def test_cache_equals_its_twin(script, block_size):
    """Hits, blocks and the queue are those of the slow twin after any requests."""
    cache, twin = VllmCache(8, block_size=block_size), SlowBlocks(8, block_size)
    running = []
    for prompted, named, output, which in script:
        lease = cache.begin(prompt(prompted, named))
        expected = twin.begin(tuple(prompted), named)
        cache.check()

        assert expected == (None if lease is None else list(lease.held))
        if lease is not None:
            running.append((lease, expected, tuple(prompted), named))
        if len(running) > which:
            lease, blocks, tokens, space = running.pop(which)
            cache.finish(lease, pack([7] * output))
            twin.finish(blocks, (*tokens, *([7] * output)), space)
            cache.check()
        sizes = cache.sizes()

        assert twin.free == list(cache.pool.free)
        assert sizes.capacity == sizes.free + sizes.evictable + sizes.protected


@given(script=requests)
def test_both_engines_keep_their_books(script):
    """Free, evictable and protected tokens always make up the capacity, in both engines."""
    for cache in (SglangCache(24), SglangCache(24, page_size=4), VllmCache(6, block_size=4)):
        running = []
        for tokens, space, _, which in script:
            lease = cache.begin(prompt(tokens, space))
            running += [] if lease is None else [lease]
            if len(running) > which:
                cache.finish(running.pop(which))
            cache.check()
            sizes = cache.sizes()

            assert sizes.free >= 0
            assert sizes.capacity == sizes.free + sizes.evictable + sizes.protected


def test_what_cannot_be_used_is_refused():
    """Zero blocks, a block of zero tokens, and freeing twice are refused."""
    with pytest.raises(ParameterError):
        VllmCache(0)
    with pytest.raises(ParameterError):
        VllmCache(1, block_size=0)
    cache = VllmCache(4, block_size=4)
    lease = cache.begin(prompt(range(5)))
    cache.finish(lease)
    with pytest.raises(MisuseError):
        cache.finish(lease)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda pool: pool.free.popitem(), id="lost from the queue"),
        pytest.param(lambda pool: pool.references.__setitem__(0, -1), id="negative count"),
        pytest.param(lambda pool: pool.cached.clear(), id="lost identities"),
        pytest.param(lambda pool: pool.identities.__setitem__(9, b"x"), id="unknown identity"),
        pytest.param(lambda pool: pool.cached.update({b"x": {}}), id="identity without block"),
    ],
)
def test_check_finds_a_corrupted_pool(change):
    """Every invariant that is broken on purpose is found."""
    cache, *_ = documented()
    cache.check()
    change(cache.pool)
    with pytest.raises(BrokenInvariantError):
        cache.check()
