"""The command line: the same fields, parser and figures as the page."""

import argparse
import codecs
import sys
from pathlib import Path

from calculators import labels as label_files
from calculators.form.errors import ParameterError, excerpt
from calculators.form.fields import Choice, Kind, Switch, Text, kinds
from calculators.form.parse import completed, parse
from calculators.registry import MODULES, Calculator, find
from calculators.show.export import to_csv, to_json
from calculators.show.labels import LANGUAGES, Labels, Language
from calculators.show.text import render_text
from calculators.web import sentence, stated

USAGE_STATUS = 2


def main(arguments: list[str]) -> int:
    """Run one calculator; a mistake in the input is one sentence on stderr and status 2."""
    labels = label_files.load("shared", language(arguments))
    try:
        calculator = find(arguments[0]) if arguments[:1] and arguments[0] in MODULES else None
        if calculator is None:
            return overview(arguments, labels.lang)
        labels = label_files.load(calculator.name, labels.lang)
        return say(run(calculator, labels, arguments[1:]))
    except ParameterError as error:
        sys.stderr.write(f"{sentence(error, labels)}\n")
        return USAGE_STATUS


def say(text: str) -> int:
    """Write the answer. A reader that has gone is no error; a full disk is one, in a sentence."""
    if sys.stdout is None:  # closed before the program began
        return 0
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        return 0
    except OSError as error:
        sys.stderr.write(f"{error.strerror}\n")
        return 1
    return 0


def language(arguments: list[str]) -> Language:
    """The language, wanted before the rest is parsed, so that errors are worded in it."""
    for index, word in enumerate(arguments):
        value = word.partition("=")[2] if word.startswith("--lang=") else ""
        if word == "--lang" and index + 1 < len(arguments):
            value = arguments[index + 1]
        if value in LANGUAGES:
            return LANGUAGES[LANGUAGES.index(value)]
    return LANGUAGES[0]


def overview(arguments: list[str], lang: Language) -> int:
    """Name the calculators, each with its title."""
    width = max(map(len, MODULES))
    titles = (f"  {n:{width}}  {label_files.load(n, lang).text('title')}" for n in MODULES)
    parser = argparse.ArgumentParser(
        prog="python -m calculators",
        description=__doc__,
        epilog="\n".join(titles),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("calculator", choices=MODULES, metavar="CALCULATOR")
    parser.add_argument("--lang", choices=LANGUAGES, default=LANGUAGES[0])
    parser.parse_args(arguments)
    return 0


def run(calculator: Calculator, labels: Labels, arguments: list[str]) -> str:
    """The output of one call."""
    options = vars(parser_of(calculator, labels).parse_args([spelled(one) for one in arguments]))
    style = options.pop("format")
    options.pop("lang")
    values = {
        name: read(name, kinds(calculator.params)[name], value)
        for name, value in options.items()
        if value is not None
    }
    values = completed(calculator.params, {**chosen_by_file(calculator, values), **values})
    result = calculator.solve(parse(calculator.params, values), lambda _done: None)
    if style == "json":
        return to_json(calculator.name, stated(calculator.params, values), result)
    return to_csv(result) if style == "csv" else render_text(result, labels)


def chosen_by_file(calculator: Calculator, values: dict[str, str]) -> dict[str, str]:
    """The choices that named but empty files make: such a file is a mistake to report."""
    rules = (
        kind.when
        for name, kind in kinds(calculator.params).items()
        if takes_file(kind) and not values.get(name, "-").strip()
    )
    return {chooser: wanted[0] for chooser, wanted in filter(None, rules)}


def parser_of(calculator: Calculator, labels: Labels) -> argparse.ArgumentParser:
    """Options named as the fields of the page."""
    parser = argparse.ArgumentParser(
        prog=f"python -m calculators {calculator.name}",
        description=labels.text("title"),
        allow_abbrev=False,
    )
    for name, kind in kinds(calculator.params).items():
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            dest=name,
            metavar=metavar(kind),
            nargs="?" if isinstance(kind, Switch) else None,
            const="1" if isinstance(kind, Switch) else None,
            help=help_text(name, kind, labels),
        )
    parser.add_argument("--format", choices=("text", "json", "csv"), default="text")
    parser.add_argument("--lang", choices=LANGUAGES, default=LANGUAGES[0])
    return parser


def spelled(argument: str) -> str:
    """``--page-size`` for ``--page_size``, as the page's addresses have it."""
    name, sign, value = argument.partition("=")
    return f"{name.replace('_', '-')}{sign}{value}" if name.startswith("--") else argument


def takes_file(kind: Kind) -> bool:
    """Whether an option names a file instead of holding the value itself."""
    return isinstance(kind, Text) and bool(kind.suffixes)


def metavar(kind: Kind) -> str:
    """What stands for the value in the help."""
    if takes_file(kind):
        return "FILE"
    return "NAME" if isinstance(kind, Choice) else "VALUE"


def help_text(name: str, kind: Kind, labels: Labels) -> str:
    """The field's label and default."""
    text = labels.text(f"field.{name}.label")
    default = f" [{kind.default}]" if kind.default else ""
    return f"{text}{default}".replace("%", "%%")


def read(name: str, kind: Kind, value: str) -> str:
    """A field that takes files names one, or ``-`` for standard input; others are their value."""
    if not takes_file(kind):
        return value
    try:
        raw = sys.stdin.buffer.read() if value == "-" else Path(value).read_bytes()
    except (OSError, ValueError):  # ValueError: a name with a NUL
        raise ParameterError(name, "unreadable_file", text=excerpt(value)) from None
    wide = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return raw.decode("utf-16" if wide else "utf-8", errors="replace")
