"""Scheduler scenarios (``sched_cases/1``): schedule, token times, metrics and summary of each run.

Simultaneous things have no order of their own, so three listings are compared as sets: the ids in
one iteration's ``decode`` and ``emitted`` lists, and the entries of a schedule that start at one
instant. Under static batching ``decode`` may or may not list the members that are done; both mean
the same, since the end of the iteration tells how many were paid for.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from calculators.form.errors import ParameterError
from calculators.serving import disaggregated, engine
from calculators.serving.costs import Linear
from calculators.serving.disaggregated import Split
from calculators.serving.records import Iteration, Outcome, Run, Transfer
from calculators.serving.request import Request, Time
from calculators.serving.settings import Settings
from calculators.serving.slo import Slo, attainment, counts, e2e, tpot
from scripts.truth.verdict import Verdict

FORMAT = "sched_cases/1"
SCENARIO_KEYS = {"id", "title", "cost", "slo", "requests", "runs"}
RUN_KEYS = {"policy", "params", "schedule", "requests", "summary", "hand_checked"}
COST_KEYS = {"a", "b", "c"}
SLO_KEYS = {"ttft", "tpot"}
SHARED_KEYS = {"max_num_seqs", "block_size", "num_blocks", "max_queue", "prefix_cache", "horizon"}
OWN_KEYS = {
    "static": set[str](),
    "orca": set[str](),
    "prefill_first": {"max_num_batched_tokens"},
    "chunked": {"token_budget"},
    "v1": {"token_budget", "long_prefill_token_threshold"},
}
SPLIT_KEYS = {
    "x0",
    "x1",
    "link",
    "first_token",
    "max_prefill_batch",
    "max_decode_seqs",
    "max_queue",
    "horizon",
}
REQUEST_KEYS = {
    "id",
    "arrival",
    "prompt",
    "output",
    "timeout",
    "prefix_group",
    "prefix_len",
    "first_content_token",
}


def recognises(document: object, path: Path) -> bool:  # noqa: ARG001 - by content, not by name
    """Whether the document says that it is one."""
    return isinstance(document, dict) and document.get("schema") == FORMAT


def verdicts(document: Any, path: Path) -> Iterator[Verdict]:  # noqa: ARG001
    """Every run of every scenario."""
    for scenario in document["scenarios"]:
        seen: dict[str, int] = {}
        for case in scenario["runs"]:
            policy = case["policy"]
            seen[policy] = seen.get(policy, 0) + 1
            name = f"{policy}{seen[policy]}" if seen[policy] > 1 else policy
            yield from run_verdicts(scenario, case, name)


def run_verdicts(scenario: Any, case: Any, name: str) -> Iterator[Verdict]:
    """One run: everything that it states, compared."""
    unknown = unknown_keys(scenario, case)
    if unknown:
        yield not_run(scenario["id"], name, f"keys not known: {', '.join(unknown)}")
        return
    try:
        result = simulate(scenario, case)
    except ParameterError as error:
        yield not_run(scenario["id"], name, str(error))
        return
    computed = {
        "schedule": comparable_schedule(schedule(result)),
        "requests": [row(outcome) for outcome in result.outcomes],
        "summary": summary(result, scenario.get("slo")),
    }
    expected = {
        "schedule": comparable_schedule(case["schedule"]),
        "requests": case["requests"],
        "summary": case["summary"],
    }
    yield from compare(scenario["id"], name, expected, computed, case["policy"])


def not_run(case: str, name: str, reason: str) -> Verdict:
    """A run that could not be tried."""
    return Verdict(
        case=case, figure=name, expected=None, computed=None, outcome="not run", reason=reason
    )


def unknown_keys(scenario: Any, case: Any) -> list[str]:
    """Keys that this adapter would have to ignore."""
    policy = case["policy"]
    known = SPLIT_KEYS if policy == "pd" else SHARED_KEYS | OWN_KEYS.get(policy, set())
    found = set(scenario) - SCENARIO_KEYS | set(case) - RUN_KEYS
    found |= set(scenario["cost"]) - COST_KEYS | set(scenario.get("slo") or {}) - SLO_KEYS
    found |= set(case["params"]) - known
    for request in scenario["requests"]:
        found |= set(request) - REQUEST_KEYS
    if policy != "pd" and policy not in OWN_KEYS:
        found.add(f"policy {policy}")
    return sorted(found)


def simulate(scenario: Any, case: Any) -> Run:
    """The plain engine, or the two workers with their link."""
    requests = [request_of(stated) for stated in scenario["requests"]]
    cost = Linear(**{name: exact(value) for name, value in scenario["cost"].items()})
    params = {name: exact(value) for name, value in case["params"].items()}
    if case["policy"] == "pd":
        params = {"first_shown_by" if k == "first_token" else k: v for k, v in params.items()}
        return disaggregated.run(requests, Split(**params), cost)
    return engine.run(requests, Settings(policy=case["policy"], **params), cost)


def request_of(stated: Mapping[str, Any]) -> Request:
    """A request as the file states it."""
    return Request(**{name: exact(value) for name, value in stated.items()})


def exact(value: Any) -> Any:
    """``"p/q"`` as a fraction; everything else as it is."""
    if isinstance(value, str) and value.replace("/", "", 1).isdecimal() and "/" in value:
        return Fraction(value)
    return value


def shown(value: Time | None) -> int | str | None:
    """A number as the files write it."""
    if value is None:
        return None
    return int(value) if Fraction(value).denominator == 1 else str(Fraction(value))


def schedule(result: Run) -> list[dict[str, Any]]:
    """Iterations and transfers in the vocabulary of the files."""
    return [iteration(i) for i in result.schedule] + [transfer(t) for t in result.transfers]


def iteration(one: Iteration) -> dict[str, Any]:
    """One iteration; what it cut off by the horizon says so and shows no token."""
    stated: dict[str, Any] = {
        "worker": one.worker,
        "start": shown(one.start),
        "end": shown(one.end),
        "prefill": dict(one.prefill),
        "decode": list(one.decode),
    }
    if one.preempted:
        stated["preempted"] = list(one.preempted)
    if one.truncated:
        return {**stated, "truncated_by_horizon": True}
    return {**stated, "emitted": list(one.emitted)}


def transfer(one: Transfer) -> dict[str, Any]:
    """One use of the link."""
    stated = {
        "worker": "link",
        "start": shown(one.start),
        "end": shown(one.end),
        "transfer": one.request,
    }
    return {**stated, "truncated_by_horizon": True} if one.truncated else stated


def comparable_schedule(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Entries by start, end and worker; simultaneous ids sorted."""
    sets = ("decode", "emitted")
    cleaned = [{k: sorted(v) if k in sets else v for k, v in e.items()} for e in entries]
    return sorted(
        cleaned,
        key=lambda e: (
            Fraction(e["start"]),
            e["worker"],
            Fraction(e["end"]),
            e.get("transfer", ""),
        ),
    )


