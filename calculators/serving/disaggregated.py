"""Prefill and decode on separate workers, with a link between them (assumptions A14 and A15).

Requests go to the prefill workers in turn, and in turn to the decode workers as their transfer
begins. No half delays the other, so each worker is an engine of its own, one after the other.
Left out: memory of the prefill side, shares of a link's bandwidth among concurrent transfers,
layer-wise transfer during prefill, and machines that change their role.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from calculators.serving.costs import Cost
from calculators.serving.engine import Engine, by_arrival, outcome
from calculators.serving.limits import within
from calculators.serving.records import Outcome, Run, Transfer
from calculators.serving.request import Request, Time, in_order
from calculators.serving.settings import Settings
from calculators.serving.state import Live


@dataclass(frozen=True, kw_only=True, slots=True)
class Split:
    """Workers and link. A transfer lasts ``x0 + x1 · prompt tokens``.

    ``first_shown_by`` says which side shows token 1. ``num_blocks`` limits each decode worker,
    which reserves the whole output at the join; None is unlimited.
    """

    prefill_workers: int = 1
    decode_workers: int = 1
    x0: Time = 0
    x1: Time = 0
    link: Literal["parallel", "serial"] = "parallel"
    first_shown_by: Literal["prefill", "decode"] = "prefill"
    max_prefill_batch: int | None = None
    max_decode_seqs: int | None = None
    max_queue: int | None = None
    block_size: int = 1
    num_blocks: int | None = None
    horizon: Time | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot run. Raises ParameterError."""
        for name in ("prefill_workers", "decode_workers", "max_prefill_batch", "max_decode_seqs"):
            value = getattr(self, name)
            if value is not None:
                within(name, value, 1)
        for name in ("x0", "x1"):
            within(name, getattr(self, name), 0)

    @property
    def prefill_settings(self) -> Settings:
        """Of one prefill worker."""
        return Settings(
            policy="prefill_worker",
            max_num_seqs=self.max_prefill_batch,
            max_queue=self.max_queue,
            horizon=self.horizon,
            shows_tokens=self.first_shown_by == "prefill",
        )

    @property
    def decode_settings(self) -> Settings:
        """Of one decode worker."""
        return Settings(
            policy="decode_worker",
            max_num_seqs=self.max_decode_seqs,
            block_size=self.block_size,
            num_blocks=self.num_blocks,
            horizon=self.horizon,
        )

    def too_large(self, request: Request) -> bool:
        """Whether no decode worker could ever hold the request."""
        blocks = -(-request.kv_positions // self.block_size)
        return self.num_blocks is not None and blocks > self.num_blocks


def run(requests: Iterable[Request], split: Split, cost: Cost) -> Run:
    """Run the requests through prefill workers, link and decode workers."""
    arriving = in_order(tuple(requests))
    refused = [refuse(request) for request in arriving if split.too_large(request)]
    lives = [(r.arrival, Live(r)) for r in arriving if not split.too_large(r)]
    prefill = engines("prefill", lives, split.prefill_workers, split.prefill_settings, cost)
    prefilled = sorted(
        ((now, live) for engine in prefill for now, live in engine.handed_over),
        key=lambda pair: (pair[0], pair[1].order),
    )
    link = Link(split)
    ready = [(link.send(now, live), live) for now, live in prefilled]
    moved = [(instant, live) for instant, live in ready if instant is not None]
    decode = engines("decode", moved, split.decode_workers, split.decode_settings, cost)
    workers = [*prefill, *decode]
    return Run(
        outcomes=by_arrival([*refused, *link.outcomes, *(o for e in workers for o in e.outcomes)]),
        schedule=tuple(i for engine in workers for i in engine.schedule),
        transfers=tuple(link.transfers),
    )


def refuse(request: Request) -> Outcome:
    """A request that fits into no decode worker."""
    return outcome(Live(request), "rejected", request.arrival, "unservable")


def engines(
    name: str, lives: list[tuple[Time, Live]], workers: int, settings: Settings, cost: Cost
) -> list[Engine]:
    """Simulated workers, the requests dealt out in turn."""
    made = []
    for index in range(workers):
        worker = name if workers == 1 else f"{name}{index}"
        engine = Engine(lives[index::workers], settings, cost, worker=worker)
        engine.simulate()
        made.append(engine)
    return made


class Link:
    """The way from prefill to decode: transfers in order of prefill completion."""

    def __init__(self, split: Split) -> None:
        self.split = split
        self.free_at: Time = 0
        self.transfers: list[Transfer] = []
        self.outcomes: list[Outcome] = []

    def send(self, now: Time, live: Live) -> Time | None:
        """Transfer a request; the instant at which it is ready, or None where it goes no further.

        A deadline ends a request that waits for the link, or is on it; what was begun stays on
        the link to its end.
        """
        request, split = live.request, self.split
        start = max(now, self.free_at) if split.link == "serial" else now
        last = start if split.horizon is None else min(start, split.horizon)
        if request.deadline is not None and request.deadline <= last:
            self.outcomes.append(outcome(live, "timeout", request.deadline))
            return None
        if last < start:
            self.outcomes.append(outcome(live, "unfinished_running", None))
            return None
        end = start + split.x0 + split.x1 * request.prompt
        self.free_at = end
        live.transfer = (start, end)
        if split.first_shown_by == "decode":
            live.computed = request.prompt - 1  # the first decode iteration makes token 1
        truncated = split.horizon is not None and end > split.horizon
        self.transfers.append(
            Transfer(start=start, end=end, request=request.id, truncated=truncated)
        )
        return end
