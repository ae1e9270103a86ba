"""The plain engine: one worker, one iteration after the other, everything recorded.

Exact time, and one order at each instant (assumption A03 of the cases): the iteration that ends
takes effect; running requests past their deadline leave; arrivals join or are refused; waiting
requests past their deadline leave; the next iteration is formed. `fast` gives the same integers
without stepping through equal iterations; this one is the readable statement of the rules.
"""

import heapq
from collections.abc import Callable, Iterable

from calculators.serving.costs import Cost
from calculators.serving.policies import POLICIES
from calculators.serving.records import Iteration, Outcome, Run, Status
from calculators.serving.request import Request, Time
from calculators.serving.settings import Settings
from calculators.serving.state import Live, Memory, Plan, Prefixes, State

type Follow = Callable[[Request, Time], Iterable[Request]]
"""Told of each request that ended and when; returns the requests that arrive because of it."""


def run(
    requests: Iterable[Request], settings: Settings, cost: Cost, follow: Follow | None = None
) -> Run:
    """Run the requests through one worker.

    ``follow`` makes a closed loop: it may return new requests that arrive at the end of another
    or later. Arrivals after the horizon are reported as "not_arrived".
    """
    lives = [(r.arrival, Live(r)) for r in requests]
    engine = Engine(lives, settings, cost, follow=follow)
    engine.simulate()
    return Run(
        outcomes=by_arrival(engine.outcomes),
        schedule=tuple(engine.schedule),
        waiting_steps=tuple(engine.steps),
        used_steps=tuple(engine.uses),
    )


