"""Case files of order-statistic intervals and sample sizes (``data/truth/measurements_*.json``)."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from calculators.latency.intervals import above_maximum, needed_for, stated
from scripts.truth.verdict import Verdict

FORMAT = "order-statistics"
KEYS = {
    "interval": {"n", "percentile", "lower", "upper", "coverage_percent", "kind"},
    "needed": {"percentile", "one_sided", "two_sided", "kind"},
    "above_maximum": {"n", "percentile", "percent", "kind"},
}


def is_facts(document: object) -> bool:
    """The format's name."""
    return isinstance(document, dict) and document.get("format") == FORMAT


def verdicts(document: object) -> Iterator[Verdict]:
    """Every case's figures."""
    cases = document["cases"] if isinstance(document, dict) else []
    for case in cases:
        name = f"{case['kind']} n={case.get('n', '-')} p{case['percentile']}"
        if unknown := set(case) - KEYS.get(case["kind"], set()):
            yield Verdict(
                case=name,
                figure="keys",
                expected=None,
                computed=None,
                outcome="not run",
                reason=f"unknown keys: {sorted(unknown)}",
            )
            continue
        for figure, computed in computed_figures(case).items():
            if figure in case:
                good = case[figure] == computed
                yield Verdict(
                    case=name,
                    figure=figure,
                    expected=case[figure],
                    computed=computed,
                    outcome="passed" if good else "failed",
                )


def computed_figures(case: Mapping[str, Any]) -> dict[str, object]:
    """What the calculators say about a case."""
    share = Fraction(str(case["percentile"])) / 100
    if case["kind"] == "needed":
        return {"one_sided": needed_for(share, sides="one"), "two_sided": needed_for(share)}
    if case["kind"] == "above_maximum":
        return {"percent": round(100 * above_maximum(case["n"], share), 1)}
    found = stated(case["n"], share)
    return {
        "lower": found.lower,
        "upper": found.upper,
        "coverage_percent": round(100 * found.coverage, 1),
    }
