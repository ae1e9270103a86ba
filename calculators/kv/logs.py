"""Start-up logs of vLLM, SGLang, llama.cpp and TensorRT-LLM: the lines about the KV cache.

Every known wording of every line is one pattern with the fields that it gives. Colours, time
stamps, process and rank prefixes may stand around it, and ranks may be interleaved: a figure that
ranks print differently is kept by rank. Left out: what lines of other engines' forks say, and
figures in progress bars.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from calculators.form.errors import ParameterError

type Engine = Literal["vllm", "sglang", "llamacpp", "tensorrt_llm"]

LONGEST_TEXT = 20_000_000  # characters
LONGEST_LINE = 20_000
COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|\[[0-9;]{1,8}m(?=\S|\s)")
RANK = re.compile(
    r"\b(?:Worker_|EngineCore_|VllmWorker |_)?((?:DP|TP|PP|EP)\d+(?:[_ ](?:DP|TP|PP|EP)\d+)*)"
)
BARE_RANK = re.compile(r"(?:rank|Rank)[ =:]*(\d+)|VllmWorker(?:Process)? rank=(\d+)")
NUMBER = r"([0-9][0-9,]*(?:\.[0-9]+)?)"
# vLLM's refusal is one line; threads quote it in three, behind marks of a quotation.
UNFINISHED = re.compile(r"max seq len \([0-9]+\),\s*$")
QUOTED = re.compile(r"^[\s>|▎]+")
REST_LINES = 2


@dataclass(frozen=True, slots=True)
class Pattern:
    """A line's wording: groups give ``fields`` in order."""

    engine: Engine
    fields: tuple[str, ...]
    regex: re.Pattern[str]


def pattern(engine: Engine, fields: str, regex: str) -> Pattern:
    """``#`` in the wording stands for a number."""
    return Pattern(engine, tuple(fields.split()), re.compile(regex.replace("#", NUMBER)))


