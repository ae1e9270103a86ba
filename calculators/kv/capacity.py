"""From GPUs, weights and a utilisation to what is left for the cache, and what fits into it.

What an engine measures only at run time (activations, CUDA graphs, communication buffers) is an
input here, ``overhead_bytes``, with a default that is shown. Left out: uneven shares of weights
(embeddings on one rank), host memory, and memory that other processes hold.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor

from calculators.form.lengths import Lengths, Run
from calculators.kv.dtypes import Dtype
from calculators.kv.engines import llamacpp, sglang, tensorrt_llm, vllm
from calculators.kv.engines.steps import GIB, MIB, Line
from calculators.kv.engines.vllm_pages import ceil_div, pages
from calculators.kv.layers import Stack
from calculators.kv.payload import payload, per_token


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU and the memory that ``nvidia-smi`` reports for it, with where that was read."""

    name: str
    memory_mib: int
    source: str

    @property
    def memory_bytes(self) -> int:
        """The reported memory in bytes."""
        return self.memory_mib * MIB


_MODAL = "modal-labs/modal-client PR #2797 (nvidia-smi totals)"
GPUS: dict[str, Gpu] = {
    gpu.name: gpu
    for gpu in (
        Gpu("H100 80GB", 81559, _MODAL),
        Gpu("H200", 143771, "sgl-project/sglang #3196 (nvidia-smi)"),
        Gpu("A100 80GB", 81920, _MODAL),
        Gpu("A100 40GB", 40960, _MODAL),
        Gpu("L40S", 46068, _MODAL),
        Gpu("A10", 23028, _MODAL),
        Gpu("L4", 23034, _MODAL),
        Gpu("T4", 15360, _MODAL),
        Gpu("B200", 183359, "NVIDIA/TensorRT-LLM #10278 (nvidia-smi)"),
        Gpu("MI300X", 196592, "ROCm/legacy-rocm-build #4750 (eight partitions of 24574 MiB)"),
        Gpu("RTX 5090", 32607, "noonghunna/club-3090 #1107 (nvidia-smi)"),
        Gpu("RTX 4090", 24564, "RLinf/RLinf #255, vllm-project/vllm #7553 (nvidia-smi)"),
        Gpu("RTX 3090", 24576, "noonghunna/club-3090 #1127 (nvidia-smi)"),
        Gpu("RTX 6000D", 85651, "aikitoria/open-gpu-kernel-modules #20 (nvidia-smi)"),
        Gpu("A800 80GB", 81920, "dexmal/dexbotic #41 (nvidia-smi)"),
    )
}
DEFAULT_OVERHEAD_BYTES = 2 * GIB  # activations, graphs and buffers; engines print their own


@dataclass(frozen=True, kw_only=True, slots=True)
class Memory:
    """One GPU's memory and what is taken of it before the cache.

    ``utilization`` is vLLM's ``gpu_memory_utilization`` and SGLang's ``mem_fraction_static``:
    the share of the whole that the engine may use. ``weight_bytes`` are the whole model's,
    spread over ``ranks`` (tensor x pipeline parallel) evenly.
    """

    total_bytes: int
    utilization: Fraction
    weight_bytes: int
    ranks: int = 1
    overhead_bytes: int = DEFAULT_OVERHEAD_BYTES

    @property
    def rank_weight_bytes(self) -> int:
        """Weights on one rank, rounded up."""
        return -(-self.weight_bytes // self.ranks)

    @property
    def available_bytes(self) -> int:
        """What is left for the cache on one rank; 0 where the weights do not even fit."""
        usable = floor(self.total_bytes * self.utilization)
        return max(0, usable - self.rank_weight_bytes - self.overhead_bytes)

    def derivation(self) -> tuple[Line, ...]:
        """The subtraction, line by line."""
        usable = floor(self.total_bytes * self.utilization)
        share = float(self.utilization)
        spread = f"{self.weight_bytes} ÷ {self.ranks}"
        left = f"{usable} − {self.rank_weight_bytes} − {self.overhead_bytes}"
        return (
            Line("usable_bytes", f"{self.total_bytes} × {share:g}", usable, "bytes"),
            Line("rank_weight_bytes", spread, self.rank_weight_bytes, "bytes"),
            Line("available_bytes", left, self.available_bytes, "bytes"),
        )


def weight_bytes(parameters: int, weights: Dtype) -> int:
    """Bytes of the weights from their number and type; scales are the type's own."""
    blocks = -(-parameters // weights.block) if weights.block else 0
    return -(-(parameters * weights.bits + blocks * weights.scale_bits) // 8)


@dataclass(frozen=True, kw_only=True, slots=True)
class Fit:
    """What fits: ``tokens`` of one endless sequence, ``sequences`` of the asked length each.

    ``limit`` names what runs out first: "tokens", "swa", "states" or "blocks".
    """

    tokens: int
    sequences: int
    limit: str

    def users(self, active_share: Fraction) -> int:
        """Users of whom on average a share has a live sequence at a time."""
        return floor(self.sequences / active_share)


def generic_fit(
    stack: Stack, kv: Dtype, length: int, available_bytes: int, model: Dtype | None = None
) -> Fit:
    """By the logical payload alone: no pages, no groups, no padding."""
    each = payload(stack, kv, Lengths((Run(length, 1),)), model=model).bytes
    token = per_token(stack, kv)
    tokens = floor(Fraction(available_bytes) / Fraction(token)) if token else 0
    sequences = floor(Fraction(available_bytes) / Fraction(each)) if each else 0
    return Fit(tokens=tokens, sequences=sequences, limit="tokens")


def vllm_fit(result: vllm.Pool, length: int) -> Fit:
    """Whole sequences of ``length`` by their pages; the null block is nobody's."""
    options = replace(result.options, max_model_len=length)
    needed = sum(pages(group.spec, options) for group in result.groups)
    sequences = result.usable_blocks // max(1, needed)
    return Fit(tokens=result.tokens, sequences=max(0, sequences), limit="blocks")


def sglang_fit(result: sglang.Pool, length: int, window: int | None = None) -> Fit:
    """Whole sequences by the full pool, the windowed pool and the states, whichever is less."""
    page = result.options.page_size
    limits = {"tokens": result.max_total_num_tokens // (ceil_div(length, page) * page)}
    if result.swa_tokens is not None:
        kept = length if window is None else min(length, window)
        limits["swa"] = result.swa_tokens // (ceil_div(kept, page) * page)
    if result.states is not None:
        limits["states"] = result.states
    limit = min(limits, key=lambda name: limits[name])
    return Fit(tokens=result.max_total_num_tokens, sequences=limits[limit], limit=limit)


def llamacpp_fit(options: llamacpp.Options, length: int) -> Fit:
    """Slots hold one sequence each: a unified cache shares its cells, the other splits them."""
    cells = llamacpp.full_cells(options)
    if options.kv_unified:
        sequences = min(options.parallel, cells // length)
    else:
        sequences = options.parallel if cells // options.parallel >= length else 0
    return Fit(tokens=cells, sequences=sequences, limit="tokens")


def tensorrt_fit(result: tensorrt_llm.Pool, length: int) -> Fit:
    """Whole sequences by their blocks."""
    needed = ceil_div(length, result.tokens_per_block)
    return Fit(tokens=result.pool_tokens, sequences=result.blocks // needed, limit="blocks")
