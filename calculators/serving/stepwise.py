"""One run step by step: a frame an iteration, the written-out lengths, the schedule, plain data.

Frames and lengths stop after the iterations that are drawn; the schedule and the data have all.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from calculators.serving.drawn import by_start, columns
from calculators.serving.records import Iteration, Outcome, Run
from calculators.serving.slo import counts
from calculators.show.blocks import Cell, Derivation, Drawing, Frame, Message, Step, Table
from calculators.show.quantity import Quantity
from calculators.show.timeline import GridCell, GridColumn, grid_svg

WINDOW = 8  # columns of the grid in a frame: the iteration of the frame and those before it


def grid_drawing(name: Message, run: Run) -> Drawing:
    """The whole iteration grid of a run."""
    names = [outcome.request.id for outcome in run.outcomes]
    made = columns(run)
    return Drawing(
        id="grid",
        svg=grid_svg(names, made),
        alt=Message("alt.grid", {"policy": name, "requests": len(names), "iterations": len(made)}),
    )


def frames(run: Run) -> Iterator[Frame]:
    """One frame an iteration: what every request does in it, and its tokens so far."""
    made = columns(run)
    for index, one in enumerate(by_start(run)):
        caption = Message(
            "frame.iteration", {"worker": one.worker, "start": one.start, "end": one.end}
        )
        rows = tuple(
            frame_row(outcome, cell, one)
            for outcome, cell in zip(run.outcomes, made[index].cells, strict=True)
        )
        table = Table(id="frame", columns=("request", "does", "tokens_shown"), rows=rows)
        yield Frame(caption=caption, blocks=(window(run, made, index), table))


def window(run: Run, made: Sequence[GridColumn], index: int) -> Drawing:
    """The grid up to an iteration, which is marked; what comes later is not known yet."""
    first = max(0, index + 1 - WINDOW)
    shown = made[first : index + 1]
    names = [outcome.request.id for outcome in run.outcomes]
    return Drawing(
        id="step",
        svg=grid_svg(names, shown, places=min(WINDOW, len(made)), now=index - first),
        alt=Message("alt.step", {"number": index + 1}),
    )


def frame_row(outcome: Outcome, cell: GridCell, one: Iteration) -> tuple[Cell, ...]:
    """A request during an iteration."""
    tokens = sum(time <= one.end for time in outcome.token_times)
    values = {"tokens": cell.tokens} if cell.doing == "prefill" else {}
    return (
        outcome.request.id,
        Message(f"does.{cell.doing}", values),
        f"{tokens} / {outcome.request.output}",
    )


def durations(run: Run, a: int, b: int, c: int) -> Derivation:
    """The length of every iteration, written out."""
    steps = []
    for one in by_start(run):
        tokens = sum(n for _, n in one.prefill)
        written = f"{a} + {b}·{tokens} + {c}·{one.seats}"
        steps.append(
            Step(
                label=Message("step.iteration", {"start": one.start, "end": one.end}),
                expression=written,
                quantity=Quantity(one.end - one.start),
            )
        )
    return Derivation(id="durations", steps=tuple(steps))


def schedule_table(runs: Mapping[str, Run]) -> Table:
    """All iterations and transfers under every policy."""
    return Table(
        id="schedule",
        columns=(
            *("policy", "worker", "start", "end", "prefill", "decode", "emitted", "preempted"),
        ),
        rows=tuple(row for name, run in runs.items() for row in schedule_rows(name, run)),
        folded=True,
    )


def schedule_rows(name: str, run: Run) -> Iterator[tuple[Cell, ...]]:
    """The iterations and transfers of one run."""
    policy = Message(f"option.policy.{name}")
    for one in run.schedule:
        yield (
            policy,
            one.worker,
            Quantity(one.start),
            Quantity(one.end),
            ", ".join(f"{name}:{tokens}" for name, tokens in one.prefill) or None,
            ", ".join(one.decode) or None,
            ", ".join(one.emitted) or None,
            ", ".join(one.preempted) or None,
        )
    for move in run.transfers:
        times = (Quantity(move.start), Quantity(move.end))
        yield (policy, "link", *times, move.request, None, None, None)


def grid(run: Run) -> dict[str, Any]:
    """The iteration grid and the Gantt chart as plain data, for a drawing and for exports."""
    return {
        "iterations": [
            {
                "worker": one.worker,
                "start": str(one.start),
                "end": str(one.end),
                "prefill": dict(one.prefill),
                "decode": list(one.decode),
                "emitted": list(one.emitted),
                "preempted": list(one.preempted),
            }
            for one in run.schedule
        ],
        "requests": [
            {
                "id": outcome.request.id,
                "arrival": str(outcome.request.arrival),
                "first_scheduled": None
                if outcome.first_scheduled is None
                else str(outcome.first_scheduled),
                "token_times": [str(time) for time in outcome.token_times],
                "end": None if outcome.end is None else str(outcome.end),
                "status": outcome.status,
            }
            for outcome in run.outcomes
        ],
        "counts": counts(run.outcomes),
    }
