"""What every engine's estimate consists of, and the types it starts from.

Bytes are those of all GPUs of one replica together unless a name says ``rank``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from calculators.form.errors import ParameterError
from calculators.form.lengths import Lengths, Run
from calculators.kv.capacity import Fit
from calculators.kv.dtypes import Dtype, dtype
from calculators.kv.engine_params import CACHE_DTYPES, EngineParams
from calculators.kv.engines.steps import Line
from calculators.kv.engines.turboquant import PRESETS
from calculators.kv.layers import Cache
from calculators.kv.payload import Bytes, payload, whole_if_possible
from calculators.kv.shape import Shape

PADDING = "padding_layers"  # in a holding: places of layers that do not exist


@dataclass(frozen=True, slots=True)
class Cause:
    """A part of the difference between payload and allocation: a label's key, and its bytes."""

    name: str
    bytes: Bytes


def named_causes(**found: Bytes) -> tuple[Cause, ...]:
    """The causes that are not nothing, in the order given."""
    return tuple(
        Cause(name, whole_if_possible(Fraction(size))) for name, size in found.items() if size
    )


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """An engine's answer for one setting.

    ``payload_bytes`` are those of ``fit.sequences`` whole sequences; with the bytes of the causes
    they add up to ``allocated_bytes``. ``holding`` gives what one sequence of a length holds on
    one rank, by layer kind.
    """

    engine: str
    fit: Fit
    ranks: int
    replicas: int
    payload_bytes: Bytes
    allocated_bytes: Bytes
    causes: tuple[Cause, ...]
    steps: tuple[Line, ...]
    printed: str
    flags: str
    holding: Callable[[int], Mapping[Cache | str, int]]
    tokens_at: Callable[[int], int]  # of other available bytes

    @property
    def sequences(self) -> int:
        """Sequences of all replicas."""
        return self.fit.sequences * self.replicas

    @property
    def unexplained_bytes(self) -> Bytes:
        """What payload and causes leave open: nothing, or the estimate is wrong."""
        named = sum((Fraction(cause.bytes) for cause in self.causes), Fraction(self.payload_bytes))
        return Fraction(self.allocated_bytes) - named


@dataclass(frozen=True, kw_only=True, slots=True)
class Types:
    """The cache's type and the model's own."""

    kv: Dtype
    model: Dtype


def types_of(shape: Shape, params: EngineParams) -> Types:
    """What ``auto`` stands for: a type that the config names for its cache, else the model's own.

    Raises ParameterError ``not_an_option`` for a type that the engine does not have.
    """
    model = dtype("dtype", params.dtype) if params.dtype != "auto" else shape.model
    own = model or dtype("dtype", "bfloat16")
    name = params.kv_cache_dtype
    accepted = CACHE_DTYPES[params.engine]
    if name not in accepted:
        raise ParameterError(
            "kv_cache_dtype", "not_an_option", text=name, options=", ".join(accepted)
        )
    if name in PRESETS:
        return Types(kv=own, model=own)  # slots have bytes of their own
    if name == "fp8_ds_mla":
        return Types(kv=dtype("kv_cache_dtype", "fp8"), model=own)
    if name != "auto":
        return Types(kv=dtype("kv_cache_dtype", name), model=own)
    stated = named_kv_dtype(shape)
    return Types(kv=dtype("config", stated) if stated else own, model=own)


def named_kv_dtype(shape: Shape) -> str | None:
    """The cache's type that a config or a known model names."""
    if shape.reading is not None:
        return shape.reading.kv_dtype
    return (shape.known.kv_dtype or None) if shape.known is not None else None


def payload_of(shape: Shape, types: Types, length: int, sequences: int) -> Bytes:
    """The logical payload of equal sequences; nothing for none of them."""
    if not sequences:
        return 0
    lengths = Lengths((Run(length, sequences),))
    return payload(shape.stack, types.kv, lengths, model=types.model).bytes


def rank_payload_bits(cache: Cache, kv: Dtype) -> int:
    """Bits of one token's rows in a plain payload."""
    return sum(count * kv.row_bits(width) for count, width in cache.rows)


def flag_lines(command: str, options: Mapping[str, object]) -> str:
    """A command with an option a line, ready to be pasted into a shell."""
    lines = [command]
    for flag, value in options.items():
        if value is not None and value is not False:
            lines.append(f"  {flag}" if value is True else f"  {flag} {value}")
    return " \\\n".join(lines)


def plain_number(value: Fraction) -> str:
    """``Fraction(9, 10) → "0.9"``."""
    return f"{float(value):.10g}"


def model_name(shape: Shape) -> str:
    """The model's name, or a place to put it."""
    return shape.known.name if shape.known is not None else "MODEL"
