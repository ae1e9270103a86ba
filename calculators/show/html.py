"""Blocks to HTML. All text is escaped here; there is no inline script or style (strict CSP)."""

import json
import math
from html import escape

from calculators.show.blocks import (
    Block,
    Code,
    Derivation,
    Drawing,
    Frames,
    Notes,
    Number,
    Numbers,
    Plot,
    Result,
    Section,
    Table,
)
from calculators.show.labels import Labels
from calculators.show.quantity import Quantity, machine_text
from calculators.show.vega import specification

NUMERIC = ' class="cp-num"'  # stands at the right, as do the digits of a sum


def render(result: Result, labels: Labels) -> str:
    """The whole answer."""
    return "\n".join(block_html(block, labels) for block in result.blocks)


def block_html(block: Block, labels: Labels) -> str:  # noqa: C901, PLR0911 - one case a block
    """One block."""
    match block:
        case Number():
            return f'<dl class="cp-numbers">{number(block, labels)}</dl>'
        case Numbers():
            items = "".join(number(item, labels) for item in block.items)
            return f'<dl class="cp-numbers">{items}</dl>'
        case Table():
            return table(block, labels)
        case Derivation():
            return derivation(block, labels)
        case Notes():
            return notes(block, labels)
        case Plot():
            return plot(block, labels)
        case Code():
            return code(block, labels)
        case Drawing():
            return drawing(block, labels)
        case Frames():
            return frames(block, labels)
        case Section():
            return section(block, labels)


def number(item: Number, labels: Labels) -> str:
    """One figure; bytes show their exact count below the rounded one."""
    lead = ' class="cp-lead"' if item.lead else ""
    exact = exact_bytes(item.quantity, labels)
    return (
        f"<div{lead}><dt>{escape(labels.text(f'result.{item.id}'))}</dt>"
        f"<dd>{labels.html(item.quantity)}{exact}</dd></div>"
    )


def exact_bytes(quantity: Quantity, labels: Labels) -> str:
    """The exact count of a rounded number of bytes."""
    if quantity.unit != "bytes" or isinstance(quantity.value, float) or quantity.value < 1024:  # noqa: PLR2004
        return ""
    text = labels.text("common.exact", {"text": f"{quantity.value:,}"})
    return f' <small class="cp-exact">{escape(text)}</small>'


def table(block: Table, labels: Labels) -> str:
    """A table in a region of its own that scrolls and takes the keyboard."""
    caption = escape(labels.text(f"table.{block.id}"))
    grid = grid_html([labels.text(f"column.{c}") for c in block.columns], block.rows, labels)
    inner = scroll(grid, caption)
    if block.folded:
        return f"<details><summary>{caption}</summary>{inner}</details>"
    return f'<p class="cp-caption">{caption}</p>{inner}'


def scroll(inner: str, name: str) -> str:
    """A named group that scrolls sideways on a narrow screen; no landmark, since there are many."""
    return f'<div class="cp-scroll" role="group" aria-label="{name}" tabindex="0">{inner}</div>'


