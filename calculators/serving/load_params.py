# ruff: noqa: RUF009 - a field is made once, on purpose
"""The form of the load calculator, and what it stands for: requests, cost model, schedulers."""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Literal, cast

from calculators.form import fields
from calculators.form.lengths import Lengths
from calculators.serving import arrivals, measured, traces
from calculators.serving.costs import Cost, Linear
from calculators.serving.disaggregated import Split
from calculators.serving.request import Request
from calculators.serving.roofline import DEVICES, MODELS, Roofline, Shape
from calculators.serving.settings import PolicyName, Settings
from calculators.serving.slo import Slo
from calculators.serving.tools import TOOLS

OPEN = ("poisson", "bursty", "on_off", "uniform")
SWEEP_FILE = "sweep_file"
RATED = (*OPEN, "slots")
MADE = (*OPEN, "slots", "closed")  # workloads of stated lengths
OWN_MODEL = "own"
MOST_REQUESTS = 100_000
MOST_TOKENS = 100_000


@dataclass(frozen=True, kw_only=True)
class Params:
    """The form. Times in ms or µs as the names say; rates in requests a second."""

    workload: str = fields.choice(
        "poisson", (*OPEN, "slots", "closed", "trace", SWEEP_FILE), group="workload"
    )
    rate: Fraction = fields.decimal(
        "8", minimum="0.001", maximum="10000", group="workload", when=("workload", RATED)
    )
    variation: Fraction = fields.decimal(
        "3", minimum="0.1", maximum="20", group="workload", when=("workload", ("bursty",))
    )
    on_s: Fraction = fields.decimal(
        "10", minimum="0.01", maximum="10000", group="workload", when=("workload", ("on_off",))
    )
    off_s: Fraction = fields.decimal(
        "10", minimum="0", maximum="10000", group="workload", when=("workload", ("on_off",))
    )
    users: int = fields.integer(
        16, minimum=1, maximum=10_000, group="workload", when=("workload", ("closed",))
    )
    think_ms: int = fields.integer(
        0, minimum=0, maximum=10**7, group="workload", when=("workload", ("closed",))
    )
    max_concurrency: int = fields.integer(
        8, minimum=1, maximum=10_000, group="workload", when=("workload", ("slots",))
    )
    sweep_file: str | None = fields.text(
        longest=20_000_000,
        suffixes=(".json",),
        shared=False,
        group="workload",
        when=("workload", (SWEEP_FILE,)),
    )
    trace: str | None = fields.text(
        longest=20_000_000,
        suffixes=(".csv", ".jsonl"),
        shared=False,
        group="workload",
        when=("workload", ("trace",)),
    )
    rate_factor: Fraction = fields.decimal(
        "1", minimum="0.001", maximum="1000", group="workload", when=("workload", ("trace",))
    )
    count: int = fields.integer(240, minimum=1, maximum=MOST_REQUESTS, group="workload")
    seed: int = fields.integer(20260101, minimum=0, maximum=2**32, group="workload")
    prompt: Lengths = fields.lengths(
        "1020, 512, 2048, 256, 1500, 3000",
        maximum=MOST_TOKENS,
        maximum_count=10_000,
        group="workload",
    )
    output: Lengths = fields.lengths(
        "129, 32, 256, 400, 64, 100", maximum=MOST_TOKENS, maximum_count=10_000, group="workload"
    )
    shared_prefix_tokens: int = fields.integer(
        0, minimum=0, maximum=MOST_TOKENS, group="workload", when=("workload", MADE)
    )
    prefix_groups: int = fields.integer(
        4, minimum=1, maximum=10_000, group="workload", when=("workload", MADE)
    )
    timeout_ms: int | None = fields.integer(None, minimum=1, maximum=10**9, group="workload")
    cost: str = fields.choice("linear", ("linear", "roofline", "table"), group="cost")
    a_us: int = fields.integer(
        6600, minimum=1, maximum=10**9, group="cost", when=("cost", ("linear",))
    )
    b_us: int = fields.integer(
        45, minimum=0, maximum=10**9, group="cost", when=("cost", ("linear",))
    )
    c_us: int = fields.integer(
        150, minimum=0, maximum=10**9, group="cost", when=("cost", ("linear",))
    )
    device: str = fields.choice(
        DEVICES[0].name,
        tuple(device.name for device in DEVICES),
        labelled=False,
        group="cost",
        when=("cost", ("roofline",)),
    )
    model: str = fields.choice(
        "llama_3_1_8b", (*MODELS, OWN_MODEL), group="cost", when=("cost", ("roofline",))
    )
    parameters_billion: Fraction = fields.decimal(
        "6.738", minimum="0.001", maximum="100000", group="cost", when=("model", (OWN_MODEL,))
    )
    kv_bytes_per_token: int = fields.integer(
        524_288, minimum=0, maximum=10**9, group="cost", when=("model", (OWN_MODEL,))
    )
    efficiency: Fraction = fields.decimal(
        "0.45", minimum="0.01", maximum="1", group="cost", when=("cost", ("roofline",))
    )
    memory_efficiency: Fraction = fields.decimal(
        "0.8", minimum="0.01", maximum="1", group="cost", when=("cost", ("roofline",))
    )
    table: str | None = fields.text(
        longest=100_000, suffixes=(".csv",), group="cost", when=("cost", ("table",))
    )
    max_num_batched_tokens: int = fields.integer(2048, minimum=1, maximum=10**6, group="scheduler")
    max_num_seqs: int = fields.integer(256, minimum=1, maximum=100_000, group="scheduler")
    block_size: int = fields.integer(16, minimum=1, maximum=1024, group="scheduler")
    num_blocks: int | None = fields.form_field(
        fields.Integer(default="6970", minimum=1, maximum=10**8, optional=True, group="scheduler")
    )
    max_queue: int | None = fields.integer(None, minimum=0, maximum=10**6, group="scheduler")
    prefix_cache: bool = fields.switch(group="scheduler")
    prefill_workers: int = fields.integer(1, minimum=1, maximum=64, group="link")
    decode_workers: int = fields.integer(1, minimum=1, maximum=64, group="link")
    transfer_us: int = fields.integer(50, minimum=0, maximum=10**7, group="link")
    transfer_us_per_token: int = fields.integer(21, minimum=0, maximum=10**6, group="link")
    link: str = fields.choice("parallel", ("parallel", "serial"), group="link")
    first_shown_by: str = fields.choice("prefill", ("prefill", "decode"), group="link")
    slo_ttft_ms: int = fields.integer(2000, minimum=0, maximum=10**9, group="slo")
    slo_tpot_ms: int = fields.integer(100, minimum=0, maximum=10**9, group="slo")
    decodes: int = fields.integer(
        64, minimum=0, maximum=100_000, group="slo", when=("cost", ("linear",))
    )
    slo_share: Fraction = fields.decimal("0.99", minimum="0.01", maximum="1", group="slo")
    tool: str = fields.choice(
        TOOLS[0].name, tuple(tool.name for tool in TOOLS), labelled=False, group="slo"
    )
    warm_up_percent: int = fields.integer(10, minimum=0, maximum=90, group="slo")
    sweep: bool = fields.switch(default=True, group="sweep")
    sweep_points: int = fields.integer(8, minimum=2, maximum=60, group="sweep")
    long_run: bool = fields.switch(group="sweep")

    @property
    def slo(self) -> Slo:
        """The limits in µs."""
        return Slo(ttft=self.slo_ttft_ms * 1000, tpot=self.slo_tpot_ms * 1000)

    @property
    def simulated(self) -> "Params":
        """The form with one value in every field that only says how a run is looked at."""
        return replace(
            self,
            slo_ttft_ms=0,
            slo_tpot_ms=0,
            decodes=0,
            slo_share=Fraction(1),
            tool=TOOLS[0].name,
            warm_up_percent=0,
            sweep=False,
            sweep_points=2,
            long_run=False,
        )


