"""Why a request missed, rule by rule, against the engines themselves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculators.form.errors import ParameterError
from calculators.prefix.cache import Image, Prompt
from calculators.prefix.invariants import MisuseError
from calculators.prefix.keys import NO_NAMESPACE, Namespace, pack
from calculators.prefix.why import Setup, Shifted, cache_of, explain, shared_blocks, shifted_copy


def prompt(tokens, space=NO_NAMESPACE, images=()):
    """A prompt of token ids."""
    return Prompt(tokens=pack(list(tokens)), namespace=space, images=images)


LONG = prompt(range(1000))


@pytest.mark.parametrize(
    ("earlier", "later", "setup", "reused", "causes"),
    [
        pytest.param(
            prompt(range(240)),
            prompt([*range(240), 7, 8]),
            Setup(engine="vllm", unit=784),
            0,
            ("units",),
            id="240 shared tokens under a 784-token block (vllm 54607)",
        ),
        pytest.param(LONG, LONG, Setup(engine="sglang", unit=1), 999, ("last_token",), id="repeat"),
        pytest.param(
            prompt(range(512)),
            prompt(range(512)),
            Setup(engine="vllm", unit=16),
            496,
            ("last_token",),
            id="repeat on a block boundary recomputes a block",
        ),
        pytest.param(
            LONG,
            prompt([5, *range(999)]),
            Setup(engine="sglang", unit=1),
            0,
            ("shared",),
            id="shift",
        ),
        pytest.param(
            LONG,
            prompt(range(1000), Namespace(None, "s")),
            Setup(engine="vllm", unit=16),
            0,
            ("namespace",),
            id="salt",
        ),
        pytest.param(
            LONG,
            prompt(range(1000), Namespace("a")),
            Setup(engine="lmcache", unit=256),
            768,
            ("units",),
            id="LMCache's key held no adapter",
        ),
        pytest.param(
            LONG,
            prompt(range(1000), images=(Image(identity="i", start=100, length=9),)),
            Setup(engine="vllm", unit=16),
            96,
            ("images", "units"),
            id="image",
        ),
    ],
)
def test_each_rule_is_named(earlier, later, setup, reused, causes):
    """The caps fall at the rules that took something away."""
    found = explain(earlier, later, setup)

    assert (reused, causes) == (found.reused, found.causes)


def test_eviction_in_between_is_found_by_running_the_engine():
    """With room for one prompt only, a request in between takes the prefix away."""
    other = prompt(range(5000, 5600))
    small = Setup(engine="sglang", unit=1, capacity=1100)
    enough = Setup(engine="sglang", unit=1, capacity=3000)

    assert ("last_token", "evicted") == explain(LONG, LONG, small, [other]).causes
    assert ("last_token",) == explain(LONG, LONG, enough, [other]).causes


def test_a_shifted_copy_is_named_with_its_places():
    """Text that stands one token later is found, and is no prefix."""
    assert Shifted(0, 1, 1000) == shifted_copy(LONG, prompt([9999, *range(1000)]))
    assert Shifted(2, 2, 998) == shifted_copy(LONG, prompt([0, 9999, *range(2, 1000)]))
    assert shifted_copy(LONG, LONG) is None


def test_what_would_help_is_counted():
    """The missing tokens to the next unit, and the largest unit that reuses anything."""
    found = explain(prompt(range(240)), prompt([*range(240), 7]), Setup(engine="vllm", unit=784))

    assert (544, 240) == (found.missing, found.largest_unit)


tokens = st.lists(st.integers(0, 1), min_size=1, max_size=20)


@pytest.mark.parametrize("engine", ["sglang", "vllm"])
@given(earlier=tokens, later=tokens, unit=st.integers(1, 5))
def test_explanation_is_what_the_engine_does(engine, earlier, later, unit):
    """After the earlier request alone, the engine reuses exactly the last cap."""
    setup = Setup(engine=engine, unit=unit)
    cache = cache_of(setup, 200)
    cache.finish(cache.begin(prompt(earlier)))

    assert cache.lookup(prompt(later)) == explain(prompt(earlier), prompt(later), setup).reused


@given(earlier=tokens, later=tokens, place=st.integers(0, 19), size=st.integers(1, 5))
def test_images_agree_with_block_identities(earlier, later, place, size):
    """VLLM's identities share no more blocks than the caps say before the last-token rule."""
    images = (Image(identity="i", start=place, length=3),)
    one, other = prompt(earlier, images=images), prompt(later)
    found = explain(one, other, Setup(engine="vllm", unit=size))
    caps = {cap.rule: cap.tokens for cap in found.caps}
    if place < min(len(earlier), len(later)):
        assert caps["units"] == shared_blocks(one, other, size) * size


def test_empty_prompts_and_units_are_refused():
    """An empty prompt, which the form refuses before, and a unit of 0 are refused."""
    with pytest.raises(MisuseError):
        explain(prompt([]), LONG, Setup(engine="vllm", unit=16))
    with pytest.raises(ParameterError):
        explain(LONG, LONG, Setup(engine="vllm", unit=0))
