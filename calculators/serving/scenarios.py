"""Small scenarios in whole numbers that a reader can follow by hand, and the reader's own.

The shipped ones teach one thing each: three requests under all policies, the generation stall, a
shortage of blocks, a long prompt under the cap, timeouts, the side of the first token.
"""

from calculators.form.errors import ParameterError, excerpt
from calculators.serving.request import Request

FIELD = "requests"
MOST_REQUESTS = 40
MOST_TOKENS = 10_000  # of all prompts and outputs: what one still follows by hand, and quickly
LARGEST = 10_000
HEAD = "id,arrival,prompt,output"
SCENARIOS: dict[str, str] = {
    "stall": "A,0,2,6\nB,0,2,6\nC,5,12,2",
    "three": "A,0,4,3\nB,1,2,2\nC,3,6,2",
    "shortage": "A,0,4,5\nB,0,4,3\nC,2,2,2",
    "long_prompt": "A,0,12,2\nB,0,3,3",
    "timeout": "A,0,4,4\nB,1,2,2,8\nC,2,2,3,13\nD,3,1,1,30",
}


def parse(text: str) -> tuple[Request, ...]:
    """Lines of ``id,arrival,prompt,output`` and, if wanted, a timeout. Errors name the row."""
    rows = [
        (number, [cell.strip() for cell in line.split(",")])
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip() and not line.replace(" ", "").startswith(HEAD)
    ]
    if not rows:
        raise ParameterError(FIELD, "no_rows")
    if len(rows) > MOST_REQUESTS:
        raise ParameterError(FIELD, "too_many", maximum=MOST_REQUESTS)
    requests = tuple(request_of(number, cells) for number, cells in rows)
    tokens = sum(request.prompt + request.output for request in requests)
    if tokens > MOST_TOKENS:
        raise ParameterError(FIELD, "too_long_run", tokens=tokens, maximum=MOST_TOKENS)
    names = [request.id for request in requests]
    for (number, _), name in zip(rows, names, strict=True):
        if names.count(name) > 1:
            raise ParameterError(FIELD, "repeated_id", row=number, text=excerpt(name))
    return requests


def request_of(number: int, cells: list[str]) -> Request:
    """One row."""
    name, *figures = cells
    if not name or len(figures) not in {3, 4} or not all(map(is_small, figures)):
        raise ParameterError(FIELD, "bad_row", row=number, text=excerpt(",".join(cells)))
    arrival, prompt, output, *timeout = map(int, figures)
    if not prompt or not output:
        raise ParameterError(FIELD, "bad_row", row=number, text=excerpt(",".join(cells)))
    return Request(
        id=excerpt(name),
        arrival=arrival,
        prompt=prompt,
        output=output,
        timeout=timeout[0] if timeout else None,
    )


def is_small(text: str) -> bool:
    """Digits that stand for a number within the limit."""
    return (
        text.isascii()
        and text.isdecimal()
        and len(text) <= len(str(LARGEST))
        and (int(text) <= LARGEST)
    )
