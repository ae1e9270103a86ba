"""Models and machines of the floor's tests, and a slow, obvious count of the same."""

from fractions import Fraction

from calculators.floor.passes import Machine, Model
from calculators.floor.weights import Experts, Weights
from calculators.kv.dtypes import dtype
from calculators.kv.notation import from_text

TERA, GIGA = 10**12, 10**9
H100 = Machine(flop_per_s=Fraction(989 * TERA), bytes_per_s=Fraction(3350 * GIGA))
BFLOAT16 = dtype("dtype", "bfloat16")
LLAMA_8B = Weights(parameters=8_030_261_248, active=8_030_261_248, dtype=BFLOAT16)


def machine(cards=1, flop=989 * TERA, read=3350 * GIGA):
    """Cards of a rate."""
    return Machine(flop_per_s=Fraction(flop), bytes_per_s=Fraction(read), cards=cards)


def model(stack="32*full:8x128", weights=LLAMA_8B, on=H100, heads=32, kv=BFLOAT16):
    """A model on a machine."""
    return Model(machine=on, weights=weights, stack=from_text("stack", stack), kv=kv,
                 query_heads=heads)  # fmt: skip


def mixture(parameters, active, total, per_token, name="bfloat16"):
    """Weights of a mixture of experts."""
    return Weights(
        parameters=parameters,
        active=active,
        dtype=dtype("dtype", name),
        experts=Experts(total=total, per_token=per_token),
    )


def token_by_token(reach, start, end):
    """Pairs that tokens after ``start`` up to ``end`` look at, counted one by one."""
    return sum(1 for query in range(start, end) for key in range(query + 1) if query - key < reach)
