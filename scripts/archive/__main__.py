"""The archive of measurements: ``python -m scripts.archive add|verify|show|diff|table``."""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from calculators.form.errors import ParameterError
from calculators.latency.comparability import comparability
from scripts.archive.conditions import conditions
from scripts.archive.record import strict
from scripts.archive.store import ROOT, Addition, Archive, add
from scripts.archive.tabulate import row, text_table
from scripts.archive.verify import problems

type Command = Callable[[Archive, argparse.Namespace], int]


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(prog="python -m scripts.archive", description=__doc__)
    top.add_argument("--root", type=Path, default=ROOT, help="folder of the archive")
    verbs = top.add_subparsers(dest="verb", required=True)
    adding = verbs.add_parser("add", help="add every measurement of a result file")
    adding.add_argument("file", type=Path)
    adding.add_argument(
        "--kind", default="imported", choices=("measured_here", "published_elsewhere", "imported")
    )
    adding.add_argument("--boundary", help="from where to where time was taken")
    adding.add_argument("--provenance", type=Path, help="JSON object of conditions")
    adding.add_argument("--supersedes", help="id of the measurement that this one corrects")
    adding.add_argument("--sibling", action="append", default=[], help="id of the same run")
    adding.add_argument(
        "--with",
        dest="companions",
        type=Path,
        action="append",
        default=[],
        help="companion file, such as benchmarks.json of asv",
    )
    verbs.add_parser("verify", help="report every problem")
    for name, count in (("show", 1), ("diff", 2), ("table", "*")):
        verb = verbs.add_parser(name)
        verb.add_argument("ids", nargs=count)
    return top


def run_add(archive: Archive, given: argparse.Namespace) -> int:
    """Add a file and print the new ids."""
    provenance = (
        json.loads(given.provenance.read_text(encoding="utf-8")) if given.provenance else None
    )
    addition = Addition(
        path=given.file,
        kind=given.kind,
        boundary=given.boundary,
        provenance=provenance,
        supersedes=given.supersedes,
        siblings=tuple(given.sibling),
        companions=tuple(given.companions),
    )
    size = given.file.stat().st_size
    for record_id in add(archive, addition, progress=progress_line(size)):
        print(record_id)
    return 0


def progress_line(size: int) -> Callable[[int], None] | None:
    """Progress on the error stream for files that take a while."""
    if size < 4_000_000:  # noqa: PLR2004 -- read in the blink of an eye
        return None

    print(f"{size / 1e6:.0f} MB: hashing, redacting, reading", file=sys.stderr, flush=True)

    def show(closed: int) -> None:
        print(f"\r{size / 1e6:.0f} MB: {closed} values", end="", file=sys.stderr, flush=True)

    return show


def run_verify(archive: Archive, given: argparse.Namespace) -> int:
    """Print every problem; the exit status says whether there is one."""
    del given
    found = problems(archive)
    for line in found:
        print(line)
    print(f"{len(list(archive.records.glob('*.json')))} records, {len(found)} problems")
    return 1 if found else 0


def run_show(archive: Archive, given: argparse.Namespace) -> int:
    """Print one record."""
    print(strict(archive.find(given.ids[0])), end="")
    return 0


def run_diff(archive: Archive, given: argparse.Namespace) -> int:
    """Conditions side by side, then every figure that both state."""
    first, second = (archive.find(name) for name in given.ids)
    verdict = comparability(conditions(first), conditions(second))
    print(f"comparability: {verdict.verdict}")
    for condition in verdict.conditions:
        print(f"  {condition.name}: {condition.outcome}: {condition.first} | {condition.second}")
    for name, a, b in figures_of_both(first, second):
        print(f"{name}: {a} | {b}")
    return 0


def figures_of_both(first: dict[str, Any], second: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    """Figures stated by both records, by name."""
    left, right = (
        {(f["quantity"], f["stat"]): f["value"] for f in record["figures"]}
        for record in (first, second)
    )
    return [(" ".join(filter(None, key)), left[key], right[key]) for key in left if key in right]


def run_table(archive: Archive, given: argparse.Namespace) -> int:
    """Honest rows of the named records, or of all."""
    records = [archive.find(name) for name in given.ids] if given.ids else list(archive.all())
    print(text_table([row(record) for record in records]))
    return 0


COMMANDS: dict[str, Command] = {
    "add": run_add,
    "verify": run_verify,
    "show": run_show,
    "diff": run_diff,
    "table": run_table,
}


def main(arguments: list[str]) -> int:
    """Run one verb; a mistake of the person is one sentence, no traceback."""
    given = parser().parse_args(arguments)
    try:
        return COMMANDS[given.verb](Archive(root=given.root), given)
    except (ParameterError, OSError) as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
