"""Prefill and decode on separate workers, skipping over equal decode iterations.

The same integers as `disaggregated`, for requests without deadlines, unlimited queues and memory,
no horizon, and costs that do not read the context; `covers` tells.
"""

import heapq
from collections.abc import Iterable, Sequence
from typing import Any

from calculators.serving.columns import Columns, merged, of_trace
from calculators.serving.costs import Cost
from calculators.serving.disaggregated import Split
from calculators.serving.request import Request, Time, in_order
from calculators.serving.trace import FINISHED, Trace

NEVER = float("inf")


def covers(requests: Iterable[Request], split: Split, cost: Cost) -> bool:
    """Whether `run` can take these."""
    return (
        split.max_queue is None
        and split.num_blocks is None
        and split.horizon is None
        and not cost.reads_context
        and all(request.timeout is None for request in requests)
    )


def run(requests: Iterable[Request], split: Split, cost: Cost) -> Columns:
    """The metrics of the run, in order of (arrival, id)."""
    arriving = list(in_order(tuple(requests)))
    starts: list[Any] = [None] * len(arriving)
    ends: list[Any] = [None] * len(arriving)
    for worker in range(split.prefill_workers):
        mine = slice(worker, None, split.prefill_workers)
        starts[mine], ends[mine] = prefill(arriving[mine], split, cost)
    moving = sorted(
        (i for i, r in enumerate(arriving) if r.output > 1 or split.first_shown_by == "decode"),
        key=lambda index: (ends[index], index),
    )
    ready = transfers(moving, arriving, split, ends)
    parts = []
    for worker in range(split.decode_workers):
        members = moving[worker :: split.decode_workers]
        if worker == 0:  # the requests that end on the prefill side are counted here
            members = sorted({*members, *(set(range(len(arriving))) - set(moving))})
        trace = worker_trace(members, arriving, starts, ends)
        queue = sorted((ready[i], i, place) for place, i in enumerate(members) if i in ready)
        decode([(now, place) for now, _, place in queue], trace, split, cost)
        parts.append(of_trace(trace))
    return merged(parts)


def prefill(requests: Sequence[Request], split: Split, cost: Cost) -> tuple[list[Time], list[Time]]:
    """One prefill worker, whole prompts in batches: when each request starts and ends there."""
    arrivals = [request.arrival for request in requests]
    prompts = [request.prompt for request in requests]
    starts: list[Time] = []
    ends: list[Time] = []
    count = len(requests)
    most = split.max_prefill_batch or count
    now: Time = 0
    first = 0
    while first < count:
        now = max(now, arrivals[first])
        last = first + 1
        full = min(first + most, count)
        while last < full and arrivals[last] <= now:
            last += 1
        end = now + cost.duration(sum(prompts[first:last]), 0, 0)
        starts += [now] * (last - first)
        ends += [end] * (last - first)
        now = end
        first = last
    return starts, ends


def transfers(
    moving: Sequence[int], requests: Sequence[Request], split: Split, ends: Sequence[Any]
) -> dict[int, Time]:
    """When the KV cache of each request has come over the link."""
    ready: dict[int, Time] = {}
    free: Any = 0
    for index in moving:
        start = max(ends[index], free) if split.link == "serial" else ends[index]
        free = ready[index] = start + split.x0 + split.x1 * requests[index].prompt
    return ready


def worker_trace(
    members: Sequence[int], requests: Sequence[Request], starts: Sequence[Any], ends: Sequence[Any]
) -> Trace:
    """The columns of the requests that one decode worker ends, as they leave the prefill side."""
    return Trace(
        requests=[requests[index] for index in members],
        status=bytearray([FINISHED]) * len(members),
        first_scheduled=[starts[index] for index in members],
        first_token=[ends[index] for index in members],
        end=[ends[index] for index in members],
        shown=[requests[index].output for index in members],
        joined=[0] * len(members),
    )


def decode(ready: Sequence[tuple[Time, int]], trace: Trace, split: Split, cost: Cost) -> None:
    """One decode worker: joins between iterations, first ready, first in."""
    arriving = [*ready, (NEVER, 0)]
    most = split.max_decode_seqs or len(arriving)
    from_decode = 1 if split.first_shown_by == "decode" else 0
    trace.mixed = bool(from_decode)
    outputs = [request.output for request in trace.requests]
    record, push, pop = trace.clock.stretches.extend, heapq.heappush, heapq.heappop
    finishing: list[tuple[int, int]] = []
    now: Any = 0
    number = place = running = 0
    while place < len(ready) or running:
        if not running:
            now = max(now, arriving[place][0])
        before = place
        while running < most and arriving[place][0] <= now:
            index = arriving[place][1]
            trace.joined[index] = number + from_decode
            push(finishing, (number + outputs[index] - 1 + from_decode, index))
            running += 1
            place += 1
        length = cost.duration(0, running, 0)
        count = finishing[0][0] - number
        if running < most and arriving[place][0] < now + count * length:
            count = int(-((now - arriving[place][0]) // length))
        silent = from_decode * (place - before)  # their first token comes with this iteration
        if silent:
            count = 1
        record((number, now, length, running - silent, 0))
        now += count * length
        number += count
        while finishing and finishing[0][0] == number:
            trace.end[pop(finishing)[1]] = now
            running -= 1
    trace.seal(number)
    if from_decode:
        for _, index in ready:
            trace.first_token[index] = trace.clock.at(trace.joined[index])
