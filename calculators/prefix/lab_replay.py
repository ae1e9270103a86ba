"""The replay calculator: a trace through a prefix cache, every rate with its definition.

Left out: service time (see the routing lab), host tiers, chunked prefill.
"""

from dataclasses import dataclass
from fractions import Fraction

from calculators.form import fields
from calculators.form.errors import ParameterError
from calculators.prefix.lab_source import Source, trace_of
from calculators.prefix.policies import Policy
from calculators.prefix.policy_choice import NAMES, policy
from calculators.prefix.rates import Definition, Outcome, rate, requests_with_hit, reused_tokens
from calculators.prefix.replay import replay_pool, replay_tree
from calculators.prefix.sweep import CEILING, Sweep, curves
from calculators.prefix.tenants import isolation
from calculators.prefix.trace import Trace, in_blocks, reuse_gaps_ms
from calculators.show.blocks import (
    Axis,
    Block,
    Message,
    Notes,
    Number,
    Numbers,
    Plot,
    Result,
    Series,
    Table,
)
from calculators.show.progress import Progress
from calculators.show.quantity import Quantity

MOST_CAPACITY = 10**9
MOST_POINTS = 30
SWEPT = ("lru", "lfu", "fifo")  # beside the chosen policy, three in all
TREE, POOL = ("engine", ("sglang",)), ("engine", ("vllm",))
QUANTILES = (10, 50, 90, 99)


@dataclass(frozen=True, kw_only=True)
class Params(Source):
    """The form."""

    engine: str = fields.choice("sglang", ("sglang", "vllm"), group="cache")
    policy: str = fields.choice("lru", NAMES, labelled=False, group="cache", when=TREE)
    threshold: int = fields.integer(
        2048, minimum=1, maximum=10**7, group="cache", when=("policy", ("tlru",))
    )
    next_prompt_estimate: int = fields.integer(
        512, minimum=0, maximum=10**7, group="cache", when=("policy", ("tlru",))
    )
    page_size: int = fields.integer(1, minimum=1, maximum=4096, group="cache", when=TREE)
    block_size: int = fields.integer(16, minimum=1, maximum=4096, group="cache", when=POOL)
    capacity_tokens: int | None = fields.integer(
        None, minimum=1, maximum=MOST_CAPACITY, group="cache"
    )
    warmup_percent: int = fields.integer(0, minimum=0, maximum=99, group="rates")
    sweep_points: int = fields.integer(12, minimum=0, maximum=MOST_POINTS, group="rates")


def solve(params: Params, progress: Progress) -> Result:
    """Replay, rates, sweep, tenants."""
    source = trace_of(params)
    trace = prepared(params, source)
    outcome = replay(params, trace, params.capacity_tokens)
    warmup = len(trace) * params.warmup_percent // 100
    headline = rate(trace, outcome, Definition(warmup=warmup))
    blocks: list[Block] = [
        Numbers(items=numbers(trace, outcome, headline)),
        definitions(trace, outcome, warmup),
        Notes(items=notes(params, source, outcome)),
    ]
    if params.sweep_points:
        blocks.append(sweep(params, trace, progress))
    if source.namespaces:
        blocks.append(tenants(source, symbols(source, params.capacity_tokens)))
    if len(set(trace.arrivals_ms)) > 1:
        blocks.append(distances(in_blocks(trace, params.block_size)))
    return Result(
        blocks=tuple(blocks),
        status=Message(
            "status.done", {"rate": percent(headline), "count": Quantity(len(trace), "requests")}
        ),
    )


def prepared(params: Params, trace: Trace) -> Trace:
    """Blocks for vLLM; a trace of block ids has its own block size."""
    return in_blocks(trace, params.block_size) if params.engine == "vllm" else trace


def symbols(trace: Trace, tokens: int | None) -> int | None:
    """A capacity in tokens as the symbols of a trace."""
    if tokens is None:
        return None
    if tokens < trace.block_tokens:
        raise ParameterError(
            "capacity_tokens",
            "too_small",
            text=str(tokens),
            minimum=trace.block_tokens,
            maximum=MOST_CAPACITY,
        )
    return tokens // trace.block_tokens


def chosen_policy(params: Params, name: str) -> Policy:
    """A policy with the form's budget."""
    return policy(
        name,
        threshold=params.threshold,
        next_prompt_estimate=params.next_prompt_estimate,
    )


def replay(params: Params, trace: Trace, tokens: int | None) -> Outcome:
    """The trace through the chosen engine."""
    capacity = symbols(trace, tokens)
    if params.engine == "vllm":
        needed = sum(count + 1 for count in trace.block_counts)
        return replay_pool(trace, min(capacity or needed, needed))
    chosen = chosen_policy(params, params.policy)
    return replay_tree(trace, chosen, capacity, page_size=page_size(params, trace))


