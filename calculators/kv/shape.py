"""Where a cache's shape comes from: typed figures, a known model, a config or short notation.

The fields and their reading are shared by every calculator of this folder. Leaves out shapes that
only the weights or an engine's own conversion (GGUF) would tell.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from calculators.form import fields
from calculators.form.errors import ParameterError
from calculators.kv.catalogue import MODELS
from calculators.kv.dtypes import Dtype, dtype
from calculators.kv.layers import NO_LAYERS, Stack, full
from calculators.kv.models import Model
from calculators.kv.notation import from_text, to_text
from calculators.show.blocks import Message, Notes, Section, Table

if TYPE_CHECKING:
    from calculators.kv.config import Reading

# Characters. A quantisation block that lists every expert makes a real config.json 3 MB long
# (nvidia/MiniMax-M3-NVFP4).
LONGEST_CONFIG = 8_000_000
LONGEST_FACT = 120  # characters shown of a value, such as a list of layer types
SOURCES = ("typed", "model", "config", "stack")


@dataclass(frozen=True, kw_only=True)
class ShapeParams:
    """The fields. Exactly one source gives the shape of the cache."""

    source: str = fields.choice("typed", SOURCES, group="shape")
    layers: int = fields.integer(
        32, minimum=1, maximum=10_000, group="shape", when=("source", ("typed",))
    )
    kv_heads: int = fields.integer(
        8, minimum=1, maximum=100_000, group="shape", when=("source", ("typed",))
    )
    head_dim: int = fields.integer(
        128, minimum=1, maximum=1_000_000, group="shape", when=("source", ("typed",))
    )
    model: str = fields.choice(
        "Qwen/Qwen3-8B",
        tuple(MODELS),
        labelled=False,
        group="shape",
        when=("source", ("model",)),
    )
    config: str | None = fields.text(
        longest=LONGEST_CONFIG,
        suffixes=(".json",),
        group="shape",
        shared=False,
        when=("source", ("config",)),
    )
    stack: str | None = fields.text(group="shape", lines=2, when=("source", ("stack",)))


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What is cached, and how that is known. ``reading`` is there where a config was read."""

    stack: Stack
    model: Dtype | None = None
    reading: "Reading | None" = None
    known: Model | None = None

    @property
    def draft(self) -> Stack:
        """Multi-token-prediction layers, which an engine keeps when it speculates with them."""
        if self.reading is not None:
            return self.reading.draft
        if self.known is not None and self.known.draft:
            return from_text("model", self.known.draft)
        return NO_LAYERS


def shape_of(params: ShapeParams) -> Shape:
    """The stack of the chosen source."""
    if params.source == "typed":
        return Shape(stack=full(params.layers, params.kv_heads, params.head_dim))
    if params.source == "model":
        return known_shape(MODELS[params.model])
    if params.source == "stack":
        return Shape(stack=from_text("stack", needed("stack", params.stack)))
    # Half of this folder's start-up time, which only a config needs.
    from calculators.kv.config import read_config  # noqa: PLC0415

    reading = read_config(needed("config", params.config))
    return Shape(stack=reading.stack, model=own_dtype(reading.dtype), reading=reading)


def known_shape(known: Model) -> Shape:
    """The shape of a model of the list."""
    return Shape(stack=known.stack, model=own_dtype(known.dtype), known=known)


def own_dtype(name: str | None) -> Dtype | None:
    """The model's own type, where it is stated."""
    return dtype("config", name) if name else None


def needed(field: str, text: str | None) -> str:
    """The text of a field that its source cannot do without."""
    if text is None:
        raise ParameterError(field, "empty_text")
    return text


def short_values(params: ShapeParams, shape: Shape) -> dict[str, str]:
    """What a shared address says in place of a whole config."""
    if params.source != "config":
        return {}
    return {"source": "stack", "stack": to_text(shape.stack)}


def shape_remarks(shape: Shape) -> Iterator[Message]:
    """Where the shape comes from, and what it had to assume."""
    if shape.known is not None:
        yield Message("note.source", asdict(shape.known))
    for assumption in shape.reading.assumptions if shape.reading is not None else ():
        yield Message(f"assumption.{assumption.name}", {"key": assumption.key})
    if shape.draft.layers:
        yield Message("note.draft", {"count": len(shape.draft.layers)})


def shape_facts(reading: "Reading") -> Section:
    """Every key of the config that the answer rests on, and those that it ignored."""
    rows = tuple((key, str(value)[:LONGEST_FACT]) for key, value in reading.facts.items())
    ignored = Message("note.ignored", {"keys": ", ".join(reading.ignored) or "–"})
    table = Table(id="config", columns=("key", "value"), rows=rows)
    return Section(id="config", blocks=(table, Notes(items=(ignored,))), folded=True)
