"""A result file as text, opened tolerantly: lines around the JSON, several objects, a cut end.

``decode`` turns bytes into text (byte order marks, UTF-16 of a shell redirect); ``open_text`` finds
the first JSON document; :meth:`Source.documents` yields the others one by one, so that a file of a
million rows never stands in memory as objects at once. Strings that hold generated text or prompts
are dropped while reading: no record needs them and they are private. Left out: JSON with trailing
commas, comments or single quotes, which no tool read here writes.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from calculators.form.errors import ParameterError, excerpt
from calculators.measurements.record import Note

BOMS: Final = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
HEAD_CHARACTERS: Final = 65_536
FEWEST_COMMAS: Final = 3  # in the head line of a table
MOST_LOG_LINES: Final = 10_000  # before the JSON; a file with more is a log, not a result

# Keys whose strings are prompts, answers or media: dropped while reading, listed by name.
TEXT_KEYS: Final = frozenset(
    {
        "generated_texts",
        "generated_text",
        "GEN_TEXT",
        "output_text",
        "request_args",
        "prompt",
        "prompts",
        "messages",
        "response",
        "responses",
        "output",
        "request_body",
        "raw_response",
        "pdf",
        "texts",
        "payload",
        "payloads",
    }
)

type Progress = Callable[[int], None]


class Dropped:
    """Stands where a text was dropped."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<text dropped>"


DROPPED: Final = Dropped()


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """One JSON document of a file: its value, position among them and place.

    ``line`` and ``column`` count from 1; ``end`` is the offset behind it. ``alone`` says that
    nothing else is in the file.
    """

    value: Any
    position: int
    line: int
    column: int
    end: int
    alone: bool

    @property
    def pointer(self) -> str:
        """``""`` for the only document of a file, else its line: ``L3``, ``L3C80`` inside one."""
        if self.alone and self.position == 0:
            return ""
        return f"L{self.line}" if self.column == 1 else f"L{self.line}C{self.column}"


@dataclass(frozen=True, kw_only=True)
class Source:
    """An opened file. ``name`` is never a source of facts; it links siblings and words refusals.

    ``companions`` are other files offered with it, such as the benchmarks.json of asv.
    """

    name: str
    text: str
    first: Document | None
    notes: tuple[Note, ...] = ()
    companions: tuple["Source", ...] = ()
    progress: Progress | None = field(default=None, compare=False)
    refusal: ParameterError | None = field(default=None, compare=False)

    @property
    def value(self) -> Any:
        """The first JSON document, or None when the file holds none."""
        return None if self.first is None else self.first.value

    @property
    def head(self) -> str:
        """The first characters, for telling formats apart."""
        return self.text[:HEAD_CHARACTERS]

    @property
    def node(self) -> Mapping[str, Any]:
        """The first object, also when it is the first element of an array; else an empty one."""
        value = self.value
        if isinstance(value, list) and value:
            value = value[0]
        return value if isinstance(value, dict) else {}

    def documents(self, trouble: list[Note]) -> Iterator[Document]:
        """Every JSON document in order; what could not be read is added to ``trouble``."""
        if self.first is None:
            return
        yield self.first
        line = 1 + self.text.count("\n", 0, self.first.end)
        start = Start(offset=self.first.end, line=line, position=1)
        yield from following(self, start, trouble)


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """An object of a file of objects: appended ones, elements of an array, or the only one."""

    node: Mapping[str, Any]
    position: int
    pointer: str


def entries(source: Source, trouble: list[Note]) -> Iterator[Entry]:
    """The objects of a file in order, whichever way they are put together."""
    position = 0
    for document in source.documents(trouble):
        listed = isinstance(document.value, list)
        for index, node in enumerate(document.value if listed else [document.value]):
            if isinstance(node, dict):
                pointer = f"{document.pointer}/{index}" if listed else document.pointer
                yield Entry(node=node, position=position, pointer=pointer)
                position += 1


def decode(data: bytes) -> str:
    """Bytes as text: a byte order mark decides, else UTF-8. Raises ParameterError."""
    encoding = next((name for mark, name in BOMS if data.startswith(mark)), None)
    if encoding is None and data[1:2] == b"\x00" and data[3:4] == b"\x00":
        encoding = "utf-16-le"
    try:
        text = data.decode(encoding or "utf-8")
    except UnicodeDecodeError as error:
        raise ParameterError("file", "not_text", position=error.start) from None
    return text.removeprefix("\ufeff")


