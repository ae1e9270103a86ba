"""What a run leaves behind: iterations, transfers and one outcome a request."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from calculators.serving.request import Request, Time

type Status = Literal[
    "finished", "timeout", "rejected", "unfinished_running", "unfinished_waiting", "not_arrived"
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Iteration:
    """One iteration of one worker. ``prefill`` pairs ids with tokens; lists are in step order.

    ``seats`` is the number of sequences paid for as decodes: static batching also pays for
    members that are done. ``truncated`` marks an iteration that would end after the horizon: it
    has no effect.
    """

    worker: str
    start: Time
    end: Time
    prefill: tuple[tuple[str, int], ...]
    decode: tuple[str, ...]
    emitted: tuple[str, ...]
    preempted: tuple[str, ...] = ()
    seats: int = 0
    truncated: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Transfer:
    """The KV cache of one request on the link."""

    start: Time
    end: Time
    request: str
    truncated: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What became of a request. Times are instants; None where it never came to it.

    ``end`` is the finish, the deadline or the instant of the reject. ``recomputed`` counts KV
    tokens that preemptions threw away, ``cached`` prompt tokens taken from the prefix cache.
    """

    request: Request
    status: Status
    end: Time | None
    token_times: tuple[Time, ...]
    first_scheduled: Time | None = None
    reason: str | None = None
    preemptions: int = 0
    recomputed: int = 0
    cached: int = 0
    transfer: tuple[Time, Time] | None = None

    @property
    def t_queue(self) -> Time | None:
        """First scheduled iteration's start minus arrival."""
        if self.first_scheduled is None:
            return None
        return self.first_scheduled - self.request.arrival

    @property
    def first_token(self) -> Time | None:
        """Instant of the first token."""
        return self.token_times[0] if self.token_times else None

    @property
    def t_prompt_path(self) -> Time | None:
        """First token minus first scheduled start: prefill, chunks, preemptions, transfer."""
        if not self.token_times or self.first_scheduled is None:
            return None
        return self.token_times[0] - self.first_scheduled

    @property
    def t_first_content(self) -> Time | None:
        """From the first token to the first one with content; None while it has not appeared."""
        wanted = self.request.first_content_token
        if len(self.token_times) < wanted:
            return None
        return self.token_times[wanted - 1] - self.token_times[0]

    @property
    def ttft(self) -> Time | None:
        """First token minus arrival: t_queue + t_prompt_path."""
        return self.token_times[0] - self.request.arrival if self.token_times else None

    @property
    def ttft_content(self) -> Time | None:
        """First token with content minus arrival."""
        wanted = self.request.first_content_token
        if len(self.token_times) < wanted:
            return None
        return self.token_times[wanted - 1] - self.request.arrival

    @property
    def itl(self) -> tuple[Time, ...]:
        """Gaps between token times."""
        times = self.token_times
        return tuple(after - before for before, after in pairwise(times))


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """A whole run: outcomes by (arrival, id), the schedule, the waiting queue at each change.

    ``used_steps`` are the KV blocks in use between iterations.
    """

    outcomes: tuple[Outcome, ...]
    schedule: tuple[Iteration, ...]
    transfers: tuple[Transfer, ...] = ()
    waiting_steps: tuple[tuple[Time, int], ...] = ()
    used_steps: tuple[tuple[Time, int], ...] = ()
