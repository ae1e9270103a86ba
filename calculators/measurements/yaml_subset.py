"""The part of YAML that dumped reports use, for the browser, where no YAML library is.

Block mappings and sequences, plain and quoted scalars over several lines, block scalars, empty flow
collections and flow collections that are JSON. Scalars resolve as in YAML 1.1. Left out and refused
by name: anchors, aliases, tags, complex keys and other flow collections. Dates stay text, and
base-60 numbers too.
"""

import json
import math
import re
from dataclasses import dataclass
from typing import Any, Final

from calculators.form.errors import ParameterError, excerpt

KEY: Final = re.compile(
    r"(\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'"
    r"|[^\s\-?:,\[\]{}#&*!|>'\"%@`](?:[^\s]|\s+(?!#))*?|[-?:][^\s#](?:[^\s]|\s+(?!#))*?)"
    r"\s*:(?:\s+(.*))?\Z",
    re.ASCII,
)
INTEGER: Final = re.compile(r"[-+]?(0|[1-9][0-9_]*)\Z", re.ASCII)
FLOAT: Final = re.compile(
    r"[-+]?([0-9][0-9_]*\.[0-9_]*([eE][-+][0-9]+)?|\.[0-9][0-9_]*([eE][-+][0-9]+)?)\Z", re.ASCII
)
NOT_FINITE: Final = re.compile(r"([-+]?)\.(inf|Inf|INF|nan|NaN|NAN)\Z")
WORDS: Final = {
    word: value
    for words, value in ((("true", "yes", "on"), True), (("false", "no", "off"), False))
    for plain in words
    for word in (plain, plain.capitalize(), plain.upper())
} | dict.fromkeys(("", "~", "null", "Null", "NULL"))
REFUSED: Final = ("&", "*", "!", "? ", "%", "@", "`")
DEEPEST: Final = 100
BLANKS: Final = " \t\r"


@dataclass(frozen=True, slots=True)
class Line:
    """A line that holds something: its indent, its text and its number counted from 1."""

    indent: int
    text: str
    number: int


class Reader:
    """Reads blocks from a list of lines, from the top down."""

    def __init__(self, text: str) -> None:
        self.raw = text.split("\n")
        self.place = 0
        self.depth = 0
        self.put_back: Line | None = None

    def refuse(self, reason: str, line: int, text: str = "") -> ParameterError:
        """The one exception of this module."""
        return ParameterError("file", reason, line=line, text=excerpt(text))

    def peek(self) -> Line | None:
        """The next line that is neither empty nor a comment nor a document mark."""
        if self.put_back is not None:
            return self.put_back
        while self.place < len(self.raw):
            text = self.raw[self.place].rstrip(BLANKS)
            bare = text.lstrip(" ")
            if bare and not bare.startswith("#") and text not in {"---", "..."}:
                return Line(len(text) - len(bare), bare, self.place + 1)
            self.place += 1
        return None

    def take(self) -> Line:
        """The next line, which is there."""
        line = self.peek()
        if line is None:
            raise self.refuse("yaml_broken", len(self.raw))
        if self.put_back is None:
            self.place += 1
        self.put_back = None
        return line

    def block(self, indent: int) -> Any:
        """A mapping, a sequence or a scalar whose lines begin at the indent."""
        line = self.peek()
        if line is None or line.indent < indent:
            return None
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.refuse("too_deep", line.number)
        try:
            if is_item(line.text):
                return self.sequence(line.indent)
            if KEY.match(line.text):
                return self.mapping(line.indent)
            return self.scalar(self.take(), line.indent - 1)
        finally:
            self.depth -= 1

    def sequence(self, indent: int) -> list[Any]:
        """Items that begin with a dash at the indent."""
        items: list[Any] = []
        while (line := self.peek()) and line.indent == indent and is_item(line.text):
            self.take()
            rest = line.text[1:].lstrip(" ")
            if rest and not rest.startswith("#"):
                inner = indent + len(line.text) - len(rest)
                self.put_back = Line(inner, rest, line.number)
                items.append(self.block(inner))
            else:
                items.append(self.block(indent + 1))
        self.end_of_block(indent)
        return items

    def mapping(self, indent: int) -> dict[str, Any]:
        """Keys at the indent with their values."""
        found: dict[str, Any] = {}
        while (line := self.peek()) and line.indent == indent and not is_item(line.text):
            match = KEY.match(line.text)
            if match is None:
                raise self.refuse("yaml_broken", line.number, line.text)
            self.take()
            name = unquoted(match[1]) if match[1][0] in "'\"" else match[1]
            found[name] = self.value(match[2] or "", line)
        self.end_of_block(indent)
        return found

    def end_of_block(self, indent: int) -> None:
        """Behind a block no line may be deeper than it."""
        line = self.peek()
        if line is not None and line.indent > indent:
            raise self.refuse("yaml_broken", line.number, line.text)

    def value(self, rest: str, line: Line) -> Any:
        """What stands behind a key, on its line or below it."""
        if rest and not rest.startswith("#"):
            return self.scalar(Line(line.indent, rest, line.number), line.indent)
        below = self.peek()
        if below and below.indent == line.indent and is_item(below.text):
            return self.sequence(below.indent)
        return self.block(line.indent + 1)

    def scalar(self, line: Line, indent: int) -> Any:
        """A scalar that begins on this line; deeper lines go on with it."""
        text = line.text
        if text.startswith(REFUSED):
            raise self.refuse("yaml_not_read", line.number, text)
        if re.match(r"[|>][-+0-9]*\s*(#.*)?\Z", text):
            return self.literal(text, indent)
        if text[0] in "'\"":
            return unquoted(self.quoted(line))
        if text[0] in "[{":
            return self.flow(line)
        parts = [plain_part(text)]
        while (below := self.peek()) and below.indent > indent and not KEY.match(below.text):
            parts.append(plain_part(self.take().text))
        return resolved(parts[0]) if len(parts) == 1 else " ".join(parts)

    def quoted(self, line: Line) -> str:
        """A quoted scalar with its line ends folded."""
        text = line.text
        while not closed(text):
            if self.place >= len(self.raw):
                raise self.refuse("yaml_broken", line.number, line.text)
            blank = 0
            while self.place < len(self.raw) and not self.raw[self.place].strip(BLANKS):
                blank, self.place = blank + 1, self.place + 1
            following = self.raw[self.place].strip(BLANKS) if self.place < len(self.raw) else ""
            self.place += 1
            if text[0] == '"' and re.search(r"(?<!\\)(\\\\)*\\\Z", text):
                text = text[:-1] + "\\n" * blank + following
            else:
                text += (
                    ("\\n" if text[0] == '"' else "\n") * blank + following
                    if blank
                    else (" " + following)
                )
        return text[: closed(text)]

    def flow(self, line: Line) -> Any:
        """A flow collection that is JSON."""
        try:
            return json.loads(line.text)
        except (ValueError, RecursionError):
            raise self.refuse("yaml_not_read", line.number, line.text) from None

    def literal(self, head: str, indent: int) -> str:
        """A block scalar: lines as they are, or folded, without the indent."""
        lines: list[str] = []
        while self.place < len(self.raw):
            text = self.raw[self.place]
            if text.strip(BLANKS) and len(text) - len(text.lstrip(" ")) <= indent:
                break
            lines.append(text)
            self.place += 1
        width = min((len(t) - len(t.lstrip(" ")) for t in lines if t.strip(BLANKS)), default=0)
        body = [text[width:].rstrip(BLANKS) for text in lines]
        joined = ("\n" if head[0] == "|" else " ").join(body).strip("\n ")
        return joined if "-" in head else joined + "\n"


