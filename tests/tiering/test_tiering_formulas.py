"""Bytes, chunks, work, break-even and overlap: published figures, hand-made ones, properties."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calculators.form.lengths import Lengths, Run
from calculators.kv.catalogue import MODELS
from calculators.kv.dtypes import dtype
from calculators.kv.layers import full
from calculators.kv.notation import from_text
from calculators.kv.payload import payload
from calculators.tiering.breakeven import (
    Prefix,
    least_bandwidth_gb_per_s,
    least_tokens,
    lengths,
)
from calculators.tiering.chunks import Chunks, load
from calculators.tiering.devices import DEVICES
from calculators.tiering.moved import Store, layer_runs, parts, total
from calculators.tiering.overlap import pipelined, two_ended
from calculators.tiering.paths import path
from calculators.tiering.recompute import ClosedForm, Counted, Prefill, TokenCount, pairs
from calculators.tiering.tier import Tier
from calculators.tiering.widths import WIDTHS

ROOT = Path(__file__).parents[2]
BFLOAT16 = Store(kv=dtype("dtype", "bfloat16"))
LLAMA = full(80, 8, 128)
TRUTH = json.loads((ROOT / "data/truth/tiering.json").read_text(encoding="utf-8"))


def dense(layers, heads, width, hidden, per_s, chunk=256):  # noqa: PLR0913, PLR0917 - a model
    """A plain model on a device."""
    return Prefix(
        stack=full(layers, heads, width),
        store=BFLOAT16,
        chunks=Chunks(tokens=chunk),
        prefill=Prefill(work=ClosedForm(layers=layers, hidden_size=hidden), per_s=Fraction(per_s)),
    )


@pytest.mark.parametrize("case", TRUTH["least_bandwidth"], ids=lambda case: case["id"])
def test_published_bandwidths(case):
    """The Mooncake paper's two figures, exactly; rounded they are the ones that it prints."""
    prefix = dense(80, 8, 128, 8192, case["devices"] * case["flop_per_s"])
    found = least_bandwidth_gb_per_s(prefix, case["tokens"])

    assert Fraction(case["exact_gb_per_s"]) == found
    assert case["printed_gb_per_s"] == round(found)


@given(
    st.integers(1, 100), st.integers(1, 64), st.sampled_from((64, 128)), st.integers(1, 8),
    st.integers(1, 40),
)  # fmt: skip
def test_the_inequality_is_a_special_case(layers, heads, width, gqa, chunks):
    """``B/G = 2 d s / (gqa (a p d + b d²))``, whatever the number of layers."""
    d, p, rate = heads * gqa * width, chunks * 256, 10**12
    found = least_bandwidth_gb_per_s(dense(layers, heads, width, d, rate), p)

    assert Fraction(2 * d * 2, gqa * (4 * p * d + 22 * d * d)) * rate / 10**9 == found


@pytest.mark.parametrize("case", TRUTH["load"], ids=lambda case: case["id"])
def test_what_is_loaded(case):
    """Chunks, thresholds and the negative "need to load" of the issue that reported it."""
    chunks = Chunks(**case["chunks"])
    plan = load(case["prefix"], case["engine_hit"], chunks)

    assert case["expected"] == [plan.needed, plan.start, plan.end, plan.operations, plan.reused]


@given(st.integers(0, 5000), st.integers(0, 5000), st.integers(1, 600), st.booleans())
def test_loads_are_sound(prefix, engine_hit, tokens, partial):
    """What is read covers what is new, starts at a chunk and never exceeds what is stored."""
    plan = load(prefix, engine_hit, Chunks(tokens=tokens, partial=partial))

    assert plan.end <= max(prefix, engine_hit)
    assert (plan.operations > 0) == (plan.needed > 0)
    if plan.operations:
        assert plan.start % tokens == 0
        assert plan.start <= engine_hit < plan.end
        assert (plan.operations - 1) * tokens < plan.end - plan.start <= plan.operations * tokens


STACKS = [
    pytest.param("80*full:8x128", id="GQA"),
    pytest.param("61*mla:512-64/index:128", id="MLA with an indexer"),
    pytest.param("10*(5*sliding:16x128@1024,full:4x512)", id="windows"),
    pytest.param("12*(3*chunked:8x128@8192,full:8x128)", id="chunks"),
    pytest.param("16*(3*state:48x128x128.g16.k4.float32,full:4x256)", id="states"),
    pytest.param("4*full:20x64/cross:20x64@1500", id="cross attention"),
]


