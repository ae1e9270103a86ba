"""Closed loops: clients that wait for answers before they send more, and what that hides.

``Users`` send their next request a think time after the last one ended. ``Slots`` are a client
with a plan (each request has an intended time) and a limit on requests in flight, as the
``--max-concurrency`` of benchmark tools. A request that waits in the client is late before the
server has seen it; a naive client measures from the moment of sending and does not report that
(vllm-project/vllm#54101: mean TTFT 506 ms reported, 1,932 ms from the schedule).
"""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from calculators.serving.limits import within
from calculators.serving.request import Request, Time, in_order


class Users:
    """N users with a think time. Pass ``first`` to the engine as requests, ``follow`` as follow.

    Requests are dealt out as users become free; their stated arrivals are not looked at.
    """

    def __init__(self, requests: Iterable[Request], users: int, think: Time) -> None:
        within("users", users, 1)
        self.think = think
        self.left = deque(requests)
        self.first = [
            replace(self.left.popleft(), arrival=0) for _ in range(min(users, len(self.left)))
        ]

    def follow(self, _ended: Request, now: Time) -> list[Request]:
        """The next request of the user whose request ended."""
        return [replace(self.left.popleft(), arrival=now + self.think)] if self.left else []


class Slots:
    """A schedule sent with at most ``limit`` requests in flight."""

    def __init__(self, requests: Iterable[Request], limit: int) -> None:
        within("max_concurrency", limit, 1)
        planned = in_order(tuple(requests))
        self.intended = {request.id: request.arrival for request in planned}
        self.first = list(planned[:limit])
        self.left = deque(planned[limit:])

    def follow(self, _ended: Request, now: Time) -> list[Request]:
        """The next planned request takes the slot, at once if it is overdue."""
        if not self.left:
            return []
        request = self.left.popleft()
        return [replace(request, arrival=max(now, request.arrival))]


@dataclass(frozen=True, kw_only=True, slots=True)
class ClientView:
    """Mean TTFT as a naive client reports it, and from the intended schedule; mean client wait."""

    reported_ttft: Fraction | None
    scheduled_ttft: Fraction | None
    client_wait: Fraction | None


def client_view(shown: Iterable[tuple[Request, Time]], intended: Mapping[str, Time]) -> ClientView:
    """Over pairs of a request, as it was sent, and the instant of its first token."""
    pairs = list(shown)
    if not pairs:
        return ClientView(reported_ttft=None, scheduled_ttft=None, client_wait=None)
    reported = sum(Fraction(first - request.arrival) for request, first in pairs)
    waits = sum(Fraction(request.arrival - intended[request.id]) for request, _ in pairs)
    count = len(pairs)
    return ClientView(
        reported_ttft=Fraction(reported) / count,
        scheduled_ttft=Fraction(reported + waits) / count,
        client_wait=Fraction(waits) / count,
    )