def requests_of(params: Params, factor: float = 1.0) -> list[Request]:
    """The workload at ``factor`` times its rate. Raises ParameterError for a bad trace."""
    if params.workload == "trace":
        rows = rows_of(params.trace or "")[: params.count]
        instants = arrivals.scaled(
            [int(row.arrival) for row in rows], float(params.rate_factor) * factor
        )
        return [replace(row, arrival=at) for row, at in zip(rows, instants, strict=True)]
    timeout = None if params.timeout_ms is None else params.timeout_ms * 1000
    shared = params.shared_prefix_tokens
    prompts, outputs = expanded(params.prompt), expanded(params.output)
    return [
        Request(
            id=f"{index:07}",
            arrival=instant,
            prompt=prompts[index % len(prompts)],
            output=outputs[index % len(outputs)],
            timeout=timeout,
            prefix_group=str(index % params.prefix_groups) if shared else None,
            prefix_len=min(shared, prompts[index % len(prompts)]),
        )
        for index, instant in enumerate(instants_of(params, factor))
    ]


@lru_cache(maxsize=1)  # a sweep over rates asks for the same rows once a rate
def rows_of(text: str) -> tuple[Request, ...]:
    """The rows of a trace at its own rate."""
    return traces.read(text)


def instants_of(params: Params, factor: float) -> list[int]:
    """Arrivals in µs; a closed loop's are made while it runs."""
    count, rate, seed = params.count, float(params.rate) * factor, params.seed
    if params.workload == "bursty":
        return arrivals.bursty(count, rate, float(params.variation), seed)
    if params.workload == "on_off":
        return arrivals.on_off(count, rate, float(params.on_s), float(params.off_s), seed)
    if params.workload == "uniform":
        return arrivals.uniform(count, rate)
    if params.workload == "closed":
        return [0] * count
    return arrivals.poisson(count, rate, seed)