def page_size(params: Params, trace: Trace) -> int:
    """The page in symbols: a trace of blocks has no finer unit than they are."""
    return params.page_size if trace.block_tokens == 1 else 1


def percent(share: Fraction | float | None) -> Quantity | None:
    """A share as a percentage with two decimals; nothing where nothing was counted."""
    return None if share is None else Quantity(100 * share, "percent", 2)


def numbers(
    trace: Trace, outcome: Outcome, headline: Fraction | float | None
) -> tuple[Number, ...]:
    """The figures at the top."""
    reused = reused_tokens(trace, outcome, recompute_last=True)
    shown = {
        "reused": Quantity(reused, "tokens"),
        "computed": Quantity(sum(trace.input_tokens) - reused, "tokens"),
        "evicted": Quantity(outcome.evictions * trace.block_tokens, "tokens"),
        "resident": Quantity(outcome.resident * trace.block_tokens, "tokens"),
        "with_hit": Quantity(100 * requests_with_hit(outcome), "percent", 2),
    }
    if outcome.refused:
        shown["refused"] = Quantity(outcome.refused, "requests")
    lead = Number(id="hit_rate", quantity=percent(headline) or Quantity(0, "percent"), lead=True)
    return (lead, *(Number(id=name, quantity=value) for name, value in shown.items()))


def definitions(trace: Trace, outcome: Outcome, warmup: int) -> Table:
    """One row a definition: what the same replay is called elsewhere."""
    cases = {
        "tokens_recomputed": Definition(warmup=warmup),
        "tokens": Definition(recompute_last=False, warmup=warmup),
        "per_request": Definition(average="per_request", warmup=warmup),
        "blocks": Definition(unit="blocks", recompute_last=False, warmup=warmup),
        "full_blocks": Definition(unit="blocks", over="full", recompute_last=False, warmup=warmup),
        "anywhere": Definition(unit="blocks", scope="anywhere", warmup=warmup),
        "last_half": Definition(recompute_last=False, warmup=len(trace) // 2),
    }
    return Table(
        id="definitions",
        columns=("definition", "rate"),
        rows=tuple(
            (Message(f"definition.{name}"), percent(rate(trace, outcome, definition)))
            for name, definition in cases.items()
        ),
    )


def notes(params: Params, trace: Trace, outcome: Outcome) -> tuple[Message, ...]:
    """What qualifies the answer."""
    found = [Message("note.order")]
    if trace.block_tokens > 1:
        found.append(Message("note.blocks", {"count": trace.block_tokens}))
    if params.engine == "sglang" and params.page_size > 1 and trace.block_tokens > 1:
        found.append(Message("note.page_ignored"))
    if outcome.refused:
        found.append(Message("note.refused"))
    return tuple(found)


def sweep(params: Params, trace: Trace, progress: Progress) -> Plot:
    """Hit rate by capacity, with the ceiling of any policy."""
    vllm = params.engine == "vllm"
    names = () if vllm else tuple(dict.fromkeys((params.policy, *SWEPT)))[: len(SWEPT)]
    job = Sweep(
        trace=trace,
        policies=tuple(chosen_policy(params, name) for name in names),
        page_size=page_size(params, trace),
        points=params.sweep_points,
        progress=progress,
    )
    return Plot(
        id="sweep",
        kind="line",
        x=Axis(name="capacity", unit="tokens"),
        y=Axis(name="rate", unit="percent"),
        series=tuple(
            Series(
                name=Message("series.ceiling") if curve.name == CEILING else curve.name,
                points=curve.points,
            )
            for curve in curves(job)
        ),
    )


def tenants(trace: Trace, capacity: int | None) -> Table:
    """What isolation costs on this trace."""
    found = isolation(trace, capacity)
    rows = (
        ("isolation.tenants", Quantity(found.tenants)),
        ("isolation.shared", Quantity(found.reused_shared, "tokens")),
        ("isolation.isolated", Quantity(found.reused_isolated, "tokens")),
        ("isolation.lost", Quantity(found.lost_tokens, "tokens")),
        ("isolation.extra", Quantity(found.extra_resident * trace.block_tokens, "tokens")),
    )
    return Table(
        id="isolation",
        columns=("what", "value"),
        rows=tuple((Message(key), value) for key, value in rows),
    )


def distances(trace: Trace) -> Table:
    """How long what is reused lay unused before."""
    gaps = sorted(reuse_gaps_ms(trace))
    rows = [
        (f"P{share}", Quantity(Fraction(gaps[(len(gaps) - 1) * share // 100]), "ms", 0))
        for share in QUANTILES
        if gaps
    ]
    return Table(id="gaps", columns=("quantile", "gap"), rows=tuple(rows))
