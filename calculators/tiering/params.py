# ruff: noqa: RUF009 - a field is made once, on purpose
"""Form fields that the tiering calculators share: the device, the work, the store.

What a cache does not tell (hidden size, query heads) is read from a pasted config or the list of
known models where the field is empty.
"""

import json
from dataclasses import dataclass
from fractions import Fraction

from calculators.form import fields
from calculators.form.errors import ParameterError
from calculators.kv.catalogue import MODELS
from calculators.kv.dtypes import DTYPES, dtype
from calculators.kv.layers import Stack
from calculators.kv.shape import SOURCES, Shape, ShapeParams, short_values
from calculators.tiering.devices import DEVICES, FLOP_PER_TFLOP, OTHER
from calculators.tiering.moved import Store
from calculators.tiering.recompute import ClosedForm, Counted, Prefill, TokenCount, Work
from calculators.tiering.widths import WIDTHS

WORKS = ("closed_form", "counted", "measured")
COMPUTED = ("work", ("closed_form", "counted"))
KEYS = {  # of a config, in the order of WIDTHS
    "hidden_size": ("hidden_size", "n_embd", "d_model"),
    "query_heads": ("num_attention_heads", "n_head"),
}
WIDTH_OF = {"closed_form": "hidden_size", "counted": "query_heads"}
PER_BILLION = 10**9
PER_MILLE = 1000


@dataclass(frozen=True, kw_only=True)
class ComputeParams:
    """Devices and the work that a prefill is for them."""

    work: str = fields.choice("closed_form", WORKS, group="compute")
    hidden_size: int | None = fields.integer(
        None, minimum=1, maximum=1_000_000, group="compute", when=("work", ("closed_form",))
    )
    parameters_billion: Fraction = fields.decimal(
        "70.6", minimum="0.001", maximum="100000", group="compute", when=("work", ("counted",))
    )
    query_heads: int | None = fields.integer(
        None, minimum=1, maximum=100_000, group="compute", when=("work", ("counted",))
    )
    device: str = fields.choice(
        "A100 SXM", (*DEVICES, OTHER), labelled=False, group="compute", when=COMPUTED
    )
    tflop_per_s: Fraction = fields.decimal(
        "312", minimum="0.001", maximum="1000000", group="compute", when=("device", (OTHER,))
    )
    device_count: int = fields.integer(
        8, minimum=1, maximum=100_000, group="compute", when=COMPUTED
    )
    efficiency_percent: Fraction = fields.decimal(
        "100", minimum="0.1", maximum="100", group="compute", when=COMPUTED
    )
    tokens_per_s: Fraction = fields.decimal(
        "10000", minimum="0.001", maximum="1e12", group="compute", when=("work", ("measured",))
    )
    overhead_ms: Fraction = fields.decimal("0", minimum="0", maximum="1e6", group="compute")


@dataclass(frozen=True, kw_only=True)
class StoredParams(ShapeParams):
    """A model and how its cache is stored: apart from the devices, so that the form keeps order."""

    source: str = fields.choice("model", SOURCES, group="shape")
    model: str = fields.choice(
        "meta-llama/Llama-3.1-70B-Instruct",
        tuple(MODELS),
        labelled=False,
        group="shape",
        when=("source", ("model",)),
    )
    dtype: str = fields.choice("bfloat16", tuple(DTYPES), labelled=False, group="shape")
    tensor_parallel_size: int = fields.integer(1, minimum=1, maximum=1024, group="shape")


@dataclass(frozen=True, kw_only=True)
class ModelParams(ComputeParams, StoredParams):
    """A model, how its cache is stored, and the devices that compute it."""


def prefill_of(params: ComputeParams, stack: Stack) -> Prefill:
    """How long a prefill takes under the form's work and devices."""
    overhead = params.overhead_ms / PER_MILLE
    if params.work == "measured":
        return Prefill(work=TokenCount(), per_s=params.tokens_per_s, overhead_s=overhead)
    known = DEVICES.get(params.device)
    rate = known.tflop_per_s if known else params.tflop_per_s
    per_s = rate * FLOP_PER_TFLOP * params.device_count * params.efficiency_percent / 100
    return Prefill(work=work_of(params, stack), per_s=per_s, overhead_s=overhead)


def work_of(params: ComputeParams, stack: Stack) -> Work:
    """The FLOP of a prompt, by the closed form or counted."""
    if params.work == "closed_form":
        hidden = width(params, "hidden_size")
        return ClosedForm(layers=len(stack.layers), hidden_size=hidden)
    heads = width(params, "query_heads")
    parameters = int(params.parameters_billion * PER_BILLION)
    return Counted(parameters=parameters, query_heads=heads, stack=stack)


def width(params: ComputeParams, field: str) -> int:
    """A width: the field's, else the config's, else the list's; ``width_unknown`` without."""
    keys = KEYS[field]
    given: int | None = getattr(params, field)
    if given is None and isinstance(params, ModelParams):
        if params.source == "config" and params.config:
            given = from_config(params.config, keys)
        elif params.source == "model" and params.model in WIDTHS:
            given = WIDTHS[params.model][[*KEYS].index(field)]
    if given is None:
        raise ParameterError(field, "width_unknown", key=keys[0])
    return given


def shared_values(params: ModelParams, shape: Shape) -> dict[str, str]:
    """What an address says in place of a whole config: the stack, and the width of the work."""
    short = short_values(params, shape)
    field = WIDTH_OF.get(params.work)
    return short | {field: str(width(params, field))} if short and field else short


def from_config(text: str, keys: tuple[str, ...]) -> int | None:
    """The first of the keys that a config, or the text part of one, states."""
    tree = json.loads(text.strip().removeprefix("\ufeff"))
    nested = tree.get("text_config")
    for part in (tree, nested if isinstance(nested, dict) else {}):
        for key in keys:
            if type(part.get(key)) is int and part[key] > 0:
                return int(part[key])
    return None


def store_of(params: ModelParams, shape: Shape, *, every_row: bool = False) -> Store:
    """How the form's KV is stored."""
    return Store(
        kv=dtype("dtype", params.dtype),
        model=shape.model,
        tensor_parallel_size=params.tensor_parallel_size,
        every_row=every_row,
    )
