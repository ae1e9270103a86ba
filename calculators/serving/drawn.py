"""A run as plain data for the drawings: the columns of the iteration grid, the lanes of the chart.

A *stall* is time after the first content in which no iteration works for the request: it is
preempted, or its worker does others' prefill. Truncated iterations have no effect and no lane.
"""

from collections.abc import Iterator, Sequence

from calculators.serving.records import Iteration, Outcome, Run
from calculators.serving.request import Time
from calculators.show.timeline import (
    MOST_COLUMNS,
    Doing,
    GridCell,
    GridColumn,
    Kind,
    Lane,
    LaneGroup,
    Span,
)

type Piece = tuple[Time, Time, Kind]


def by_start(run: Run) -> list[Iteration]:
    """The first iterations of a run in order of time, as many as are drawn."""
    return sorted(run.schedule, key=lambda one: (one.start, one.worker))[:MOST_COLUMNS]


def columns(run: Run) -> tuple[GridColumn, ...]:
    """One column an iteration."""
    several = len({one.worker for one in run.schedule}) > 1
    return tuple(
        GridColumn(
            number=number,
            start=str(one.start),
            cells=tuple(cell(run, outcome, one) for outcome in run.outcomes),
            worker=one.worker if several else "",
        )
        for number, one in enumerate(by_start(run), start=1)
    )


def cell(run: Run, outcome: Outcome, one: Iteration) -> GridCell:
    """What a request does while an iteration runs."""
    name = outcome.request.id
    ends = outcome.status == "finished" and name in one.emitted and outcome.end == one.end
    prefill = dict(one.prefill)
    if name in prefill:
        return GridCell(doing="prefill", tokens=prefill[name], ends=ends)
    if name in one.decode:
        return GridCell(doing="decode", ends=ends)
    return GridCell(doing=idle(run, outcome, one))


def idle(run: Run, outcome: Outcome, one: Iteration) -> Doing:
    """What a request does that an iteration does not work for."""
    name = outcome.request.id
    if name in one.preempted:
        return "preempted"
    if outcome.end is not None and outcome.end <= one.start:
        return "finished" if outcome.status == "finished" else "gone"
    if outcome.request.arrival >= one.end:
        return "not_here"
    return "elsewhere" if is_elsewhere(run, name, one) else "waits"


def is_elsewhere(run: Run, name: str, one: Iteration) -> bool:
    """Whether another worker or the link has the request meanwhile."""
    busy = [(t.start, t.end) for t in run.transfers if t.request == name]
    busy += [
        (other.start, other.end)
        for other in run.schedule
        if other.worker != one.worker and (name in other.decode or name in dict(other.prefill))
    ]
    return any(start < one.end and end > one.start for start, end in busy)


def group(name: str, run: Run) -> LaneGroup:
    """All requests of a run."""
    last = max(
        [one.end for one in run.schedule if not one.truncated]
        + [outcome.end for outcome in run.outcomes if outcome.end is not None],
        default=0,
    )
    return LaneGroup(name=name, lanes=tuple(lane(run, outcome, last) for outcome in run.outcomes))


def lane(run: Run, outcome: Outcome, last: Time) -> Lane:
    """One request; ``last`` is where the observation of an open one ends."""
    end = last if outcome.end is None else outcome.end
    pieces = [] if outcome.status == "not_arrived" else list(stages(run, outcome, end))
    spans = (
        Span(kind=kind, start=float(start), end=float(until))
        for start, until, kind in joined(pieces)
        if until > start
    )
    fate = {"finished": "finished", "timeout": "cut", "rejected": "cut"}.get(outcome.status, "open")
    return Lane(
        name=outcome.request.id,
        spans=tuple(spans),
        tokens=tuple(float(time) for time in outcome.token_times),
        end=None if outcome.end is None else float(outcome.end),
        fate=fate,  # type: ignore[arg-type] # a value of the table above
    )


def stages(run: Run, outcome: Outcome, end: Time) -> Iterator[Piece]:
    """Queue, prompt path, first content, then what iterations did and what they did not."""
    arrival, times = outcome.request.arrival, outcome.token_times
    scheduled = end if outcome.first_scheduled is None else outcome.first_scheduled
    yield arrival, scheduled, "queue"
    first = times[0] if times else end
    yield scheduled, first, "prompt"
    wanted = outcome.request.first_content_token
    content = first if not times else times[wanted - 1] if len(times) >= wanted else end
    yield first, content, "content"
    cursor = content
    for start, until, kind in worked(run, outcome.request.id):
        begin, stop = max(start, cursor), min(until, end)
        if stop > begin:
            yield cursor, begin, "stall"
            yield begin, stop, kind
            cursor = stop
    yield cursor, end, "stall"


def worked(run: Run, name: str) -> list[Piece]:
    """The iterations and transfers that worked for a request, in order."""
    found: list[Piece] = [
        (one.start, one.end, "decode" if name in one.decode else "recompute")
        for one in run.schedule
        if not one.truncated and (name in one.decode or name in dict(one.prefill))
    ]
    found += [(t.start, t.end, "transfer") for t in run.transfers if t.request == name]
    return sorted(found)


def joined(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Neighbours of one kind as one."""
    held: Piece | None = None
    for start, end, kind in pieces:
        if end <= start:
            continue
        if held is not None and held[2] == kind and held[1] == start:
            held = (held[0], end, kind)
            continue
        if held is not None:
            yield held
        held = (start, end, kind)
    if held is not None:
        yield held
