# ruff: noqa: RUF009 - a field is made once, on purpose
"""The form of the hierarchy on a trace, and what it sets up."""

from dataclasses import dataclass
from fractions import Fraction

from calculators.form import fields
from calculators.form.errors import ParameterError
from calculators.kv.dtypes import DTYPES, dtype
from calculators.kv.layers import Stack
from calculators.kv.notation import from_text
from calculators.kv.payload import per_token
from calculators.prefix.lab_source import Source
from calculators.tiering.chunks import HICACHE_LOAD, HICACHE_PREFETCH
from calculators.tiering.hierarchy import (
    NS_PER_MS,
    NS_PER_S,
    PREFETCH_POLICIES,
    WRITE_POLICIES,
    Level,
    Setup,
)
from calculators.tiering.params import ComputeParams, prefill_of
from calculators.tiering.places import POLICIES
from calculators.tiering.tier import BYTES_PER_GB

GIB = 2**30
NS_PER_US = 1000
MOST_GIB = 10**9
LEVELS = ("host", "ssd", "remote")
TIMEOUT = ("prefetch", ("timeout",))


def capacity(default: int, least: int = 0) -> int:
    """A field of GiB."""
    found: int = fields.integer(default, minimum=least, maximum=MOST_GIB, group="capacity")
    return found


def rate(default: str) -> Fraction:
    """A field of GB/s."""
    found: Fraction = fields.decimal(default, minimum="0.001", maximum="1000000", group="links")
    return found


def latency(default: str) -> Fraction:
    """A field of µs."""
    found: Fraction = fields.decimal(default, minimum="0", maximum="1e9", group="links")
    return found


def one_of(default: str, options: tuple[str, ...]) -> str:
    """A field of the engines' own words."""
    found: str = fields.choice(default, options, labelled=False, group="policies")
    return found


@dataclass(frozen=True, kw_only=True)
class Params(ComputeParams, Source):
    """A trace, a model in short notation, tiers with their policies. 0 GiB is no such tier."""

    stack: str = fields.text("80*full:8x128", lines=2, group="shape")
    dtype: str = fields.choice("bfloat16", tuple(DTYPES), labelled=False, group="shape")
    hidden_size: int | None = fields.integer(
        8192, minimum=1, maximum=1_000_000, group="compute", when=("work", ("closed_form",))
    )
    efficiency_percent: Fraction = fields.decimal(
        "50", minimum="0.1", maximum="100", group="compute",
        when=("work", ("closed_form", "counted")),
    )  # fmt: skip
    chunk_size: int = fields.integer(256, minimum=1, maximum=4096, group="capacity")
    gpu_gib: int = capacity(4, 1)
    host_gib: int = capacity(8)
    ssd_gib: int = capacity(64)
    remote_gib: int = capacity(0)
    instances: int = fields.integer(1, minimum=1, maximum=1000, group="capacity")
    remote_shared: bool = fields.switch(default=True, group="capacity")
    host_gb_per_s: Fraction = rate("64")
    host_latency_us: Fraction = latency("10")
    ssd_gb_per_s: Fraction = rate("7.88")
    ssd_latency_us: Fraction = latency("100")
    remote_gb_per_s: Fraction = rate("25")
    remote_latency_us: Fraction = latency("50")
    operations_in_flight: int = fields.integer(16, minimum=1, maximum=100_000, group="links")
    gpu_policy: str = one_of("lru", POLICIES)
    host_policy: str = one_of("lru", POLICIES)
    ssd_policy: str = one_of("lru", POLICIES)
    remote_policy: str = one_of("lru", POLICIES)
    host_write: str = one_of("write_through", WRITE_POLICIES)
    ssd_write: str = one_of("write_through", WRITE_POLICIES)
    remote_write: str = one_of("write_through", WRITE_POLICIES)
    promote: bool = fields.switch(default=True, group="policies")
    load_back_threshold: int = fields.integer(
        HICACHE_LOAD, minimum=0, maximum=10**9, group="policies"
    )
    prefetch_threshold: int = fields.integer(
        HICACHE_PREFETCH, minimum=0, maximum=10**9, group="policies"
    )
    prefetch: str = one_of("wait_complete", PREFETCH_POLICIES)
    timeout_base_ms: Fraction = fields.decimal(
        "50", minimum="0", maximum="1e6", group="policies", when=TIMEOUT
    )
    timeout_per_1024_ms: Fraction = fields.decimal(
        "10", minimum="0", maximum="1e6", group="policies", when=TIMEOUT
    )


def stack_of(params: Params) -> Stack:
    """The model's layers."""
    return from_text("stack", params.stack or "")


def block_bytes(params: Params, stack: Stack, block_tokens: int) -> int:
    """Bytes of one block, every row of it: a store of blocks knows no windows."""
    size = Fraction(per_token(stack, dtype("dtype", params.dtype))) * block_tokens
    return max(1, -(-size.numerator // size.denominator))


def setup_of(params: Params, stack: Stack, block_tokens: int) -> Setup:
    """The hierarchy of the form. ParameterError for a tier that holds not one block."""
    size = block_bytes(params, stack, block_tokens)
    levels = tuple(
        level_of(params, name, size) for name in LEVELS if getattr(params, f"{name}_gib")
    )
    return Setup(
        gpu_blocks=blocks_of("gpu_gib", params.gpu_gib, size),
        gpu_policy=params.gpu_policy,
        levels=levels,
        prefill=prefill_of(params, stack),
        instances=params.instances,
        promote=params.promote,
        prefetch=params.prefetch,  # type: ignore[arg-type] # the field's options are these
        timeout_base_ns=int(params.timeout_base_ms * NS_PER_MS),
        timeout_ns_per_1024=int(params.timeout_per_1024_ms * NS_PER_MS),
    )


def level_of(params: Params, name: str, size: int) -> Level:
    """One tier. Host memory loads at a request's turn, what lies below is prefetched."""
    host = name == "host"
    gb_per_s: Fraction = getattr(params, f"{name}_gb_per_s")
    return Level(
        name=name,
        capacity=blocks_of(f"{name}_gib", getattr(params, f"{name}_gib"), size),
        ns_per_block=size * NS_PER_S / (gb_per_s * BYTES_PER_GB),
        latency_ns=int(getattr(params, f"{name}_latency_us") * NS_PER_US),
        parallel=params.operations_in_flight,
        policy=getattr(params, f"{name}_policy"),
        write=getattr(params, f"{name}_write"),
        least_tokens=params.load_back_threshold if host else params.prefetch_threshold,
        prefetched=not host,
        shared=params.remote_shared and name == "remote",
    )


def blocks_of(field: str, gib: int, size: int) -> int:
    """Whole blocks of a capacity."""
    blocks = gib * GIB // size
    if not blocks:
        least = -(-size // GIB)
        raise ParameterError(field, "too_small", text=gib, minimum=least, maximum=MOST_GIB)
    return blocks
