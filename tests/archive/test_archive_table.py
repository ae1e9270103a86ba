"""Honest rows: what n samples allow, one provenance a row, no order where intervals overlap."""

import json

import pytest

from calculators.form.errors import ParameterError
from scripts.archive.store import Addition, Archive, add
from scripts.archive.tabulate import may_rank, require_provenance, row, text_table

REPORT = {
    "schema": "critical-path/router-latency",
    "version": 1,
    "dtype": "float32",
    "device": {"asked": "cpu", "used": "cpu", "name": "CPU"},
    "runs": [
        {
            "boundary": "router_decide",
            "prompt_tokens": 15,
            "cold_ms": 180.0,
            "warm_ms": [float(value) for value in range(101, 126)],
        }
    ],
}


@pytest.fixture
def rows(tmp_path):
    """Rows of two artefacts: 25 samples, and the same calls three times as long."""
    archive = Archive(root=tmp_path / "archive")
    warm = [3 * value for value in REPORT["runs"][0]["warm_ms"]]
    slower = REPORT | {"runs": [REPORT["runs"][0] | {"warm_ms": warm}]}
    found = []
    for name, report in (("a.json", REPORT), ("b.json", slower)):
        (tmp_path / name).write_text(json.dumps(report))
        [record] = add(archive, Addition(path=tmp_path / name, kind="measured_here"))
        found.append(row(archive.load(record)))
    return found


def test_25_samples_bound_the_p95_from_below_only(rows):
    """The median has X(8) and X(18), the p95 X(22) and no upper bound, the cold call one value."""
    first = rows[0]

    assert (113.0, 108.0, 118.0) == (first.p50, first.p50_span.low, first.p50_span.high)
    assert (122.0, None) == (first.p95_span.low, first.p95_span.high)
    assert 180.0 == first.cold


def test_text_table_says_what_is_missing(rows):
    """The open side and each row's artefact stand in the table."""
    text = text_table(rows)

    assert "at least 122, no upper bound" in text
    assert all(one.artefact[:12] in text for one in rows)


def test_rows_apart_may_be_ranked(rows):
    """Rows whose intervals do not overlap have an order; a row beside itself has none."""
    assert may_rank(rows)
    assert not may_rank([rows[0], rows[0]])


def test_hidden_provenance_is_refused(rows):
    """Rows of two artefacts cannot share a line of provenance."""
    require_provenance(rows, shown_per_row=True)
    require_provenance(rows[:1], shown_per_row=False)
    with pytest.raises(ParameterError, match="provenance_hidden"):
        require_provenance(rows, shown_per_row=False)
