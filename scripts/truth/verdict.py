"""What one figure of one case came to."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

Outcome = Literal["passed", "failed", "not run"]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """One line of the report: a figure of a case, expected against computed.

    ``outcome`` is "not run" where a case has a key that the adapter does not know or a
    companion file is missing; ``reason`` then says which. Such a case never counts as passed.
    """

    case: str
    figure: str
    expected: object
    computed: object
    outcome: Outcome
    reason: str = ""


class Adapter(Protocol):
    """A module of this package that knows one format of case file."""

    def recognises(self, document: object, path: Path) -> bool:
        """Whether this parsed JSON document has the adapter's format."""

    def verdicts(self, document: object, path: Path) -> Iterator[Verdict]:
        """Yield the verdicts of every case of the document, in file order."""
