"""The bytes left for the cache on one GPU, from what the form says.

Either the figure that an engine printed, or a GPU's memory times the share that the engine may
use, less weights and a stated overhead. A printed figure stands for all that print so.
"""

import re
from dataclasses import dataclass, replace
from fractions import Fraction

from calculators.form.errors import ParameterError
from calculators.kv.capacity import GPUS, Memory, weight_bytes
from calculators.kv.dtypes import dtype
from calculators.kv.engine_params import OTHER_GPU, EngineParams
from calculators.kv.engines.steps import GIB, MIB, Line

BILLION = 10**9
# Before a number of experts it is the size of what one token uses: "17B-16E".
NAMED_SIZE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)[bB](?!\w|-\d+E)")
ALL = Fraction(1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Left:
    """What is left, with its derivation; ``low`` and ``high`` bound a printed figure."""

    bytes: int
    low: int
    high: int
    steps: tuple[Line, ...] = ()


def left_for_cache(params: EngineParams, ranks: int) -> Left:
    """Bytes on each of ``ranks`` GPUs. ParameterError ``nothing_left`` if weights fill them."""
    if params.memory == "available":
        return printed(params)
    memory = memory_of(params, ranks)
    left = memory.available_bytes
    if left == 0:
        need = memory.rank_weight_bytes + memory.overhead_bytes
        raise ParameterError("gpu", "nothing_left", need=gib(need), usable=gib(int(usable(memory))))
    return Left(bytes=left, low=left, high=left, steps=memory.derivation())


def printed(params: EngineParams) -> Left:
    """A printed figure of two decimals and the bytes that print so."""
    half = Fraction(1, 200)
    value = params.available_gib
    return Left(
        bytes=int(value * GIB),
        low=max(1, int((value - half) * GIB) + 1),
        high=int((value + half) * GIB),
    )


def memory_of(params: EngineParams, ranks: int) -> Memory:
    """GPU, share, weights and overhead."""
    gpu = params.gpu_memory_mib * MIB if params.gpu == OTHER_GPU else GPUS[params.gpu].memory_bytes
    share = {"vllm": params.gpu_memory_utilization, "sglang": params.mem_fraction_static}
    return Memory(
        total_bytes=gpu,
        utilization=share.get(params.engine, ALL),
        weight_bytes=weights_of(params),
        ranks=ranks,
        overhead_bytes=int(params.overhead_gib * GIB),
    )


def weights_of(params: EngineParams) -> int:
    """Bytes of the weights: stated, or from the number of parameters and their type."""
    if params.weight_gib is not None:
        return int(params.weight_gib * GIB)
    billions = params.parameters_b if params.parameters_b is not None else named_billions(params)
    if billions is None:
        raise ParameterError("parameters_b", "no_parameters")
    return weight_bytes(int(billions * BILLION), dtype("weight_dtype", params.weight_dtype))


def named_billions(params: EngineParams) -> Fraction | None:
    """The number of parameters in a known model's name, in billions: ``Qwen3-0.6B → 0.6``."""
    if params.source != "model":
        return None
    found = NAMED_SIZE.search(params.model)
    return None if found is None else Fraction(found[1])


def usable(memory: Memory) -> int:
    """What weights and overhead may take at most."""
    return replace(memory, weight_bytes=0, overhead_bytes=0).available_bytes


def gib(size: int) -> str:
    """Bytes as GiB with two decimals."""
    return f"{size / GIB:.2f} GiB"
