"""The command line: the page's fields, parser, figures and sentences."""

import io
import json
import subprocess
import sys

import pytest

from calculators.command_line import main
from calculators.form.fields import Text, kinds
from calculators.registry import MODULES, find
from calculators.show.labels import LANGUAGES
from calculators.web import answer
from scripts.paths import ROOT
from tests.questions import LLAMA, QUESTIONS

REFUSED = 2


def run(capsys, *arguments):
    """(status, stdout, stderr) of a call."""
    try:
        status = main([*arguments])
    except SystemExit as end:
        status = end.code
    out, err = capsys.readouterr()
    return status, out, err


def options_of(question, folder):
    """A question as options; the texts of fields that take files as files."""
    options = []
    for name, value in question.values.items():
        kind = kinds(find(question.calculator).params)[name]
        if isinstance(kind, Text) and kind.suffixes:
            path = folder / name
            path.write_bytes(value.encode())
            value = str(path)  # noqa: PLW2901 - the option names the file
        options.append(f"--{name.replace('_', '-')}={value}")
    return options


def known(question):
    """Whether a question can be put in options: a known calculator and known fields."""
    return (
        question.query is None
        and question.calculator in MODULES
        and question.values.keys() <= kinds(find(question.calculator).params).keys()
        and not any("\0" in value for value in question.values.values())
    )


def test_options_may_be_spelled_as_in_addresses(capsys):
    """A name with underscores, as a shared address has it, is the same option; values stay."""
    dashes = run(capsys, "kv", "--kv-heads", "4", "--head-dim=64")

    assert dashes[0] == 0
    assert dashes == run(capsys, "kv", "--kv_heads", "4", "--head_dim=64")


@pytest.mark.parametrize("style", ["json", "csv"])
def test_the_same_file_as_the_page(style, capsys, tmp_path):
    """Every question of the list gives the file that the page would download, or its sentence."""
    compared = 0
    for question in filter(known, QUESTIONS):
        exported = json.loads(question.request("en")) | {"export": style}
        reply = json.loads(answer(json.dumps(exported)))
        options = options_of(question, tmp_path)
        status, out, err = run(capsys, question.calculator, *options, "--format", style)

        if "error" in reply:
            assert (status, out, err) == (REFUSED, "", f"{reply['error']['text']}\n")
        else:
            assert (status, out, err) == (0, reply["file"], "")
        compared += 1

    assert compared > 60


@pytest.mark.parametrize(
    ("lang", "figure"),
    [
        ("en", "Logical KV payload: 4.00 GiB (4294967296 bytes)"),
        ("zh", "逻辑 KV 总量: 4.00 GiB (4294967296 字节)"),
    ],
)
def test_text(lang, figure, capsys):
    """The default answer as text, with the product written out."""
    status, out, err = run(capsys, "kv", "--lang", lang)

    assert (status, err) == (0, "")
    assert out.startswith(f"{figure}\n")
    assert "2 × 32 × 8 × 128 × 2 × 8192 × 4 = 4294967296 bytes" in out


def test_a_config_from_a_file_or_standard_input(capsys, tmp_path, monkeypatch):
    """A file and standard input give the same answer, and a byte order mark does not matter."""
    path = tmp_path / "config.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(LLAMA, indent=1).replace("\n", "\r\n").encode())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    by_name = run(capsys, "kv", "--config", str(path), "--tokens", "8192, 4096x3")
    piped = run(capsys, "kv", "--config", "-", "--tokens", "8192, 4096x3")

    assert by_name == piped
    assert "2.50 GiB" in by_name[1]


@pytest.mark.parametrize(
    ("field", "arguments"),
    [
        pytest.param("Layers", ["--layers", "0"], id="too small"),
        pytest.param("Layers", ["--layers=３２"], id="full-width"),
        pytest.param("config.json from Hugging Face", ["--config", "/no/such/file"], id="no file"),
        pytest.param("config.json from Hugging Face", ["--config", "."], id="a folder"),
        pytest.param("config.json from Hugging Face", ["--config", "a\0b"], id="NUL in the name"),
        pytest.param("config.json from Hugging Face", ["--config", "x" * 9999], id="long name"),
        pytest.param("Data type of the cache", ["--dtype", "float7"], id="unknown option"),
    ],
)
def test_a_mistake_is_one_sentence(field, arguments, capsys):
    """Status 2, one line on stderr that names the field, nothing on stdout."""
    status, out, err = run(capsys, "kv", *arguments)

    assert (status, out) == (REFUSED, "")
    assert (err.count("\n"), err.startswith(field)) == (1, True)


@pytest.mark.parametrize(
    "arguments", [["--lang", "zh", "--layers", "0"], ["--layers=0", "--lang=zh"]]
)
def test_a_mistake_is_worded_in_the_language(arguments, capsys):
    """The language holds for errors wherever it stands."""
    _, _, err = run(capsys, "kv", *arguments)

    assert err.startswith("“层数”太小")


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param([], id="nothing"),
        pytest.param(["unheard"], id="unknown calculator"),
        pytest.param(["kv", "--unheard", "1"], id="unknown option"),
        pytest.param(["kv", "--lang", "de"], id="unknown language"),
        pytest.param(["kv", "--format", "xml"], id="unknown format"),
        pytest.param(["kv", "--layers"], id="no value"),
    ],
)
def test_usage(arguments, capsys):
    """A call that cannot be read has status 2 and shows the usage."""
    status, out, err = run(capsys, *arguments)

    assert (status, out) == (REFUSED, "")
    assert err.startswith("usage: python -m calculators")


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", MODULES)
def test_help_names_every_field(name, lang, capsys):
    """``--help`` lists the fields of the page with their defaults."""
    status, out, _ = run(capsys, name, "--lang", lang, "--help")

    assert status == 0
    for field in kinds(find(name).params):
        assert f"--{field.replace('_', '-')} " in out


def test_help_without_a_calculator_names_them_all(capsys):
    """``python -m calculators --help`` names the calculators."""
    status, out, _ = run(capsys, "--help")

    assert status == 0
    assert all(name in out for name in MODULES)


def test_as_a_program():
    """``python -m calculators kv`` runs from a checkout, in UTF-8, with its exit status."""
    command = [sys.executable, "-m", "calculators", "kv", "--lang", "zh"]
    good = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    bad = subprocess.run([*command, "--layers", "x"], cwd=ROOT, capture_output=True, check=False)

    assert good.returncode == 0
    assert good.stdout.decode().startswith("逻辑 KV 总量: 4.00 GiB")
    assert (bad.returncode, bad.stdout, bad.stderr.count(b"\n")) == (REFUSED, b"", 1)


@pytest.mark.parametrize(
    ("lang", "title"), [("en", "KV capacity workbench"), ("zh", "KV 容量工作台")]
)
def test_the_overview_names_each_title(lang, title, capsys):
    """The help lists the calculators with their titles, in the language asked for."""
    with pytest.raises(SystemExit):
        main(["--lang", lang, "--help"])

    assert title in capsys.readouterr().out


def test_an_output_closed_from_the_start_is_no_error(monkeypatch):
    """``>&-`` leaves no stream: nobody reads, nothing fails."""
    monkeypatch.setattr("sys.stdout", None)

    assert 0 == main(["kv"])