@pytest.mark.parametrize("text", STACKS)
@pytest.mark.parametrize("tokens", [1, 1000, 8192, 20_000])
@pytest.mark.parametrize("name", ["bfloat16", "fp8", "nvfp4", "q4_0"])
def test_bytes_are_the_logical_payload(text, tokens, name):
    """From the start, a load moves exactly what the KV workbench counts for one sequence."""
    stack, kv = from_text("stack", text), dtype("dtype", name)
    expected = payload(stack, kv, Lengths((Run(tokens, 1),))).bytes

    assert expected == total(stack, Store(kv=kv), 0, tokens)
    assert expected == sum(n * of for n, of in layer_runs(stack, Store(kv=kv), 0, tokens))


@pytest.mark.parametrize("name", sorted(MODELS))
def test_a_load_in_two_parts_moves_no_less(name):
    """Rows of a prefix loaded in two parts are those of the whole, and windows once each."""
    stack = MODELS[name].stack
    rows = Store(kv=dtype("dtype", "bfloat16"), every_row=True)
    whole = total(stack, rows, 0, 4096)
    two = total(stack, rows, 0, 1024) + total(stack, rows, 1024, 4096)
    states = sum(part.bytes for part in parts(stack, rows, 1024, 4096) if not part.cache.rows)

    assert whole == two - states


@pytest.mark.parametrize(
    ("text", "start", "end", "every_row", "rows"),
    [
        pytest.param("sliding:1x1@100", 0, 1000, False, 100, id="the window only"),
        pytest.param("sliding:1x1@100", 0, 1000, True, 1000, id="every row"),
        pytest.param("sliding:1x1@100", 950, 1000, False, 50, id="part of the window"),
        pytest.param("full:1x1", 256, 1000, False, 744, id="full"),
        pytest.param("cross:1x1@1500", 256, 1000, False, 0, id="cross attention is there already"),
        pytest.param("full:1x1", 10, 10, False, 0, id="nothing"),
    ],
)
def test_rows_by_hand(text, start, end, every_row, rows):
    """Rows of one layer; a K row and a V row of one bfloat16 element each are 4 bytes."""
    store = Store(kv=dtype("dtype", "bfloat16"), every_row=every_row)

    assert 4 * rows == total(from_text("stack", text), store, start, end)


@pytest.mark.parametrize(
    ("text", "ranks", "times"),
    [
        pytest.param("full:8x128", 8, 1, id="heads are split"),
        pytest.param("full:8x128", 16, 2, id="more ranks than heads"),
        pytest.param("mla:512-64", 8, 8, id="a latent row on each rank"),
    ],
)
def test_ranks(text, ranks, times):
    """Bytes over all ranks, as a multiple of one rank's model."""
    stack = from_text("stack", text)
    split = Store(kv=dtype("dtype", "bfloat16"), tensor_parallel_size=ranks)

    assert times * total(stack, BFLOAT16, 0, 256) == total(stack, split, 0, 256)


@given(
    st.sampled_from(("full:1x1", "sliding:1x1@7", "chunked:1x1@7", "state:2x3x4")),
    st.integers(0, 60),
)
def test_pairs_by_counting(text, tokens):
    """Pairs of a query and a key, counted one by one."""
    [[cache]] = from_text("stack", text).layers
    reach = {"full": 10**9, "sliding": 7}.get(cache.kind)
    counted = sum(
        (i % 7) + 1 if cache.kind == "chunked" else min(i + 1, reach or 0) for i in range(tokens)
    )
    if cache.kind != "state":
        assert counted == pairs(cache, tokens)


def test_work_by_hand():
    """2 FLOP a parameter and token, and 2 (K + V width) a head, query and key."""
    work = Counted(parameters=10, query_heads=3, stack=full(2, 1, 4))

    assert 2 * 10 * 5 + 2 * 3 * 2 * (4 + 4) * 15 == work.amount(5)


def test_latent_work_is_absorbed():
    """A latent layer counts ``2 rank + rope``, a state nothing beyond its parameters."""
    stack = from_text("stack", "mla:512-64,state:2x3x4")

    assert 2 * (2 * 512 + 64) == Counted(parameters=0, query_heads=1, stack=stack).amount(1)


def test_overhead_is_paid_once_a_part():
    """A part that is empty takes no time at all."""
    prefill = Prefill(work=TokenCount(), per_s=Fraction(10), overhead_s=Fraction(1))

    assert (0, 2) == (prefill.seconds(7, 7), prefill.seconds(0, 10))


