"""asv results (airspeed-velocity/asv @7032df70), versions 1 and 2.

Times are in the benchmark's own unit, which stands in ``benchmarks.json``: without that companion a
number is a bare value. Version 2 stores rows under ``result_columns``; version 1 stored a scalar, a
list or an object per benchmark. null is a failed benchmark, NaN a skipped one. A parameterised
benchmark gives one measurement for each combination, named ``name[p1,p2]``.
"""

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from calculators.measurements.formats.micro import SERVING
from calculators.measurements.record import Figure, Measurement, Reading, measured
from calculators.measurements.shapes import at, below, has, mapping, sequence
from calculators.measurements.sheet import Sheet
from calculators.measurements.source import Source
from calculators.measurements.units import known

FORMAT: Final = "asv"
SPREADS: Final = {"stats_q_25": "p25", "stats_q_75": "p75"}


def claims(source: Source) -> bool:
    """Results of one commit."""
    value = source.value
    return has(value, "results", "commit_hash") or has(value, "results", "result_columns")


def read(source: Source) -> Reading:
    """One measurement a benchmark and parameter combination."""
    report = mapping(source.value)
    units = benchmark_units(source.companions)
    found: list[Measurement] = []
    for name, raw in mapping(report.get("results")).items():
        row = columns(report, raw)
        found += [entry(report, name, row, place, units.get(name)) for place in places(row)]
    return with_counts(found)


def benchmark_units(companions: tuple[Source, ...]) -> dict[str, str]:
    """Units by benchmark name from a benchmarks.json."""
    found: dict[str, str] = {}
    for companion in companions:
        for name, node in mapping(companion.value).items():
            if has(node, "unit") and isinstance(node["unit"], str):
                found[name] = node["unit"]
    return found


def columns(report: Mapping[str, Any], raw: Any) -> Mapping[str, Any]:
    """A benchmark's row by column name, whatever the version."""
    names = report.get("result_columns")
    if isinstance(names, list):
        return (
            dict(zip(map(str, names), sequence(raw), strict=False))
            if raw is not None
            else {"result": None}
        )
    if isinstance(raw, dict):
        return {**raw, "result": raw.get("result")}
    return {"result": raw}


def places(row: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
    """Each result's position and its suffix: ``[1,2]``, or nothing without parameters."""
    params = [sequence(p) for p in sequence(row.get("params"))]
    if not params:
        yield 0, ""
        return
    for index, combination in enumerate(itertools.product(*params)):
        yield index, f"[{','.join(str(item) for item in combination)}]"


def pick(value: Any, index: int) -> Any:
    """The item of one combination; a list that is null as a whole failed as a whole."""
    if isinstance(value, list):
        return value[index] if index < len(value) else None
    return value if not isinstance(value, dict) else None


def entry(
    report: Mapping[str, Any],
    name: str,
    row: Mapping[str, Any],
    place: tuple[int, str],
    unit: str | None,
) -> Measurement:
    """One benchmark at one parameter combination."""
    index, suffix = place
    sheet = Sheet({}, name + suffix, below("", "results", name) + suffix)
    timed = unit is not None and known(unit, "ms")
    quantity = "run_time" if timed else "value"
    shown = unit or ""
    put(sheet, pick(row.get("result"), index), quantity, None, shown)
    for column, stat in SPREADS.items():
        if column in row:
            put(sheet, pick(row[column], index), quantity, stat, shown)
    if "stats_number" in row:
        sheet.put(pick(row["stats_number"], index), "n_iterations", source="stats_number")
    samples = pick(row.get("samples"), index)
    if isinstance(samples, list) and samples:
        sheet.put(len(samples), "n_samples", source="samples")
        sheet.sample(samples, quantity, shown, source="samples", expected=None)
    labels(sheet, report, name)
    if unit is None:
        sheet.note("unit_in_other_file")
    return sheet.finish(inapplicable=SERVING | {"n_success", "n_failure"}, rule="asv_quartiles")


def put(sheet: Sheet, raw: Any, quantity: str, stat: str | None, unit: str) -> None:
    """A number of asv: null is failed, NaN is skipped."""
    if isinstance(raw, float) and math.isnan(raw):
        sheet.null(quantity, stat, "not_applicable", "result")
    else:
        sheet.put(raw, quantity, stat, unit, source="result", null="all_failed")


def labels(sheet: Sheet, report: Mapping[str, Any], name: str) -> None:
    """Commit, machine and date."""
    sheet.label("name", name)
    sheet.label("commit", report.get("commit_hash"))
    sheet.label("date", report.get("date"))
    sheet.label("schema_version", report.get("version"))
    cpu = at(report, "params", "cpu")
    sheet.label("device", cpu)


def with_counts(found: list[Measurement]) -> Reading:
    """The reading with the benchmarks counted by how they ended."""
    endings = [ending(measurement) for measurement in found]
    counts = {
        "n_success": endings.count(None),
        "n_failure": endings.count("all_failed"),
        "n_skipped": endings.count("not_applicable"),
    }
    figures = tuple(
        Figure(quantity=name, stat=None, unit="count", value=count, source="results")
        for name, count in counts.items()
    )
    return replace(measured(FORMAT, found), figures=figures)


def ending(measurement: Measurement) -> str | None:
    """Why the benchmark has no result; None when it has one."""
    return next(f.reason for f in measurement.figures if f.stat is None)
