"""The serving lab by hand: a few requests in whole numbers under all schedulers, step by step.

Models one worker (for P/D one on each side) with the linear cost ``a + b·prefill + c·decodes``.
Leaves out everything that the policies' modules name, and the load that makes a real server:
that is the other calculator, ``load_workbench``.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, cast

from calculators.form import fields
from calculators.serving import disaggregated, engine, scenarios
from calculators.serving.chrome_trace import chrome_trace
from calculators.serving.costs import Linear
from calculators.serving.disaggregated import Split
from calculators.serving.drawn import group
from calculators.serving.records import Run
from calculators.serving.request import Request
from calculators.serving.settings import SHORT_NAMES, PolicyName, Settings
from calculators.serving.side_by_side import (
    chosen_table,
    comparison,
    figures,
    policy_name,
    request_table,
    sums,
    tool_table,
)
from calculators.serving.slo import Slo, attainment
from calculators.serving.stepwise import durations, frames, grid, grid_drawing, schedule_table
from calculators.show.blocks import (
    Block,
    Code,
    Drawing,
    Frames,
    Message,
    Notes,
    Result,
    Section,
)
from calculators.show.progress import Progress
from calculators.show.timeline import MOST_COLUMNS, gantt_svg

POLICIES: tuple[PolicyName, ...] = (
    "static",
    "orca",
    "prefill_first",
    "chunked",
    "v1",
    "sglang",
)
NAMES = (*POLICIES, "pd")
OWN = "own"
FEW = 6  # requests up to which one chart holds all policies
TRACE_COMMAND = "jq .data.chrome_trace serving.json > trace.json"


@dataclass(frozen=True, kw_only=True)
class Params:
    """The form. Times have no unit."""

    scenario: str = fields.choice("stall", (*scenarios.SCENARIOS, OWN), group="requests")
    requests: str | None = fields.text(
        scenarios.SCENARIOS["stall"],
        longest=4000,
        group="requests",
        when=("scenario", (OWN,)),
    )
    horizon: int | None = fields.integer(None, minimum=0, maximum=1_000_000, group="requests")
    empty_first_chunk: bool = fields.switch(group="requests")
    policy: str = fields.choice("chunked", NAMES, group="policy")
    token_budget: int = fields.integer(6, minimum=1, maximum=100_000, group="policy")
    max_num_seqs: int = fields.integer(8, minimum=1, maximum=1000, group="policy")
    max_num_batched_tokens: int | None = fields.integer(
        None, minimum=1, maximum=100_000, group="policy"
    )
    long_prefill_token_threshold: int = fields.integer(
        0, minimum=0, maximum=100_000, group="policy"
    )
    a: int = fields.integer(1, minimum=1, maximum=1000, group="cost")
    b: int = fields.integer(1, minimum=0, maximum=1000, group="cost")
    c: int = fields.integer(1, minimum=0, maximum=1000, group="cost")
    block_size: int = fields.integer(2, minimum=1, maximum=1024, group="memory")
    num_blocks: int | None = fields.integer(None, minimum=1, maximum=100_000, group="memory")
    max_queue: int | None = fields.integer(None, minimum=0, maximum=1000, group="memory")
    x0: int = fields.integer(2, minimum=0, maximum=1000, group="link")
    x1: int = fields.integer(0, minimum=0, maximum=1000, group="link")
    link: str = fields.choice("parallel", ("parallel", "serial"), group="link")
    first_shown_by: str = fields.choice("prefill", ("prefill", "decode"), group="link")
    slo_ttft: int = fields.integer(25, minimum=0, maximum=1_000_000, group="slo")
    slo_tpot: int = fields.integer(6, minimum=0, maximum=1_000_000, group="slo")


def solve(params: Params, progress: Progress) -> Result:
    """The requests under every policy, and one policy step by step."""
    requests = requests_of(params)
    runs: dict[str, Run] = {}
    for index, name in enumerate(NAMES):
        progress(index / len(NAMES))
        runs[name] = run_policy(name, requests, params)
    chosen = runs[params.policy]
    slo = Slo(ttft=params.slo_ttft, tpot=params.slo_tpot)
    reached = attainment(chosen.outcomes, slo)
    return Result(
        blocks=tuple(blocks(params, runs, slo)),
        status=Message(
            "status.run",
            {
                "policy": policy_name(params.policy),
                "good": len(reached.good),
                "arrived": reached.arrived,
            },
        ),
        data={"schedules": {name: grid(run) for name, run in runs.items()}}
        | {"chrome_trace": chrome_trace(chosen)},
    )


def requests_of(params: Params) -> tuple[Request, ...]:
    """The shipped scenario, or the reader's own requests."""
    own = params.scenario == OWN
    text = (params.requests or "") if own else scenarios.SCENARIOS[params.scenario]
    content = 2 if params.empty_first_chunk else 1
    return tuple(replace(one, first_content_token=content) for one in scenarios.parse(text))


