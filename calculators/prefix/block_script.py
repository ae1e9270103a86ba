"""The language of small scripts for vLLM's blocks: one operation a line, tokens as words.

``start r1 you are helpful`` · ``append r1 yes`` (generated tokens) · ``finish r1`` ·
``match you are``; ``@name`` at the end of a line is a LoRA adapter, ``salt=x`` a cache salt, ``#``
starts a comment. A request that finds no room waits; starting it again is another try.
"""

from dataclasses import dataclass

from calculators.form.errors import ParameterError, excerpt
from calculators.prefix.keys import NO_NAMESPACE, Namespace, namespace
from calculators.prefix.script_lines import operations, require_known, require_tokens

FIELD = "requests"
KINDS = ("start", "append", "finish", "match")
SALT = "salt="


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockOperation:
    """One line: the request's ``name`` for all but match, ``words`` for all but finish."""

    row: int
    text: str
    kind: str
    name: str = ""
    words: tuple[str, ...] = ()
    namespace: Namespace = NO_NAMESPACE


def parse_block_script(text: str) -> tuple[BlockOperation, ...]:
    """The operations of a text; nothing is run if one line cannot be read."""
    return operations(text, FIELD, operation)


def operation(row: int, words: list[str]) -> BlockOperation:
    """One line."""
    text = " ".join(words)
    kind, *rest = words
    require_known(FIELD, row, kind, KINDS)
    name = rest.pop(0) if kind != "match" and rest else ""
    adapter = next((word[1:] for word in rest if word.startswith("@")), None)
    salt = next((word.removeprefix(SALT) for word in rest if word.startswith(SALT)), None)
    tokens = tuple(word for word in rest if not word.startswith(("@", SALT)))
    if kind == "finish" and (not name or rest):
        raise ParameterError(FIELD, "needs_a_request", row=row, text=excerpt(text))
    if kind != "finish":
        require_tokens(FIELD, row, text, tokens)
    return BlockOperation(
        row=row,
        text=text,
        kind=kind,
        name=name,
        words=tokens,
        namespace=namespace(adapter, salt),
    )


SHIPPED_BLOCKS = {
    "shared_prefix": """\
start r1 you are a helpful bot . what is KV
start r2 you are a helpful bot . why cache ?
append r1 a store
append r1 of keys
finish r1
match you are a helpful bot . what is KV a store of vectors
finish r2
""",
    "last_block": """\
start r1 a b c d e f g h
finish r1
start r2 a b c d e f g h
finish r2
match a b c d e f g h i
""",
    "tail_goes_first": """\
start r1 a b c d e f g h i j k l m n o p
start r2 A B C D E F G H I J K L M N O P
finish r1
finish r2
start r3 a b c d e f g h 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
start r4 A B C D q r s t u v w x y z
start r5 one more
finish r3
start r5 one more
""",
    "salted": """\
start r1 sys p q r s t u v salt=red
start r2 sys p q r s t u v salt=blue
finish r1
finish r2
match sys p q r s t u v w
match sys p q r s t u v w salt=red
start r3 sys p q r s t u v w @sql salt=red
""",
    "documented": """\
start r0 a b c d e f g h i j k l m n o
append r0 p q
start r1 a b c d e f g h i j W X Y Z
finish r0
finish r1
start r2 a b c d e f g h i j k l 1 2 3 4 5 6 7 8 9 A B C D E F G H
""",
}