def expanded(lengths: Lengths) -> list[int]:
    """Every length, runs written out."""
    return [run.length for run in lengths.runs for _ in range(run.count)]


def cost_of(params: Params) -> Cost:
    """The chosen cost model, in µs."""
    if params.cost == "roofline":
        return roofline_of(params)
    if params.cost == "table":
        return measured.measured(measured.points(params.table or ""))
    return Linear(a=params.a_us, b=params.b_us, c=params.c_us)


def roofline_of(params: Params) -> Roofline:
    """A model on a device."""
    own = Shape(
        parameters=int(params.parameters_billion * 10**9),
        bytes_per_parameter=Fraction(2),
        kv_bytes_per_token=params.kv_bytes_per_token,
    )
    return Roofline(
        shape=MODELS.get(params.model, own),
        device=next(device for device in DEVICES if device.name == params.device),
        compute_efficiency=params.efficiency,
        memory_efficiency=params.memory_efficiency,
    )


def settings_of(name: str, params: Params, budget: int | None = None) -> Settings:
    """The options of one scheduler; ``budget`` in place of the form's."""
    tokens = budget or params.max_num_batched_tokens
    return Settings(
        policy=cast("PolicyName", name),
        max_num_seqs=params.max_num_seqs,
        token_budget=tokens,
        block_size=params.block_size,
        num_blocks=params.num_blocks,
        max_queue=params.max_queue,
        prefix_cache=params.prefix_cache,
        chunked_prefill_size=tokens if name == "sglang" else None,
    )


def split_of(params: Params) -> Split:
    """Workers and link of the disaggregated system; blocks and queue limits are left out there."""
    return Split(
        prefill_workers=params.prefill_workers,
        decode_workers=params.decode_workers,
        x0=params.transfer_us,
        x1=params.transfer_us_per_token,
        link=cast("Literal['parallel', 'serial']", params.link),
        first_shown_by=cast("Literal['prefill', 'decode']", params.first_shown_by),
        max_decode_seqs=params.max_num_seqs,
    )