NAME = r"['\"]?([\w.:-]+)['\"]?"
PATTERNS: tuple[Pattern, ...] = (
    # vLLM: lines of gpu_worker.py, kv_cache_utils.py, config and arguments.
    pattern("vllm", "available_kv_cache_memory_gib", r"Available KV cache memory: # GiB"),
    pattern(
        "vllm", "available_kv_cache_memory_gib",  # the V0 engine
        r"memory reserved for KV Cache is # ?GiB",
    ),
    pattern("vllm", "gpu_kv_cache_tokens", r"GPU KV cache size: # tokens"),
    pattern(
        "vllm", "max_model_len max_concurrency", r"Maximum concurrency for # tokens per request: #x"
    ),
    pattern(
        "vllm", "max_model_len needed_gib available_kv_cache_memory_gib estimated_max_model_len",
        r"max seq len \(#\), \(?# GiB KV cache is needed, which is larger than the available KV "
        r"cache memory \(# GiB\)\.(?: +Based on the available memory, the estimated maximum model "
        r"length is #)?",
    ),
    pattern("vllm", "num_gpu_blocks", r"\x23 GPU blocks: #"),
    pattern("vllm", "num_gpu_blocks", r"num_gpu_blocks is: #"),
    pattern("vllm", "attention_block_size", r"Setting attention block size to # tokens"),
    pattern("vllm", "mamba_page_padding_percent", r"Padding mamba page size by #%"),
    pattern(
        "vllm", "padding_layers padding_percent",
        r"Add # padding layers, may waste at most #%",
    ),
    pattern("vllm", "context_parallel", r"Multiplying the GPU KV cache size by the \w+ #"),
    pattern("vllm", "max_num_batched_tokens", r"max_num_batched_tokens['\"]?[=:] ?#"),
    pattern("vllm", "max_model_len", r"Using max model len #"),
    pattern("vllm", "max_model_len", r"\bmax_model_len['\"]?[=:] ?#"),
    pattern("vllm", "num_speculative_tokens", r"num_spec(?:ulative)?_tokens['\"]?[=:] ?#"),
    pattern(
        "vllm", "num_gpu_blocks",
        r"Overriding num_gpu_blocks=[0-9]+ with num_gpu_blocks_override=#",
    ),
    pattern("vllm", "max_model_len", r"\bmax_seq_len=#"),
    pattern("vllm", "tensor_parallel_size", r"tensor_parallel_size['\"]?[=:] ?#"),
    pattern("vllm", "pipeline_parallel_size", r"pipeline_parallel_size['\"]?[=:] ?#"),
    pattern("vllm", "decode_context_parallel_size", r"decode_context_parallel_size['\"]?[=:] ?#"),
    pattern("vllm", "gpu_memory_utilization", r"gpu_memory_utilization['\"]?[=:] ?#"),
    pattern("vllm", "kv_cache_dtype", rf"\bkv_cache_dtype['\"]?[=:] ?{NAME}"),
    pattern("vllm", "block_size", r"\bblock_size['\"]?[=:] ?#"),
    pattern("vllm", "weight_gib", r"Model loading took # GiB|Loading model weights took # GB"),
    pattern("vllm", "version", r"vLLM (?:API server )?version v?([0-9]+\.[0-9]+[\w.+]*)"),
    pattern("vllm", "version", r"Initializing an? (?:V1 )?LLM engine \(v([0-9]+\.[0-9]+[\w.+]*)\)"),
    pattern("vllm", "model", r"engine \(v[^)]*\) with config: model=['\"]([^'\"]+)['\"]"),
    pattern("vllm", "dtype", r"\bdtype=(torch\.\w+), max_seq_len"),
    # SGLang: lines of memory_pool.py, model_runner.py and scheduler.py. GB are GiB.
    pattern(
        "sglang", "max_total_num_tokens K_size_gib V_size_gib",
        r"KV Cache is allocated\.(?: dtype: [\w.]+,)? \x23tokens: #, K size: # GB, V size: # GB",
    ),
    pattern(
        "sglang", "max_total_num_tokens kv_size_gib",
        r"KV Cache is allocated\.(?: dtype: [\w.]+,)? \x23tokens: #, KV size: # GB",
    ),
    pattern("sglang", "kv_cache_dtype", r"KV Cache is allocated\. dtype: ([\w.]+),"),
    pattern("sglang", "max_total_num_tokens", r"max_total_num_tokens=#"),
    pattern("sglang", "max_running_requests", r"max_running_requests=#"),
    pattern("sglang", "context_len", r"context_len=#"),
    pattern("sglang", "max_total_num_tokens swa_tokens",
            r"full_layer_tokens=#, swa_layer_tokens=#"),
    pattern("sglang", "states", r"max_mamba_cache_size: #"),
    pattern("sglang", "available_gpu_mem_gib", r"available_gpu_mem=# GB"),
    pattern("sglang", "weight_gib", r"Load weight end\..*?mem usage=# GB"),
    pattern("sglang", "mem_fraction_static", r"mem_fraction_static=#"),
    pattern("sglang", "page_size", r"\bpage_size=#"),
    pattern("sglang", "tp_size", r"\btp_size=#"),
    pattern("sglang", "pp_size", r"\bpp_size=#"),
    pattern("sglang", "dp_size", r"\bdp_size=#.*enable_dp_attention=True"),
    pattern("sglang", "kv_cache_dtype", r"ServerArgs\(.*\bkv_cache_dtype='((?!auto)\w+)'"),
    pattern("sglang", "swa_full_tokens_ratio", r"\bswa_full_tokens_ratio=#"),
    pattern("sglang", "mamba_full_memory_ratio", r"\bmamba_full_memory_ratio=#"),
    pattern("sglang", "model", r"ServerArgs\(model_path=['\"]([^'\"]+)['\"]"),
    # llama.cpp: lines of llama-kv-cache*.cpp and llama-context.cpp; old MB are MiB.
    pattern(
        "llamacpp", "kv_mib cells layers",
        r"llama_kv_cache\w*: *size = *# MiB \( *# cells, *# layers",
    ),
    pattern("llamacpp", "full_cells", r"creating non-SWA KV cache, size = *# cells"),
    pattern("llamacpp", "swa_cells", r"creating +SWA KV cache, size = *# cells"),
    pattern("llamacpp", "kv_mib", r"(?i:kv self size) *= *# (?:MiB|MB)"),
    pattern("llamacpp", "kv_buffer_mib", r"KV buffer size = *# MiB"),
    pattern("llamacpp", "type_k k_mib", r"\bK \((\w+)\): *# MiB"),
    pattern("llamacpp", "type_v v_mib", r"\bV \((\w+)\): *# MiB"),
    pattern("llamacpp", "n_ctx", r"\bn_ctx *= *#"),
    pattern("llamacpp", "n_seq_max", r"\bn_seq_max *= *#"),
    pattern("llamacpp", "n_ubatch", r"\bn_ubatch *= *#"),
    pattern("llamacpp", "kv_unified", r"\bkv_unified *= *(true|false)"),
    pattern("llamacpp", "n_layer", r"\bn_layer *= *#"),
    pattern("llamacpp", "n_swa", r"\bn_swa *= *#"),
    pattern("llamacpp", "n_embd_k_gqa", r"\bn_embd_k_gqa *= *#"),
    pattern("llamacpp", "n_embd_v_gqa", r"\bn_embd_v_gqa *= *#"),
    # TensorRT-LLM: lines of kvCacheManager.cpp and its configuration.
    pattern(
        "tensorrt_llm", "allocated_gib max_tokens",
        r"Allocated # GiB for max tokens in paged KV cache \(#\)",
    ),
    pattern("tensorrt_llm", "blocks", r"Number of blocks in KV cache primary pool: #"),
    pattern("tensorrt_llm", "tokens_per_block", r"Number of tokens per block: #"),
    pattern(
        "tensorrt_llm", "total_gib free_gib",
        r"calculating max tokens in paged kv cache: total: # GiB, available: # GiB",
    ),
    pattern(
        "tensorrt_llm", "window tokens_per_block blocks",
        r"\[window size=#\], tokens per block=#, primary blocks=#",
    ),
    pattern("tensorrt_llm", "max_tokens", r"Using # tokens in paged KV cache"),
    pattern("tensorrt_llm", "free_gpu_memory_fraction", r"free_gpu_memory_fraction['\"]?[=:] ?#"),
)  # fmt: skip
# Words without which none of an engine's patterns can match: most lines are passed over quickly.
HINTS = re.compile(
    r"KV|kv|blocks|max_|block|padding|Padding|parallel|concurrency|weight|[Mm]odel|vLLM|utilization"
    r"|_layer|n_ctx|n_seq|n_ubatch|n_swa|n_embd|mamba|page_size|size=|speculative|ratio="
)


