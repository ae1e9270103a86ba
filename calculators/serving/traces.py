"""Traces of requests from text: Azure, Mooncake, BurstGPT, and the reader's own CSV.

Schemas: Azure LLM inference 2023 (Azure/AzurePublicDataset@b469a11: TIMESTAMP, ContextTokens,
GeneratedTokens), Mooncake (kvcache-ai/Mooncake@3b5a594: one JSON object a line with timestamp in
ms, input_length, output_length, hash_ids), BurstGPT (HPMLL/BurstGPT: Timestamp in s, Request
tokens, Response tokens). An own CSV has arrival_s, prompt, output and may have id, timeout_s,
priority, prefix_group, prefix_len. Every refusal names the row; row 1 is the first line of text.
Mooncake's hash_ids are not used here: prefix reuse from them is the prefix lab's business.
"""

import csv
import json
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from calculators.form.errors import ParameterError, excerpt
from calculators.form.nesting import nests_deeper
from calculators.serving.request import Request, in_order

FIELD = "trace"
MICROSECONDS = 1_000_000
MOST_TOKENS = 10_000_000
CLOCK = re.compile(r"(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d(?:\.\d+)?)")
NUMBER = re.compile(r"[0-9]{1,15}(\.[0-9]{1,12})?")
COLUMNS = {
    "azure": ("TIMESTAMP", "ContextTokens", "GeneratedTokens"),
    "burstgpt": ("Timestamp", "Request tokens", "Response tokens"),
    "own": ("arrival_s", "prompt", "output"),
}


def read(text: str) -> tuple[Request, ...]:
    """The requests of a trace in any of the four schemas, from the first arrival at 0, in µs.

    Rows without output (BurstGPT's failures) are left out; ids are row numbers where none is given.
    """
    text = text.removeprefix("\ufeff")
    rows = mooncake(text) if text.lstrip().startswith("{") else table(text)
    requests = [request for request in rows if request.output > 0]
    if not requests:
        raise ParameterError(FIELD, "no_rows")
    first = min(request.arrival for request in requests)
    return in_order(tuple(shifted(request, first) for request in requests))


def shifted(request: Request, first: int | Fraction) -> Request:
    """The same request, counted from the first arrival."""
    return Request(
        id=request.id,
        arrival=request.arrival - first,
        prompt=request.prompt,
        output=request.output,
        timeout=request.timeout,
        priority=request.priority,
        prefix_group=request.prefix_group,
        prefix_len=request.prefix_len,
    )


def mooncake(text: str) -> Iterator[Request]:
    """One JSON object a line."""
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        if nests_deeper(line):
            raise bad_row(number, line)
        try:
            row = json.loads(line)
        except ValueError:
            raise bad_row(number, line) from None
        if not isinstance(row, dict):
            raise bad_row(number, line)
        yield Request(
            id=f"{number:07}",
            arrival=microseconds(number, str(row.get("timestamp")), Fraction(1, 1000)),
            prompt=tokens(number, str(row.get("input_length")), 1),
            output=tokens(number, str(row.get("output_length")), 0),
        )


def table(text: str) -> Iterator[Request]:
    """A CSV with a head line that says which schema it is."""
    lines = csv.reader(text.splitlines())
    head = [name.strip() for name in next(lines, [])]
    for schema, columns in COLUMNS.items():
        if all(name in head for name in columns):
            places = {name: head.index(name) for name in head}
            for number, row in enumerate(lines, start=2):
                if any(cell.strip() for cell in row):
                    yield from table_row(schema, number, row, places)
            return
    wanted = "; ".join(", ".join(columns) for columns in COLUMNS.values())
    raise ParameterError(FIELD, "unknown_columns", text=excerpt(",".join(head)), options=wanted)


def table_row(
    schema: str, number: int, row: Sequence[str], places: dict[str, int]
) -> Iterator[Request]:
    """One row of a CSV."""
    if len(row) < len(places):
        raise bad_row(number, ",".join(row))
    cells = {name: row[place].strip() for name, place in places.items()}
    when, prompt, output = COLUMNS[schema]
    own = cells if schema == "own" else {}
    timeout = own.get("timeout_s")
    yield Request(
        id=own.get("id") or f"{number:07}",
        arrival=clock(number, cells[when])
        if schema == "azure"
        else microseconds(number, cells[when]),
        prompt=tokens(number, cells[prompt], 1),
        output=tokens(number, cells[output], 0),
        timeout=microseconds(number, timeout) if timeout else None,
        priority=tokens(number, own.get("priority") or "0", 0),
        prefix_group=own.get("prefix_group") or None,
        prefix_len=tokens(number, own.get("prefix_len") or "0", 0),
    )


def clock(number: int, text: str) -> int:
    """Wall clock to µs from the year 0; the 7th decimal is rounded away."""
    found = CLOCK.fullmatch(text)
    if not found:
        raise bad_row(number, text)
    year, month, day, hour, minute = map(int, found.groups()[:5])
    days = day_number(year, month, day)
    seconds = ((days * 24 + hour) * 60 + minute) * 60 + Fraction(found[6])
    return round(seconds * MICROSECONDS)


def day_number(year: int, month: int, day: int) -> int:
    """Days in the Gregorian calendar, counted from a March so that leap days come last."""
    year, month = (year - 1, month + 9) if month <= 2 else (year, month - 3)  # noqa: PLR2004
    return 365 * year + year // 4 - year // 100 + year // 400 + (153 * month + 2) // 5 + day


def microseconds(number: int, text: str, scale: Fraction = Fraction(1)) -> int:
    """Seconds, or a scaled unit, to µs."""
    if not NUMBER.fullmatch(text):
        raise bad_row(number, text)
    return round(Fraction(text) * scale * MICROSECONDS)


def tokens(number: int, text: str, least: int) -> int:
    """A count of tokens; BurstGPT and others write some as 12.0."""
    if not NUMBER.fullmatch(text) or text.partition(".")[2].strip("0"):
        raise bad_row(number, text)
    count = int(text.partition(".")[0])
    if not least <= count <= MOST_TOKENS:
        raise bad_row(number, text)
    return count


def bad_row(number: int, text: str) -> ParameterError:
    """The row that cannot be used, and what stands in it."""
    return ParameterError(FIELD, "bad_row", row=number, text=excerpt(text))
