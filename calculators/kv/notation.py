"""A stack of layers as short, readable text that is safe in an address, and back.

``36*full:8x128`` is 36 layers of 8 KV heads with 128 elements for K and V each. Layers follow one
another with ``,``; a repeated group stands in brackets, ``10*(5*sliding:16x128@1024,full:16x128)``;
a layer that owns two caches joins them with ``/``.

==================  ===========================================================================
``full:4x192-128``  K rows of 192 and V rows of 128 elements
``sliding:8x64@128``, ``chunked:8x128@8192``  with the window or chunk in tokens
``cross:20x64@1500``  cross attention to 1,500 positions; without ``@`` to the input's length
``mla:512-64``      latent rank and rotary width; with ``@512`` behind it a window
``index:128``       keys of a sparse indexer, e.g. ``mla:512-64/index:128``
``state:48x128x128.g16.k4.float32``  recurrent heads x rows x columns, groups, kernel, own type
``shared``, ``none``  reads an earlier layer's cache; keeps nothing
==================  ===========================================================================
"""

import re
from collections.abc import Iterator, Sequence

from calculators.form.errors import ParameterError, excerpt
from calculators.form.numbers import whole
from calculators.kv.dtypes import dtype
from calculators.kv.layers import (
    Cache,
    ChunkedAttention,
    CrossAttention,
    FullAttention,
    IndexKeys,
    LatentAttention,
    Layer,
    SharedCache,
    SlidingAttention,
    Stack,
    State,
)

MOST_LAYERS = 10_000
MOST_ELEMENTS = 10_000_000  # of any width, window or count
LONGEST_TEXT = 20_000
DEEPEST = 4
LONGEST_PERIOD = 64  # layers; patterns of real models repeat after at most 13
# Compiled by ``re`` when the first text is read: most answers start without one.
PIECE = r"([0-9]+)\*|([(),])|([^(),*\s]+)"
ATTENTION = r"([0-9]+)x([0-9]+)(?:-([0-9]+))?(?:@([0-9]+))?"
LATENT = r"([0-9]+)-([0-9]+)(?:@([0-9]+))?"
STATE = r"([0-9]+)x([0-9]+)x([0-9]+)(?:\.g([0-9]+))?(?:\.k([0-9]+))?(?:\.(\w+))?"


def to_text(stack: Stack) -> str:
    """The short text of a stack; :func:`from_text` gives the same stack back."""
    items = [times(count, layer_text(layer)) for count, layer in stack.runs]
    return ",".join(folded(items))


def times(count: int, text: str) -> str:
    """``3*full:8x128``, without a factor of 1."""
    return text if count == 1 else f"{count}*{text}"


def folded(items: Sequence[str]) -> Iterator[str]:
    """Neighbouring repeats of a group, in brackets: at each place the group that covers most."""
    place = 0
    while place < len(items):
        size, count = best_group(items, place)
        group = items[place : place + size]
        yield f"{count}*({','.join(group)})" if count > 1 else group[0]
        place += size * count


