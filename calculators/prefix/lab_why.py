"""The why calculator: two prompts, and what each engine reuses of the first for the second."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import get_args

from calculators.form import fields
from calculators.form.errors import ParameterError, excerpt
from calculators.form.numbers import whole
from calculators.prefix.cache import Image, Prompt
from calculators.prefix.keys import LARGEST_TOKEN, TOKEN_BYTES, namespace, pack
from calculators.prefix.tokenisations import TOKENISATIONS, WORDS, tokeniser
from calculators.prefix.why import (
    Engine,
    Explanation,
    Setup,
    explain,
    shared_tokens,
    shifted_copy,
)
from calculators.show.blocks import Block, Cell, Message, Notes, Number, Numbers, Result, Table
from calculators.show.progress import Progress
from calculators.show.quantity import Quantity

AS_IDS = "token_ids"
LONGEST = 2_000_000  # characters of a prompt
MOST_UNIT = 100_000
BRACKETS = str.maketrans("[],", "   ")
SHOWN = 40  # characters of a differing token
EARLIER = """\
You are a helpful assistant. Today is Monday, 09:30.
Tools: search(query), read(url), run(code).
Answer in short sentences and name your sources.

What does a KV cache hold?"""
LATER = """\
You are a helpful assistant. Today is Monday, 09:31.
Tools: search(query), read(url), run(code).
Answer in short sentences and name your sources.

Why did my request miss?"""

type Read = Callable[[str, str | None], bytes]
"""Field and text to packed tokens; ParameterError for an empty prompt or what is no token."""


@dataclass(frozen=True, kw_only=True)
class Params:
    """The form: the earlier request, the later one, how they are read, the engines' units."""

    reading: str = fields.choice("words", (*TOKENISATIONS, AS_IDS), group="prompts")
    earlier: str = fields.text(EARLIER, longest=LONGEST, lines=7, group="prompts")
    later: str = fields.text(LATER, longest=LONGEST, lines=7, group="prompts")
    between: str | None = fields.text(longest=LONGEST, lines=2, group="prompts")
    earlier_adapter: str | None = fields.text(lines=1, longest=200, group="names")
    later_adapter: str | None = fields.text(lines=1, longest=200, group="names")
    earlier_salt: str | None = fields.text(lines=1, longest=200, group="names")
    later_salt: str | None = fields.text(lines=1, longest=200, group="names")
    earlier_images: str | None = fields.text(lines=1, longest=2000, group="names")
    later_images: str | None = fields.text(lines=1, longest=2000, group="names")
    page_size: int = fields.integer(1, minimum=1, maximum=MOST_UNIT, group="engines")
    block_size: int = fields.integer(16, minimum=1, maximum=MOST_UNIT, group="engines")
    chunk_size: int = fields.integer(256, minimum=1, maximum=MOST_UNIT, group="engines")
    capacity_tokens: int | None = fields.integer(None, minimum=1, maximum=10**9, group="engines")


def solve(params: Params, _progress: Progress) -> Result:
    """Explain each engine side by side."""
    read = reader(params.reading)
    earlier = Prompt(
        tokens=read("earlier", params.earlier),
        namespace=namespace(params.earlier_adapter, params.earlier_salt),
        images=images("earlier_images", params.earlier_images),
    )
    later = Prompt(
        tokens=read("later", params.later),
        namespace=namespace(params.later_adapter, params.later_salt),
        images=images("later_images", params.later_images),
    )
    between = [
        Prompt(tokens=read("between", line), namespace=later.namespace)
        for line in (params.between or "").split("\n")
        if line.strip()
    ]
    found = [explain(earlier, later, setup, between) for setup in setups(params)]
    return Result(
        blocks=blocks(params, earlier, later, found),
        status=Message("status.done", {e.setup.engine: e.reused for e in found}),
    )


def setups(params: Params) -> list[Setup]:
    """The three engines with the form's units."""
    units = {
        "sglang": params.page_size,
        "vllm": params.block_size,
        "lmcache": params.chunk_size,
    }
    names: tuple[Engine, ...] = get_args(Engine.__value__)
    return [Setup(engine=name, unit=units[name], capacity=params.capacity_tokens) for name in names]


