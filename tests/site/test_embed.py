"""Beside the guides: calculators for frames, pictures for links, citations."""

import re
import subprocess

import pytest

from calculators.registry import MODULES
from scripts.paths import DOCS
from scripts.site import cards, cite, embed

ROOT_URL = "https://example.org/guides/"
SHEETS = ["assets/stylesheets/main.css"]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_frame_holds_one_calculator(lang):
    """The page has the form and default answer, is for no index and names its guide."""
    page = embed.page("samples", lang, ROOT_URL, SHEETS)
    folder, up = ("", "../../") if lang == "en" else ("zh/", "../../../")

    assert 1 == page.count('<section class="cp-calculator"')
    assert 'name="robots" content="noindex"' in page
    assert f'rel="canonical" href="{ROOT_URL}{folder}latency/"' in page
    assert f'href="{up}{folder}latency/#calc-samples"' in page
    assert f'href="{up}{SHEETS[0]}"' in page


def test_the_policy_of_a_frame():
    """A frame may start a worker that it wrote itself, and is otherwise as strict as a page."""
    [policy] = re.findall(
        r'Policy" content="([^"]*)"', embed.page("samples", "en", ROOT_URL, SHEETS)
    )

    assert "worker-src 'self' blob:;" in policy
    assert 1 == policy.count("blob:")
    assert "'unsafe-inline'" not in policy
    assert 1 == policy.count("'sha256-")


def test_every_calculator_has_a_frame(monkeypatch):
    """Each calculator of the registry has an address in both languages."""
    monkeypatch.setattr(embed, "page", lambda *_: "")
    paths = [path for path, _ in embed.pages(ROOT_URL, SHEETS)]

    assert {f"{lang}embed/{name}/index.html" for name in MODULES for lang in ("", "zh/")} == {
        *paths
    }


@pytest.mark.parametrize(
    ("expected", "title"),
    [
        pytest.param(["Method and limits"], "Method and limits", id="one line"),
        pytest.param(["a b", "c d"], "a b c d", id="even lines"),
        pytest.param(["关键路", "径，"], "关键路径，", id="no comma begins a line"),
    ],
)
def test_titles_are_broken_evenly(expected, title, monkeypatch):
    """A title has as few lines as fit, none much longer than another, no loose punctuation."""
    if len(expected) > 1:
        monkeypatch.setattr(cards, "LONGEST", max(map(cards.width, expected)) + 0.2)

    assert expected == cards.wrapped(title)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_title_fits(lang):
    """No title of a page needs more than three lines, and none is wider than the picture."""
    for path in (DOCS / lang).glob("*.md"):
        lines = cards.wrapped(cards.title(path.read_text(encoding="utf-8")))

        assert len(lines) <= 3, path
        assert max(map(cards.width, lines)) <= cards.LONGEST, path


def test_a_picture():
    """A picture is a PNG of the size that is announced."""
    data = cards.picture("Glossary", "en")

    assert data.startswith(b"\x89PNG")
    assert (cards.WIDTH, cards.HEIGHT) == tuple(
        int.from_bytes(data[at : at + 4]) for at in (16, 20)
    )


def test_without_a_font_chinese_pages_share_a_picture(monkeypatch):
    """A machine without Han characters shows the kept picture and never boxes."""
    monkeypatch.setattr(cards, "has_han", lambda: False)

    assert cards.KEPT.read_bytes() == cards.picture("关键路径", "zh")
    assert cards.KEPT.read_bytes() != cards.picture("Glossary", "en")


@pytest.mark.parametrize(
    ("expected", "url"),
    [
        pytest.param("assets/cards/en/index.png", "", id="home"),
        pytest.param("assets/cards/en/kv-cache.png", "kv-cache/", id="guide"),
        pytest.param("assets/cards/en/measurements.png", "measurements/0123/", id="measurement"),
    ],
)
def test_addresses_of_pictures(expected, url):
    """Guides have their own picture; measurements have that of the archive."""
    assert expected == cards.address(url, "en")


def test_citations(monkeypatch):
    """A page is cited by title, address and the date of its version, in TeX's own characters."""
    monkeypatch.setattr(cite, "dates", lambda: {"docs/en/a.md": "2026-02-03"})
    about = cite.about(title="A & B", source="a.md", url="a/", lang="en", root=ROOT_URL)

    assert (
        "Critical Path, “A & B”, version of 2026-02-03. https://example.org/guides/a/"
        == (about["text"])
    )
    assert r"{A \& B}" in about["bibtex"]
    assert "month = {2}" in about["bibtex"]


def test_without_a_history(monkeypatch):
    """A copy without git has no dates, says none, and is built all the same."""
    cite.dates.cache_clear()
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: (_ for _ in ()).throw(OSError))
    about = cite.about(title="甲", source="a.md", url="a/", lang="zh", root=ROOT_URL)
    cite.dates.cache_clear()

    assert "" == about["changed"]
    assert "关键路径（Critical Path）：《甲》。https://example.org/guides/zh/a/" == about["text"]
    assert "year" not in about["bibtex"]
