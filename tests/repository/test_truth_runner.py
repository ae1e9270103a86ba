"""The runner of case files: nothing is passed that was not computed, nothing ends it."""

import json

import pytest

from scripts.paths import DATA
from scripts.truth.__main__ import count, main, verdicts_of
from scripts.truth.verdict import Verdict


def verdict(case, outcome):
    """A verdict of which only case and outcome matter."""
    return Verdict(case=case, figure="f", expected=1, computed=1, outcome=outcome, reason="")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("{", id="cut off"),
        pytest.param("[" * 100_000, id="deep"),
        pytest.param("[]", id="no cases"),
        pytest.param("3", id="number"),
        pytest.param('{"unheard": "of"}', id="unknown format"),
        pytest.param("\xff", id="another encoding"),
    ],
)
def test_a_file_that_is_no_case_file_is_not_run(text, tmp_path, capsys):
    """What cannot be read, or is of no known format, counts as not run and fails the whole."""
    path = tmp_path / "case.json"
    path.write_bytes(text.encode("latin-1"))

    assert main([str(path)]) == 1
    assert capsys.readouterr().out.endswith("0 passed, 0 failed, 1 not run\n")


def test_no_file_is_no_success(capsys, tmp_path):
    """Nothing to run is not a pass, and a missing file is named."""
    assert main([]) == 1
    assert [v.outcome for v in verdicts_of(tmp_path / "missing.json")] == ["not run"]
    assert capsys.readouterr().out == "0 passed, 0 failed, 0 not run\n"


def test_a_case_is_as_good_as_its_worst_figure(tmp_path):
    """Cases are counted, each by its worst figure, apart by file."""
    a, b = tmp_path / "a", tmp_path / "b"
    seen = [
        (a, verdict("one", "passed")),
        (a, verdict("one", "failed")),
        (a, verdict("two", "not run")),
        (a, verdict("two", "passed")),
        (b, verdict("one", "passed")),
    ]

    assert count(seen) == {"passed": 1, "not run": 1, "failed": 1}


def test_an_unknown_key_is_not_passed(tmp_path):
    """A case of a known format with a key that nobody knows is never counted as passed."""
    cases = json.loads((DATA / "truth" / "kv.json").read_text(encoding="utf-8"))
    path = tmp_path / "kv.json"
    path.write_text(json.dumps([{**cases[0], "unheard_of_key": 1}]), encoding="utf-8")

    assert {v.outcome for v in verdicts_of(path)} != {"passed"}