def reader(name: str) -> Read:
    """How a form's prompts are read; equal words get equal tokens across all of them."""
    tokenise = None if name == AS_IDS else tokeniser(name)

    def read(field: str, text: str | None) -> bytes:
        if not text or not text.strip():
            raise ParameterError(field, "prompt_empty")
        if tokenise is not None:
            return pack(tokenise(text))
        words = text.translate(BRACKETS).split()
        if not words:
            raise ParameterError(field, "prompt_empty")
        return pack([whole(field, word, 0, LARGEST_TOKEN) for word in words])

    return read


def images(field: str, text: str | None) -> tuple[Image, ...]:
    """``"cat@100+64, dog@300+64"``: identity, first placeholder token, how many."""
    found = []
    for part in (text or "").split(","):
        if not part.strip():
            continue
        name, at, rest = part.strip().partition("@")
        start, plus, length = rest.partition("+")
        if not (name and at and plus):
            raise ParameterError(field, "image_form", text=excerpt(part))
        found.append(
            Image(
                identity=name,
                start=whole(field, start, 0, LONGEST),
                length=whole(field, length, 1, LONGEST),
            )
        )
    return tuple(found)


def blocks(
    params: Params, earlier: Prompt, later: Prompt, found: list[Explanation]
) -> tuple[Block, ...]:
    """Figures, the first difference, the caps of each engine, what would help."""
    shared = shared_tokens(earlier, later)
    figures = {"shared": shared}
    figures |= {f"reused_{one.setup.engine}": one.reused for one in found}
    figures |= {"earlier_length": len(earlier), "later_length": len(later)}
    return (
        Numbers(
            items=tuple(
                Number(id=name, quantity=Quantity(value, "tokens"), lead=name == "shared")
                for name, value in figures.items()
            )
        ),
        Notes(items=difference(params, shared, earlier.tokens == later.tokens)),
        caps(found),
        Notes(items=advice(earlier, later, found)),
    )


def difference(params: Params, place: int, same: bool) -> tuple[Message, ...]:  # noqa: FBT001 # said by name
    """Where the prompts part, with the tokens that stand there."""
    if same:
        return ()
    tokens = {
        "earlier": spelled(params.reading, params.earlier, place),
        "later": spelled(params.reading, params.later, place),
    }
    return (Message("difference.there", {"place": place, **tokens}),)


def spelled(reading: str, text: str, place: int) -> str | Message:
    """The token at a place as the reader wrote it, white space made visible."""
    match reading:
        case "words":
            pieces = WORDS.findall(text)
        case "characters":
            pieces = list(text)
        case "bytes":
            pieces = [f"{byte:02x}" for byte in text.encode("utf-8", errors="replace")]
        case _:
            pieces = text.translate(BRACKETS).split()
    return repr(pieces[place][:SHOWN]) if place < len(pieces) else Message("difference.end")


def caps(found: list[Explanation]) -> Table:
    """One row a rule, one column an engine."""
    rows: list[tuple[Cell, ...]] = [
        (Message("rule.unit"), *(Quantity(e.setup.unit, "tokens") for e in found))
    ]
    for index, cap in enumerate(found[0].caps):
        cells = (Quantity(e.caps[index].tokens, "tokens") for e in found)
        rows.append((Message(f"rule.{cap.rule}"), *cells))
    return Table(id="caps", columns=("rule", *(e.setup.engine for e in found)), rows=tuple(rows))


def advice(earlier: Prompt, later: Prompt, found: list[Explanation]) -> tuple[Message, ...]:
    """What took tokens away, engine by engine, and what change would make it hit."""
    notes = []
    for explanation in found:
        engine = Message(f"column.{explanation.setup.engine}")
        values = {
            "engine": engine,
            "missing": explanation.missing,
            "largest": explanation.largest_unit or 0,
        }
        notes += [Message(f"cause.{rule}", values) for rule in explanation.causes]
    shifted = shifted_copy(earlier, later)
    if shifted is not None:
        places = {
            "length": shifted.length,
            "earlier": shifted.earlier,
            "later": shifted.later,
        }
        same_place = shifted.earlier == shifted.later
        notes.append(Message("cause.behind" if same_place else "cause.shifted", places))
    if len(later.tokens) <= TOKEN_BYTES:
        notes.append(Message("cause.one_token"))
    return tuple(notes) or (Message("cause.none"),)
