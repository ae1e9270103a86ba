"""What arrives: a request with its lengths, and the numbers of exact time."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from operator import attrgetter, lt

type Time = int | Fraction
"""Exact time without a unit; the workloads use whole microseconds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """One request. Lengths in tokens; ``timeout`` counts from arrival, None waits for ever.

    The first ``prefix_len`` prompt tokens are shared by all requests of a ``prefix_group``.
    ``first_content_token`` is the first token that a client would show: a role-only or empty
    first chunk makes it 2. A lower ``priority`` goes first under the priority policy.
    """

    id: str
    arrival: Time
    prompt: int
    output: int
    timeout: Time | None = None
    priority: int = 0
    prefix_group: str | None = None
    prefix_len: int = 0
    first_content_token: int = 1

    @property
    def deadline(self) -> Time | None:
        """The last instant at which a token still counts."""
        return None if self.timeout is None else self.arrival + self.timeout

    @property
    def kv_positions(self) -> int:
        """KV positions at the end: the last output token is never fed back."""
        return self.prompt + self.output - 1


def in_order(requests: tuple[Request, ...]) -> tuple[Request, ...]:
    """By (arrival, id): the order in which requests at one instant join the queue."""
    arrivals = [request.arrival for request in requests]
    if all(map(lt, arrivals, islice(arrivals, 1, None))):
        return requests  # the usual case, and much quicker than a sort
    return tuple(sorted(requests, key=attrgetter("arrival", "id")))
