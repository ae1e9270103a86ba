"""Cost models: roofline arithmetic, the reader's table, the fit."""

from fractions import Fraction

import pytest
import serving_strategies as strategies
from hypothesis import given, settings

from calculators.form.errors import ParameterError
from calculators.serving import engine, fast, measured
from calculators.serving.costs import Linear
from calculators.serving.fit import fit
from calculators.serving.roofline import DEVICES, Roofline, Shape

LLAMA = Shape(parameters=6_738_000_000, bytes_per_parameter=Fraction(2), kv_bytes_per_token=524_288)
TABLE = "prefill_tokens,decodes,time_us\n0,1,100\n0,11,200\n100,1,300\n100,11,400\n"


@pytest.mark.parametrize(
    ("device", "weights_ms", "prefill_ms"),
    [
        pytest.param(DEVICES[0], 6.61, 44.2, id="A100"),
        pytest.param(DEVICES[1], 4.02, 13.9, id="H100"),
    ],
)
def test_roofline_arithmetic(device, weights_ms, prefill_ms):
    """Llama-2-7B: the floor of one decode iteration, and a prefill of 1,024 tokens at peak."""
    cost = Roofline(shape=LLAMA, device=device)

    assert pytest.approx(weights_ms, abs=0.005) == float(cost.memory_us(0)) / 1000
    assert pytest.approx(prefill_ms, abs=0.06) == float(cost.compute_us(1024)) / 1000
    assert cost.duration(1024, 0, 0) == -int(-cost.compute_us(1024) // 1)


@pytest.mark.parametrize(
    ("prefill", "decodes", "expected"),
    [
        pytest.param(0, 1, 100, id="a point"),
        pytest.param(50, 6, 250, id="in the middle"),
        pytest.param(0, 21, 300, id="beyond the table"),
        pytest.param(200, 1, 500, id="beyond in prefill"),
    ],
)
def test_table_is_interpolated(prefill, decodes, expected):
    """Bilinear between the points, along the last two beyond them."""
    cost = measured.measured(measured.points(TABLE))

    assert expected == cost.duration(prefill, decodes, 0)


@settings(max_examples=100, deadline=None)
@given(strategies.requests(), strategies.settings(list(fast.POLICIES)))
def test_fast_path_takes_any_cost_model(requests, options):
    """Roofline and table give the same outcomes in both engines."""
    shape = Shape(parameters=1000, bytes_per_parameter=Fraction(2), kv_bytes_per_token=300_000)
    for cost in (
        Roofline(shape=shape, device=DEVICES[0], overhead_us=Fraction(2)),
        measured.measured(measured.points(TABLE)),
    ):
        plain = engine.run(requests, options, cost)

        assert plain.outcomes == fast.run(requests, options, cost).outcomes()


def test_fit_finds_the_line():
    """Points on a line give it back, without residuals."""
    line = Linear(a=6600, b=45, c=150)
    places = [(0, 1), (0, 64), (512, 0), (2048, 8)]

    found = fit([(p, d, line.duration(p, d, 0)) for p, d in places])

    assert (found.a_us, found.b_us, found.c_us) == (6600, 45, 150)
    assert all(residual == 0 for residual in found.residuals_us)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        pytest.param(
            lambda: measured.measured(measured.points(TABLE[:-11])), "missing_point", id="a hole"
        ),
        pytest.param(lambda: measured.points("a,b\n"), "unknown_columns", id="other columns"),
        pytest.param(lambda: measured.points(TABLE + "1,2\n"), "bad_row", id="short row"),
        pytest.param(
            lambda: Roofline(shape=LLAMA, device=DEVICES[0], compute_efficiency=Fraction(0)),
            "too_small",
            id="efficiency 0",
        ),
        pytest.param(lambda: Linear(a=0, b=0, c=1), "too_small", id="free iterations"),
        pytest.param(lambda: Linear(a=-1, b=0, c=1), "too_small", id="negative"),
    ],
)
def test_bad_cost_models_are_refused(make, reason):
    """What gives no times is named."""
    with pytest.raises(ParameterError) as caught:
        make()

    assert reason == caught.value.reason


def test_fit_of_too_few_points_is_none():
    """Two points, or points on one decode count, determine no plane."""
    assert fit([(0, 1, 5), (0, 2, 6)]) is None
    assert fit([(0, 1, 5), (5, 1, 6), (9, 1, 7)]) is None
