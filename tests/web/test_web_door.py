"""The one door: every question ends in an answer or one sentence, in both languages."""

import json
import re
import string
import traceback

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculators import labels as label_files
from calculators import web
from calculators.form.address import from_query
from calculators.form.errors import ParameterError
from calculators.form.fields import Text, kinds
from calculators.form.parse import applies, completed, parse
from calculators.registry import MODULES, Calculator, find
from calculators.show.labels import LANGUAGES, Labels
from calculators.web import Request, answer, sentence
from tests.questions import QUESTIONS, Question
from tests.source_facts import closure, reasons

GARBAGE = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        [
            "",
            " ",
            "-1",
            "0",
            "1.5",
            "NaN",
            "1e400",
            "inf",
            "9" * 10000,
            "３２",
            "٣",
            "\x00",
            "\ufeff",
            "<script>alert(1)</script>",
            "{field}",
            "{0.__class__}",
            "%s",
            "a\u202eb",
            "null",
            "true",
        ]
    ),
    st.integers().map(str),
    st.floats().map(str),
    st.lists(st.sampled_from("()*,/:x@-.0189fulstaemcrohidngw "), max_size=60).map("".join),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "num_hidden_layers",
                    "hidden_size",
                    "num_attention_heads",
                    "num_key_value_heads",
                    "head_dim",
                    "text_config",
                    "model_type",
                    "layer_types",
                    "sliding_window",
                    "kv_lora_rank",
                    "vocab_size",
                    "torch_dtype",
                    "quantization_config",
                ]
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=20,
)
QUESTION = st.sampled_from(
    [(name, field) for name in MODULES for field in kinds(find(name).params)]
)


def ask(question, lang):
    """The reply to a question."""
    return json.loads(answer(question.request(lang)))


@pytest.fixture(scope="module")
def replies():
    """The replies to all questions, by language."""
    return {lang: [ask(question, lang) for question in QUESTIONS] for lang in LANGUAGES}


def ends_well(reply):
    """An answer, a file, or one sentence about a field; never an inner failure."""
    if "error" not in reply:
        return {"html", "status", "query"} <= reply.keys() or bool(reply.get("file"))
    text = reply["error"]["text"]
    return (
        bool(text) and "\n" not in text and "our mistake" not in text and "我们的问题" not in text
    )


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", MODULES)
def test_default_answers(name, lang):
    """Every calculator answers its default values, with an address that names only itself."""
    reply = ask(Question(name), lang)

    assert ends_well(reply)
    assert reply["query"] == f"c={name}"
    assert "<" not in reply["status"]


@pytest.mark.parametrize(
    ("lang", "status"),
    [("en", "Logical KV payload: 4.00\u00a0GiB."), ("zh", "逻辑 KV 总量：4.00\u00a0GiB。")],
)
def test_the_default_of_the_workbench(lang, status):
    """4.00 GiB, 128.00 KiB a token and 1.00 GiB a sequence, with the product written out."""
    reply = ask(Question("kv"), lang)

    assert status == reply["status"]
    assert "2 × 32 × 8 × 128 × 2 × 8192 × 4 = 4294967296 bytes" in reply["html"]
    for value, text in (
        (2**32, "4.00\u00a0GiB"),
        (2**17, "128.00\u00a0KiB"),
        (2**30, "1.00\u00a0GiB"),
    ):
        assert f'<data value="{value}">{text}</data>' in reply["html"]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_question_ends_well(lang, replies):
    """No question of the list fails inside a calculator."""
    assert [reply for reply in replies[lang] if not ends_well(reply)] == []


def test_both_languages_say_the_same(replies):
    """Figures, written-out products and addresses of an answer are those of any language."""

    def facts(reply):
        html = reply.get("html", "")
        return (
            re.findall(r'<data value="([^"]*)"', html),
            re.findall(r"cp-expression[^<]*<", html),
            reply.get("query"),
            reply.get("file"),
            reply["values"],
            reply.get("error", {}).get("field"),
        )

    english, chinese = ([facts(reply) for reply in replies[lang]] for lang in LANGUAGES)

    assert english == chinese


def kept_here(question, reply):
    """Whether an answer needs a text that is never put into an address."""
    fields = kinds(find(question.calculator).params)
    values = {**question.values, **reply["values"]}
    return any(
        isinstance(kind, Text)
        and not kind.shared
        and values.get(name)
        and applies(fields, kind, values)
        for name, kind in fields.items()
    )


def test_a_shared_address_gives_the_same_answer(replies):
    """The address in an answer, opened, gives that answer, whatever it came from.

    Pasted texts that stay on the reader's machine are the exception, where nothing short stands
    for them.
    """
    opened = 0
    for question, reply in zip(QUESTIONS, replies["en"], strict=True):
        if "html" in reply and not kept_here(question, reply):
            again = ask(Question(question.calculator, query=reply["query"]), "en")

            assert again["status"] == reply["status"]
            assert again["query"] == reply["query"]
            opened += 1

    assert opened > 60


