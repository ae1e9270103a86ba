"""Two measurements: whether they may be compared, and if so, what their ratio is worth.

A ratio is shown only where every condition is stated on both sides and equal. With complete raw
samples it comes with a bootstrap interval of the medians and a rank test, both with their names and
seed; without samples it is only said whether intervals could be known. Leaves out any correction
for repeated looks.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from calculators.form import fields
from calculators.form.errors import ParameterError
from calculators.latency.comparability import Comparability, comparability
from calculators.latency.compare import mann_whitney, ratio_of_medians
from calculators.measurements.record import Measurement
from calculators.measurements.result_file import LONGEST, SUFFIXES, in_field, name_of, quantity
from calculators.show.blocks import Block, Message, Notes, Number, Numbers, Result, Table
from calculators.show.progress import Progress
from calculators.show.quantity import Quantity

MAIN = ("run_time", "ttft", "batch_latency", "e2e")
MOST_PLACES = 1_000_000
MOST_SAMPLES = 20_000  # of a side that the bootstrap resamples in the browser


@dataclass(frozen=True, kw_only=True)
class Params:
    """The form: two files and which measurement of each."""

    first: str | None = fields.text(longest=LONGEST, suffixes=SUFFIXES, shared=False)
    first_place: int = fields.integer(0, minimum=0, maximum=MOST_PLACES)
    second: str | None = fields.text(longest=LONGEST, suffixes=SUFFIXES, shared=False)
    second_place: int = fields.integer(0, minimum=0, maximum=MOST_PLACES)


def solve(params: Params, progress: Progress) -> Result:
    """The verdict, the differences, and only then a ratio."""
    progress(0)
    if not (params.first or params.second):
        return Result(blocks=(), status=Message("status.waiting"))
    first = chosen("first", params.first, "first_place", params.first_place)
    second = chosen("second", params.second, "second_place", params.second_place)
    progress(0.5)
    verdict = comparability(conditions(first), conditions(second))
    return Result(
        blocks=tuple(blocks(first, second, verdict)), status=Message(f"status.{verdict.verdict}")
    )


def chosen(field: str, text: str | None, place_field: str, place: int) -> Measurement:
    """The measurement at a place of a file."""
    found = in_field(field, text).measurements
    if place >= len(found):
        raise ParameterError(place_field, "no_such_measurement", count=len(found))
    return found[place]


def conditions(measurement: Measurement) -> dict[str, str | None]:
    """What decides whether two measurements may be compared."""
    given = measurement.provenance
    device = given.get("device")
    own = device if isinstance(device, Mapping) else {}
    return {
        "boundary": measurement.boundary or boundary_of(measurement),
        "hardware": text(own.get("name")) or measurement.label("device").value,
        "software": text(given.get("software")) or measurement.label("server_version").value,
        "model": text(given.get("checkpoint")) or measurement.label("model").value,
        "dtype": text(given.get("dtype")),
        "load": text(given.get("load")) or load_of(measurement),
        "percentile_rule": measurement.percentile_rule,
    }


def boundary_of(measurement: Measurement) -> str | None:
    """Without a stated boundary, the latencies that are there: what is the same word may differ."""
    there = [name for name in MAIN if measurement.figure(name, "p50").value is not None]
    return ", ".join(there) or None


def text(value: Any) -> str | None:
    """A condition as comparable text."""
    if value is None or isinstance(value, str):
        return value or None
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def load_of(measurement: Measurement) -> str | None:
    """Rate and cap, when the file says something about either."""
    stated = {name: measurement.figure(name) for name in ("request_rate", "concurrency")}
    if all(figure.reason == "not_stated" for figure in stated.values()):
        return None
    return ", ".join(
        f"{name} {figure.value if figure.value is not None else figure.reason}"
        for name, figure in stated.items()
    )


def blocks(first: Measurement, second: Measurement, verdict: Comparability) -> Iterator[Block]:
    """The answer in reading order."""
    yield Table(
        id="conditions",
        columns=("condition", "outcome", "first", "second"),
        rows=tuple(
            (Message(f"condition.{c.name}"), Message(f"outcome.{c.outcome}"), c.first, c.second)
            for c in verdict.conditions
        ),
    )
    yield Table(
        id="figures",
        columns=("quantity", "stat", "first", "second"),
        rows=tuple(both(first, second)),
    )
    if verdict.verdict != "comparable":
        yield Notes(items=(Message(f"note.{verdict.verdict}"),), kind="warning")
        return
    yield from ratio(first, second)


def both(first: Measurement, second: Measurement) -> Iterator[tuple[Any, ...]]:
    """Figures that both files state."""
    for figure in first.figures:
        other = second.figure(figure.quantity, figure.stat)
        if figure.value is not None and other.value is not None:
            yield (
                name_of(figure.quantity, figure.source),
                figure.stat or "",
                quantity(figure),
                quantity(other),
            )


def ratio(first: Measurement, second: Measurement) -> Iterator[Block]:
    """The ratio of medians with its interval, from complete samples only."""
    pair = sampled_pair(first, second)
    if pair is None:
        yield Notes(items=(Message("note.no_samples"),), kind="warning")
        return
    a, b = pair
    found, test = ratio_of_medians(a, b), mann_whitney(a, b)
    yield Numbers(
        items=(
            Number(id="ratio", quantity=Quantity(found.value, "", 4), lead=True),
            Number(id="low", quantity=Quantity(found.low, "", 4)),
            Number(id="high", quantity=Quantity(found.high, "", 4)),
            Number(id="p", quantity=Quantity(test.p, "", 6)),
        )
    )
    yield Notes(
        items=(
            Message("note.bootstrap", {"rounds": found.rounds, "seed": found.seed}),
            Message("note.exact" if test.exact else "note.normal"),
            Message("note.overlap" if found.low <= 1 <= found.high else "note.apart"),
        )
    )


def sampled_pair(first: Measurement, second: Measurement) -> tuple[list[float], list[float]] | None:
    """Complete samples of the same quantity on both sides, all of them above zero."""
    for name in MAIN:
        a, b = first.sampled(name), second.sampled(name)
        if a and b and a.complete and b.complete:
            values = list(a.values), list(b.values)
            if all(len(v) <= MOST_SAMPLES and min(v) > 0 for v in values):
                return values
    return None
