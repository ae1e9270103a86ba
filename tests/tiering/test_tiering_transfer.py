"""Prefill here, decode there: published arithmetic, the serving lab's workers, queues."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculators.kv.dtypes import dtype
from calculators.kv.layers import full
from calculators.kv.notation import from_text
from calculators.serving import disaggregated
from calculators.serving.costs import Linear
from calculators.serving.request import Request
from calculators.tiering.moved import Store, total
from calculators.tiering.tier import Tier
from calculators.tiering.transfer import (
    Load,
    handover,
    least_output_tokens,
    line,
    mean_wait_s,
    utilisation,
)

ROOT = Path(__file__).parents[2]
TRUTH = json.loads((ROOT / "data/truth/tiering.json").read_text(encoding="utf-8"))
STORE = Store(kv=dtype("dtype", "bfloat16"))


def link(gb_per_s, latency_us=0):
    """A link."""
    return Tier(name="network", gb_per_s=Fraction(gb_per_s), latency_us=Fraction(latency_us))


@pytest.mark.parametrize("case", TRUTH["transfer"], ids=lambda case: case["id"])
def test_transfers_of_known_models(case):
    """Bytes exactly, milliseconds as rounded."""
    stack = from_text("stack", case["layers"])
    sent = handover(
        stack, STORE, link(case["gb_per_s"]), case["tokens"],
        prefill_s=Fraction(1), layerwise=False,
    )  # fmt: skip

    assert case["bytes"] == sent.bytes
    assert case["ms"] == f"{float(sent.exposed_s) * 1000:.1f}"


@given(st.integers(1, 4000), st.integers(1, 50), st.integers(0, 1000))
def test_the_line_is_the_transfer(tokens, gb_per_s, latency):
    """``x0 + x1 · tokens`` in µs is the transfer's time, exactly, where there is no window."""
    stack = from_text("stack", "3*full:2x8,2*state:2x3x4")
    x0, x1 = line(stack, STORE, link(gb_per_s, latency))
    whole = link(gb_per_s, latency).seconds(total(stack, STORE, 0, tokens), 1)

    assert whole * 10**6 == x0 + x1 * tokens


def test_the_serving_lab_takes_the_line():
    """Workers of the serving lab hand over in exactly this time."""
    x0, x1 = line(full(32, 8, 128), STORE, link(25, 50))
    split = disaggregated.Split(x0=x0, x1=x1, link="serial")
    requests = [Request(id=f"r{i}", arrival=0, prompt=1024 * (i + 1), output=4) for i in range(3)]
    run = disaggregated.run(requests, split, Linear(a=10, b=1, c=1))
    expected = [
        link(25, 50).seconds(total(full(32, 8, 128), STORE, 0, r.prompt), 1) * 10**6
        for r in requests
    ]

    assert expected == [one.end - one.start for one in run.transfers]


@pytest.mark.parametrize(
    ("gb_per_s", "exposed_ms"),
    [
        pytest.param("1", 3 + 16 - 12, id="slow link: only the first layer's time is hidden"),
        pytest.param("4", 1, id="fast link: only the last layer's transfer is exposed"),
    ],
)
def test_layers_by_hand(gb_per_s, exposed_ms):
    """Four layers of 4 MB, each computed in 3 ms and sent in 4 or in 1."""
    stack, tokens = full(4, 1, 500), 2000  # 2 × 500 × 2 bytes × 2000 = 4 MB a layer
    sent = handover(
        stack, STORE, link(gb_per_s), tokens, prefill_s=Fraction(12, 1000), layerwise=True
    )

    assert Fraction(exposed_ms, 1000) == sent.exposed_s
    assert sent.transfer_s == sent.exposed_s + sent.hidden_s


@given(
    st.integers(1, 5000), st.integers(1, 40), st.fractions(0, 2, max_denominator=50),
    st.sampled_from(("6*full:2x8", "2*(3*sliding:2x8@128,full:4x8)", "none,full:1x8")),
)  # fmt: skip
def test_layer_by_layer_is_never_worse(tokens, gb_per_s, prefill_s, text):
    """Sent layer by layer at least the last layer is exposed, and at most the whole."""
    stack = from_text("stack", text)
    args = (stack, STORE, link(gb_per_s, 10), tokens)
    whole = handover(*args, prefill_s=prefill_s, layerwise=False)
    layered = handover(*args, prefill_s=prefill_s, layerwise=True)

    assert whole.transfer_s == whole.exposed_s == layered.transfer_s
    assert 0 < layered.exposed_s <= whole.exposed_s


def load_of(rate, prefill="0.5", step="0.03", output=101):
    """A load."""
    return Load(
        requests_per_s=Fraction(rate),
        prefill_s=Fraction(prefill),
        step_s=Fraction(step),
        output_tokens=output,
    )


def test_interruptions_by_hand():
    """One prompt a second of half a second on two workers: a quarter of the time, a third more."""
    load = load_of(1)

    assert (Fraction(1, 4), 3, 1) == (load.prefill_share, load.decode_s, load.interrupted_s)


@given(st.fractions(0, 3, max_denominator=20), st.fractions(0, 2, max_denominator=40))
def test_least_output_is_where_it_turns(rate, exposed):
    """At the least output two roles finish sooner, one token before they do not."""
    least = least_output_tokens(load_of(rate), exposed)
    if least is not None and load_of(rate).prefill_share < 1:
        at, before = (load_of(rate, output=n).interrupted_s for n in (least, least - 1))

        assert at > exposed >= before


@pytest.mark.parametrize(
    ("rate", "least"),
    [pytest.param(0, None, id="no load"), pytest.param(4, 1, id="saturated")],
)
def test_least_output_at_the_ends(rate, least):
    """Nothing to lose without load; nothing to compare where shared workers cannot keep up."""
    assert least == least_output_tokens(load_of(rate), Fraction(1))


def test_waiting_for_a_serial_link():
    """M/D/1 at 70 %: ρ S / (2 (1 - ρ)); none where the link is saturated."""
    busy = load_of(7)

    assert Fraction(7, 10) == utilisation(busy, Fraction(1, 10))
    assert Fraction(7, 60) == mean_wait_s(busy, Fraction(1, 10))
    assert mean_wait_s(busy, Fraction(1, 7)) is None
    assert load_of(4).interrupted_s is None
