"""The kept scenarios, hand-derived, to the integer: with and without the handed files."""

import json
from pathlib import Path

import pytest

from calculators.serving import disaggregated, engine, fast
from calculators.serving.costs import Linear
from calculators.serving.disaggregated import Split
from calculators.serving.request import Request
from calculators.serving.settings import Settings
from calculators.serving.slo import Slo, attainment
from scripts.truth import serving_cases

ROOT = Path(__file__).parents[2]
TRUTH = json.loads((ROOT / "data" / "truth" / "serving.json").read_text(encoding="utf-8"))
RUNS = [
    pytest.param(scenario, case, id=f"{scenario['id']}-{index}-{case['policy']}")
    for scenario in TRUTH["scenarios"]
    for index, case in enumerate(scenario["runs"])
]


def simulated(scenario, case):
    """The run of a kept scenario."""
    requests = [Request(**stated) for stated in scenario["requests"]]
    cost = Linear(**scenario["cost"])
    if case["policy"] == "pd":
        return disaggregated.run(requests, Split(**case["params"]), cost)
    return engine.run(requests, Settings(policy=case["policy"], **case["params"]), cost)


def on_fast_path(case):
    """Whether the fast path gives the token times of a kept run; that of P/D gives metrics."""
    return case["policy"] != "pd" and fast.covers(Settings(policy=case["policy"], **case["params"]))


@pytest.mark.parametrize(("scenario", "case"), RUNS)
def test_kept_scenarios(scenario, case):
    """Token times, starts, ends, statuses, preemptions, iterations and the queue."""
    run = simulated(scenario, case)

    by_id = {o.request.id: o for o in run.outcomes}
    assert case["tokens"] == {name: list(o.token_times) for name, o in by_id.items()}
    assert case["first"] == {name: o.first_scheduled for name, o in by_id.items()}
    assert case["end"] == {name: o.end for name, o in by_id.items()}
    assert case["status"] == {name: o.reason or o.status for name, o in by_id.items()}
    assert case["preempted"] == {n: o.preemptions for n, o in by_id.items() if o.preemptions}
    made = [[one.worker, one.start, one.end] for one in run.schedule]
    made += [["link", one.start, one.end] for one in run.transfers]
    assert sorted(case["iterations"]) == sorted(made)
    if case["waiting"] is not None:
        assert case["waiting"] == [list(step) for step in run.waiting_steps]
    if scenario["slo"] is not None:
        assert case["good"] == list(attainment(run.outcomes, Slo(**scenario["slo"])).good)


@pytest.mark.parametrize(("scenario", "case"), [run for run in RUNS if on_fast_path(run.values[1])])
def test_kept_scenarios_on_the_fast_path(scenario, case):
    """The same token times where the fast path covers the run."""
    requests = [Request(**stated) for stated in scenario["requests"]]
    options = Settings(policy=case["policy"], **case["params"])

    found = fast.run(requests, options, Linear(**scenario["cost"])).outcomes()

    assert case["tokens"] == {o.request.id: list(o.token_times) for o in found}


def test_unknown_keys_are_not_run():
    """A case with a key that the adapter does not know never counts as passed."""
    document = {
        "schema": "sched_cases/1",
        "scenarios": [
            {
                "id": "X",
                "cost": {"a": 1, "b": 1, "c": 1},
                "requests": [{"id": "A", "arrival": 0, "prompt": 1, "output": 1}],
                "runs": [{"policy": "orca", "params": {"speculative": 3}}],
            }
        ],
    }

    outcomes = [v.outcome for v in serving_cases.verdicts(document, Path("x.json"))]

    assert outcomes == ["not run"]