def run_policy(name: str, requests: tuple[Request, ...], params: Params) -> Run:
    """One policy over the requests."""
    cost = Linear(a=params.a, b=params.b, c=params.c)
    if name == "pd":
        return disaggregated.run(requests, split_of(params), cost)
    return engine.run(requests, settings_of(cast("PolicyName", name), params), cost)


def settings_of(name: PolicyName, params: Params) -> Settings:
    """The options of a worker that mixes both phases."""
    return Settings(
        policy=name,
        max_num_seqs=params.max_num_seqs,
        token_budget=params.token_budget,
        long_prefill_token_threshold=params.long_prefill_token_threshold if name == "v1" else 0,
        block_size=params.block_size,
        num_blocks=params.num_blocks,
        max_queue=params.max_queue,
        max_num_batched_tokens=params.max_num_batched_tokens if name == "prefill_first" else None,
        horizon=params.horizon,
    )


def split_of(params: Params) -> Split:
    """One prefill worker, one decode worker."""
    return Split(
        x0=params.x0,
        x1=params.x1,
        link=cast("Literal['parallel', 'serial']", params.link),
        first_shown_by=cast("Literal['prefill', 'decode']", params.first_shown_by),
        max_decode_seqs=params.max_num_seqs,
        max_queue=params.max_queue,
        block_size=params.block_size,
        num_blocks=params.num_blocks,
        horizon=params.horizon,
    )


def blocks(params: Params, runs: Mapping[str, Run], slo: Slo) -> Iterator[Block]:
    """The answer in reading order."""
    chosen = runs[params.policy]
    yield figures(chosen)
    yield comparison(runs, slo)
    yield chart(params.policy, runs)
    yield Notes(items=(Message("note.legend"),))
    yield chosen_table(chosen, slo)
    yield sums(chosen)
    if chosen.schedule:
        yield Frames(id="steps", frames=tuple(frames(chosen)))
        yield durations(chosen, params.a, params.b, params.c)
    if len(chosen.schedule) > MOST_COLUMNS:
        yield Notes(items=(Message("note.first_only", {"count": MOST_COLUMNS}),))
    grids = tuple(
        Section(id=f"schedule_{name}", blocks=(grid_drawing(policy_name(name), run),))
        for name, run in runs.items()
        if run.schedule
    )
    yield Section(id="schedules", blocks=grids, folded=True)
    yield request_table(runs, slo)
    yield schedule_table(runs)
    yield tool_table(chosen)
    yield Notes(items=tuple(notes(params)))
    yield Code(id="trace", text=TRACE_COMMAND, language="bash")


def chart(policy: str, runs: Mapping[str, Run]) -> Drawing:
    """The Gantt chart of all policies, or of the one that is looked at where there are many."""
    few = len(runs[policy].outcomes) <= FEW
    shown = runs if few else {policy: runs[policy]}
    return Drawing(
        id="gantt",
        svg=gantt_svg([group(SHORT_NAMES[name], run) for name, run in shown.items()]),
        alt=Message("alt.gantt", {"requests": len(runs[policy].outcomes), "policies": len(shown)}),
    )


def notes(params: Params) -> Iterator[Message]:
    """What is modelled and what is left out."""
    yield Message("note.cost", {"a": params.a, "b": params.b, "c": params.c})
    yield Message("note.left_out")
    yield Message("note.pd_workers")
    if params.num_blocks is not None:
        yield Message("note.memory", {"blocks": params.num_blocks, "size": params.block_size})