def row(outcome: Outcome) -> dict[str, Any]:
    """A request's line: only what it came to."""
    stated: dict[str, Any] = {"id": outcome.request.id, "status": outcome.status}
    if outcome.reason is not None:
        stated["reason"] = outcome.reason
    if outcome.end is not None:
        stated["end"] = shown(outcome.end)
    stated["token_times"] = [shown(time) for time in outcome.token_times]
    if outcome.first_scheduled is not None:
        stated["t_queue"] = shown(outcome.t_queue)
        stated["first_scheduled"] = shown(outcome.first_scheduled)
    return stated | first_token_part(outcome) | rest_part(outcome)


def first_token_part(outcome: Outcome) -> dict[str, Any]:
    """Metrics of a request that showed at least one token."""
    if not outcome.token_times:
        return {}
    stated: dict[str, Any] = {
        "ttft": shown(outcome.ttft),
        "t_prompt_path": shown(outcome.t_prompt_path),
        "t_first_content": shown(outcome.t_first_content),
        "itl": [shown(gap) for gap in outcome.itl],
    }
    if outcome.request.first_content_token > 1:
        stated["ttft_content"] = shown(outcome.ttft_content)
    return stated


def rest_part(outcome: Outcome) -> dict[str, Any]:
    """Metrics of a finished request, and what else happened to it."""
    stated: dict[str, Any] = {}
    if outcome.status == "finished":
        stated |= {"e2e": shown(e2e(outcome)), "tpot": shown(tpot(outcome))}
    if outcome.preemptions:
        stated |= {"preemptions": outcome.preemptions, "recomputed_kv_tokens": outcome.recomputed}
    if outcome.cached:
        stated["cached_prompt_tokens"] = outcome.cached
    if outcome.transfer:
        stated["kv_transfer"] = [shown(time) for time in outcome.transfer]
    return stated


def summary(result: Run, slo: Mapping[str, Any] | None) -> dict[str, Any]:
    """Counts, and under a service level both attainments and the goodput."""
    stated: dict[str, Any] = dict(counts(result.outcomes))
    if slo is not None:
        limits = {name: exact(value) for name, value in slo.items()}
        reached = attainment(result.outcomes, Slo(**limits))
        stated |= {
            "slo": dict(slo),
            "good": list(reached.good),
            "attainment_all_arrived": shown(reached.all_arrived),
            "attainment_completed_only": shown(reached.completed_only),
            "duration_first_arrival_to_last_finish": shown(reached.duration),
            "goodput_per_time_unit": shown(reached.goodput),
        }
    if result.waiting_steps:
        stated["waiting_queue_steps"] = [[shown(t), n] for t, n in result.waiting_steps]
    return stated


def compare(case: str, name: str, expected: Any, computed: Any, policy: str) -> Iterator[Verdict]:
    """One verdict a schedule entry list, a request and a summary figure."""
    stated, made = expected["schedule"], computed["schedule"]
    if policy == "static":
        stated, made = without_done(stated), without_done(made)
    yield verdict(case, f"{name} schedule", stated, made)
    for want in expected["requests"]:
        got = next((row for row in computed["requests"] if row["id"] == want["id"]), None)
        yield verdict(case, f"{name} request {want['id']}", want, got)
    for key in sorted(set(expected["summary"]) | set(computed["summary"])):
        want, got = expected["summary"].get(key), computed["summary"].get(key)
        if key == "waiting_queue_steps":
            want, got = without_empty_start(want), without_empty_start(got)
        yield verdict(case, f"{name} {key}", want, got)


def without_done(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A static schedule whose decode lists name only members that are still to show a token."""
    last = {name: i for i, entry in enumerate(entries) for name in entry.get("emitted", ())}
    return [
        {**entry, "decode": [name for name in entry["decode"] if last.get(name, i) >= i]}
        for i, entry in enumerate(entries)
    ]


def without_empty_start(steps: list[list[Any]] | None) -> list[list[Any]]:
    """Steps of a queue that is empty before the first of them, whether or not that is written."""
    steps = steps or []
    return steps[1:] if steps and steps[0][1] == 0 else steps


def verdict(case: str, figure: str, expected: Any, computed: Any) -> Verdict:
    """Passed only if equal."""
    return Verdict(
        case=case,
        figure=figure,
        expected=expected,
        computed=computed,
        outcome="passed" if expected == computed else "failed",
    )