def test_a_choice_that_follows_is_written_into_the_form():
    """An address with a stack alone opens a form that shows the stack."""
    reply = ask(Question("kv", query="stack=36*full:8x128"), "en")

    assert reply["values"] == {"stack": "36*full:8x128", "source": "stack"}
    assert reply["query"] == "c=kv&source=stack&stack=36*full:8x128"


def test_the_text_of_a_large_file_does_not_come_back():
    """The page has it; with each edit it would travel for nothing."""
    prompts = "a line of a prompt\n" * 2000
    reply = ask(Question("prefix-replay", {"source": "file", "file": prompts}), "en")

    assert "file" not in reply["values"]
    assert "source" in reply["values"]


# Reasons that no form can meet: its own limits, choices or an earlier look refuse first. They are
# for those who call the functions from Python.
UNMET = {
    ("calculators.kv.config_text", "parse_config", "text_too_long"),
    ("calculators.kv.engines.vllm", "kept_caches", "nothing_cached"),
    ("calculators.kv.estimates.llamacpp", "estimate", "nothing_cached"),
    ("calculators.kv.logs", "read_log", "text_too_long"),
    ("calculators.kv.traces", "read_trace", "text_too_long"),
    ("calculators.measurements.read", "read_as", "other_shape"),  # the fuzz tests try to
    ("calculators.measurements.scan", "one", "too_deep"),
    ("calculators.measurements.source", "decode", "not_text"),  # a form gives text, not bytes
    ("calculators.measurements.yaml_subset", "take", "yaml_broken"),
    ("calculators.prefix.rates", "counted", "too_large"),
    ("calculators.prefix.readers.rows", "json_rows", "text_too_long"),
    ("calculators.serving.settings", "__post_init__", "empty"),
}
# Reasons of a module that a calculator needs for something else: another one asks for them.
OTHERS = {("result-file", "empty_file")}


def raised(question):
    """The error that ends a question, if any, as the calculator raises it."""
    calculator = find(question.calculator)
    try:
        values = question.values
        if question.query is not None:
            values = from_query(calculator.params, question.query)
        values = completed(calculator.params, values)
        calculator.solve(parse(calculator.params, values), lambda _: None)
    except ParameterError as error:
        return error
    return None


def places_of(error):
    """(module, function, code) of all functions that an error and its causes went through."""
    while error is not None:
        if isinstance(error, ParameterError):
            for frame, _ in traceback.walk_tb(error.__traceback__):
                yield frame.f_globals["__name__"], frame.f_code.co_name, error.reason
        error = error.__context__


@pytest.fixture(scope="module")
def met():
    """Every place that refuses a question of the list."""
    asked = [question for question in QUESTIONS if question.calculator in MODULES]
    return {place for question in asked for place in places_of(raised(question))}


@pytest.fixture(scope="module")
def possible():
    """Every place in the source of the forms and the calculators that can refuse something."""
    within = set().union(*map(closure, MODULES.values())) | closure("calculators.form.address")
    found = {(*reason.place, reason.code) for reason in reasons(within)}
    return {place for place in found if not chosen_before(*place)}


def chosen_before(module, _function, code):
    """Whether a choice of a form refuses first; options are looked at again for other callers."""
    return code == "not_an_option" and module != "calculators.form.fields"


def test_the_list_asks_for_every_reason(met, possible):
    """Every refusal in the source is met by a question of the list, at the place where it is."""
    assert sorted(possible - met - UNMET) == []


def test_no_refusal_is_called_unmet_in_vain(met, possible):
    """What is said to be out of reach of the forms is in the source and is not reached."""
    assert sorted(UNMET - possible) == []
    assert sorted(UNMET & met) == []


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", MODULES)
def test_every_reason_has_a_wording(name, lang):
    """Each error that a calculator or its form can raise is worded, from the data that it gives."""
    texts = label_files.load(name, lang).texts
    within = (
        closure(MODULES[name]) | closure("calculators.web") | closure("calculators.command_line")
    )
    gaps = []
    for reason in reasons(within):
        if (name, reason.code) in OTHERS or (*reason.place, reason.code) in UNMET:
            continue
        template = texts.get(f"error.{reason.code}")
        if template is None:
            gaps.append(f"{reason} has no wording")
            continue
        wanted = {key for _, key, _, _ in string.Formatter().parse(template) if key}
        if not wanted <= reason.given | {"field"}:
            gaps.append(f"{reason} lacks {wanted - reason.given}")

    assert gaps == []


