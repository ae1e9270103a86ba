"""The wordings: both languages side by side, no gap, nothing left over."""

import re
import string
import tomllib
from collections.abc import Mapping
from functools import cache

import pytest

from calculators import labels as label_files
from calculators import web
from calculators.form.fields import Choice, kinds
from calculators.registry import MODULES, find
from calculators.show.html import render
from calculators.show.labels import LANGUAGES, Labels, flatten
from calculators.show.text import render_text
from scripts.paths import CALCULATORS
from scripts.site.form_page import FAILURES, FormPage
from tests.questions import QUESTIONS

FILES = sorted((CALCULATORS / "labels").glob("*.toml"))
SENTENCES = ("error.", "note.", "warning.", "status.", "intro", "assumption.", "failure.")
OWN = [path.stem for path in FILES if path.stem != "shared"]
FORM_PARTS = ("field.", "option.", "group.")
READERS = {"result-file", "compare"}
HAN = re.compile(r"[\u4e00-\u9fff]")
LINE = re.compile(r"(?P<key>[\w.\"\-/ ]+)\.(?P<lang>en|zh) = (?P<text>\".*\")")


def placeholders(text):
    """The names in braces of a wording, sorted, repeats kept."""
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name is not None)


def read(path):
    """A label file by language."""
    tree = tomllib.loads(path.read_text(encoding="utf-8"))
    return {lang: flatten(tree, lang) for lang in LANGUAGES}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_both_languages_stand_on_adjacent_lines(path):
    """English and Chinese of a label are neighbours, English first, and nothing else is there."""
    lines = [
        line
        for line in path.read_text(encoding="utf-8").splitlines()
        if line and not line.startswith(("#", "["))
    ]
    found = [LINE.fullmatch(line) for line in lines]

    assert [line for line, match in zip(lines, found, strict=True) if match is None] == []
    assert [m["lang"] for m in found] == ["en", "zh"] * (len(lines) // 2)
    assert [m["key"] for m in found[::2]] == [m["key"] for m in found[1::2]]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_languages_have_the_same_placeholders(path):
    """No figure is told to the readers of one language only."""
    texts = read(path)
    differing = [
        key
        for key, english in texts["en"].items()
        if placeholders(english) != placeholders(texts["zh"][key])
    ]

    assert differing == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_chinese_sentences_are_chinese(path):
    """No sentence is left in English."""
    texts = read(path)
    english = [
        key
        for key, text in texts["zh"].items()
        if key.startswith(SENTENCES) and not HAN.search(text)
    ]

    assert english == []


def parts_of(name):
    """(needed, possible) label keys of a calculator's form."""
    fields = kinds(find(name).params)
    needed = {"title", "intro"} | {f"field.{field}.label" for field in fields}
    needed |= {f"group.{kind.group}" for kind in fields.values() if kind.group}
    needed |= {
        f"option.{field}.{option}"
        for field, kind in fields.items()
        if isinstance(kind, Choice) and kind.labelled
        for option in kind.options
    }
    return needed, needed | {f"field.{field}.help" for field in fields}


def users(stem):
    """The calculators that a label file is for: its namesake and those of a family that has it."""
    found = [
        name
        for name in MODULES
        if name == stem or stem in label_files.FAMILIES.get(name.partition("-")[0], ())
    ]
    if not found:
        pytest.skip(f"no registered calculator uses {stem}.toml")
    return found


@pytest.mark.parametrize("name", MODULES)
def test_every_part_of_a_form_is_worded(name):
    """Title, fields, options and groups of every form have labels."""
    needed, _ = parts_of(name)

    assert needed - label_files.load(name, "en").texts.keys() == set()


@pytest.mark.parametrize("stem", OWN)
def test_no_label_is_for_a_form_that_is_not_there(stem):
    """There are no labels of fields, options or groups that no form has."""
    possible = set().union(*(parts_of(name)[1] for name in users(stem)))
    stated = {key for key in label_files.read(stem, "en") if key.startswith(FORM_PARTS)}

    assert stated - possible == set()


class Recording(Mapping):
    """Wordings that remember which of them were used."""

    def __init__(self, texts, used):
        self.texts, self.used = texts, used

    def __getitem__(self, key):
        self.used.add(key)
        return self.texts[key]

    def __iter__(self):
        return iter(self.texts)

    def __len__(self):
        return len(self.texts)


@pytest.fixture
def used(monkeypatch):
    """The keys of all labels that are used from now on."""
    keys = set()
    load = label_files.load

    def recording(name, lang):
        return Labels(lang, Recording(load(name, lang).texts, keys))

    monkeypatch.setattr(label_files, "load", recording)
    return keys


def use(name):
    """Use the labels of a calculator: its page, its text, its answers to the list of questions."""
    calculator = find(name)
    labels = label_files.load(name, "en")
    page = FormPage(name=name, params=calculator.params, labels=labels, values={})
    default = calculator.solve(calculator.params(), lambda _: None)
    page.section(render(default, labels), {})
    render_text(default, labels)
    for question in QUESTIONS:
        if question.calculator == name:
            web.answer(question.request("en"))


@cache
def sources():
    """The source of all calculators as one text."""
    return "\n".join(path.read_text(encoding="utf-8") for path in CALCULATORS.rglob("*.py"))


def named_in_a_reader(key):
    """Whether the source has the last part of a label's key as a text."""
    code = key.rpartition(".")[2].removeprefix("failures_")
    return f'"{code}"' in sources()


@pytest.mark.parametrize("stem", OWN)
def test_no_label_is_left_over(stem, used):
    """Forms and answers to the list of questions use every label of a file.

    Of what the readers of some thirty result formats can remark, the list has only a part; the
    rest has to be a code in their source.
    """
    for name in users(stem):
        use(name)
    left = label_files.read(stem, "en").keys() - used
    if stem in READERS:
        left = {key for key in left if not named_in_a_reader(key)}

    assert sorted(left) == []


def test_every_failure_of_the_browser_is_worded():
    """The codes that the worker and the bridge can post are worded, and no others."""
    texts = label_files.read("shared", "en")

    assert {key for key in texts if key.startswith("failure.")} == {
        f"failure.{c}" for c in FAILURES
    }


def test_an_unknown_calculator_has_no_labels():
    """A missing label file is an error, not an empty form."""
    with pytest.raises((LookupError, OSError)):
        label_files.load("unheard", "en")
