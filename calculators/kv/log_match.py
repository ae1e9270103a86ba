"""Whether a log's figures follow from its own settings, and what would make them follow.

The estimate's printed lines are read by the same reader as the log, so figures are compared as
they are printed. Memory printed with two decimals stands for a range; within it the size is
looked for that gives the printed tokens. Where the stated settings do not give the figures,
single causes that a log need not name are tried, then pairs. Left out: three at once.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

from calculators.form.errors import ParameterError
from calculators.kv.engine_params import EngineParams
from calculators.kv.estimates import estimate
from calculators.kv.estimates.common import Estimate
from calculators.kv.log_settings import Setting, decimal, positive
from calculators.kv.logs import Log, read_log
from calculators.kv.memory import printed
from calculators.kv.shape import Shape

# The figure of each engine that its memory has to give.
SIZE = {
    "vllm": "gpu_kv_cache_tokens", "sglang": "max_total_num_tokens", "tensorrt_llm": "max_tokens",
}  # fmt: skip
# What a printed memory or a typed option is, not an outcome.
GIVEN = {"available_kv_cache_memory_gib", "max_model_len", "tokens_per_block", "page_size"}
CONCURRENCY = "max_concurrency"
REFUSED_LENGTH = "estimated_max_model_len"  # of vLLM's error, when one request does not fit
MOST_BYTES = 2**52
ANYWHERE = (1, MOST_BYTES)


@dataclass(frozen=True, slots=True)
class Supposition:
    """Something that the log does not say: a label's key, the value tried, the change."""

    name: str
    value: str
    changes: tuple[tuple[str, object], ...]


@dataclass(frozen=True, slots=True)
class Compared:
    """One figure, as the log prints it and as the estimate does."""

    field: str
    printed: str
    computed: str

    @property
    def equal(self) -> bool:
        """Whether they are the same figure."""
        one, two = decimal(self.printed), decimal(self.computed)
        return self.printed == self.computed or (one is not None and one == two)


