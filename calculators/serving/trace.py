"""What the fast engine keeps: one column a figure, and the clock that gives all token times back.

All decoding requests gain a token in each decode iteration, so a request's tokens are a run of
consecutive iterations. The clock maps iteration numbers to instants, one entry for each stretch of
equal iterations: token times, gaps and their distribution follow from it without being stored.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, batched, compress, repeat
from operator import attrgetter, eq, sub
from typing import Any

from calculators.serving.records import Outcome, Status
from calculators.serving.request import Request, Time

WAITING, PREFILLING, DECODING = 0, 1, 2
CODES: dict[int, Status] = {
    WAITING: "unfinished_waiting",
    PREFILLING: "unfinished_running",
    DECODING: "unfinished_running",
    3: "finished",
    4: "timeout",
    5: "rejected",
    6: "not_arrived",
}
ENTRIES = 5  # of a stretch
FINISHED, TIMEOUT, REJECTED, NOT_ARRIVED = 3, 4, 5, 6
NEVER_QUEUED = (REJECTED, NOT_ARRIVED)


@dataclass(slots=True)
class Clock:
    """Stretches of equal iterations, five entries each in one flat list.

    They are: the number of decode iterations before the stretch, the instant at which it starts,
    the length of its (first) iteration, the sequences that decode in it after an earlier token, the
    blocks that are free before it (0 where memory is not limited). ``growth`` is, by stretch, how
    much longer each iteration is than the one before. An iteration that only prefills stands here
    too, and so does a pause, with length 0; they do not advance the number.
    """

    stretches: list[Any] = field(default_factory=list)
    growth: dict[int, Time] = field(default_factory=dict)
    numbers: list[int] = field(default_factory=list)

    def seal(self) -> None:
        """Make the index by number, once the run is over."""
        self.numbers = self.stretches[0::ENTRIES]

    def at(self, number: int) -> Time:
        """The end of a decode iteration; they count from 1."""
        index = bisect_left(self.numbers, number) - 1
        start, length = self.stretches[ENTRIES * index + 1 : ENTRIES * index + 3]
        steps = number - self.numbers[index]
        end: Time = start + steps * length
        return end + self.growth.get(index, 0) * (steps * (steps - 1) // 2)


@dataclass(frozen=True, slots=True)
class Steps:
    """A count over time: the instants of its changes, ascending, and the count from each on."""

    instants: Sequence[Time] = ()
    counts: Sequence[int] = ()


@dataclass(slots=True)
class Stay:
    """Tokens of one stay in the batch: one at the end of a prefill, then one an iteration."""

    shown_at: Any
    joined: int
    tokens: int


@dataclass
class Trace:
    """The columns of a run, by index of request. ``shown`` counts tokens.

    ``moves`` alternates instants and changes of the queue's length by preemptions and resumptions.
    ``ended_stays`` holds index, first instant, number at the join and tokens of every stay in the
    batch that a preemption ended. ``late`` are the decode iterations in which a request got a token
    after its deadline, one entry each. ``mixed`` runs have no prefill between two decode
    iterations: all first tokens come at the end of one. Flat lists, because thousands of small
    tuples would keep the garbage collector busy.
    """

    requests: list[Request]
    status: bytearray
    first_scheduled: list[Time | None]
    first_token: list[Time | None]
    end: list[Time | None]
    shown: list[int]
    joined: list[int]
    clock: Clock = field(default_factory=Clock)
    reasons: dict[int, str] = field(default_factory=dict)
    resumed: dict[int, Time] = field(default_factory=dict)
    preemptions: Counter[int] = field(default_factory=Counter)
    recomputed: Counter[int] = field(default_factory=Counter)
    cached: Counter[int] = field(default_factory=Counter)
    last_number: int = 0
    ended_stays: list[Any] = field(default_factory=list)
    moves: list[Any] = field(default_factory=list)
    late: list[int] = field(default_factory=list)
    mixed: bool = False

    def seal(self, number: int) -> None:
        """Make the index by number, once the run is over after so many decode iterations."""
        self.last_number = number
        self.clock.seal()

    @cached_property
    def earlier(self) -> dict[int, list[Stay]]:
        """The stays that a preemption ended, by request, once the run is over."""
        found: dict[int, list[Stay]] = {}
        for index, shown_at, joined, tokens in batched(self.ended_stays, 4, strict=True):
            found.setdefault(index, []).append(Stay(shown_at, joined, tokens))
        return found

    def stays(self, index: int) -> list[Stay]:
        """The stays of a request in the batch, in order."""
        earlier = self.earlier.get(index, [])
        tokens = self.shown[index] - sum(stay.tokens for stay in earlier)
        if tokens <= 0:
            return earlier
        shown_at = self.resumed.get(index, self.first_token[index])
        if shown_at is None:
            raise AssertionError(f"request {index} has tokens but no first one")
        return [*earlier, Stay(shown_at, self.joined[index], tokens)]

    def token_times(self, index: int) -> tuple[Time, ...]:
        """All token times of a request."""
        times: list[Time] = []
        for stay in self.stays(index):
            times.append(stay.shown_at)
            times.extend(map(self.clock.at, range(stay.joined + 1, stay.joined + stay.tokens)))
        return tuple(times)

    def outcome(self, index: int) -> Outcome:
        """Everything about one request."""
        return Outcome(
            request=self.requests[index],
            status=CODES[self.status[index]],
            end=self.end[index],
            token_times=self.token_times(index),
            first_scheduled=self.first_scheduled[index],
            reason=self.reasons.get(index),
            preemptions=self.preemptions.get(index, 0),
            recomputed=self.recomputed.get(index, 0),
            cached=self.cached.get(index, 0),
        )

    def outcomes(self) -> tuple[Outcome, ...]:
        """All requests, by (arrival, id)."""
        found = map(self.outcome, range(len(self.requests)))
        return tuple(sorted(found, key=lambda o: (o.request.arrival, o.request.id)))

    def used_steps(self) -> Steps:
        """Blocks in use between the iterations that were looked at."""
        free = self.clock.stretches[4::ENTRIES]
        total = max(free, default=0)  # all are free before the first iteration
        if not total:
            return Steps()
        return Steps(self.clock.stretches[1::ENTRIES], list(map(sub, repeat(total), free)))

    def waiting_steps(self) -> Steps:
        """The length of the waiting queue at each change, after all that happens at one instant."""
        changes = Counter(compress(self.arrivals(), self.queued()))
        for instant, change in batched(self.moves, 2, strict=True):
            changes[instant] += change
        for instant, count in Counter(self.leaves()).items():
            changes[instant] -= count
        for instant in compress(self.arrivals(), map(eq, self.status, repeat(REJECTED))):
            changes[instant] += 0
        return running_totals(changes)

    def arrivals(self) -> Iterator[Time]:
        """When each request arrives."""
        return map(attrgetter("arrival"), self.requests)

    def queued(self) -> list[bool]:
        """Which requests joined the queue at all."""
        return [
            status not in NEVER_QUEUED or (status == REJECTED and index in self.preemptions)
            for index, status in enumerate(self.status)
        ]

    def leaves(self) -> Iterator[Time]:
        """When requests leave the queue for the first time."""
        for status, scheduled, end in zip(self.status, self.first_scheduled, self.end, strict=True):
            if scheduled is not None:
                yield scheduled
            elif status == TIMEOUT and end is not None:
                yield end


def running_totals(changes: Mapping[Time, int]) -> Steps:
    """By instant, the first one and then those that differ from the one before."""
    instants = sorted(changes)
    steps = list(map(changes.__getitem__, instants))
    kept = [True, *steps[1:]]
    return Steps(list(compress(instants, kept)), list(compress(accumulate(steps), kept)))
