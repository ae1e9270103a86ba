"""Grids and charts from plain data: every sign is there, nothing is written that could act."""

import re
from xml.etree import ElementTree as ET

import pytest

from calculators.show.timeline import (
    SIGNS,
    TICKS,
    GridCell,
    GridColumn,
    Lane,
    LaneGroup,
    Span,
    gantt_svg,
    grid_svg,
    shortened,
    ticks,
)

SMALLEST_TYPE = 12


def read(svg):
    """A drawing as a tree; it is our own."""
    return ET.fromstring(svg)  # noqa: S314


def words(svg):
    """All texts of a drawing."""
    return [node.text for node in read(svg).iter() if node.tag.endswith("text")]


def column(number, *cells, worker=""):
    """An iteration."""
    return GridColumn(number=number, start=str(5 * number), cells=cells, worker=worker)


def lane(**changes):
    """A request with a queue, a prompt path and a decode."""
    spans = (("queue", 0, 3), ("prompt", 3, 8), ("decode", 8, 20))
    given = {
        "name": "A",
        "spans": tuple(Span(kind=kind, start=start, end=end) for kind, start, end in spans),
        "tokens": (8.0, 14.0, 20.0),
        "end": 20.0,
        "fate": "finished",
    }
    return Lane(**{**given, **changes})


def test_a_grid_says_everything_by_letters():
    """Prefill with its tokens, decode, waiting, preempted, elsewhere; no colour is needed."""
    doings = ("decode", "waits", "preempted", "elsewhere", "finished")
    cells = [GridCell(doing="prefill", tokens=12), *(GridCell(doing=doing) for doing in doings)]

    shown = words(grid_svg("ABCDEF", [column(1, *cells)]))

    assert {"P12", "1", "5", *(SIGNS[doing] for doing in doings[:-1])} <= set(shown)


def test_a_grid_keeps_room_for_what_is_to_come():
    """The window of a step is as wide as a full one, so that nothing jumps."""
    full = [column(number, GridCell(doing="decode")) for number in range(1, 5)]

    def widths(svg):
        return read(svg).get("width")

    assert widths(grid_svg("A", full)) == widths(grid_svg("A", full[:1], places=4, now=0))


def test_only_the_iteration_looked_at_is_marked():
    """One frame around one column."""
    svg = grid_svg("A", [column(1, GridCell(doing="decode"))] * 2, now=1)

    assert 1 == svg.count("cp-time-now")
    assert "cp-time-now" not in grid_svg("A", [column(1, GridCell(doing="decode"))])


def test_workers_are_named_where_there_are_several():
    """A second line of heads."""
    assert "pre" in words(grid_svg("A", [column(1, GridCell(doing="decode"), worker="prefill")]))


@pytest.mark.parametrize(
    ("changes", "sign"),
    [
        pytest.param({}, "cp-time-end", id="finish"),
        pytest.param({"fate": "cut"}, "cp-time-cut", id="timeout or reject"),
        pytest.param({"spans": (Span(kind="stall", start=0, end=9),)}, "cp-time-stall", id="stall"),
    ],
)
def test_a_chart_shows_how_a_request_fared(changes, sign):
    """A bar, a cross, a dashed line."""
    assert sign in gantt_svg([LaneGroup(name="v1", lanes=(lane(**changes),))])


def test_an_open_end_has_no_sign():
    """What the end of the observation left over neither finished nor failed."""
    svg = gantt_svg([LaneGroup(name="v1", lanes=(lane(end=None, fate="open"),))])

    assert "cp-time-end" not in svg
    assert "cp-time-cut" not in svg


def test_schedulers_share_one_axis():
    """The same instant is at the same place under every scheduler."""
    short, long = lane(), lane(spans=(Span(kind="decode", start=0, end=200),), end=200.0)

    svg = gantt_svg([LaneGroup(name="a", lanes=(short,)), LaneGroup(name="b", lanes=(long,))])

    boxes = [float(width) for width in re.findall(r'cp-time-decode"[^>]* width="([\d.]+)"', svg)]
    assert pytest.approx(200 / 12, abs=0.05) == boxes[1] / boxes[0]


@pytest.mark.parametrize("latest", [0, 1, 7, 33, 999, 123_456, 10**9])
def test_ticks_are_few_and_round(latest):
    """From 0 on, within the chart, a digit and zeros."""
    found = ticks(latest)

    assert 0 == found[0]
    assert len(found) <= TICKS + 1
    assert found[-1] <= latest
    assert all(re.fullmatch(r"[1250]\.?0*", f"{b - a:.0f}") for a, b in zip(found, found[1:]))  # noqa: B905, RUF007


def test_an_empty_chart_is_still_a_drawing():
    """No scheduler, no request, no column."""
    assert read(gantt_svg([])) is not None
    assert read(gantt_svg([LaneGroup(name="v1", lanes=())])) is not None
    assert read(grid_svg([], [])) is not None


def test_names_are_escaped_and_cut():
    """Whatever a reader calls a request stays a word."""
    name = "<b>&\"'"

    svg = grid_svg([name], [column(1, GridCell(doing="decode"))])

    assert name in words(svg)
    assert "<b>" not in svg
    assert "longer…" == shortened("longer-than-seven")


def test_nothing_in_a_drawing_can_act():
    """No style, script, id or link: the page's policy allows none, and ids would clash."""
    svg = gantt_svg([LaneGroup(name="v1", lanes=(lane(),))]) + grid_svg(
        "A", [column(1, GridCell(doing="prefill", tokens=3, ends=True))], now=0
    )

    assert [] == re.findall(r"\s(style|id|href|on\w+)=|<script|<style", svg)
    assert all(int(size) >= SMALLEST_TYPE for size in re.findall(r'font-size="(\d+)"', svg))
