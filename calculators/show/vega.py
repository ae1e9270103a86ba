"""Plots to Vega-Lite specifications, drawn at build time and in the browser from the same text.

Colours are CSS variables, so that one drawing serves both schemes. No data is fetched, no
expression is evaluated as code (the interpreter runs under a strict CSP).
"""

import math
from typing import Any

from calculators.show.blocks import Axis, Plot
from calculators.show.labels import Labels

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"  # a name, never fetched
SERIES_COLOURS = [f"var(--cp-series-{number})" for number in range(1, 7)]
WIDTH, HEIGHT = 420, 240  # narrow, so that its words stay legible on a phone
LEGEND = {"title": None, "orient": "bottom", "columns": 3}  # one row of many would be cut off

MARKS: dict[str, dict[str, Any]] = {
    "line": {"type": "line", "strokeWidth": 2},
    "step": {"type": "line", "interpolate": "step-after", "strokeWidth": 2},
    "area": {"type": "area", "opacity": 0.7},
    "point": {"type": "point", "filled": True},
    "bar": {"type": "bar"},
    "stacked": {"type": "bar"},
}


def specification(plot: Plot, labels: Labels) -> dict[str, Any]:
    """The specification of a plot, with every word in the labels' language."""
    layers = [series_layer(plot, labels)]
    layers += [rule_layer("y", value, labels.plain(name)) for value, name in plot.marks]
    middle = middle_of(plot)
    for value, name in plot.x_marks:
        layers.append(rule_layer("x", value, labels.plain(name), leftward=value > middle))
    return {
        "$schema": SCHEMA,
        "width": WIDTH,
        "height": HEIGHT,
        "background": None,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "config": look(),
        "layer": layers,
    }


def series_layer(plot: Plot, labels: Labels) -> dict[str, Any]:
    """The data themselves. One series needs no legend."""
    rows = [
        {"x": x, "y": y, "series": labels.plain(series.name)}
        for series in plot.series
        for x, y in series.points
    ]
    encoding: dict[str, Any] = {
        "x": axis("x", plot.x, labels, discrete=plot.kind in {"bar", "stacked"}),
        "y": axis("y", plot.y, labels, discrete=False),
        "color": {
            "field": "series",
            "type": "nominal",
            "sort": None,
            "scale": {"range": SERIES_COLOURS},
            "legend": LEGEND if len(plot.series) > 1 else None,
        },
    }
    if plot.kind == "bar" and len(plot.series) > 1:
        encoding["xOffset"] = {"field": "series", "sort": None}
    return {"data": {"values": rows}, "mark": MARKS[plot.kind], "encoding": encoding}


def axis(channel: str, about: Axis, labels: Labels, *, discrete: bool) -> dict[str, Any]:
    """One axis with its title and unit."""
    title = labels.text(f"axis.{about.name}")
    if about.unit:
        title = f"{title} ({labels.texts[f'unit.{about.unit}']})"
    if discrete:
        return {
            "field": channel,
            "type": "nominal",
            "sort": None,
            "title": title,
            "axis": {"labelAngle": 0},
        }
    scale: dict[str, Any] = {"type": "log"} if about.log else {"zero": channel == "y"}
    return {"field": channel, "type": "quantitative", "title": title, "scale": scale}


def middle_of(plot: Plot) -> float:
    """The value half-way along the horizontal axis."""
    values = [x for series in plot.series for x, _ in series.points if isinstance(x, int | float)]
    if not values:
        return math.inf
    low, high = min(values), max(values)
    return math.sqrt(low * high) if plot.x.log else (low + high) / 2


def rule_layer(channel: str, value: float, name: str, *, leftward: bool = False) -> dict[str, Any]:
    """A line across the plot with its name, which stands to the left of a line near the right end.

    The name is drawn twice, first wide in the colour of the ground, so that no line strikes it out.
    """
    place: dict[str, Any] = {"y": 8, "dx": 4, "align": "left"}
    if channel == "y":
        place = {"x": 4, "dy": -6, "align": "left"}
    elif leftward:
        place = {"y": 8, "dx": -4, "align": "right"}
    halo = {"stroke": "var(--cp-surface)", "strokeWidth": 4, "strokeJoin": "round"}
    return {
        "data": {"values": [{channel: value, "name": name}]},
        "encoding": {channel: {"field": channel, "type": "quantitative"}},
        "layer": [
            {"mark": {"type": "rule", "strokeDash": [4, 3], "color": "var(--cp-mark)"}},
            *(
                {
                    "mark": {"type": "text", "color": "var(--cp-mark)", **more, **place},
                    "encoding": {"text": {"field": "name"}},
                }
                for more in (halo, {})
            ),
        ],
    }


def look() -> dict[str, Any]:
    """Colours and type of all plots."""
    text, line = "var(--cp-text)", "var(--cp-line)"
    return {
        "font": "system-ui, sans-serif",
        "view": {"stroke": None},
        "axis": {
            "labelColor": text,
            "titleColor": text,
            "gridColor": line,
            "domainColor": line,
            "tickColor": line,
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "titlePadding": 8,
            "labelFlush": False,
            "labelSeparation": 8,
        },
        "legend": {"labelColor": text, "labelFontSize": 12, "columnPadding": 16},
        "text": {"fontSize": 12},
    }
