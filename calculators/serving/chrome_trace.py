"""A run as a Chrome trace (chrome://tracing, Perfetto): one lane a worker, one a request.

Format: the JSON object form of the Trace Event Format, complete events ("ph": "X"), times in µs.
A run in units without a name is shown with one unit as one microsecond.
"""

from typing import Any

from calculators.serving.records import Iteration, Outcome, Run

WORKERS, REQUESTS = 1, 2  # the two groups of lanes


def chrome_trace(run: Run) -> dict[str, Any]:
    """The whole run."""
    workers = sorted({one.worker for one in run.schedule})
    events = [named(WORKERS, lane, name) for lane, name in enumerate(workers)]
    events += [iteration(one, workers.index(one.worker)) for one in run.schedule]
    for lane, outcome in enumerate(run.outcomes):
        events.append(named(REQUESTS, lane, outcome.request.id))
        events += stages(outcome, lane)
    return {"traceEvents": events, "displayTimeUnit": "ms"}


def named(group: int, lane: int, name: str) -> dict[str, Any]:
    """The name of a lane."""
    return {"name": "thread_name", "ph": "M", "pid": group, "tid": lane, "args": {"name": name}}


def span(group: int, lane: int, name: str, start: Any, end: Any, **more: Any) -> dict[str, Any]:
    """One box."""
    times = {"ts": float(start), "dur": float(end - start)}
    return {"name": name, "ph": "X", "pid": group, "tid": lane, **times, "args": more}


def iteration(one: Iteration, lane: int) -> dict[str, Any]:
    """One iteration of a worker."""
    name = "prefill + decode" if one.prefill and one.decode else "prefill"
    return span(
        WORKERS,
        lane,
        name if one.prefill else "decode",
        one.start,
        one.end,
        prefill=dict(one.prefill),
        decode=list(one.decode),
        preempted=list(one.preempted),
    )


def stages(outcome: Outcome, lane: int) -> list[dict[str, Any]]:
    """Waiting, prompt path and output of a request."""
    arrival, first, end = outcome.request.arrival, outcome.first_scheduled, outcome.end
    if first is None:
        return [] if end is None else [span(REQUESTS, lane, "waiting", arrival, end)]
    made = [span(REQUESTS, lane, "waiting", arrival, first)]
    if outcome.token_times:
        made.append(span(REQUESTS, lane, "prompt path", first, outcome.token_times[0]))
        made.append(span(REQUESTS, lane, "output", outcome.token_times[0], outcome.token_times[-1]))
    return made
