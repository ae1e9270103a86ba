"""Schedules as SVG from plain data: the iteration grid, and the Gantt chart of requests.

In the grid rows are requests and columns are iterations, whatever their length; in the chart the
time runs to the right and every scheduler has the same axis. What happens is told by a letter
(``LETTERS``) and by a shape; colour is only a third sign. No language, no ids, styles or scripts:
colours are the page's classes (``cp-time-…``). A grid keeps its size and scrolls where the screen
is narrower; the chart fits a phone. Left out: more columns than one can follow
(``MOST_COLUMNS``).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

type Doing = Literal[
    "prefill", "decode", "preempted", "waits", "elsewhere", "finished", "gone", "not_here"
]
type Kind = Literal["queue", "prompt", "content", "decode", "recompute", "transfer", "stall"]

LETTERS: dict[Kind, str] = {
    "queue": "Q",
    "prompt": "P",
    "content": "C",
    "decode": "D",
    "recompute": "R",
    "transfer": "T",
    "stall": "S",
}
SIGNS: dict[Doing, str] = {"decode": "D", "preempted": "×", "waits": "·", "elsewhere": "→"}
MOST_COLUMNS = 60

FONT = 13
DIGIT = 7.6  # width of a digit at this size
ROW = 30
CELL = 32  # least width of a column
HEAD = 22
NAME_MOST = 7  # characters of a name that are shown
CHART_WIDTH = 312  # what a phone leaves; wider screens show the chart larger
LANE = 22
GROUP_HEAD = 22
AXIS = 24
TICKS = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class GridCell:
    """What a request does in an iteration; ``ends`` where it is done at the end of it."""

    doing: Doing
    tokens: int = 0
    ends: bool = False

    @property
    def sign(self) -> str:
        """``P4``: prefill of 4 tokens."""
        return f"P{self.tokens}" if self.doing == "prefill" else SIGNS.get(self.doing, "")


@dataclass(frozen=True, kw_only=True, slots=True)
class GridColumn:
    """An iteration: its number, its start as text, its worker if there are several."""

    number: int
    start: str
    cells: tuple[GridCell, ...]
    worker: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """A stretch of a request's life."""

    kind: Kind
    start: float
    end: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Lane:
    """A request: its stretches in order, its token times, and where and how it ended.

    ``fate`` "cut" is a timeout or a reject, "open" one that the end of the observation left over.
    """

    name: str
    spans: tuple[Span, ...]
    tokens: tuple[float, ...]
    end: float | None
    fate: Literal["finished", "cut", "open"]


@dataclass(frozen=True, kw_only=True, slots=True)
class LaneGroup:
    """The requests under one scheduler; ``name`` is data, such as an engine's name."""

    name: str
    lanes: tuple[Lane, ...]


def grid_svg(
    names: Sequence[str],
    columns: Sequence[GridColumn],
    *,
    places: int | None = None,
    now: int | None = None,
) -> str:
    """The grid. ``places`` keeps room for as many columns, ``now`` is the one to look at."""
    left, step = names_width(names), cell_width(columns)
    head = HEAD + (16 if any(column.worker for column in columns) else 0)
    bottom = head + ROW * len(names)
    width = left + step * (places or len(columns)) + 6
    parts = [
        f'<path class="cp-time-rule" d="M{left} {head + ROW * row}H{width - 6:g}"/>'
        for row in range(len(names) + 1)
    ]
    parts += [
        text(6, head + ROW * row + 20, shortened(name), "cp-time-name")
        for row, name in enumerate(names)
    ]
    for place, column in enumerate(columns):
        x = left + step * place
        if place == now:
            parts.append(rect("cp-time-now", x, head, step, bottom - head))
        parts += column_svg(column, x, step, head, bottom)
    return svg(width, bottom + AXIS, parts)


def column_svg(
    column: GridColumn, x: float, step: float, head: float, bottom: float
) -> Iterator[str]:
    """One iteration: number above, start below, a cell a request."""
    middle = x + step / 2
    yield text(middle, 16, str(column.number), "cp-time-mid")
    if column.worker:
        yield text(middle, 33, column.worker[:3], "cp-time-mid")
    yield text(x + 2, bottom + 17, column.start, "cp-time-small")
    yield f'<path class="cp-time-rule" d="M{x:g} {bottom}v5"/>'
    for row, cell in enumerate(column.cells):
        y = head + ROW * row
        if cell.doing in {"prefill", "decode", "preempted"}:
            yield rect(f"cp-time-{cell.doing}", x + 2, y + 3, step - 4, ROW - 6)
        if cell.sign:
            yield text(middle, y + 20, cell.sign, "cp-time-mid")
        if cell.ends:
            yield f'<path class="cp-time-end" d="M{x + step:g} {y + 1}v{ROW - 2}"/>'