@pytest.mark.parametrize("lang", LANGUAGES)
@given(which=QUESTION, text=GARBAGE)
def test_no_value_of_a_field_escapes(lang, which, text):
    """Garbage in any one field ends in an answer or one sentence."""
    name, field = which

    assert ends_well(ask(Question(name, {field: text}), lang))


@given(
    which=st.sampled_from([*MODULES]),
    data=st.data(),
    lang=st.sampled_from(LANGUAGES),
    export=st.sampled_from([None, "json", "csv"]),
)
def test_no_form_escapes(which, data, lang, export):
    """Garbage in any fields at once, and in their names, ends well too."""
    names = st.sampled_from([*kinds(find(which).params)]) | st.text(max_size=5)
    values = data.draw(st.dictionaries(names, GARBAGE, max_size=5))

    assert ends_well(ask(Question(which, values, export=export), lang))


@given(tree=JSON, lang=st.sampled_from(LANGUAGES))
def test_no_config_escapes(tree, lang):
    """Any JSON as a config.json ends in an answer or one sentence."""
    values = {"source": "config", "config": json.dumps(tree)}

    assert ends_well(ask(Question("kv", values), lang))


@given(query=st.text(max_size=80), lang=st.sampled_from(LANGUAGES))
def test_no_address_escapes(query, lang):
    """Any address ends well."""
    assert ends_well(ask(Question("kv", query=query), lang))


CONFIG = (
    '{"model_type": "llama", "num_hidden_layers": %s, '
    '"num_attention_heads": 32, "hidden_size": 4096}'
)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    ("reason", "text"),
    [
        pytest.param("error.cut_off", (CONFIG % 32)[:-30], id="cut off"),
        pytest.param("error.not_an_object", f"[{CONFIG % 32}]", id="a list"),
        pytest.param("error.html", "\ufeff\r\n<!DOCTYPE html><html></html>", id="HTML"),
        pytest.param("error.not_json", "// Llama\n" + CONFIG % 32, id="comments"),
        pytest.param("error.text_for_number", CONFIG % '"thirty-two"', id="text for a number"),
        pytest.param("error.text_too_long", "{" + " " * 50_000_000, id="50 MB"),
        pytest.param("error.too_deep", '{"a":' * 10_000 + "1" + "}" * 10_000, id="10,000 deep"),
        pytest.param("error.too_deep", "[" * 10_000, id="10,000 lists, cut off"),
        pytest.param("error.text_for_number", CONFIG % '"32"', id="a number as text"),
        pytest.param(None, "\ufeff" + CONFIG.replace(" ", "\r\n") % 32, id="BOM and CRLF"),
    ],
)
def test_bad_configs(lang, reason, text):
    """Each broken file of a reader has its own sentence; what is only unusual is read."""
    reply = ask(Question("kv", {"source": "config", "config": text}), lang)
    worded = label_files.load("kv", lang).texts.get(reason, "")
    fixed = [part for part, *_ in string.Formatter().parse(worded)]

    assert ("error" in reply) == (reason is not None)
    assert all(part in reply.get("error", {}).get("text", "") for part in fixed)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    "raised",
    [
        RecursionError(),
        MemoryError(),
        ZeroDivisionError("x"),
        KeyError("k"),
        ValueError("v" * 999),
        TypeError(),
        OverflowError(),
        IndexError(),
        AssertionError("a"),
        AttributeError("b"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_inner_failure_is_named_as_ours(lang, raised, monkeypatch):
    """What fails inside a calculator is one sentence that does not blame the reader."""

    def solve(_params, _progress):
        raise raised

    monkeypatch.setattr(web, "find", lambda name: Calculator(name, find("kv").params, solve))
    reply = ask(Question("kv"), lang)

    assert reply["error"]["field"] == ""
    assert type(raised).__name__ in reply["error"]["text"]
    assert len(reply["error"]["text"]) < 250


@pytest.mark.parametrize("name", MODULES)
def test_progress_is_told(name):
    """A calculator tells how much is done, from 0 to 1 and never backwards."""
    told = []
    answer(Question(name).request("en"), told.append)

    assert told == sorted(told)
    assert all(0 <= done <= 1 for done in told)


def test_an_error_names_fields_by_their_labels():
    """The sentence has the field's label, and the label of the other field where two disagree."""
    error = ParameterError("layers", "conflict", other="source")

    assert sentence(error, label_files.load("kv", "en")) == (
        "Layers contradicts another field that decides Where the shape comes from: "
        "give only one of them."
    )


def test_a_field_without_a_label_keeps_its_name():
    """What is no field of a form is named as it was given."""
    assert web.field_name("<b>", Labels("en", {})) == "<b>"


def test_languages():
    """The door speaks the languages of the labels."""
    assert web.languages() == LANGUAGES
    assert Request(calculator="kv", lang="zh").values == {}