def grid_html(heads: list[str], rows: tuple[tuple[object, ...], ...], labels: Labels) -> str:
    """The ``<table>`` itself; the first cell heads its row, and a head stands over its column."""
    numeric = {n for row in rows for n, cell in enumerate(row) if n and isinstance(cell, Quantity)}
    head = "".join(
        f'<th scope="col"{NUMERIC if n in numeric else ""}>{escape(text)}</th>'
        for n, text in enumerate(heads)
    )
    body = "".join(f"<tr>{row_html(row, labels)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def row_html(row: tuple[object, ...], labels: Labels) -> str:
    """The cells of a row, numbers marked for right alignment."""
    cells = []
    for index, cell in enumerate(row):
        numeric = NUMERIC if isinstance(cell, Quantity) else ""
        shown = labels.html(cell)  # type: ignore[arg-type]
        cells.append(
            f'<th scope="row">{shown}</th>' if index == 0 else f"<td{numeric}>{shown}</td>"
        )
    return "".join(cells)


def derivation(block: Derivation, labels: Labels) -> str:
    """Steps one can follow by hand."""
    heading = escape(labels.text(f"derivation.{block.id}"))
    items = []
    for step in block.steps:
        value = ""
        if step.quantity is not None:
            value = f' <span class="cp-equals">= {labels.html(step.quantity)}</span>'
        label = escape(labels.plain(step.label))
        items.append(
            f'<li><span class="cp-what">{label}</span> '
            f'<code class="cp-expression">{escape(step.expression)}</code>{value}</li>'
        )
    steps = f'<ol class="cp-derivation">{"".join(items)}</ol>'
    return f'<p class="cp-caption">{heading}</p>{scroll(steps, heading)}'


def notes(block: Notes, labels: Labels) -> str:
    """Qualifying sentences."""
    items = "".join(f"<li>{escape(labels.plain(message))}</li>" for message in block.items)
    return f'<ul class="cp-notes cp-{block.kind}">{items}</ul>' if items else ""


def plot(block: Plot, labels: Labels) -> str:
    """A figure whose drawing the bridge (or the build) puts in, and its numbers as a table."""
    title = escape(labels.text(f"plot.{block.id}"))
    alt = escape(labels.text(f"plot.{block.id}.alt", block.alt), quote=True)
    spec = json.dumps(specification(block, labels), ensure_ascii=False).replace("<", "\\u003c")
    heads = [
        labels.text("common.series"),
        *(labels.text(f"axis.{a.name}") for a in (block.x, block.y)),
    ]
    rows = tuple(
        (labels.plain(series.name), cell_text(x), cell_text(y))
        for series in block.series
        for x, y in series.points
    )
    numbers = scroll(grid_html(heads, rows, labels), title)
    return (
        f'<figure class="cp-plot"><figcaption>{title}</figcaption>'
        f'<div class="cp-canvas" role="img" aria-label="{alt}"></div>'
        f'<script type="application/json" class="cp-spec">{spec}</script>'
        f"<details><summary>{escape(labels.text('common.plot_data'))}</summary>{numbers}</details>"
        "</figure>"
    )


def cell_text(value: float | str) -> str:
    """A coordinate as text: whole numbers without a decimal point, a dash for no number."""
    if isinstance(value, str):
        return value
    if not math.isfinite(value):
        return "–"
    return f"{value:,.0f}" if value == int(value) else f"{value:,.4g}"


def code(block: Code, labels: Labels) -> str:
    """Text to copy."""
    heading = escape(labels.text(f"code.{block.id}"))
    return (
        f'<p class="cp-caption">{heading}</p><pre class="cp-code" tabindex="0" '
        f'aria-label="{heading}"><code>{escape(block.text)}</code></pre>'
    )


def drawing(block: Drawing, labels: Labels) -> str:
    """A hand-made figure with its text alternative."""
    title = escape(labels.text(f"drawing.{block.id}"))
    alt = escape(labels.plain(block.alt), quote=True)
    return (
        f'<figure class="cp-drawing"><figcaption>{title}</figcaption>'
        f'<div class="cp-scroll" role="img" aria-label="{alt}" tabindex="0">{block.svg}</div>'
        "</figure>"
    )


def frames(block: Frames, labels: Labels) -> str:
    """Frames one below the other; the bridge turns them into a slider."""
    count = len(block.frames)
    parts = []
    for index, frame in enumerate(block.frames, start=1):
        where = labels.text("common.frame", {"number": index, "count": count})
        inner = "".join(block_html(inner, labels) for inner in frame.blocks)
        parts.append(
            f'<section class="cp-frame" aria-label="{escape(where, quote=True)}">'
            f'<p class="cp-caption"><span class="cp-where">{escape(where)}</span> '
            f"{escape(labels.plain(frame.caption))}</p>{inner}</section>"
        )
    label = escape(labels.text(f"frames.{block.id}"), quote=True)
    return f'<div class="cp-frames" data-label="{label}">{"".join(parts)}</div>'


def section(block: Section, labels: Labels) -> str:
    """Blocks under a heading, folded if they are secondary."""
    heading = escape(labels.text(f"section.{block.id}"))
    inner = "".join(block_html(inner, labels) for inner in block.blocks)
    if block.folded:
        return f"<details><summary>{heading}</summary>{inner}</details>"
    return f'<section class="cp-section"><p class="cp-heading">{heading}</p>{inner}</section>'


def value_html(quantity: Quantity, labels: Labels) -> str:
    """A figure in running text, marked as computed."""
    exact = escape(machine_text(quantity.value), quote=True)
    return f'<data class="cp-computed" value="{exact}">{escape(labels.quantity(quantity))}</data>'
