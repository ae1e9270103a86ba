"""Lengths of many sequences in one field: ``8192, 4096x3``."""

from dataclasses import dataclass

from calculators.form.errors import ParameterError, excerpt
from calculators.form.numbers import whole

SEPARATORS = str.maketrans(
    {"，": ",", "、": ",", ";": ",", "；": ",", "\n": ",", "×": "x", "*": "x"}
)
LONGEST_LIST = 10_000  # entries
LONGEST_TEXT = 200_000  # characters


@dataclass(frozen=True, slots=True)
class Run:
    """``count`` sequences of ``length`` tokens each."""

    length: int
    count: int


@dataclass(frozen=True, slots=True)
class Lengths:
    """Sequence lengths in tokens as the reader wrote them, runs kept."""

    runs: tuple[Run, ...]

    @property
    def sequences(self) -> int:
        """How many sequences there are."""
        return sum(run.count for run in self.runs)

    @property
    def tokens(self) -> int:
        """Σ Tᵢ over all sequences."""
        return sum(run.length * run.count for run in self.runs)

    def __str__(self) -> str:
        """The text that parses to the same value."""
        return ", ".join(
            f"{run.length}x{run.count}" if run.count > 1 else str(run.length) for run in self.runs
        )


def parse_lengths(field: str, text: str, maximum: int, maximum_count: int) -> Lengths:
    """``"8192, 4096x3" → Lengths((Run(8192, 1), Run(4096, 3)))``."""
    if len(text) > LONGEST_TEXT:
        raise ParameterError(field, "too_long", text=excerpt(text), minimum=1, maximum=maximum)
    parts = [part for part in text.translate(SEPARATORS).split(",") if part.strip()]
    if not parts:
        raise ParameterError(field, "empty", minimum=1, maximum=maximum)
    if len(parts) > LONGEST_LIST:
        raise ParameterError(field, "too_many", maximum=LONGEST_LIST)
    return Lengths(tuple(parse_run(field, part, maximum, maximum_count) for part in parts))


def parse_run(field: str, part: str, maximum: int, maximum_count: int) -> Run:
    """``"4096x3" → Run(4096, 3)``; without ``x`` the count is 1."""
    length, times, count = part.lower().partition("x")
    if not times:
        return Run(whole(field, length, 1, maximum), 1)
    if not (length.strip() and count.strip()):
        raise ParameterError(field, "not_a_number", text=excerpt(part), minimum=1, maximum=maximum)
    return Run(whole(field, length, 1, maximum), whole(field, count, 1, maximum_count))
