"""Finds the JSON documents of a text: lines around them, several in a row, a cut end.

Strings that hold generated text or prompts are dropped while reading: no record needs them and they
are private. Left out: JSON with trailing commas, comments or single quotes, which no tool writes.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from string import ascii_letters, digits
from typing import Any, Final

from calculators.form.errors import ParameterError, excerpt
from calculators.measurements.record import Note

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

# NaN and infinities as C and other languages print them, which no JSON reader takes.
ODD_NUMBER: Final = re.compile(
    r"[:,\[]\s*(?:[-+]?nan(?:\(\w*\))?|[-+]?inf(?:inity)?|[-+]NaN|\+Infinity|[-+]?Inf)"
    r"(?=\s*[,}\]\n])",
)
STRING_OR_ODD: Final = re.compile(rf'"(?:[^"\\]|\\.)*"|{ODD_NUMBER.pattern}')

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


def keep(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object without its texts. The last of two equal keys wins, as in the tools' readers."""
    kept = dict(pairs)
    if not TEXT_KEYS.isdisjoint(kept):
        for key in TEXT_KEYS & kept.keys():
            if isinstance(kept[key], (str, list)) and kept[key]:
                kept[key] = DROPPED
    return kept


def evened(text: str) -> str:
    """The text with odd spellings of no number as ``NaN``, every offset as it was.

    An infinity becomes NaN too: a record has the same reason for both.
    """
    if ODD_NUMBER.search(text) is None:
        return text
    return STRING_OR_ODD.sub(lambda found: as_nan(found[0]), text)


def as_nan(found: str) -> str:
    """``: -nan → :  NaN``, a string as it is."""
    if found[0] == '"':
        return found
    before = found.rstrip("()_+-" + ascii_letters + digits)
    return before + "NaN".rjust(len(found) - len(before))


def decoder(progress: Progress | None) -> json.JSONDecoder:
    """A decoder that drops texts and, if asked, reports how many objects and fractions it read."""
    if progress is None:
        return json.JSONDecoder(object_pairs_hook=keep)
    closed = fractions = 0

    def counted(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal closed
        closed += 1
        if closed % 4096 == 0:
            progress(closed + fractions)
        return keep(pairs)

    def fraction(text: str) -> float:
        nonlocal fractions
        fractions += 1
        if fractions % 65536 == 0:
            progress(closed + fractions)
        return float(text)

    return json.JSONDecoder(object_pairs_hook=counted, parse_float=fraction)


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """Where a scan begins: the offset, its line, and how many documents came before."""

    offset: int = 0
    line: int = 1
    position: int = 0


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
