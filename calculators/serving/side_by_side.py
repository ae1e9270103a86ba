"""Tables of small runs: all policies side by side, and all requests of one."""

from collections.abc import Mapping
from fractions import Fraction

from calculators.serving.records import Outcome, Run
from calculators.serving.request import Time
from calculators.serving.slo import Slo, attainment, e2e, tpot
from calculators.show.blocks import Cell, Message, Table
from calculators.show.quantity import Quantity


def policy_name(name: str) -> Message:
    """The label of a policy."""
    return Message(f"option.policy.{name}")


def comparison(runs: Mapping[str, Run], slo: Slo) -> Table:
    """All policies side by side."""
    return Table(
        id="policies",
        columns=(
            *("policy", "mean_ttft", "worst_itl", "mean_e2e", "last_finish", "iterations"),
            *("preemptions", "good_of_arrived", "good_of_completed"),
        ),
        rows=tuple(comparison_row(name, run, slo) for name, run in runs.items()),
    )


def comparison_row(name: str, run: Run, slo: Slo) -> tuple[Cell, ...]:
    """One policy."""
    reached = attainment(run.outcomes, slo)
    gaps = [gap for outcome in run.outcomes for gap in outcome.itl]
    ends = [o.end for o in run.outcomes if o.status == "finished" and o.end is not None]
    return (
        policy_name(name),
        mean([outcome.ttft for outcome in run.outcomes]),
        shown(max(gaps, default=None)),
        mean([e2e(outcome) for outcome in run.outcomes]),
        shown(max(ends, default=None)),
        Quantity(len(run.schedule)),
        Quantity(sum(outcome.preemptions for outcome in run.outcomes)),
        f"{len(reached.good)} / {reached.arrived}",
        f"{len(reached.good)} / {reached.finished}",
    )


def mean(values: list[Time | None]) -> Quantity | None:
    """The mean of those that are there."""
    known = [Fraction(value) for value in values if value is not None]
    return Quantity(sum(known, Fraction(0)) / len(known)) if known else None


def shown(value: Time | None) -> Quantity | None:
    """A time, or nothing."""
    return None if value is None else Quantity(value)


REQUEST_COLUMNS = (
    *("request", "status", "t_queue", "t_prompt_path", "t_first_content", "ttft"),
    *("itl", "tpot", "e2e", "preemptions", "good"),
)


def request_table(run: Run, slo: Slo) -> Table:
    """What every request saw."""
    return Table(
        id="requests",
        columns=REQUEST_COLUMNS,
        rows=tuple(request_row(outcome, slo) for outcome in run.outcomes),
    )


def request_row(outcome: Outcome, slo: Slo) -> tuple[Cell, ...]:
    """What one request saw."""
    return (
        outcome.request.id,
        Message(f"request.{outcome.reason or outcome.status}"),
        shown(outcome.t_queue),
        shown(outcome.t_prompt_path),
        shown(outcome.t_first_content),
        shown(outcome.ttft),
        ", ".join(map(str, outcome.itl)) or None,
        shown(tpot(outcome)),
        shown(e2e(outcome)),
        Quantity(outcome.preemptions),
        Message("cell.yes" if slo.met(outcome) else "cell.no"),
    )
