"""Files of one run that say the same thing twice: linked, never merged, their disagreement listed.

Two readings are siblings when their formats form a known pair and either their names agree but for
the word that tells the two apart, or enough figures are the same number. Names link files; they
never give a figure.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from calculators.measurements.record import Figure, Measurement, Number, Reading

PAIRS: Final[tuple[frozenset[str], ...]] = (
    frozenset({"llmperf"}),
    frozenset({"inference-perf"}),
    frozenset({"mlperf-summary", "mlperf-detail"}),
    frozenset({"genai-perf-json", "genai-perf-csv"}),
    frozenset({"genai-perf-json", "aiperf-jsonl"}),
    frozenset({"genai-perf-csv", "aiperf-jsonl"}),
    frozenset({"vllm-bench-serve", "vllm-pytorch"}),
)
PART_WORDS: Final = re.compile(
    r"(_?individual(_responses)?|_?summary|_?detail|lifecycle|prometheus|_metrics|aiperf|"
    r"genai_perf|\.pytorch|v\d+_engine_)",
)
SEPARATORS: Final = re.compile(r"[_.\-]+")
ENOUGH: Final = 3  # figures that are the same number in both files
AGREE: Final = 1e-6  # relative: the same number printed twice


@dataclass(frozen=True, kw_only=True, slots=True)
class Disagreement:
    """One figure that two files of a run state differently."""

    quantity: str
    stat: str | None
    first: Number
    second: Number


@dataclass(frozen=True, kw_only=True, slots=True)
class Link:
    """Two files of one run, by position in the list given, and where they disagree."""

    first: int
    second: int
    agreeing: int
    disagreements: tuple[Disagreement, ...]


def stem(name: str) -> str:
    """A file's name without directory, ending and the word that tells siblings apart."""
    base = name.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return SEPARATORS.sub("_", PART_WORDS.sub("", base)).strip("_")


def links(readings: Sequence[tuple[str, Reading]]) -> tuple[Link, ...]:
    """The links among named readings."""
    found = []
    for (i, (left_name, left)), (j, (right_name, right)) in combinations(enumerate(readings), 2):
        if not paired(left, right):
            continue
        link = compare(i, j, left, right)
        named = stem(left_name) and stem(left_name) == stem(right_name)
        if named or link.agreeing >= ENOUGH:
            found.append(link)
    return tuple(found)


def paired(left: Reading, right: Reading) -> bool:
    """Whether the two are different accounts that can be of one run."""
    if frozenset({left.format, right.format}) not in PAIRS:
        return False
    return left.format != right.format or account(left) != account(right)


def account(reading: Reading) -> tuple[bool, str | None]:
    """What tells two accounts of one format apart: whether it keeps samples, and its rule."""
    if not reading.measurements:
        return False, None
    return bool(reading.measurements[0].samples), reading.measurements[0].percentile_rule


def compare(i: int, j: int, left: Reading, right: Reading) -> Link:
    """What both files state about their first measurement, compared."""
    if not left.measurements or not right.measurements:
        return Link(first=i, second=j, agreeing=0, disagreements=())
    pairs = [
        (a, b)
        for a in left.measurements[0].figures
        if (b := stated(right.measurements[0], a)) is not None and a.value is not None
    ]
    apart = tuple(
        Disagreement(quantity=a.quantity, stat=a.stat, first=a.value, second=b)
        for a, b in pairs
        if a.value is not None and not close(a.value, b)
    )
    return Link(first=i, second=j, agreeing=len(pairs) - len(apart), disagreements=apart)


def stated(other: Measurement, figure: Figure) -> Number | None:
    """The other file's value of the same figure."""
    return other.figure(figure.quantity, figure.stat).value


def close(first: Number, second: Number) -> bool:
    """Equal within the tolerance."""
    return abs(first - second) <= AGREE * max(abs(first), abs(second))