@dataclass(frozen=True, slots=True)
class Found:
    """One field of one line: text as printed, without the thousands' commas of numbers."""

    engine: Engine
    field: str
    value: str
    rank: str
    line: int


@dataclass(frozen=True, kw_only=True)
class Log:
    """What a log says. ``engine`` is the one that most of its lines are of."""

    engine: Engine
    found: tuple[Found, ...]

    @property
    def fields(self) -> Mapping[str, str]:
        """Every field once: the last figure of each rank, and of ranks that differ the least."""
        last: dict[str, dict[str, str]] = {}
        for item in self.found:
            last.setdefault(item.field, {})[item.rank] = item.value
        return {field: least(list(by_rank.values())) for field, by_rank in last.items()}

    @property
    def by_rank(self) -> Mapping[str, Mapping[str, str]]:
        """Fields that ranks print differently, by rank."""
        last: dict[str, dict[str, str]] = {}
        for item in self.found:
            last.setdefault(item.field, {})[item.rank] = item.value
        return {name: ranks for name, ranks in last.items() if len(set(ranks.values())) > 1}


def least(values: list[str]) -> str:
    """The smallest of figures; of texts the first."""
    try:
        return min(values, key=float)
    except ValueError:
        return values[0]


def read_log(field: str, text: str) -> Log:
    """The fields of a pasted log.

    Raises ParameterError: ``empty_text``, ``text_too_long``, ``no_log_lines``.
    """
    if len(text) > LONGEST_TEXT:
        raise ParameterError(field, "text_too_long", maximum=LONGEST_TEXT, length=len(text))
    if not text.strip():
        raise ParameterError(field, "empty_text")
    found = tuple(
        item
        for number, line in numbered_lines(text)
        if HINTS.search(line)
        for item in read_line(number, COLOUR.sub("", line[:LONGEST_LINE]))
    )
    engines = [item.engine for item in found]
    if not engines:
        raise ParameterError(field, "no_log_lines")
    engine = max(dict.fromkeys(engines), key=engines.count)
    return Log(engine=engine, found=tuple(item for item in found if item.engine == engine))


def numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    """Every line by its number from 1, a broken refusal with the lines that complete it."""
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if line.rstrip().endswith(",") and UNFINISHED.search(line[-LONGEST_LINE:]):
            rest = (
                QUOTED.sub("", more[:LONGEST_LINE]) for more in lines[number : number + REST_LINES]
            )
            yield number, " ".join([line.rstrip(), *(more.rstrip() for more in rest)])
        else:
            yield number, line


def read_line(number: int, line: str) -> Iterator[Found]:
    """Every field of every pattern that a line matches."""
    rank = rank_of(line)
    for known in PATTERNS:
        match = known.regex.search(line)
        if match is None:
            continue
        values = [value for value in match.groups() if value is not None]
        for name, value in zip(known.fields, values, strict=False):
            yield Found(known.engine, name, plain(value), rank, number)


def plain(value: str) -> str:
    """``178,880`` to ``178880``; a trailing comma is no part of a number."""
    return value.replace(",", "") if value[:1].isdigit() else value


def rank_of(line: str) -> str:
    """``TP0`` of ``(Worker_TP0 pid=1)`` or ``[… TP0]``; empty where a line names none."""
    match = RANK.search(line[:200])
    if match is not None:
        return match.group(1).replace("_", " ")
    bare = BARE_RANK.search(line[:200])
    return "" if bare is None else f"rank {bare.group(1) or bare.group(2)}"
