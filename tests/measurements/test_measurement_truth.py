"""The handed result files and the statistics' facts, through the truth runner."""

import json
from collections import Counter
from pathlib import Path

import pytest

from scripts.truth import measurements

ROOT = Path(__file__).parents[2]
HANDED = ROOT.parent / "shared" / "cases" / "measurements" / "index.json"
FACTS = ROOT / "data" / "truth" / "measurements_statistics.json"


def outcomes(adapter, path):
    """The verdicts that did not pass."""
    document = json.loads(path.read_text(encoding="utf-8"))
    assert adapter.recognises(document, path)
    return [v for v in adapter.verdicts(document, path) if v.outcome != "passed"]


@pytest.mark.skipif(not HANDED.exists(), reason="the handed files do not lie beside the checkout")
def test_handed_files_say_what_is_expected():
    """Every check, label, warning and sibling of the handed files holds."""
    assert [] == outcomes(measurements, HANDED)


def test_statistics_facts_hold():
    """Ranks, coverages and sample sizes of the published table."""
    assert [] == outcomes(measurements, FACTS)


def entry(tmp_path, **changes):
    """One entry over a small file, with changes."""
    (tmp_path / "a.json").write_text('{"avg_latency": 2.0, "latencies": [1.0, 3.0]}')
    check = {
        "measurement": 0,
        "quantity": "batch_latency",
        "stat": "mean",
        "unit": "ms",
        "value": 2000.0,
    }
    return [{"file": "a.json", "outcome": "import", "checks": [check | changes]}]


WRONG = [
    ("value", {"value": 2001.0}, "failed"),
    ("unit", {"unit": "s"}, "failed"),
    ("null expected", {"value": None, "reason": "not_stated"}, "failed"),
    ("not stated", {"stat": "p99", "value": 2990.0}, "failed"),
    ("other measurement", {"measurement": 1}, "failed"),
    ("unknown key", {"tolerance": 1}, "not run"),
    ("right", {}, "passed"),
]


@pytest.mark.parametrize(("changes", "worst"), [pytest.param(c, w, id=n) for n, c, w in WRONG])
def test_runner_tells_right_from_wrong(tmp_path, changes, worst):
    """A wrong value, unit, reason or place fails; an unknown key is not run."""
    found = Counter(
        v.outcome
        for v in measurements.verdicts(entry(tmp_path, **changes), tmp_path / "index.json")
    )

    assert found[worst] > 0
    assert worst == "passed" or found["failed"] + found["not run"] == 1


def test_computed_number_without_its_mark_is_null(tmp_path):
    """A number that the readers compute counts as not stated unless the check allows it."""
    computed = {"stat": "max", "value": 3000.0, "computed": "maximum of latencies"}
    for changes, worst in ((computed, "passed"), ({"stat": "max", "value": 3000.0}, "failed")):
        found = {
            v.outcome
            for v in measurements.verdicts(entry(tmp_path, **changes), tmp_path / "index.json")
        }

        assert worst in found
