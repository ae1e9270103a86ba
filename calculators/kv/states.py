"""The fixed state of a linear-attention, Mamba or convolution layer, by the fields that give it.

Every family is recognised by its own fields; their shapes are those of the engines' state
tensors (vLLM ``mamba_utils.py``: conv keeps kernel - 1 columns). Left out: xLSTM, RetNet, RWKV 5
and later, CCA, whose states are of another form: refused by name.
"""

from collections.abc import Callable

from calculators.form.errors import ParameterError
from calculators.kv.attention import HIDDEN, head_dim, heads_of
from calculators.kv.dtypes import dtype
from calculators.kv.facts import FIELD, Facts
from calculators.kv.layers import State

STATE_SIZE = ("ssm_state_size", "mamba_d_state", "state_size", "mamba_state_dim")
KERNEL = ("conv_kernel", "mamba_d_conv", "conv_kernel_size", "d_conv")
GROUPS = ("n_groups", "mamba_n_groups", "mamba_ngroups", "mamba_num_groups")
MAMBA_HEADS = ("mamba_num_heads", "mamba_n_heads", "n_mamba_heads")
MAMBA_HEAD_DIM = ("mamba_head_dim", "mamba_headdim")
EXPAND = ("mamba_expand", "expand")


def state(facts: Facts, model_type: str) -> State:
    """The state of one layer. Raises ParameterError ``state_shape`` where no family fits."""
    for shape in SHAPES:
        found = shape(facts, model_type)
        if found is not None:
            return found
    raise ParameterError(FIELD, "state_shape", key=facts.path + "layer_types", text=model_type)


def state_dtype(facts: Facts) -> str | None:
    """The recurrent part's own type; None is the model's."""
    stated = facts.text("mamba_ssm_dtype", "mamba_ssm_cache_dtype")
    return None if stated is None else dtype(FIELD, stated).name


def delta_rule(facts: Facts, _: str) -> State | None:
    """Gated delta rule (Qwen3-Next, Qwen3.5): K heads are the groups of V heads."""
    if not facts.has("linear_num_value_heads"):
        return None
    return State(
        heads=facts.need("linear_num_value_heads"),
        head_rows=facts.need("linear_value_head_dim"),
        head_columns=facts.need("linear_key_head_dim"),
        groups=facts.need("linear_num_key_heads"),
        conv_kernel=facts.need("linear_conv_kernel_dim"),
        dtype=state_dtype(facts),
    )


def kimi_delta(facts: Facts, _: str) -> State | None:
    """Kimi delta attention: q, k and v convolved, one square state a head."""
    inner = facts.child("linear_attn_config")
    if inner is not None and inner.has("num_heads"):
        heads, width = inner.need("num_heads"), inner.need("head_dim")
        kernel = inner.need("short_conv_kernel_size")
    elif facts.has("linear_num_heads", "linear_head_dim"):
        heads, width = facts.need("linear_num_heads"), facts.need("linear_head_dim")
        kernel = facts.need("short_conv_kernel_size", "linear_conv_kernel_dim")
    else:
        return None
    return State(
        heads=heads,
        head_rows=width,
        head_columns=width,
        groups=heads,
        conv_kernel=kernel,
        dtype=state_dtype(facts),
    )


def short_convolution(facts: Facts, _: str) -> State | None:
    """LFM2: a convolution and nothing else."""
    kernel = facts.whole("conv_L_cache")
    return None if kernel is None else State(heads=facts.need(*HIDDEN), conv_kernel=kernel)


def linear_recurrence(facts: Facts, _: str) -> State | None:
    """RecurrentGemma: one number a channel beside the convolution, in float32."""
    if not facts.has("lru_width", "conv1d_width"):
        return None
    return State(
        heads=facts.need("lru_width", *HIDDEN),
        head_columns=1,
        conv_kernel=facts.need("conv1d_width"),
        dtype="float32",
    )


def mamba2(facts: Facts, model_type: str) -> State | None:
    """Mamba 2: heads x head width x state, B and C convolved in groups."""
    own = model_type == "mamba2"
    heads = facts.whole("num_heads", *MAMBA_HEADS) if own else facts.whole(*MAMBA_HEADS)
    width = mamba_head_dim(facts, heads, own=own)
    if heads is None or width is None:
        return None
    return State(
        heads=heads,
        head_rows=width,
        head_columns=facts.need(*STATE_SIZE),
        groups=facts.whole(*GROUPS) or 1,
        conv_kernel=facts.need(*KERNEL),
        dtype=state_dtype(facts),
    )


def mamba_head_dim(facts: Facts, heads: int | None, *, own: bool) -> int | None:
    """A Mamba 2 head's width; ``"auto"`` divides the expanded width by the heads."""
    if facts.value("mamba_d_head")[1] == "auto" and heads is not None:
        return facts.need(*EXPAND) * facts.need(*HIDDEN) // heads
    names = (
        (*MAMBA_HEAD_DIM, "mamba_d_head", "head_dim") if own else (*MAMBA_HEAD_DIM, "mamba_d_head")
    )
    return facts.whole(*names)


def mamba1(facts: Facts, _: str) -> State | None:
    """Mamba 1: every channel of the expanded width has its own state vector."""
    if not facts.has(*STATE_SIZE) or not facts.has(*EXPAND):
        return None
    return State(
        heads=facts.need(*EXPAND) * facts.need(*HIDDEN),
        head_columns=facts.need(*STATE_SIZE),
        conv_kernel=facts.need(*KERNEL),
        dtype=state_dtype(facts),
    )


def rwkv4(facts: Facts, model_type: str) -> State | None:
    """RWKV 4: two shifted inputs, and numerator, denominator and maximum in float32."""
    if model_type != "rwkv":
        return None
    width = facts.need("attention_hidden_size", *HIDDEN)
    return State(heads=width, head_columns=3, conv_kernel=3, dtype="float32")


def lightning(facts: Facts, _: str) -> State | None:
    """MiniMax lightning attention: a square state a query head, no convolution."""
    if not facts.has(
        "attn_type_list", "linear_attn_alpha_factor", "layernorm_linear_attention_alpha"
    ):
        return None
    width = head_dim(facts)
    return State(heads=heads_of(facts), head_rows=width, head_columns=width)


SHAPES: tuple[Callable[[Facts, str], State | None], ...] = (
    delta_rule, kimi_delta, short_convolution, linear_recurrence, mamba2, mamba1, rwkv4, lightning,
)  # fmt: skip