def keep(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object without its texts. The last of two equal keys wins, as in the tools' readers."""
    kept = dict(pairs)
    if not TEXT_KEYS.isdisjoint(kept):
        for key in TEXT_KEYS & kept.keys():
            if isinstance(kept[key], (str, list)) and kept[key]:
                kept[key] = DROPPED
    return kept


def decoder(progress: Progress | None) -> json.JSONDecoder:
    """A decoder that drops texts and, if asked, reports the number of objects closed."""
    if progress is None:
        return json.JSONDecoder(object_pairs_hook=keep)
    closed = 0

    def counted(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal closed
        closed += 1
        if closed % 4096 == 0:
            progress(closed)
        return keep(pairs)

    return json.JSONDecoder(object_pairs_hook=counted)


def open_text(
    text: str,
    name: str = "",
    *,
    companions: tuple[Source, ...] = (),
    progress: Progress | None = None,
) -> Source:
    """Open a file's text. A file without JSON is opened too: some formats are not JSON."""
    notes: list[Note] = []
    text = text.removeprefix("\ufeff")
    try:
        first = next(scan(text, Start(), notes, decoder(progress)), None)
        refusal = None
    except ParameterError as error:
        first, refusal = None, error
    return Source(
        name=name,
        text=text,
        first=first,
        notes=tuple(notes),
        companions=companions,
        progress=progress,
        refusal=refusal,
    )


def open_value(value: Any, text: str, name: str = "") -> Source:
    """A file that something else parsed, such as a YAML report."""
    document = Document(value=value, position=0, line=1, column=1, end=len(text), alone=True)
    return Source(name=name, text=text, first=document)


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """Where a scan begins: the offset, its line, and how many documents came before."""

    offset: int = 0
    line: int = 1
    position: int = 0


def following(source: Source, start: Start, trouble: list[Note]) -> Iterator[Document]:
    """The documents behind the first; a broken tail ends them with a note."""
    try:
        yield from scan(source.text, start, trouble, decoder(source.progress))
    except ParameterError as error:
        trouble.append(Note(code="broken_tail", data={"reason": error.reason, **error.limits}))


def scan(
    text: str, start: Start, trouble: list[Note], reader: json.JSONDecoder
) -> Iterator[Document]:
    """JSON documents from the start on, skipping lines that are none."""
    position, line, place, skipped = start.position, start.line, start.offset, 0
    while (begin := next_value(text, place)) is not None:
        line += text.count("\n", place, begin)
        found = one(text, begin, line, reader) if text[begin] in "{[" else None
        if found is None:
            skipped += 1
            place = line_end(text, begin)
            line += 1
            if skipped > MOST_LOG_LINES or (position == 0 and looks_like_table(text, begin)):
                return
            continue
        value, end = found
        if skipped:
            trouble.append(Note(code="lines_skipped", data={"lines": skipped}))
            skipped = 0
        alone = position == 0 and next_value(text, end) is None
        column = begin - text.rfind("\n", 0, begin)
        yield Document(
            value=value, position=position, line=line, column=column, end=end, alone=alone
        )
        position, place = position + 1, end
        line += text.count("\n", begin, end)
    if skipped and position:
        trouble.append(Note(code="lines_skipped", data={"lines": skipped}))


def one(text: str, begin: int, line: int, reader: json.JSONDecoder) -> tuple[Any, int] | None:
    """The document that begins here and where it ends; None when the line is a log line."""
    try:
        return reader.raw_decode(text, begin)
    except json.JSONDecodeError as error:
        if next_value(text, error.pos) is None or error.pos >= len(text) - 1:
            raise ParameterError("file", "json_cut", line=line) from None
        if "Unterminated string" in error.msg:
            raise ParameterError("file", "json_cut", line=line) from None
        same_line = text.find("\n", begin, error.pos) < 0
        if same_line and is_log_line(text, begin, error.pos):
            return None
        raise ParameterError(
            "file", "json_broken", line=error.lineno, text=excerpt(text[error.pos : error.pos + 40])
        ) from None
    except RecursionError:
        raise ParameterError("file", "too_deep", line=line) from None
    except ValueError:  # an integer of more than 4300 digits
        raise ParameterError("file", "number_too_long", line=line) from None


def is_log_line(text: str, begin: int, broken_at: int) -> bool:
    """``[2025-01-01 …]`` or ``{host} …``: a line that stops being JSON at once."""
    return not any(mark in text[begin:broken_at] for mark in ('":', '",', "},"))


def looks_like_table(text: str, begin: int) -> bool:
    """Whether the first line is the head of a CSV table, or the file a summary in words."""
    head = text[begin : line_end(text, begin)]
    return head.count(",") >= FEWEST_COMMAS or head.startswith(("====", ":::MLLOG"))


def next_value(text: str, place: int) -> int | None:
    """The offset of the next character that is neither space nor a separator."""
    size = len(text)
    while place < size and text[place] in " \t\r\n\x00,\x1e":
        place += 1
    return place if place < size else None


def line_end(text: str, place: int) -> int:
    """The offset behind the line."""
    end = text.find("\n", place)
    return len(text) if end < 0 else end + 1
