"""Layers and factors as labels: "sliding window 1,024, 8 KV heads × 128", in either language."""

from collections.abc import Iterable
from functools import reduce

from calculators.kv.layers import (
    Cache,
    CrossAttention,
    FullAttention,
    IndexKeys,
    LatentAttention,
    State,
)
from calculators.kv.payload import Factor, Term
from calculators.show.blocks import Message
from calculators.show.quantity import Quantity


def described(cache: Cache) -> Message:
    """A cache in words; the short form of the same stands in ``notation``."""
    match cache:
        case CrossAttention():
            return crossed(cache)
        case FullAttention():
            return windowed(cache.kind, cache, heads(cache))
        case LatentAttention():
            shape = Message("shape.latent", {"rank": cache.rank, "rope": cache.rope})
            return windowed("mla" if cache.window is None else "sliding_mla", cache, shape)
        case IndexKeys():
            return Message("cache.index", {"width": cache.width})
        case State():
            return state(cache)
        case _:
            return Message(f"cache.{cache.kind}")


def windowed(name: str, cache: Cache, shape: Message) -> Message:
    """A layer with its window, if it has one."""
    reach = {} if cache.reach is None else {"reach": Quantity(cache.reach)}
    return Message(f"cache.{name}", {**reach, "shape": shape})


def heads(cache: FullAttention) -> Message:
    """``8 KV heads × 128``; K's and V's width where they differ."""
    values = {"heads": cache.heads, "width": cache.k_width}
    if cache.k_width == cache.v_width:
        return Message("shape.heads", values)
    return Message("shape.split", {**values, "v_width": cache.v_width})


def crossed(cache: CrossAttention) -> Message:
    """Cross attention, to a fixed number of positions or to the input's length."""
    if cache.positions is None:
        return Message("cache.cross", {"shape": heads(cache)})
    return Message("cache.cross_fixed", {"reach": Quantity(cache.positions), "shape": heads(cache)})


def state(cache: State) -> Message:
    """A recurrent state, or a convolution's memory alone."""
    if not cache.recurrent_elements:
        return Message("cache.conv", {"channels": Quantity(cache.conv_channels)})
    shape = {"heads": cache.heads, "rows": cache.head_rows, "columns": cache.head_columns}
    return Message("cache.state", shape)


def term_name(term: Term) -> Message:
    """A term's cache; of a state layer, which of its two parts."""
    name = described(term.cache)
    return name if term.part == "rows" else Message(f"part.{term.part}", {"cache": name})


def product_of(factors: Iterable[Factor]) -> Message:
    """What is multiplied, in the order of the expression: ``layers × KV heads × …``."""
    names = [Message(f"factor.{factor.name}") for factor in factors]
    return reduce(lambda left, right: Message("step.times", {"left": left, "right": right}), names)