class Engine:
    """One worker and its queue. ``lives`` pairs requests with the instants at which they join.

    After ``simulate``: ``outcomes``, ``schedule``, ``steps`` (the waiting queue), ``uses`` (KV
    blocks owned between iterations), and
    ``handed_over``, the requests that left for another worker and when.
    """

    def __init__(
        self,
        lives: Iterable[tuple[Time, Live]],
        settings: Settings,
        cost: Cost,
        *,
        worker: str = "w0",
        follow: Follow | None = None,
    ) -> None:
        self.worker = worker
        self.settings = settings
        self.cost = cost
        self.follow = follow
        self.form = POLICIES[settings.policy]
        self.state = State(
            settings=settings,
            memory=Memory(settings.block_size, settings.num_blocks),
            prefixes=Prefixes(settings.prefix_cache, settings.block_size),
        )
        self.pending = sorted((instant, live.order, live) for instant, live in lives)
        self.handed_over: list[tuple[Time, Live]] = []
        self.now: Time = self.pending[0][0] if self.pending else 0
        self.outcomes: list[Outcome] = []
        self.schedule: list[Iteration] = []
        self.steps: list[tuple[Time, int]] = []
        self.uses: list[tuple[Time, int]] = []

    def simulate(self) -> None:
        """Iterate until nothing is left to do or the horizon is reached."""
        while self.within_horizon(self.now):
            self.uses.append((self.now, self.state.memory.used))
            self.settle(self.now)
            plan = self.form(self.state)
            self.let_go()
            self.note_waiting()
            if not plan.prefill and not plan.decode:
                following = self.next_instant()
                if following is None:
                    break
                self.now = following
            elif not self.iterate(plan):
                break
        self.close_unfinished()

    def iterate(self, plan: Plan) -> bool:
        """One iteration and what happens meanwhile; False when the horizon cuts it off."""
        for live in self.members(plan):
            if live.first_scheduled is None:
                live.first_scheduled = self.now
        seats = len(plan.decode) if plan.seats is None else plan.seats
        prefill = sum(tokens for _, tokens in plan.prefill)
        context = sum(live.computed + 1 for live in plan.decode)
        start, end = self.now, self.now + self.cost.duration(prefill, seats, context)
        if not self.within_horizon(end):
            self.record(plan, start, end, seats, ())
            self.pass_to_horizon()
            return False
        self.pass_until(end)
        emitted = self.take_effect(plan, end)
        self.record(plan, start, end, seats, emitted)
        self.leave_running(end)
        self.now = end
        return True

    def members(self, plan: Plan) -> list[Live]:
        """Requests of the plan in order of admission."""
        planned = {id(live) for live, _ in plan.prefill} | {id(live) for live in plan.decode}
        return [live for live in self.state.running if id(live) in planned]

    def take_effect(self, plan: Plan, end: Time) -> tuple[str, ...]:
        """Tokens appear, prefixes become known. Returns the ids that showed a token."""
        members = self.members(plan)
        for live, tokens in plan.prefill:
            live.computed += tokens
        for live in plan.decode:
            live.computed += 1
        emitted = [live for live in members if live.need == 0 and in_time(live, end)]
        if not self.settings.shows_tokens:
            emitted = []
        for live in emitted:
            live.tokens.append(end)
        for live, _ in plan.prefill:
            self.state.prefixes.publish(live)
        return tuple(live.request.id for live in emitted)

    def leave_running(self, end: Time) -> None:
        """Finished requests free their blocks, then those past their deadline are aborted."""
        for live in [live for live in self.state.running if live.done]:
            self.remove_running(live)
            self.close(live, "finished", live.tokens[-1])
        self.abort_running(end)

    def abort_running(self, now: Time) -> None:
        """Running requests with deadline ≤ now end at their deadline."""
        for live in list(self.state.running):
            deadline = live.request.deadline
            if deadline is not None and deadline <= now:
                self.remove_running(live)
                self.close(live, "timeout", deadline)

    def remove_running(self, live: Live) -> None:
        """Free the seat and the blocks."""
        self.state.running.remove(live)
        self.state.memory.release(live)

    def settle(self, now: Time) -> None:
        """Arrivals join or are refused; then waiting requests past their deadline leave."""
        while self.pending and self.pending[0][0] <= now:
            instant, _, live = heapq.heappop(self.pending)
            self.arrive(instant, live)
        for live in list(self.state.waiting):
            deadline = live.request.deadline
            if deadline is not None and deadline <= now:
                self.state.waiting.remove(live)
                self.close(live, "timeout", deadline)
        if self.pending and self.pending[0][0] <= now:
            self.settle(now)

    def arrive(self, instant: Time, live: Live) -> None:
        """Join the queue, or be refused."""
        reason = self.settings.reject_reason(live.request, len(self.state.waiting))
        if reason is not None:
            self.close(live, "rejected", instant, reason)
        else:
            self.state.join(live)

    def pass_until(self, end: Time) -> None:
        """What happens to the queue while the worker is busy, each at its own instant."""
        while (instant := self.next_instant()) is not None and instant < end:
            self.now = instant
            self.settle(instant)
            self.note_waiting()

    def pass_to_horizon(self) -> None:
        """The rest of a run whose last iteration the horizon cuts off."""
        horizon = self.settings.horizon
        if horizon is not None:
            while (instant := self.next_instant()) is not None and instant <= horizon:
                self.now = instant
                self.settle(instant)
                self.note_waiting()
            self.abort_running(horizon)

    def next_instant(self) -> Time | None:
        """The next arrival or deadline of a waiting request."""
        instants = [live.request.deadline for live in self.state.waiting]
        known = [instant for instant in instants if instant is not None]
        if self.pending:
            known.append(self.pending[0][0])
        return min(known, default=None)

    def within_horizon(self, instant: Time) -> bool:
        """Whether something at this instant still counts."""
        return self.settings.horizon is None or instant <= self.settings.horizon

    def let_go(self) -> None:
        """Requests that the policy could never resume, and those that go on elsewhere."""
        for live in self.state.refused:
            self.close(live, "rejected", self.now, "recompute_too_long")
        self.state.refused.clear()
        self.handed_over += [(self.now, live) for live in self.state.handed_over]
        self.state.handed_over.clear()

    def note_waiting(self) -> None:
        """Keep the length of the queue where it changes."""
        waiting = len(self.state.waiting)
        if not self.steps or self.steps[-1][1] != waiting:
            self.steps.append((self.now, waiting))

    def close(
        self, live: Live, status: Status, end: Time | None, reason: str | None = None
    ) -> None:
        """Write down what became of a request, and let it be followed by others."""
        self.outcomes.append(outcome(live, status, end, reason))
        if self.follow is not None and end is not None:
            for request in self.follow(live.request, end):
                following = Live(request)
                heapq.heappush(self.pending, (request.arrival, following.order, following))

    def record(
        self, plan: Plan, start: Time, end: Time, seats: int, emitted: tuple[str, ...]
    ) -> None:
        """Keep the iteration."""
        self.schedule.append(
            Iteration(
                worker=self.worker,
                start=start,
                end=end,
                prefill=tuple((live.request.id, tokens) for live, tokens in plan.prefill),
                decode=tuple(live.request.id for live in plan.decode),
                emitted=emitted,
                preempted=tuple(live.request.id for live in plan.preempted),
                seats=seats,
                truncated=not self.within_horizon(end),
            )
        )

    def close_unfinished(self) -> None:
        """What the horizon leaves behind."""
        for live in self.state.running:
            self.close(live, "unfinished_running", None)
        for live in self.state.waiting:
            self.close(live, "unfinished_running" if live.transfer else "unfinished_waiting", None)
        for _, _, live in self.pending:
            self.close_pending(live)

    def close_pending(self, live: Live) -> None:
        """At the horizon: still to come, or on the way from another worker."""
        deadline = live.request.deadline
        if live.transfer is None:
            self.close(live, "not_arrived", None)
        elif deadline is not None and self.within_horizon(deadline):
            self.close(live, "timeout", deadline)
        else:
            self.close(live, "unfinished_running", None)


def outcome(live: Live, status: Status, end: Time | None, reason: str | None = None) -> Outcome:
    """What became of a request."""
    return Outcome(
        request=live.request,
        status=status,
        end=end,
        token_times=tuple(live.tokens),
        first_scheduled=live.first_scheduled,
        reason=reason,
        preemptions=live.preemptions,
        recomputed=live.recomputed,
        cached=live.cached,
        transfer=live.transfer,
    )


def by_arrival(outcomes: Iterable[Outcome]) -> tuple[Outcome, ...]:
    """In order of (arrival, id)."""
    return tuple(sorted(outcomes, key=lambda o: (o.request.arrival, o.request.id)))


def in_time(live: Live, end: Time) -> bool:
    """Whether a token that appears at ``end`` still counts."""
    return live.request.deadline is None or end <= live.request.deadline
