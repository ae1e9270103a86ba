"""What a scheduler looks at and changes: live requests, KV blocks, queues, the next iteration."""

from collections import deque
from dataclasses import dataclass, field
from fractions import Fraction

from calculators.serving.request import Request, Time
from calculators.serving.settings import Settings


@dataclass(slots=True, eq=False)
class Live:
    """A request inside a run. ``computed`` KV tokens are valid, ``blocks`` are owned."""

    request: Request
    computed: int = 0
    blocks: int = 0
    tokens: list[Time] = field(default_factory=list)
    first_scheduled: Time | None = None
    preemptions: int = 0
    recomputed: int = 0
    cached: int = 0
    transfer: tuple[Time, Time] | None = None

    @property
    def shown(self) -> int:
        """Output tokens that the client has."""
        return len(self.tokens)

    @property
    def need(self) -> int:
        """Tokens to compute before the next output token appears."""
        return self.request.prompt + len(self.tokens) - self.computed

    @property
    def decodes(self) -> bool:
        """Whether the next step is a decode; everything else is prefill."""
        return bool(self.tokens) and self.need == 1

    @property
    def done(self) -> bool:
        """Whether all output tokens were shown."""
        return len(self.tokens) >= self.request.output

    @property
    def order(self) -> tuple[Time, str]:
        """First come, first served."""
        return (self.request.arrival, self.request.id)

    @property
    def rank(self) -> tuple[int, Time, str]:
        """Order of the priority policy; the last in rank is the first victim."""
        return (self.request.priority, self.request.arrival, self.request.id)


@dataclass(slots=True)
class Memory:
    """KV blocks of one worker. Without a limit only the requests' own counts are kept."""

    block_size: int
    num_blocks: int | None
    used: int = 0

    def blocks_for(self, tokens: int) -> int:
        """Blocks that hold this many tokens."""
        return -(-tokens // self.block_size)

    def can_grow(self, live: Live, tokens: int, spare: int = 0) -> bool:
        """Whether the request can own blocks for ``tokens`` and leave ``spare`` blocks free."""
        if self.num_blocks is None:
            return True
        more = self.blocks_for(tokens) - live.blocks
        return more <= 0 or self.used + more + spare <= self.num_blocks

    def grow(self, live: Live, tokens: int) -> None:
        """Give the request the blocks for ``tokens``."""
        more = max(0, self.blocks_for(tokens) - live.blocks)
        live.blocks += more
        self.used += more

    def release(self, live: Live) -> None:
        """Take all blocks back."""
        self.used -= live.blocks
        live.blocks = 0

    def check(self, running: list[Live]) -> None:
        """Blocks owned by the running requests are all that is used, within the limit."""
        owned = sum(live.blocks for live in running)
        if owned != self.used:
            raise AssertionError(f"{self.used} blocks used, {owned} owned")
        if self.num_blocks is not None and self.used > self.num_blocks:
            raise AssertionError(f"{self.used} blocks used of {self.num_blocks}")


@dataclass(slots=True)
class Prefixes:
    """Shared prompt prefixes, by group: how many of their tokens were computed. Never evicted."""

    enabled: bool
    block_size: int
    tokens: dict[str, int] = field(default_factory=dict)

    def hit(self, live: Live) -> int:
        """Tokens that need no computing: whole blocks, and at least one token is left over."""
        request = live.request
        if not self.enabled or request.prefix_group is None:
            return 0
        known = self.tokens.get(request.prefix_group, 0)
        most = min(known, request.prefix_len, request.prompt + live.shown - 1)
        return most // self.block_size * self.block_size

    def publish(self, live: Live) -> None:
        """At the end of an iteration others can hit what was computed."""
        request = live.request
        if self.enabled and request.prefix_group is not None:
            ready = min(live.computed, request.prefix_len)
            if ready > self.tokens.get(request.prefix_group, 0):
                self.tokens[request.prefix_group] = ready


@dataclass(slots=True)
class Plan:
    """The next iteration, as a policy formed it."""

    prefill: list[tuple[Live, int]] = field(default_factory=list)
    decode: list[Live] = field(default_factory=list)
    preempted: list[Live] = field(default_factory=list)
    seats: int | None = None

    def add(self, live: Live, tokens: int) -> None:
        """Compute ``tokens`` of a request: a decode or a piece of its prefill."""
        if live.decodes:
            self.decode.append(live)
        else:
            self.prefill.append((live, tokens))

    def remove(self, live: Live) -> int:
        """Take a request out again; returns the tokens that it had."""
        if live in self.decode:
            self.decode.remove(live)
            return 1
        for index, (member, tokens) in enumerate(self.prefill):
            if member is live:
                del self.prefill[index]
                return tokens
        return 0


@dataclass(slots=True)
class State:
    """One worker between two iterations. ``running`` is in order of admission.

    A policy puts requests into ``refused`` that it can never resume, and into ``handed_over``
    those that go on elsewhere; the engine empties both. ``batch_seats`` is the size of a static
    batch, ``partial`` SGLang's request in chunks, ``new_token_ratio`` its estimate.
    """

    settings: Settings
    memory: Memory
    prefixes: Prefixes
    waiting: deque[Live] = field(default_factory=deque)
    running: list[Live] = field(default_factory=list)
    refused: list[Live] = field(default_factory=list)
    handed_over: list[Live] = field(default_factory=list)
    batch_seats: int = 0
    partial: Live | None = None
    new_token_ratio: Fraction = Fraction(0)

    @property
    def has_seat(self) -> bool:
        """Whether one more request may run."""
        limit = self.settings.max_num_seqs
        return limit is None or len(self.running) < limit

    def join(self, live: Live) -> None:
        """Wait behind the others, or by rank under the priority policy."""
        if self.settings.scheduling == "priority":
            behind = (i for i, other in enumerate(self.waiting) if other.rank > live.rank)
            self.waiting.insert(next(behind, len(self.waiting)), live)
        else:
            self.waiting.append(live)

    def admit(self, plan: Plan, live: Live, *, hit: int, tokens: int, reserve: int) -> None:
        """Move a waiting request to the running ones and schedule its first ``tokens``.

        ``reserve`` is the number of KV tokens to own blocks for.
        """
        self.waiting.remove(live)
        self.running.append(live)
        self.memory.grow(live, reserve)
        live.computed = hit
        live.cached += hit
        plan.add(live, tokens)

    def preempt(self, plan: Plan, live: Live, *, to_front: bool = True) -> None:
        """Recompute later: free the blocks, keep the shown tokens, go to the queue's front.

        The priority policy puts it back by rank instead, so that others may go first.
        """
        self.running.remove(live)
        self.memory.release(live)
        live.preemptions += 1
        live.recomputed += live.computed
        live.computed = 0
        if self.settings.scheduling == "priority":
            self.join(live)
        elif to_front:
            self.waiting.appendleft(live)
        else:
            self.waiting.append(live)
        plan.preempted.append(live)
