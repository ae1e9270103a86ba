"""``python -m scripts.bench [NAME...] [--out FILE]``: the site's figures, then those of the labs.

Every module of this package with a function ``figures`` is a bench; each figure is a name, a
number and a unit. All of one run were taken one after the other on one machine, so compare them
with each other and not with another machine's. ``--out`` also writes them, with samples and
conditions, as a file that ``python -m scripts.archive add FILE --kind measured_here`` takes.
"""

import argparse
import importlib
import json
import pkgutil
import platform
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import scripts.bench
from scripts.bench.report import Figure, document, start

FIRST = "site"


def benches() -> Iterator[str]:
    """The names of all benches, the site's first."""
    names = [m.name for m in pkgutil.iter_modules(scripts.bench.__path__) if m.name[0] != "_"]
    return iter(sorted(names, key=lambda name: (name != FIRST, name)))


def parser() -> argparse.ArgumentParser:
    """The command line."""
    found = argparse.ArgumentParser(prog="python -m scripts.bench", description=__doc__)
    found.add_argument("names", nargs="*", metavar="NAME")
    found.add_argument("--out", type=Path, help="file for the archive of measurements")
    return found


def run(wanted: Sequence[str]) -> dict[str, tuple[str, list[Figure]]]:
    """Print the figures of the named benches, or of all; what each is about, and its figures."""
    found: dict[str, tuple[str, list[Figure]]] = {}
    for name in benches():
        module = importlib.import_module(f"scripts.bench.{name}")
        if hasattr(module, "figures") and (not wanted or name in wanted):
            about, figures = (module.__doc__ or "").splitlines()[0], []
            print(f"\n{name}: {about}")
            for figure in module.figures():
                label, value, unit, *_ = figure
                print(f"  {label}: {value:,.4g} {unit}", flush=True)
                figures.append(figure)
            found[name] = (about, figures)
    return found


def main(arguments: list[str]) -> int:
    """Run, print, and write the file that was asked for."""
    given = parser().parse_args(arguments)
    begun = start()
    print(f"{platform.python_implementation()} {platform.python_version()}, {platform.machine()}")
    found = run(given.names)
    if given.out is not None:
        body = json.dumps(document(found, begun, given.names), indent=1, allow_nan=False)
        given.out.write_text(body + "\n", encoding="utf-8")
        print(f"\nwrote {given.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
