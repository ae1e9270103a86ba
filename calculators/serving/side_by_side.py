"""Tables of small runs: policies side by side, requests, and what the tools report."""

from collections.abc import Mapping
from fractions import Fraction

from calculators.serving.columns import of_outcomes
from calculators.serving.records import Outcome, Run
from calculators.serving.request import Time
from calculators.serving.slo import Slo, attainment, e2e, tpot
from calculators.serving.tools import TOOLS
from calculators.show.blocks import Cell, Derivation, Message, Number, Numbers, Step, Table
from calculators.show.quantity import Quantity

MEDIAN, P99 = Fraction(1, 2), Fraction(99, 100)


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


def figures(run: Run) -> Numbers:
    """The figures that one compares by, of the policy that is looked at."""
    gaps = [gap for outcome in run.outcomes for gap in outcome.itl]
    ends = [o.end for o in run.outcomes if o.status == "finished" and o.end is not None]
    last = run.outcomes[-1]
    found = {
        "last_ttft": last.ttft_content,
        "worst_itl": max(gaps, default=None),
        "last_finish": max(ends, default=None),
        "iterations": len(run.schedule),
        "preemptions": sum(outcome.preemptions for outcome in run.outcomes),
    }
    return Numbers(
        items=tuple(
            Number(id=name, quantity=Quantity(value))
            for name, value in found.items()
            if value is not None
        )
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
    *("first_token", "itl", "tpot", "e2e", "preemptions", "good"),
)


def request_table(runs: Mapping[str, Run], slo: Slo) -> Table:
    """What every request saw under every policy."""
    return Table(
        id="requests",
        columns=("policy", *REQUEST_COLUMNS),
        rows=tuple(
            (policy_name(name), *request_row(outcome, slo))
            for name, run in runs.items()
            for outcome in run.outcomes
        ),
        folded=True,
    )


def chosen_table(run: Run, slo: Slo) -> Table:
    """What every request saw under the policy that is looked at."""
    return Table(
        id="chosen",
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
        shown(outcome.ttft_content),
        shown(outcome.ttft),
        ", ".join(map(str, outcome.itl)) or None,
        shown(tpot(outcome)),
        shown(e2e(outcome)),
        Quantity(outcome.preemptions),
        Message("cell.yes" if slo.met(outcome) else "cell.no"),
    )


def sums(run: Run) -> Derivation:
    """T_queue + T_prompt_path + T_first_content = TTFT, in figures, for each that came so far."""
    steps = tuple(
        Step(
            label=Message("step.request", {"request": outcome.request.id}),
            expression=f"{outcome.t_queue} + {outcome.t_prompt_path} + {outcome.t_first_content}",
            quantity=Quantity(outcome.ttft_content),
        )
        for outcome in run.outcomes
        if outcome.ttft_content is not None
    )
    return Derivation(id="ttft", steps=steps)


def tool_table(run: Run) -> Table:
    """The same run as the benchmark tools report it: their names, formulas, percentile rules."""
    columns = of_outcomes(run.outcomes)
    rows: list[tuple[Cell, ...]] = []
    for tool in TOOLS:
        for name, metric in tool.metrics.items():
            found = metric(columns)
            cuts = (found.percentile(share, tool.rule) for share in (MEDIAN, P99))
            mean_of = None if found.mean is None else Quantity(found.mean)
            rows.append((tool.name, name, mean_of, *map(shown, cuts)))
    return Table(
        id="tools", columns=("tool", "metric", "mean", "p50", "p99"), rows=tuple(rows), folded=True
    )
