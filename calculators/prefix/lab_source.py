"""Where the labs' traces come from: a generated one, or the reader's own file."""

from dataclasses import dataclass
from functools import lru_cache

from calculators.form import fields
from calculators.form.errors import ParameterError
from calculators.prefix.generate import KINDS, Shape, generate
from calculators.prefix.readers.detect import FORMATS, read_trace
from calculators.prefix.tokenisations import TOKENISATIONS
from calculators.prefix.trace import Trace

SOURCES = ("generated", "own")
GENERATED = ("source", ("generated",))
OWN = ("source", ("own",))
LARGEST_FILE = 250_000_000  # characters
MOST_KEPT = 30_000_000  # characters of a file that stays read until the next one
MOST_TOKENS = 30_000_000  # of a generated trace


@dataclass(frozen=True, kw_only=True)
class Source:
    """Form fields of a trace; a calculator's Params inherits them."""

    source: str = fields.choice("generated", SOURCES, group="trace")
    kind: str = fields.choice("chat", KINDS, group="trace", when=GENERATED)
    groups: int = fields.integer(40, minimum=1, maximum=5_000, group="trace", when=GENERATED)
    turns: int = fields.integer(6, minimum=1, maximum=100, group="trace", when=GENERATED)
    shared: int = fields.integer(512, minimum=0, maximum=100_000, group="trace", when=GENERATED)
    question: int = fields.integer(60, minimum=1, maximum=10_000, group="trace", when=GENERATED)
    reply: int = fields.integer(180, minimum=1, maximum=10_000, group="trace", when=GENERATED)
    tenants: int = fields.integer(4, minimum=1, maximum=1_000, group="trace", when=GENERATED)
    salt: bool = fields.switch(group="trace", when=GENERATED)
    seed: int = fields.integer(1, minimum=0, maximum=10**9, group="trace", when=GENERATED)
    trace: str | None = fields.text(
        longest=LARGEST_FILE,
        suffixes=(".jsonl", ".txt"),
        group="trace",
        shared=False,
        when=OWN,
    )
    form: str = fields.choice("auto", FORMATS, group="trace", when=OWN)
    tokenisation: str = fields.choice("words", tuple(TOKENISATIONS), group="trace", when=OWN)


@lru_cache(maxsize=1)  # most edits change the cache and not the trace
def read_once(text: str, form: str, tokenisation: str) -> Trace:
    """A trace that was read already if it is the last one."""
    return read_trace(text, form, tokenisation)


def trace_of(params: Source) -> Trace:
    """The trace that a form describes."""
    if params.source == "own":
        text = params.trace or ""
        read = read_once if len(text) <= MOST_KEPT else read_trace
        return read(text, params.form, params.tokenisation)
    said = params.shared * 4 + params.turns * (params.question + params.reply)
    if params.groups * params.turns * said > MOST_TOKENS:
        raise ParameterError("groups", "too_many_tokens", maximum=MOST_TOKENS)
    return generate(
        Shape(
            kind=params.kind,
            seed=params.seed,
            groups=params.groups,
            turns=params.turns,
            shared=params.shared,
            question=params.question,
            answer=params.reply,
            tenants=params.tenants,
            salt=params.salt,
        )
    )
