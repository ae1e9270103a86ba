"""One run step by step: a frame an iteration, the written-out lengths, the schedule, plain data."""

from collections.abc import Iterator
from typing import Any

from calculators.serving.records import Iteration, Outcome, Run
from calculators.serving.slo import counts
from calculators.show.blocks import Cell, Derivation, Frame, Message, Step, Table
from calculators.show.quantity import Quantity


def frames(run: Run) -> Iterator[Frame]:
    """One frame an iteration: what every request does in it, and its tokens so far."""
    for one in sorted(run.schedule, key=lambda one: (one.start, one.worker)):
        caption = Message(
            "frame.iteration", {"worker": one.worker, "start": one.start, "end": one.end}
        )
        rows = tuple(frame_row(outcome, one) for outcome in run.outcomes)
        table = Table(id="frame", columns=("request", "does", "tokens_shown"), rows=rows)
        yield Frame(caption=caption, blocks=(table,))


def frame_row(outcome: Outcome, one: Iteration) -> tuple[Cell, ...]:
    """A request during an iteration."""
    tokens = sum(time <= one.end for time in outcome.token_times)
    return (
        outcome.request.id,
        activity(outcome, one),
        f"{tokens} / {outcome.request.output}",
    )


def activity(outcome: Outcome, one: Iteration) -> Message:
    """What a request does while an iteration runs."""
    name = outcome.request.id
    prefill = dict(one.prefill)
    if name in prefill:
        return Message("does.prefill", {"tokens": prefill[name]})
    if name in one.decode:
        return Message("does.decode")
    if name in one.preempted:
        return Message("does.preempted")
    if outcome.end is not None and outcome.end <= one.start:
        return Message(f"does.{'finished' if outcome.status == 'finished' else 'gone'}")
    if outcome.request.arrival >= one.end:
        return Message("does.not_here")
    return Message("does.waits")


def durations(run: Run, a: int, b: int, c: int) -> Derivation:
    """The length of every iteration, written out."""
    steps = []
    for one in run.schedule:
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


def schedule_table(run: Run) -> Table:
    """All iterations and transfers of a run."""
    rows: list[tuple[Cell, ...]] = [
        (
            one.worker,
            Quantity(one.start),
            Quantity(one.end),
            ", ".join(f"{name}:{tokens}" for name, tokens in one.prefill) or None,
            ", ".join(one.decode) or None,
            ", ".join(one.emitted) or None,
            ", ".join(one.preempted) or None,
        )
        for one in run.schedule
    ]
    empty: tuple[Cell, ...] = (None, None, None)
    rows += [
        ("link", Quantity(one.start), Quantity(one.end), one.request, *empty)
        for one in run.transfers
    ]
    return Table(
        id="schedule",
        columns=("worker", "start", "end", "prefill", "decode", "emitted", "preempted"),
        rows=tuple(rows),
    )


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