TIERS = st.builds(
    Tier,
    name=st.just("ssd"),
    gb_per_s=st.fractions(1, 50, max_denominator=9),
    latency_us=st.integers(0, 20_000).map(Fraction),
    parallel=st.integers(1, 8),
)


@settings(max_examples=30, deadline=None)
@given(TIERS)
def test_break_even_by_trying_all(tier):
    """The least length from which loading stays faster, found by looking at each."""
    prefix = dense(4, 8, 128, 4096, 10**13, chunk=4096)
    wins = {
        n: prefix.load_seconds(tier, n) < prefix.prefill.seconds(0, n)
        for n in lengths(prefix.chunks)
    }
    expected = None
    for tokens in reversed(wins):
        if not wins[tokens]:
            break
        expected = tokens

    assert [expected] == least_tokens(prefix, [tier])


def test_at_the_least_bandwidth_both_take_equally_long():
    """Just the bandwidth of the break-even, latency included."""
    prefix = dense(80, 8, 128, 8192, 10**15)
    slow = Tier(name="ssd", gb_per_s=Fraction(1), latency_us=Fraction(500), parallel=4)
    bound = least_bandwidth_gb_per_s(prefix, 8192, slow)
    tier = Tier(name="ssd", gb_per_s=bound, latency_us=Fraction(500), parallel=4)

    assert prefix.prefill.seconds(0, 8192) == prefix.load_seconds(tier, 8192)


def test_latency_alone_can_be_too_long():
    """No bandwidth helps where the rounds alone outlast the prefill."""
    prefix = dense(1, 1, 8, 64, 10**15)
    tier = Tier(name="object", gb_per_s=Fraction(1), latency_us=Fraction(10**6))

    assert least_bandwidth_gb_per_s(prefix, 256, tier) is None


@given(st.integers(0, 12), st.lists(st.integers(0, 9), min_size=24, max_size=24))
def test_meeting_is_the_best_of_all(chunks, gains):
    """No other place to meet is sooner."""
    compute = [sum(gains[:k]) for k in range(chunks + 1)]
    fetch = [sum(gains[12 : 12 + k]) for k in range(chunks + 1)]
    met = two_ended(chunks, compute.__getitem__, fetch.__getitem__)
    best = min(max(compute[k], fetch[chunks - k]) for k in range(chunks + 1))

    assert (best, chunks) == (met.seconds, met.computed + met.loaded)


@given(
    st.lists(st.tuples(st.integers(1, 5), st.integers(0, 9), st.integers(0, 9)), max_size=6),
    st.integers(0, 7),
)
def test_pipelines_layer_by_layer(runs, before):
    """Two stages, every layer in turn, without the short cut for equal ones."""
    first = second = before
    for count, one, other in runs:
        for _ in range(count):
            first += one
            second = max(second, first) + other
    found = pipelined([(n, Fraction(a), Fraction(b)) for n, a, b in runs], Fraction(before))

    assert second == found


@settings(max_examples=60, deadline=None)
@given(TIERS, st.integers(1, 40), st.integers(1, 2000), st.integers(0, 6000))
def test_ways_bound_one_another(tier, chunks, suffix, engine_hit):
    """Side by side is never slower than one after the other, nor faster than either alone."""
    prefix = dense(4, 8, 128, 4096, 10**13)
    tokens = chunks * 256
    plan = load(tokens, min(engine_hit, tokens), prefix.chunks)
    ways = path(prefix, tier, plan, tokens + suffix)
    suffix_s = ways.serial_s - ways.load_s

    assert max(ways.load_s, suffix_s) <= ways.layerwise_s <= ways.serial_s
    assert suffix_s <= ways.two_ended_s <= min(ways.serial_s, ways.recompute_s)
    assert ways.recompute_s - ways.serial_s == ways.saved_s


def test_devices_and_widths_are_those_of_the_data():
    """The figures in code are the ones that stand in data/ with their sources."""
    devices = json.loads((ROOT / "data/devices/devices.json").read_text(encoding="utf-8"))
    widths = json.loads((ROOT / "data/devices/model_widths.json").read_text(encoding="utf-8"))

    assert {d["name"]: Fraction(str(d["tflop_per_s"])) for d in devices["devices"]} == {
        device.name: device.tflop_per_s for device in DEVICES.values()
    }
    assert {name: (hidden, heads) for name, hidden, heads in widths["rows"]} == WIDTHS
    assert set(WIDTHS) <= set(MODELS)
