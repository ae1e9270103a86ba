"""Print one line a figure and, at the end, ``N passed, N failed, N not run`` counted in cases."""

import importlib
import json
import pkgutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import cast

import scripts.truth
from scripts.truth.verdict import Adapter, Outcome, Verdict

SEVERITY: tuple[Outcome, ...] = ("passed", "not run", "failed")


def adapters() -> Iterator[Adapter]:
    """Every module of the package that has ``recognises`` and ``verdicts``."""
    for found in pkgutil.iter_modules(scripts.truth.__path__):
        module = importlib.import_module(f"scripts.truth.{found.name}")
        if hasattr(module, "recognises") and hasattr(module, "verdicts"):
            yield cast("Adapter", module)


def verdicts_of(path: Path) -> Iterator[Verdict]:
    """The verdicts of one case file; a file of no known format is one "not run"."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        yield unknown(path, f"cannot be read as JSON: {error}")
        return
    for adapter in adapters():
        if adapter.recognises(document, path):
            yield from adapter.verdicts(document, path)
            return
    yield unknown(path, "no adapter knows this format")


def unknown(path: Path, reason: str) -> Verdict:
    """A file of which nothing could be run."""
    return Verdict(
        case=path.name, figure="-", expected=None, computed=None, outcome="not run", reason=reason
    )


def line(verdict: Verdict) -> str:
    """One line of the report."""
    text = (
        f"{verdict.case}: {verdict.figure}: expected {verdict.expected}, "
        f"computed {verdict.computed}: {verdict.outcome}"
    )
    return f"{text} ({verdict.reason})" if verdict.reason else text


def count(verdicts: Iterable[tuple[Path, Verdict]]) -> dict[Outcome, int]:
    """Count cases, each by the worst outcome among its figures."""
    worst: dict[tuple[Path, str], Outcome] = {}
    for path, verdict in verdicts:
        key = (path, verdict.case)
        worst[key] = max(worst.get(key, "passed"), verdict.outcome, key=SEVERITY.index)
    outcomes = list(worst.values())
    return {outcome: outcomes.count(outcome) for outcome in SEVERITY}


def main(arguments: list[str]) -> int:
    """Run the named files; the exit status says whether every case passed."""
    seen: list[tuple[Path, Verdict]] = []
    for name in arguments:
        path = Path(name)
        for verdict in verdicts_of(path):
            print(line(verdict))
            seen.append((path, verdict))
    totals = count(seen)
    print(f"{totals['passed']} passed, {totals['failed']} failed, {totals['not run']} not run")
    return 0 if seen and totals["passed"] == sum(totals.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
