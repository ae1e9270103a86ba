"""The progress bar of ``bench_decide`` is for eyes only."""

import sys

import pytest

from scripts.bench_decide import bar


@pytest.mark.parametrize(("terminal", "shown"), [(True, True), (False, False)])
def test_the_bar_is_silent_where_no_one_looks(capsys, monkeypatch, terminal, shown):
    """A terminal sees the bar fill up; a file or a pipe gets nothing."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    bar("decide 15", 1, 2)
    bar("decide 15", 2, 2)

    assert shown is ("2/2" in capsys.readouterr().err)
