"""The largest chunk of prefill that keeps a step within a limit on the gap between tokens.

For the linear cost ``a + b·prefill + c·decodes``: what the limit leaves after the fixed part and
the decodes, divided by the time of a prefill token. Leaves out the context that attention reads.
"""

from calculators.show.blocks import Derivation, Message, Number, Numbers, Step
from calculators.show.quantity import Quantity


def chunk_tokens(limit_us: int, a_us: int, b_us: int, c_us: int, decodes: int) -> int | None:
    """Prefill tokens of a step; None where the decodes alone break the limit, or b is 0."""
    left = limit_us - a_us - c_us * decodes
    return left // b_us if b_us and left >= 0 else None


def chunk_blocks(
    limit_us: int, a_us: int, b_us: int, c_us: int, decodes: int
) -> tuple[Numbers | Derivation, ...]:
    """The chunk, the token budget that it makes with the decodes, and how they come about."""
    chunk = chunk_tokens(limit_us, a_us, b_us, c_us, decodes)
    if chunk is None:
        return ()
    written = f"({limit_us:,} − {a_us:,} − {c_us:,} × {decodes:,}) / {b_us:,}"
    steps = (
        Step(label=Message("step.chunk"), expression=written, quantity=Quantity(chunk, "tokens")),
        Step(
            label=Message("step.budget"),
            expression=f"{chunk:,} + {decodes:,}",
            quantity=Quantity(chunk + decodes, "tokens"),
        ),
    )
    numbers = {"chunk_tokens": chunk, "step_budget": chunk + decodes}
    items = (Number(id=name, quantity=Quantity(v, "tokens")) for name, v in numbers.items())
    return Numbers(items=tuple(items)), Derivation(id="chunk", steps=steps)