@dataclass(frozen=True, kw_only=True)
class Match:
    """A setting's estimate at the memory that comes closest to the log.

    ``others`` would each do as well as ``suppositions``: the log cannot tell them apart.
    """

    setting: Setting
    suppositions: tuple[Supposition, ...]
    estimate: Estimate
    memory: int
    compared: tuple[Compared, ...]
    others: tuple[Supposition, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every figure agrees."""
        return bool(self.compared) and all(figure.equal for figure in self.compared)


def best_match(shape: Shape, log: Log, setting: Setting) -> Match:
    """The stated setting where it gives the figures, else the least that has to be supposed."""
    plain = match(shape, log, setting, ())
    if plain is not None and (plain.complete or not plain.compared):
        return plain
    candidates = list(suppositions(shape, setting, log))
    single = [complete(shape, log, setting, (one,)) for one in candidates]
    fitting = [found for found in single if found is not None]
    if fitting:
        return replace(fitting[0], others=tuple(found.suppositions[0] for found in fitting[1:]))
    for pair in combinations(candidates, 2):
        found = complete(shape, log, setting, pair) if pair[0].name != pair[1].name else None
        if found is not None:
            return found
    if plain is None:
        raise ParameterError("log", "setting_refused")
    return plain


def complete(
    shape: Shape, log: Log, setting: Setting, chosen: tuple[Supposition, ...]
) -> Match | None:
    """The match under some suppositions, if every figure then agrees."""
    found = match(shape, log, setting, chosen)
    return found if found is not None and found.complete else None


def match(
    shape: Shape, log: Log, setting: Setting, chosen: tuple[Supposition, ...]
) -> Match | None:
    """The estimate under some suppositions; None where the engine would refuse them.

    None as well for suppositions under which no memory gives the printed tokens.
    """
    changes = {name: value for supposed in chosen for name, value in supposed.changes}
    memory_free = changes.pop("memory_free", False)
    tried = setting.changed(**changes) if changes else setting
    length = tried.params.max_model_len if tried.params.engine == "vllm" else 1
    try:
        memory = memory_for(shape, log, tried, length, anywhere=bool(memory_free))
        if memory is None and chosen:
            return None  # nothing is gained by supposing what cannot give the printed tokens
        memory = nominal_memory(tried) if memory is None else memory
        found = estimate(shape, tried.params, memory, length)
    except ParameterError:
        return None
    return Match(
        setting=tried,
        suppositions=chosen,
        estimate=found,
        memory=memory,
        compared=tuple(compared(log, found)),
    )


def compared(log: Log, found: Estimate) -> Iterator[Compared]:
    """Every figure that both print."""
    ours = read_log("log", found.printed).fields
    for field, text in log.fields.items():
        if field in ours and field not in GIVEN:
            yield Compared(field, text, ours[field])


def nominal_memory(setting: Setting) -> int:
    """The printed memory as it stands; the least where none is printed."""
    return printed(setting.params).bytes if "available_gib" in setting.stated else ANYWHERE[0]


def memory_for(
    shape: Shape, log: Log, setting: Setting, length: int, *, anywhere: bool
) -> int | None:
    """Bytes within the printed range that give the printed tokens; None where none do.

    Where no tokens are printed, the printed memory as it stands.
    """
    params = setting.params
    low, high = ANYWHERE if anywhere else memory_range(setting)
    nominal = nominal_memory(setting)
    size = positive(log.fields.get(SIZE.get(params.engine, ""), ""))
    if size is None:
        refused = positive(log.fields.get(REFUSED_LENGTH, ""))
        if refused is None:
            return nominal
        return least_memory(refused_length(shape, params, length), refused, low, high) or nominal

    tokens = estimate(shape, params, high, length).tokens_at
    least = least_memory(tokens, size, low, high)
    printed_ratio = decimal(log.fields.get(CONCURRENCY, ""))
    if least is None or printed_ratio is None:
        return least
    # Tokens of several groups are rounded: a few block counts print them, in other concurrencies.
    last = most_memory(tokens, size, least, high)
    return least_memory(concurrency_at(shape, params, length), printed_ratio, least, last) or least


def concurrency_at(shape: Shape, params: EngineParams, length: int) -> Callable[[int], Fraction]:
    """The concurrency that vLLM prints, by the memory."""

    def printed_at(memory: int) -> Fraction:
        lines = read_log("log", estimate(shape, params, memory, length).printed)
        return decimal(lines.fields.get(CONCURRENCY, "")) or Fraction(0)

    return printed_at


def refused_length(shape: Shape, params: EngineParams, length: int) -> Callable[[int], int]:
    """The length that vLLM's refusal names, by the memory; the asked one where it starts."""

    def named(memory: int) -> int:
        lines = read_log("log", estimate(shape, params, memory, length).printed)
        return positive(lines.fields.get(REFUSED_LENGTH, "")) or length

    return named


def memory_range(setting: Setting) -> tuple[int, int]:
    """What the printed memory stands for; any memory where none is printed."""
    if "available_gib" not in setting.stated:
        return ANYWHERE
    left = printed(setting.params)
    return left.low, left.high


def least_memory[T: (int, Fraction)](
    figure: Callable[[int], T], size: T, low: int, high: int
) -> int | None:
    """The least memory in a range that gives a figure that grows with it; None where none does."""
    if figure(low) == size:
        return low
    if figure(high) < size or figure(low) > size:
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if figure(middle) >= size else (middle + 1, high)
    return low if figure(low) == size else None


def most_memory(tokens: Callable[[int], int], size: int, low: int, high: int) -> int:
    """The most memory in a range that still gives the number of tokens that ``low`` gives."""
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if tokens(middle) <= size else (low, middle - 1)
    return low


def suppositions(shape: Shape, setting: Setting, log: Log) -> Iterator[Supposition]:
    """What the log leaves open, in the order in which it is likely."""
    stated, engine = setting.stated, setting.params.engine
    for name, field, values in OPEN[engine]:
        if field not in stated:
            for value in values:
                yield Supposition(name, str(value), ((field, value),))
    yield from other_ranks(setting, log)
    if engine == "vllm":
        yield Supposition("hybrid_off", "", (("disable_hybrid_kv_cache_manager", True),))
        if shape.draft.layers and "num_speculative_tokens" not in stated:
            for count in (1, 2, 3):
                yield Supposition("speculation", str(count), (("num_speculative_tokens", count),))
    if "available_gib" in stated:
        yield Supposition("memory_free", "", (("memory_free", True),))


OPEN: Mapping[str, tuple[tuple[str, str, tuple[object, ...]], ...]] = {
    "vllm": (
        ("report", "report", ("groups", "concurrency")),
        ("batched", "max_num_batched_tokens", (2048, 16384, 4096, 32768, 1024, 65536)),
        ("kv_dtype", "kv_cache_dtype", ("fp8",)),
        ("tensor_parallel", "tensor_parallel_size", (2, 4, 8)),
        ("block", "block_size", (32, 64, 128)),
        ("mamba_mode", "mamba_cache_mode", ("align", "all")),
    ),
    "sglang": (
        ("tensor_parallel", "tp_size", (2, 4, 8)),
        ("kv_dtype", "kv_cache_dtype", ("fp8_e4m3",)),
        ("page", "page_size", (16, 32, 64, 128)),
    ),
    "llamacpp": (
        ("slots", "parallel", (1, 2, 3, 8)),
        ("not_unified", "kv_unified", (False,)),
        ("ubatch", "ubatch_size", (128, 256, 1024, 2048)),
        ("swa_full", "swa_full", (True,)),
    ),
    "tensorrt_llm": (
        ("tensor_parallel", "tp_size", (2, 4, 8)),
        ("kv_dtype", "kv_cache_dtype", ("fp8",)),
        ("block", "tokens_per_block", (64, 128)),
    ),
}  # fmt: skip


def other_ranks(setting: Setting, log: Log) -> Iterator[Supposition]:
    """A rank that prints before the smallest memory of all is taken."""
    for rank, text in log.by_rank.get("available_kv_cache_memory_gib", {}).items():
        value = decimal(text)
        if value is not None and value != setting.params.available_gib:
            yield Supposition("rank", f"{rank}: {text}", (("available_gib", value),))
