"""The theme's script does less on each view, and another version of it fails the build."""

from pathlib import Path

import material
import pytest

from scripts.site.theme_script import (
    ALTERNATES,
    CUT_OFF,
    DRAWN,
    LISTINGS,
    NEXT_TASK,
    SWITCHING,
    TABLES,
    quiet,
    statements,
)

[BUNDLE] = Path(material.__file__).parent.glob("templates/assets/javascripts/bundle.*.min.js")
CODE = BUNDLE.read_text(encoding="utf-8")


def test_the_pinned_theme_is_as_expected():
    """Each place is in the script of the installed theme, and is gone afterwards."""
    mended = quiet(CODE)

    assert not [old for old in (ALTERNATES, CUT_OFF, LISTINGS, SWITCHING, TABLES) if old in mended]
    assert 2 == mended.count('(window,"cp-search")')  # the index, and what searches it


def test_the_parts_of_the_theme_wait_for_the_page():
    """What others want of the theme is there at once; its own parts follow the first drawing."""
    early, late = quiet(CODE).split(DRAWN)

    assert early.count("window.document$=") == 1
    assert "window.location$=" not in early
    assert '("announce")' in late
    assert late.count(NEXT_TASK) >= 10


def test_statements_end_outside_of_brackets_and_strings():
    """A sign within a bracket or a string ends no statement."""
    code = 'var a=f({b:1,c:2}),d;e&&g(";"),h;i={j:`,`}'

    assert ["var a=f({b:1,c:2})", "var d", 'e&&g(";"),h', "i={j:`,`}"] == list(statements(code))


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(CODE.replace(SWITCHING, ""), id="a place is missing"),
        pytest.param(CODE + SWITCHING, id="a place is there twice"),
        pytest.param("", id="no script at all"),
    ],
)
def test_another_theme_is_refused(code):
    """A script that is not as expected is not changed by guess."""
    with pytest.raises(LookupError):
        quiet(code)
