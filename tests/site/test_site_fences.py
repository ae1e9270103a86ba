"""What pages embed: right in both languages, and whatever is unknown fails the build."""

import re
from xml.etree import ElementTree as ET

import pytest
from pymdownx.inlinehilite import InlineHiliteException
from pymdownx.superfences import SuperFencesException

from calculators.registry import MODULES
from calculators.show.labels import LANGUAGES
from scripts.paths import FIGURES
from scripts.site import fences, figures, formulas, runtime

NAMES = sorted(path.stem for path in FIGURES.glob("*.svg"))


@pytest.fixture(autouse=True)
def no_runtime(monkeypatch):
    """Pages are judged without building the files of the browser."""
    monkeypatch.setattr(runtime, "addresses", dict)
    monkeypatch.setattr(fences, "draw_plots", lambda html: html)


@pytest.mark.parametrize(
    ("block", "source"),
    [
        pytest.param("calculator", "unheard", id="unknown calculator"),
        pytest.param("calculator", "", id="no calculator"),
        pytest.param("calculator", "kv\nlayer = 3", id="unknown field"),
        pytest.param("calculator", "kv\nlayers = 0", id="value out of range"),
        pytest.param("calculator", "kv\nlayers", id="no value"),
        pytest.param("answer", "unheard", id="answer of an unknown calculator"),
        pytest.param("answer", "kv\nshow = unheard", id="unknown block"),
        pytest.param("answer", "kv\nshow = product, unheard", id="one unknown block of two"),
        pytest.param("figure", "unheard", id="unknown figure"),
        pytest.param("figure", "../figures/nothing", id="figure elsewhere"),
    ],
)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_mistake_in_a_block_fails_the_build(block, source, lang):
    """Unknown calculators, fields, values, blocks and figures raise, with the source to find."""
    with pytest.raises(SuperFencesException, match=block):
        getattr(fences, f"{block}_{lang}")(source, "", "", {}, None)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("kv", id="no figure"),
        pytest.param("kv unheard", id="unknown figure"),
        pytest.param("unheard total", id="unknown calculator"),
        pytest.param("kv total layer=3", id="unknown field"),
        pytest.param("kv total layers", id="no value"),
        pytest.param("kv total layers='3", id="open quote"),
        pytest.param("", id="nothing"),
    ],
)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_mistake_in_a_word_fails_the_build(source, lang):
    """A computed figure that cannot be computed raises."""
    with pytest.raises(InlineHiliteException):
        getattr(fences, f"inline_value_{lang}")(source, "", "", None)


def test_a_missing_label_fails_the_build(monkeypatch):
    """A wording that is not there raises; no page is built with a gap."""
    monkeypatch.setattr(fences, "render", lambda _result, labels: labels.text("unheard"))
    with pytest.raises(SuperFencesException, match="unheard"):
        fences.calculator_en("kv", "", "", {}, None)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", MODULES)
def test_a_calculator_is_complete_without_script(name, lang):
    """A form with every control labelled once, and the default answer, stand in the page."""
    html = fences.calculator_html(name, lang)
    controls = re.findall(r'<(?:input type="text"|textarea|select)[^>]* id="([^"]+)"', html)
    idents = re.findall(r' id="([^"]+)"', html)

    assert [ident for ident in controls if html.count(f'for="{ident}"') != 1] == []
    assert len(set(idents)) == len(idents)
    assert set(re.findall(r'aria-(?:describedby|labelledby)="([^"]+)"', html)) <= {*idents}
    assert '<div class="cp-answer"' in html
    assert not re.search(r"\s(style|on\w+)=", html)


def test_the_default_answer_stands_in_the_page():
    """4.00 GiB, 128.00 KiB and 1.00 GiB are in the HTML before any script."""
    html = fences.calculator_html("kv", "en")

    for text in ("4.00\u00a0GiB", "128.00\u00a0KiB", "1.00\u00a0GiB"):
        assert text in html


def test_values_of_a_fence_are_those_of_the_form():
    """A calculator that a page starts with other values shows them and their answer."""
    html = fences.calculator_html("kv\nlayers = 80\ntokens = 8192, 4096x3", "en")

    assert 'value="80"' in html
    assert 'value="8192, 4096x3"' in html
    assert "6.25\u00a0GiB" in html


def test_hostile_values_stay_text():
    """A value that looks like markup is escaped in the form."""
    html = fences.calculator_html('kv\nsource = stack\nstack = none\nlayers = "><script>', "en")

    assert 'value="&quot;&gt;&lt;script&gt;"' in html


def test_answers_show_what_they_are_asked_for():
    """A worked example states its values and shows the chosen blocks only."""
    html = fences.answer_html("kv\nlayers = 1\nshow = product", "en")

    assert "<code>kv: layers = 1</code>" in html
    assert "cp-derivation" in html
    assert "cp-plot" not in html
    assert "cp-lead" in fences.answer_html("kv\nshow = figures", "en")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_computed_words(lang):
    """A figure within a line is computed, marked, and keeps its exact value."""
    word = getattr(fences, f"inline_value_{lang}")(
        "kv total layers=80 'tokens=1, 2x3'", "", "", None
    )

    assert '<data class="cp-computed" value="2293760">2.19\u00a0MiB</data>' == word


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_figures(name, lang):
    """Each drawing is whole XML, has a caption and an alternative, and no placeholder is left."""
    html = figures.figure(name, lang)
    tree = ET.fromstring(html)  # noqa: S314 - our own

    assert tree.find("figcaption").text
    assert len(tree.find("div").get("aria-label")) > 40
    assert not figures.PLACEHOLDER.search(html)
    assert not re.search(r"\s(style|on\w+|href)=|<(script|style|image)\b", html)


@pytest.mark.parametrize(
    ("svg", "words", "message"),
    [
        pytest.param("<svg >{a}</svg>", "", "a", id="missing word"),
        pytest.param("<svg ></svg>", 'b.en = "b"\nb.zh = "b"', "b", id="word that is not used"),
    ],
)
def test_figures_and_words_belong_together(svg, words, message, tmp_path, monkeypatch):
    """A placeholder without a word and a word without a placeholder raise."""
    monkeypatch.setattr(figures, "FIGURES", tmp_path)
    (tmp_path / "x.svg").write_text(svg, encoding="utf-8")
    always = "".join(f'{key}.{lang} = "x"\n' for key in ("title", "alt") for lang in LANGUAGES)
    (tmp_path / "x.toml").write_text(always + words, encoding="utf-8")
    with pytest.raises(LookupError, match=message):
        figures.figure("x", "en")


@pytest.mark.parametrize("tex", [r"a < b \& c", r"\frac{2}{3}", "M = 2 L H_{kv}", r"\text{\"x\"}"])
@pytest.mark.parametrize("make", [formulas.inline, formulas.block])
def test_formulas(make, tex):
    """A formula is MathML that parses, keeps its TeX, and has no script."""
    tree = ET.fromstring(make(tex))  # noqa: S314 - our own
    math = next(node for node in tree.iter() if node.tag.endswith("math"))

    assert " ".join(tex.split()) == math.get("alttext")
    assert "script" not in {node.tag.rpartition("}")[2] for node in tree.iter()}
