"""What is changed in the theme's scripts is published under another name."""

import re

import pytest

from scripts.site.theme_files import TEMPLATES, Script, script, scripts, searching, with_names


def test_names_follow_the_text():
    """Another text has another name; the same has the same, and the theme's own is not used."""
    pattern = "assets/javascripts/bundle.*.min.js"
    ours, other = script(pattern, lambda code: code), script(pattern, lambda code: f" {code}")

    assert ours == script(pattern, lambda code: code)
    assert len({ours.name, other.name, ours.path.rpartition("/")[2]}) == 3


def test_pages_ask_for_what_is_there(tmp_path):
    """A page names each script as it lies in the site, and the theme's own is gone."""
    olds = [TEMPLATES / one.path for one in scripts()]
    page = with_names(" ".join(old.name for old in olds))
    for one in scripts():
        (tmp_path / one.path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / one.path).write_text("the theme's")
        one.write(tmp_path)
    there = {path.name for path in tmp_path.rglob("*.js*")}

    assert there == set(page.split())
    assert not there & {old.name for old in olds}


def test_no_map_of_another_text():
    """No script names a source map that was made for what the theme wrote."""
    assert not [one.name for one in scripts() if re.search("sourceMappingURL", one.text)]
    assert all(isinstance(one, Script) for one in scripts())


@pytest.mark.parametrize(
    ("langs", "more"),
    [
        pytest.param(["en"], [], id="English alone"),
        pytest.param(["zh", "en"], ["stemmer.support", "zh", "multi"], id="with Chinese"),
    ],
)
def test_what_a_search_fetches(langs, more):
    """The index, the worker as it is published, and the parts that its languages need."""
    index, worker, *parts = searching(langs)

    assert index == "search/search_index.json"
    assert worker.rpartition("/")[2] in {one.name for one in scripts()}
    assert parts == [f"assets/javascripts/lunr/min/lunr.{part}.min.js" for part in more]
    assert not [part for part in parts if not (TEMPLATES / part).is_file()]