def best_group(items: Sequence[str], place: int) -> tuple[int, int]:
    """(items in the group, times it repeats) from ``place`` on; (1, 1) where nothing repeats."""
    best = (1, 1)
    for size in range(2, min(LONGEST_PERIOD, (len(items) - place) // 2) + 1):
        count = 1
        group = items[place : place + size]
        while items[place + size * count : place + size * (count + 1)] == group:
            count += 1
        if count > 1 and size * count > best[0] * best[1]:
            best = (size, count)
    return best


def layer_text(layer: Layer) -> str:
    """``mla:512-64/index:128``; ``none`` for a layer without a cache."""
    return "/".join(map(cache_text, layer)) or "none"


def cache_text(cache: Cache) -> str:
    """One cache, as the table of the module says."""
    match cache:
        case FullAttention():
            shape = f"{cache.heads}x{cache.k_width}"
            split = "" if cache.v_width == cache.k_width else f"-{cache.v_width}"
            reach = cache.positions if isinstance(cache, CrossAttention) else cache.reach
            return f"{cache.kind}:{shape}{split}{behind(reach)}"
        case LatentAttention():
            return f"mla:{cache.rank}-{cache.rope}{behind(cache.window)}"
        case IndexKeys():
            return f"index:{cache.width}"
        case State():
            return state_text(cache)
        case _:
            return cache.kind


def behind(reach: int | None) -> str:
    """``@1024``, or nothing."""
    return "" if reach is None else f"@{reach}"


def state_text(state: State) -> str:
    """``state:48x128x128.g16.k4.float32``."""
    parts = [f"state:{state.heads}x{state.head_rows}x{state.head_columns}"]
    parts += [f"g{state.groups}"] if state.groups else []
    parts += [f"k{state.conv_kernel}"] if state.conv_kernel > 1 else []
    parts += [state.dtype] if state.dtype else []
    return ".".join(parts)


def from_text(field: str, text: str) -> Stack:
    """The stack of a text. Raises ParameterError ``not_layers`` with what was not understood."""
    if len(text) > LONGEST_TEXT:
        raise ParameterError(field, "text_too_long", maximum=LONGEST_TEXT, length=len(text))
    compact = "".join(text.split())
    if not compact:
        raise ParameterError(field, "empty", minimum=1, maximum=MOST_LAYERS)
    tokens = [match.group() for match in re.finditer(PIECE, compact)]
    if "".join(tokens) != compact:
        raise ParameterError(field, "not_layers", text=excerpt(text))
    layers, rest = sequence(field, tokens, 0)
    if rest:
        raise ParameterError(field, "not_layers", text=excerpt("".join(rest)))
    return Stack(tuple(layers))


def sequence(field: str, tokens: list[str], depth: int) -> tuple[list[Layer], list[str]]:
    """Items up to the end or a closing bracket, and the tokens after them."""
    layers: list[Layer] = []
    while True:
        item, tokens = repeated(field, tokens, depth)
        layers += item
        if len(layers) > MOST_LAYERS:
            raise ParameterError(field, "too_many", maximum=MOST_LAYERS)
        if not tokens or tokens[0] != ",":
            return layers, tokens
        tokens = tokens[1:]


def repeated(field: str, tokens: list[str], depth: int) -> tuple[list[Layer], list[str]]:
    """One item with the number before it."""
    count = 1
    if tokens and tokens[0].endswith("*"):
        count = whole(field, tokens[0][:-1], 1, MOST_LAYERS)
        tokens = tokens[1:]
    if not tokens or tokens[0] in {",", ")"} or depth > DEEPEST:
        raise ParameterError(field, "not_layers", text=excerpt("".join(tokens) or "…"))
    if tokens[0] != "(":
        return [layer(field, tokens[0])] * count, tokens[1:]
    inside, rest = sequence(field, tokens[1:], depth + 1)
    if not rest or rest[0] != ")":
        raise ParameterError(field, "not_layers", text=excerpt("".join(tokens)))
    if len(inside) * count > MOST_LAYERS:
        raise ParameterError(field, "too_many", maximum=MOST_LAYERS)
    return inside * count, rest[1:]


def layer(field: str, text: str) -> Layer:
    """``"mla:512-64/index:128"`` to its caches."""
    return () if text == "none" else tuple(cache(field, part) for part in text.split("/"))


def cache(field: str, text: str) -> Cache:
    """One cache of the table of the module."""
    kind, _, shape = text.partition(":")
    if kind == "shared" and not shape:
        return SharedCache()
    if kind == "index":
        return IndexKeys(width=size(field, shape))
    if kind == "mla" and (match := re.fullmatch(LATENT, shape)):
        rank, rope, window = match.groups()
        return LatentAttention(
            rank=size(field, rank),
            rope=size(field, rope, least=0),
            window=None if window is None else size(field, window),
        )
    if kind == "state" and (match := re.fullmatch(STATE, shape)):
        return state(field, match)
    if kind in {"full", "sliding", "chunked", "cross"} and (
        match := re.fullmatch(ATTENTION, shape)
    ):
        return attention(field, kind, match)
    raise ParameterError(field, "not_layers", text=excerpt(text))


def size(field: str, text: str, *, least: int = 1) -> int:
    """A number within what any model has."""
    return whole(field, text, least, MOST_ELEMENTS)


def state(field: str, match: re.Match[str]) -> State:
    """A state layer of a matched shape."""
    heads, rows, columns, groups, kernel, own = match.groups()
    return State(
        heads=size(field, heads),
        head_rows=size(field, rows),
        head_columns=size(field, columns, least=0),
        groups=size(field, groups or "0", least=0),
        conv_kernel=size(field, kernel or "1"),
        dtype=dtype(field, own).name if own else None,
    )


def attention(field: str, kind: str, match: re.Match[str]) -> Cache:
    """An attention layer of a matched shape; windows and chunks must have their ``@``."""
    heads, k_width, v_width, reach = match.groups()
    shape = {
        "heads": size(field, heads),
        "k_width": size(field, k_width),
        "v_width": size(field, v_width or k_width),
    }
    if kind == "full" and reach is None:
        return FullAttention(**shape)
    if kind == "cross":
        positions = None if reach is None else size(field, reach)
        return CrossAttention(**shape, positions=positions)
    if kind == "sliding" and reach:
        return SlidingAttention(**shape, window=size(field, reach))
    if kind == "chunked" and reach:
        return ChunkedAttention(**shape, chunk=size(field, reach))
    raise ParameterError(field, "not_layers", text=excerpt(match.string))
