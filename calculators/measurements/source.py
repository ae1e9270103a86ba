"""A result file as text, opened tolerantly: lines around the JSON, several objects, a cut end.

``decode`` turns bytes into text (byte order marks, UTF-16 of a shell redirect); ``open_text`` finds
the first JSON document; :meth:`Source.documents` yields the others one by one, so that a file of a
million rows never stands in memory as objects at once. Strings that hold generated text or prompts
are dropped while reading: no record needs them and they are private. Left out: JSON with trailing
commas, comments or single quotes, which no tool read here writes.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from calculators.form.errors import ParameterError
from calculators.form.nesting import nests_deeper
from calculators.measurements.record import Note
from calculators.measurements.scan import Document, Progress, Start, decoder, evened, scan

BOMS: Final = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
HEAD_CHARACTERS: Final = 65_536


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


def open_text(
    text: str,
    name: str = "",
    *,
    companions: tuple[Source, ...] = (),
    progress: Progress | None = None,
) -> Source:
    """Open a file's text. A file without JSON is opened too: some formats are not JSON."""
    notes: list[Note] = []
    text = evened(text.removeprefix("\ufeff"))
    try:
        first, refusal = first_document(text, notes, progress), None
    except ParameterError as error:
        first, refusal = None, error
    return Source(
        name=name,
        text=beginning(text) if is_all(first) else text,
        first=first,
        notes=tuple(notes),
        companions=companions,
        progress=progress,
        refusal=refusal,
    )


def is_all(first: Document | None) -> bool:
    """Whether the document is the whole file, so that its text has nothing more to tell."""
    return first is not None and first.alone and (first.line, first.column) == (1, 1)


def beginning(text: str) -> str:
    """The head alone: a long text is not held beside what was read from it."""
    return text[:HEAD_CHARACTERS]


def first_document(text: str, notes: list[Note], progress: Progress | None) -> Document | None:
    """The first JSON document. Raises ParameterError for JSON that is broken or too deep."""
    if nests_deeper(text):  # in the browser the parser itself would end without an exception
        raise ParameterError("file", "too_deep", line=1)
    return next(scan(text, Start(), notes, decoder(progress)), None)


def open_value(value: Any, text: str, name: str = "") -> Source:
    """A file that something else parsed, such as a YAML report."""
    document = Document(value=value, position=0, line=1, column=1, end=len(text), alone=True)
    return Source(name=name, text=text, first=document)


def following(source: Source, start: Start, trouble: list[Note]) -> Iterator[Document]:
    """The documents behind the first; a broken tail ends them with a note."""
    try:
        yield from scan(source.text, start, trouble, decoder(source.progress))
    except ParameterError as error:
        trouble.append(Note(code="broken_tail", data={"reason": error.reason, **error.limits}))