def gantt_svg(groups: Sequence[LaneGroup]) -> str:
    """The chart: one lane a request, one block a scheduler, one axis for all."""
    left = names_width([lane.name for group in groups for lane in group.lanes])
    latest = max((latest_of(lane) for group in groups for lane in group.lanes), default=0.0)
    scale = (CHART_WIDTH - left - 14) / (latest or 1)
    parts: list[str] = []
    y = 0.0
    for group in groups:
        parts.append(text(6, y + 16, group.name, "cp-time-name"))
        y += GROUP_HEAD
        for lane in group.lanes:
            parts.append(text(12, y + 16, shortened(lane.name), ""))
            parts += lane_svg(lane, left, y, scale)
            y += LANE
    rules = [
        f'<path class="cp-time-rule" d="M{left + at * scale:g} 4V{y + 5:g}"/>'
        + text(left + at * scale, y + 19, f"{at:,g}", "cp-time-small cp-time-mid")
        for at in ticks(latest)
    ]
    return svg(CHART_WIDTH, y + AXIS, [*rules, *parts], "cp-time cp-time-chart")


def lane_svg(lane: Lane, left: float, y: float, scale: float) -> Iterator[str]:
    """One request: its stretches, a tick a token, a bar or a cross at its end."""
    for span in lane.spans:
        x, width = left + span.start * scale, (span.end - span.start) * scale
        if span.kind == "stall":
            yield f'<path class="cp-time-stall" d="M{x:g} {y + 11:g}h{width:g}"/>'
        else:
            yield rect(f"cp-time-{span.kind}", x, y + 3, width, LANE - 6)
        if width >= 2 * DIGIT:
            mark = "cp-time-mid cp-time-letter" if span.kind == "stall" else "cp-time-mid"
            yield text(x + width / 2, y + 16, LETTERS[span.kind], mark)
    if lane.tokens:
        dots = "".join(f"M{left + at * scale:g} {y + 3:g}v5" for at in lane.tokens)
        yield f'<path class="cp-time-token" d="{dots}"/>'
    if lane.end is not None and lane.fate == "finished":
        yield f'<path class="cp-time-end" d="M{left + lane.end * scale:g} {y + 1:g}v{LANE - 2}"/>'
    elif lane.end is not None:
        yield text(left + lane.end * scale, y + 16, "×", "cp-time-mid cp-time-cut")


def latest_of(lane: Lane) -> float:
    """The last instant that a lane shows."""
    return max([span.end for span in lane.spans] + ([] if lane.end is None else [lane.end]) + [0.0])


def ticks(latest: float) -> list[float]:
    """Round instants from 0 on, at most ``TICKS`` + 1 of them."""
    step = 1.0
    while latest / step > TICKS:
        step *= 2.5 if str(step).startswith("2") else 2
    return [step * number for number in range(int(latest / step) + 1)]


def names_width(names: Sequence[str]) -> float:
    """Room on the left for the longest name."""
    return max((len(shortened(name)) for name in names), default=1) * 9 + 18


def cell_width(columns: Sequence[GridColumn]) -> float:
    """Wide enough for every sign and start."""
    signs = [len(cell.sign) + 1 for column in columns for cell in column.cells]
    starts = [len(column.start) for column in columns]
    return max(CELL, round(max([*signs, *starts], default=0) * DIGIT + 6))


def shortened(name: str) -> str:
    """A name that fits; the table beside has it whole."""
    return name if len(name) <= NAME_MOST else name[: NAME_MOST - 1] + "…"


def text(x: float, y: float, words: str, names: str) -> str:
    """A word at a place."""
    kind = f' class="{names}"' if names else ""
    return f'<text{kind} x="{x:g}" y="{y:g}">{escape(words)}</text>'


def rect(names: str, x: float, y: float, width: float, height: float) -> str:
    """A box."""
    return (
        f'<rect class="{names}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="2"/>'
    )


def svg(width: float, height: float, parts: Sequence[str], names: str = "cp-time") -> str:
    """The drawing in its own size, so that its words are as large as they say."""
    return (
        f'<svg class="{names}" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" font-size="{FONT}" aria-hidden="true" focusable="false">'
        f"{''.join(parts)}</svg>"
    )