def is_item(text: str) -> bool:
    """Whether a line begins an item of a sequence."""
    return text == "-" or text.startswith("- ")


def plain_part(text: str) -> str:
    """A line of a plain scalar without its comment."""
    return re.split(r"[ \t]+#", text, maxsplit=1)[0].strip(BLANKS)


def closed(text: str) -> int:
    """The offset behind the closing quote; 0 while it is missing."""
    pattern = r'"(?:[^"\\]|\\.)*"' if text[0] == '"' else r"'(?:[^']|'')*'"
    match = re.match(pattern, text, re.DOTALL)
    return match.end() if match and not text[match.end() :].lstrip(BLANKS).startswith("'") else 0


ESCAPES: Final = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "0": "\0",
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "f": "\f",
    "v": "\v",
    "N": "\x85",
    "_": "\xa0",
    "L": "\u2028",
    "P": "\u2029",
}
ESCAPE: Final = re.compile(r"\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)


def unquoted(text: str) -> str:
    """The value of a quoted scalar."""
    if text[0] == "'":
        return text[1:-1].replace("''", "'")
    return ESCAPE.sub(escape, text[1:-1])


def escape(match: re.Match[str]) -> str:
    """One escape of a double-quoted scalar."""
    code = match[1]
    if code[0] in "xuU" and len(code) > 1:
        number = int(code[1:], 16)
        return chr(number) if number < 0x110000 else "\ufffd"  # noqa: PLR2004 -- end of Unicode
    return ESCAPES.get(code, code)


def resolved(text: str) -> Any:
    """A plain scalar's value: ``"1.5" → 1.5``, ``".inf" → inf``, ``"0.2.1" → "0.2.1"``."""
    if text in WORDS:
        return WORDS[text]
    if INTEGER.match(text) and len(text) < DEEPEST:
        return int(text.replace("_", ""))
    if FLOAT.match(text):
        return float(text.replace("_", ""))
    if match := NOT_FINITE.match(text):
        value = math.inf if match[2].lower() == "inf" else math.nan
        return -value if match[1] == "-" else value
    return text


def read(text: str) -> Any:
    """The first document of a YAML text. Raises ParameterError."""
    reader = Reader(text)
    found = reader.block(0)
    if (rest := reader.peek()) is not None:
        raise reader.refuse("yaml_broken", rest.number, rest.text)
    return found
