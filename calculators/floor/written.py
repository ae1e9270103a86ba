"""The calculations written out: a step, a prompt, and the room for sequences."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from calculators.floor.attending import Kind
from calculators.floor.params import Params
from calculators.floor.passes import Model, Pass, Steps
from calculators.floor.shown import ms, number
from calculators.floor.weights import Weights
from calculators.kv.capacity import Memory
from calculators.show.blocks import Derivation, Message, Step
from calculators.show.quantity import Quantity, number_text

MOST_KINDS = 4
GIGA, TERA = 10**9, 10**12


def step(steps: Steps, batch: int) -> Derivation:
    """A decode step, per card."""
    model = steps.model
    found = Passage(
        model=model,
        one=steps.step(batch),
        kinds=model.decode_kinds(steps.context),
        tokens=batch,
        sequences=batch,
        linear=f"2 × {model.weights.multiplied} × {batch}{by(model)}",
    )
    return Derivation(id="step", steps=tuple(lines(found)))


def first(model: Model, params: Params) -> Derivation:
    """The pass over a prompt, per card."""
    start, tokens = params.cached_tokens, params.prompt_tokens
    embedding = model.weights.embedding
    inner = f"{model.weights.multiplied - embedding} × {tokens}"
    if embedding:
        inner = f"({inner} + {embedding})"
    found = Passage(
        model=model,
        one=model.prefill(start, start + tokens),
        kinds=model.prefill_kinds(start, start + tokens),
        tokens=tokens,
        sequences=1,
        linear=f"2 × {inner}{by(model)}",
    )
    return Derivation(id="first", steps=tuple(lines(found)))


@dataclass(frozen=True, kw_only=True, slots=True)
class Passage:
    """A pass with what its calculation names; ``linear`` is that of the matrices, written out."""

    model: Model
    one: Pass
    kinds: tuple[Kind, ...]
    tokens: int
    sequences: int
    linear: str


def lines(found: Passage) -> Iterator[Step]:
    """Bytes, FLOP, and the longer of both times."""
    one, machine = found.one, found.model.machine
    yield sized("weights", read_text(found.model, found.tokens), one.weight_bytes)
    yield sized("kv", kv_text(found), one.kv_bytes)
    yield line("linear", found.linear, gflop(one.linear_flop))
    yield line("attention", attention_text(found), gflop(one.attention_flop))
    read = f"({number(one.weight_bytes)} + {number(one.kv_bytes)}) / "
    yield line("memory", f"{read}{number(machine.bytes_per_s / GIGA)} GB/s", ms(one.memory_s))
    done = f"({number(one.linear_flop)} + {number(one.attention_flop)}) / "
    yield line("compute", f"{done}{number(machine.flop_per_s / TERA)} TFLOP/s", ms(one.compute_s))
    both = ", ".join(number_text(ms(seconds))[0] for seconds in (one.memory_s, one.compute_s))
    yield line("longer", f"max({both}) ms", ms(one.seconds))


def sized(name: str, expression: str, value: Fraction) -> Step:
    """One line about bytes, their exact number in it."""
    sign = "=" if value.denominator == 1 else "≈"
    whole = f"{expression} {sign} {number(value)} bytes" if value else expression
    return line(name, whole, bytes_of(value))


def line(name: str, expression: str, quantity: Quantity) -> Step:
    """One line."""
    return Step(label=Message(f"step.{name}"), expression=expression, quantity=quantity)


def bytes_of(value: Fraction) -> Quantity:
    """Bytes, with whatever part of one."""
    return Quantity(value.numerator if value.denominator == 1 else value, "bytes")


def gflop(value: Fraction) -> Quantity:
    """FLOP in 10⁹."""
    return Quantity(value / GIGA, "gflop", 2)


def by(model: Model) -> str:
    """The division among the cards, where there are several."""
    return f" / {model.machine.cards}" if model.machine.cards > 1 else ""


def read_text(model: Model, tokens: int) -> str:
    """``(8030261248 − 525336576) × 2``; of experts the share that is read."""
    weights = model.weights
    read = str(weights.parameters)
    if weights.routed and weights.experts is not None:
        experts = f"{number(weights.routed)} × (1 − (1 − {share_text(weights)})^{tokens})"
        read = f"({number(weights.always)} + {experts})"
    elif weights.looked_up:
        read = f"({read} − {weights.looked_up})"
    return f"{read} × {number(weights.bytes_each)}{by(model)}"


def share_text(weights: Weights) -> str:
    """``8/256``."""
    experts = weights.experts
    return "" if experts is None else f"{experts.per_token}/{experts.total}"


def kv_text(found: Passage) -> str:
    """Sequences × layers × rows × bytes of a row."""
    parts = [f"{k.layers} × {k.rows} × {number(k.row_bytes)}" for k in found.kinds if k.rows]
    return product(found.sequences, parts, sum(k.bytes for k in found.kinds))


def attention_text(found: Passage) -> str:
    """2 × query heads × layers × pairs × multiply-adds of a pair."""
    parts = [f"{k.layers} × {k.pairs} × {k.width}" for k in found.kinds if k.pairs and k.width]
    total = sum(k.multiply_adds for k in found.kinds)
    times = product(found.sequences, parts, total)
    return f"2 × {found.model.query_heads} × {times}{by(found.model)}"


def product(sequences: int, parts: list[str], total: Fraction | int) -> str:
    """``32 × (… + …)``; of many kinds their sum alone."""
    inner = " + ".join(parts) if 0 < len(parts) <= MOST_KINDS else number(total)
    if len(parts) > 1:
        inner = f"({inner})"
    return f"{sequences} × {inner}" if sequences > 1 else inner


def room(memory: Memory, kept: Fraction, context: int) -> Derivation:
    """What one card has left, over what a sequence keeps on it."""
    named = [
        line(f"room_{found.name}", found.expression, Quantity(found.value, "bytes"))
        for found in memory.derivation()
    ]
    if kept:
        left, count = memory.available_bytes, int(memory.available_bytes // kept)
        named += [
            Step(
                label=Message("step.fits", {"tokens": Quantity(context)}),
                expression=f"⌊{left} / {number(kept)}⌋",
                quantity=Quantity(count, "sequences"),
            )
        ]
    return Derivation(id="room", steps=tuple(named))
