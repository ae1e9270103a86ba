"""Plots to Vega-Lite specifications, drawn at build time and in the browser from the same text.

Colours are CSS variables, so that one drawing serves both schemes. No data is fetched, no
expression is evaluated as code (the interpreter runs under a strict CSP).
"""

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
    layers += [rule_layer("x", value, labels.plain(name)) for value, name in plot.x_marks]
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


def rule_layer(channel: str, value: float, name: str) -> dict[str, Any]:
    """A line across the plot with its name."""
    offset = (
        {"dy": -6, "align": "left", "x": 4}
        if channel == "y"
        else {"dx": 4, "align": "left", "y": 8}
    )
    return {
        "data": {"values": [{channel: value, "name": name}]},
        "encoding": {channel: {"field": channel, "type": "quantitative"}},
        "layer": [
            {"mark": {"type": "rule", "strokeDash": [4, 3], "color": "var(--cp-mark)"}},
            {
                "mark": {"type": "text", "color": "var(--cp-mark)", **offset},
                "encoding": {"text": {"field": "name"}},
            },
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
        },
        "legend": {"labelColor": text, "labelFontSize": 12},
        "text": {"fontSize": 12},
    }
