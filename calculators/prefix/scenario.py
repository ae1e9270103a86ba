"""The language of small scenarios: one operation a line, tokens as words.

``insert you are helpful`` · ``match you are`` · ``lock r1 you are`` · ``unlock r1`` ·
``evict 3``; ``@name`` at the end of a line is a namespace, ``priority=2`` a priority, ``#`` starts
a comment.
"""

from dataclasses import dataclass

from calculators.form.errors import ParameterError, excerpt
from calculators.prefix.script_lines import operations, require_known, require_tokens

FIELD = "operations"
LARGEST_NUMBER = 1_000_000
KINDS = ("insert", "match", "lock", "unlock", "evict")


@dataclass(frozen=True, kw_only=True, slots=True)
class Operation:
    """One line: ``words`` for insert, match and lock, ``tokens`` to evict, ``name`` of a lock."""

    row: int
    text: str
    kind: str
    words: tuple[str, ...] = ()
    namespace: str | None = None
    priority: int = 0
    tokens: int = 0
    name: str = ""


def parse_scenario(text: str) -> tuple[Operation, ...]:
    """The operations of a text; nothing is run if one line cannot be read."""
    found = operations(text, FIELD, operation)
    check_locks(found)
    return found


def operation(row: int, words: list[str]) -> Operation:
    """One line."""
    text = " ".join(words)
    kind, *rest = words
    require_known(FIELD, row, kind, KINDS)
    if kind == "evict":
        return Operation(row=row, text=text, kind=kind, tokens=number(row, rest))
    name = rest.pop(0) if kind in {"lock", "unlock"} and rest else ""
    namespace = next((w[1:] for w in rest if w.startswith("@")), None)
    priority = next((w[9:] for w in rest if w.startswith("priority=")), "0")
    tokens = tuple(w for w in rest if not w.startswith(("@", "priority=")))
    if kind == "unlock" and (not name or tokens):
        raise ParameterError(FIELD, "needs_a_name", row=row, text=excerpt(text))
    if kind != "unlock":
        require_tokens(FIELD, row, text, tokens)
    return Operation(
        row=row,
        text=text,
        kind=kind,
        words=tokens,
        namespace=namespace,
        priority=number(row, [priority]),
        name=name,
    )


def number(row: int, words: list[str]) -> int:
    """The one whole number of a line."""
    word = " ".join(words)
    if not (word.isascii() and word.isdigit()) or int(word[:12]) > LARGEST_NUMBER:
        raise ParameterError(
            FIELD, "needs_a_number", row=row, text=excerpt(word), minimum=0, maximum=LARGEST_NUMBER
        )
    return int(word)


def check_locks(scenario: tuple[Operation, ...]) -> None:
    """A name is locked once before it is unlocked once."""
    held: set[str] = set()
    for one in scenario:
        if one.kind == "lock":
            if one.name in held:
                raise ParameterError(FIELD, "locked_already", row=one.row, text=excerpt(one.name))
            held.add(one.name)
        elif one.kind == "unlock":
            if one.name not in held:
                raise ParameterError(FIELD, "not_locked", row=one.row, text=excerpt(one.name))
            held.remove(one.name)


SHIPPED = {
    "system_prompt": """\
insert you are helpful . what is KV
insert you are helpful . why cache
match you are helpful . who
""",
    "multi_turn": """\
insert sys hello | hi
match sys hello | hi how are you
insert sys hello | hi how are you | fine
match sys hello | hi how are you | fine bye
""",
    "branching": """\
insert a b c d e f
insert a b x y
insert a b c d z
match a b c q
""",
    "eviction_under_lock": """\
insert doc 1 2 3 4 question A
insert doc 1 2 3 4 question B
insert other text here
lock r1 doc 1 2 3 4 question A
evict 4
evict 10
unlock r1
evict 2
""",
    "two_tenants": """\
insert sys p q r @red
insert sys p q r @blue
match sys p q r
match sys p q r @red
evict 4
""",
}
