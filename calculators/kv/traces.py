"""Request lengths from a dropped file: Azure, Mooncake and BurstGPT traces, lists, histograms.

Only lengths are read: arrival times, prefixes and models are of no matter to how many tokens live
sequences keep. What is left out of a file (failed requests, rows without tokens) is counted.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

from calculators.form.errors import ParameterError, excerpt
from calculators.form.nesting import nests_deeper

type Format = Literal["azure", "mooncake", "burstgpt", "histogram", "list"]

LONGEST_TEXT = 60_000_000  # characters
MOST_TOKENS = 100_000_000  # of one request
PLAIN_DIGITS = 9
NUMBER = re.compile(r"[0-9]{1,9}")
# Columns by what they are called, lower case: prompt, output.
COLUMNS: tuple[tuple[Format, str, str], ...] = (
    ("azure", "contexttokens", "generatedtokens"),
    ("burstgpt", "request tokens", "response tokens"),
)


class Shape(NamedTuple):
    """Tokens of one request. ``output`` is 0 where a file states one length only."""

    prompt: int
    output: int


@dataclass(frozen=True, kw_only=True)
class Trace:
    """How often each shape occurs; ``skipped`` rows had no tokens."""

    format: Format
    shapes: Mapping[Shape, int]
    skipped: int

    @property
    def requests(self) -> int:
        """Rows that count."""
        return sum(self.shapes.values())


def read_trace(field: str, text: str) -> Trace:
    """The lengths of a file's text, its format found from the text.

    Raises ParameterError: ``empty_text``, ``text_too_long``, ``trace_row`` (with the row's number
    and text), ``no_lengths``.
    """
    if len(text) > LONGEST_TEXT:
        raise ParameterError(field, "text_too_long", maximum=LONGEST_TEXT, length=len(text))
    lines = text.removeprefix("\ufeff").splitlines()
    first = next((line for line in lines if line.strip()), None)
    if first is None:
        raise ParameterError(field, "empty_text")
    kind, reader = reader_of(first)
    shapes: Counter[Shape] = Counter()
    skipped = 0
    for shape, count in reader(field, lines):
        if shape.prompt + shape.output == 0:
            skipped += count
        else:
            shapes[shape] += count
    if not shapes:
        raise ParameterError(field, "no_lengths", rows=skipped)
    return Trace(format=kind, shapes=shapes, skipped=skipped)


type Reader = Callable[[str, list[str]], Iterator[tuple[Shape, int]]]


def reader_of(first: str) -> tuple[Format, Reader]:
    """The format of a file from its first line."""
    if first.lstrip().startswith("{"):
        return "mooncake", json_lines
    header = [name.strip().lower() for name in first.split(",")]
    for kind, prompt, output in COLUMNS:
        if prompt in header and output in header:
            columns = header.index(prompt), header.index(output)
            return kind, partial(table, columns=columns)
    if header[0] in {"length", "tokens"} and len(header) == 2:  # noqa: PLR2004
        return "histogram", histogram
    return "list", plain_list


def table(field: str, lines: list[str], columns: tuple[int, int]) -> Iterator[tuple[Shape, int]]:
    """Rows of a CSV without quotes; the header is the first line that is not empty."""
    rows = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
    next(rows)
    last = max(columns)
    for number, line in rows:
        cells = line.split(",", last + 1)
        if len(cells) <= last:
            raise row_error(field, number, line)
        prompt, output = (tokens(field, number, cells[column]) for column in columns)
        yield Shape(prompt, output), 1


def json_lines(field: str, lines: list[str]) -> Iterator[tuple[Shape, int]]:
    """Mooncake: an object a line with ``input_length`` and ``output_length``."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if nests_deeper(line):
            raise row_error(field, number, line)
        try:
            row = json.loads(line, parse_int=str)
        except ValueError:
            raise row_error(field, number, line) from None
        if not isinstance(row, dict) or "input_length" not in row:
            raise row_error(field, number, line)
        prompt = tokens(field, number, str(row["input_length"]))
        yield Shape(prompt, tokens(field, number, str(row.get("output_length", "0")))), 1


def histogram(field: str, lines: list[str]) -> Iterator[tuple[Shape, int]]:
    """``length,count`` a line."""
    for number, line in enumerate(lines[1:], 2):
        if line.strip():
            length, _, count = line.partition(",")
            yield Shape(tokens(field, number, length), 0), tokens(field, number, count)


def plain_list(field: str, lines: list[str]) -> Iterator[tuple[Shape, int]]:
    """Lengths apart by spaces, commas or lines; ``4096x3`` repeats."""
    for number, line in enumerate(lines, 1):
        for part in re.split(r"[\s,;，、]+", line.strip()):
            if part:
                length, _, count = re.sub("[×*]", "x", part).partition("x")
                yield Shape(tokens(field, number, length), 0), tokens(field, number, count or "1")


def tokens(field: str, number: int, text: str) -> int:
    """A number of tokens; ``374.0`` is read as whole."""
    if len(text) < PLAIN_DIGITS and text.isascii() and text.isdigit():
        return int(text)  # by far the most
    cleaned = text.strip().removesuffix(".0")
    if not NUMBER.fullmatch(cleaned) or int(cleaned) > MOST_TOKENS:
        raise row_error(field, number, text)
    return int(cleaned)


def row_error(field: str, number: int, text: str) -> ParameterError:
    """The row that could not be read."""
    return ParameterError(field, "trace_row", row=number, text=excerpt(text))
