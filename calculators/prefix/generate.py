"""Small traces of our own: seeded, documented, made of nothing but numbers.

Every prompt is a list of random token ids below VOCABULARY; what is shared is shared on purpose:

- ``chat``: conversations with one system prompt; each turn appends the last answer and a new
  question, so a prompt contains all of its predecessors.
- ``agents``: a tool description per agent kind, then steps that each append a tool result.
- ``documents``: a few long documents, each asked many questions in random order.
- ``tenants``: the chat of several tenants, all with the same system prompt; ``salt`` puts each
  into a namespace of its own.

Arrivals are exponential with the stated mean. Left out: real lengths, real thinking times.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from calculators.form.errors import ParameterError
from calculators.prefix.keys import NO_NAMESPACE, Namespace, pack
from calculators.prefix.readers.tokens import token_trace
from calculators.prefix.trace import Trace

VOCABULARY = 32_000
KINDS = ("chat", "agents", "documents", "tenants")
MEAN_GAP_MS = 250.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """How large a generated trace is; lengths in tokens.

    ``groups`` are conversations, agent runs, documents; ``turns`` the requests of each.
    """

    kind: str = "chat"
    seed: int = 1
    groups: int = 40
    turns: int = 6
    shared: int = 512
    question: int = 60
    answer: int = 180
    tenants: int = 4
    salt: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """One request before it has a time."""

    tokens: list[int]
    output: int
    namespace: Namespace = NO_NAMESPACE


def generate(shape: Shape) -> Trace:
    """The trace of a shape; the same shape always gives the same trace."""
    if shape.kind not in KINDS:
        raise ParameterError("kind", "not_an_option", text=shape.kind, options=", ".join(KINDS))
    rng = random.Random(shape.seed)  # noqa: S311 # a simulation, not a secret
    calls = list(interleave(sessions(shape, rng), rng))
    now = 0.0
    arrivals = []
    for _ in calls:
        now += rng.expovariate(1 / MEAN_GAP_MS)
        arrivals.append(round(now, 3))
    return token_trace(
        shape.kind,
        [pack(call.tokens) for call in calls],
        [call.output for call in calls],
        arrivals,
        [call.namespace for call in calls],
    )


def tokens(rng: random.Random, count: int) -> list[int]:
    """Random token ids."""
    return [rng.randrange(VOCABULARY) for _ in range(count)]


def sessions(shape: Shape, rng: random.Random) -> list[list[Call]]:
    """The calls of each group, in their order."""
    match shape.kind:
        case "documents":
            return [documents(shape, rng) for _ in range(shape.groups)]
        case "agents":
            kinds = [tokens(rng, shape.shared) for _ in range(shape.tenants)]
            return [growing(shape, rng, rng.choice(kinds)) for _ in range(shape.groups)]
        case "tenants":
            system = tokens(rng, shape.shared)
            return [
                growing(shape, rng, system, tenant_of(shape, group))
                for group in range(shape.groups)
            ]
    system = tokens(rng, shape.shared)
    return [growing(shape, rng, system) for _ in range(shape.groups)]


def tenant_of(shape: Shape, group: int) -> Namespace:
    """Tenants take turns; without a salt they are told apart by nothing."""
    return Namespace(None, f"tenant-{group % shape.tenants}") if shape.salt else NO_NAMESPACE


def growing(
    shape: Shape, rng: random.Random, system: list[int], namespace: Namespace = NO_NAMESPACE
) -> list[Call]:
    """A session in which every call contains all that was said before."""
    said = list(system)
    calls = []
    for _ in range(shape.turns):
        said += tokens(rng, around(rng, shape.question))
        output = around(rng, shape.answer)
        calls.append(Call(list(said), output, namespace))
        said += tokens(rng, output)
    return calls


def documents(shape: Shape, rng: random.Random) -> list[Call]:
    """One document and independent questions about it."""
    document = tokens(rng, around(rng, 4 * shape.shared))
    return [
        Call(document + tokens(rng, around(rng, shape.question)), around(rng, shape.answer))
        for _ in range(shape.turns)
    ]


def around(rng: random.Random, mean: int) -> int:
    """A length from half the mean to one and a half of it, at least 1."""
    return max(1, rng.randint(mean // 2, mean + mean // 2))


def interleave(groups: list[list[Call]], rng: random.Random) -> Iterator[Call]:
    """The calls of all groups mixed, each group in its own order."""
    waiting = [list(reversed(group)) for group in groups if group]
    while waiting:
        index = rng.randrange(len(waiting))
        yield waiting[index].pop()
        if not waiting[index]:
            waiting[index] = waiting[-1]
            waiting.pop()
