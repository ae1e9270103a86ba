"""A run of the benches as a file for the archive: every figure, the samples, all conditions.

The format ``critical-path/bench`` version 1 is read by ``calculators.measurements.formats.bench``.
Load averages stand at both ends of the run, so that a reader sees whether the machine was quiet.
"""

import os
import platform
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from scripts.machine import machine, processor
from scripts.paths import ROOT
from scripts.setup import find_browser

SCHEMA = "critical-path/bench"
PACKAGES = ("mkdocs", "mkdocs-material", "playwright")
DIGITS = 2  # of a load average

type Figure = tuple[str, float, str] | tuple[str, float, str, Sequence[float]]
"""What was measured, the value, its unit; behind them the samples, where a bench keeps them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """The conditions before the first figure."""

    date: str
    load: tuple[float, ...] | None


def start() -> Start:
    """The conditions of this moment."""
    return Start(date=datetime.now(tz=UTC).isoformat(timespec="seconds"), load=load_average())


def load_average() -> tuple[float, ...] | None:
    """Processes that ran or waited over 1, 5 and 15 minutes; None where the system keeps none."""
    if not hasattr(os, "getloadavg"):
        return None
    return tuple(round(value, DIGITS) for value in os.getloadavg())


def document(
    benches: Mapping[str, tuple[str, Sequence[Figure]]], begun: Start, wanted: Sequence[str]
) -> dict[str, Any]:
    """The whole file. ``benches`` are what each is about and its figures, by name."""
    return {
        "schema": SCHEMA,
        "version": 1,
        "command": " ".join(["python", "-m", "scripts.bench", *wanted]),
        "date": begun.date,
        "machine": {**machine(), "processor": processor()},
        "software": software(),
        "load_average": {"before": begun.load, "after": load_average()},
        "benches": [
            {"name": name, "about": about, "figures": [figure_json(one) for one in figures]}
            for name, (about, figures) in benches.items()
        ],
    }


def figure_json(figure: Figure) -> dict[str, Any]:
    """One figure; ``samples`` only where there are some."""
    name, value, unit, *samples = figure
    kept = {"samples": list(samples[0])} if samples else {}
    return {"name": name, "value": value, "unit": unit, **kept}


def software() -> dict[str, str]:
    """Versions of Python, of the site's packages, of the browser, and the commit."""
    found = {platform.python_implementation(): platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    said = {"browser": said_by(find_browser(), "--version"), "commit": commit()}
    return found | {name: text for name, text in said.items() if text}


def commit() -> str:
    """The commit of the checkout, marked when files differ from it."""
    git = shutil.which("git")
    name = said_by(git, "-C", str(ROOT), "rev-parse", "--short=12", "HEAD")
    changed = said_by(git, "-C", str(ROOT), "status", "--porcelain", "--untracked-files=no")
    return f"{name}, changed" if changed else name


def said_by(program: str | None, *arguments: str) -> str:
    """What a program prints, or nothing."""
    if program is None:
        return ""
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""
