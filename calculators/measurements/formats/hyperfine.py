"""hyperfine JSON (@327d5f4d): seconds, all run times kept, exit codes per run.

No version, machine or warm-up count is in the file. ``stddev`` is null for one run; an exit code is
null when a signal ended the run. A run that failed still has a time.
"""

from collections.abc import Mapping
from typing import Any, Final

from calculators.measurements.formats.micro import SERVING
from calculators.measurements.record import Measurement, Reading, measured
from calculators.measurements.shapes import at, below, has, mapping, sequence
from calculators.measurements.sheet import Sheet
from calculators.measurements.source import Source

FORMAT: Final = "hyperfine"
STATS: Final = {"mean": "mean", "median": "p50", "stddev": "std", "min": "min", "max": "max"}


def claims(source: Source) -> bool:
    """Results with a command and times."""
    return has(at(source.value, "results", 0), "command", "mean")


def read(source: Source) -> Reading:
    """One measurement a command."""
    found = [
        command(mapping(node), index)
        for index, node in enumerate(sequence(mapping(source.value).get("results")))
    ]
    return measured(FORMAT, found)


def command(node: Mapping[str, Any], index: int) -> Measurement:
    """One command."""
    sheet = Sheet(node, index, below("", "results", index))
    for word, stat in STATS.items():
        sheet.number(word, "run_time", stat, "s")
    times = sheet.take("times")
    if isinstance(times, list):
        sheet.put(len(times), "n_samples", source="times")
        sheet.sample(times, "run_time", "s", source="times", expected=None)
        sheet.compute()
    sheet.skip("user", "system", "memory_usage_byte")
    sheet.label("command", sheet.take("command"))
    exits(sheet)
    return sheet.finish(inapplicable=SERVING, rule="r7")


def exits(sheet: Sheet) -> None:
    """Runs by exit code."""
    codes = sheet.take("exit_codes")
    if not isinstance(codes, list):
        return
    good = sum(1 for code in codes if code == 0 and not isinstance(code, bool))
    sheet.put(good, "n_success", source="exit_codes")
    sheet.put(len(codes) - good, "n_failure", source="exit_codes")
    if good < len(codes):
        sheet.note("failed_runs_have_times", failed=len(codes) - good)
    if None in codes:
        sheet.note("killed_by_signal", runs=codes.count(None))
