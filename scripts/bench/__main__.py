"""``python -m scripts.bench [NAME...]``: the site's figures, then those of the labs.

Every module of this package with a function ``figures`` is a bench; each figure is a name, a
number and a unit. All of one run were taken one after the other on one machine, so compare them
with each other and not with another machine's.
"""

import importlib
import pkgutil
import platform
import sys
from collections.abc import Iterator

import scripts.bench

FIRST = "site"


def benches() -> Iterator[str]:
    """The names of all benches, the site's first."""
    names = [m.name for m in pkgutil.iter_modules(scripts.bench.__path__) if m.name[0] != "_"]
    return iter(sorted(names, key=lambda name: (name != FIRST, name)))


def main(wanted: list[str]) -> int:
    """Print the figures of the named benches, or of all."""
    print(f"{platform.python_implementation()} {platform.python_version()}, {platform.machine()}")
    for name in benches():
        module = importlib.import_module(f"scripts.bench.{name}")
        if hasattr(module, "figures") and (not wanted or name in wanted):
            print(f"\n{name}: {(module.__doc__ or '').splitlines()[0]}")
            for label, value, unit in module.figures():
                print(f"  {label}: {value:,.4g} {unit}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
