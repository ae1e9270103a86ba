"""What pages can embed, as custom fences of pymdownx: these also run under other generators.

================  ===============================================================================
``calculator``    a form with its default answer; first line the name, then ``field = value`` lines
``answer``        a part of an answer for stated values: ``show = figures | all | a block's id``
``figure``        a hand-drawn figure by name
``math``          a formula in TeX
``measurements``  rows of the archive, its index, or a part of one measurement's page
================  ===============================================================================

Within a line: ```#!value kv total layers=80``` is a computed figure, ```#!sum 8 * 16 in tokens```
arithmetic done at build, ```#!math L``` a formula, ```#!measured ID quantity``` an archived figure.
Whatever is unknown (calculator, field, label, figure) raises, and the build fails.
"""

import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from html import escape
from typing import Any

from pymdownx.inlinehilite import InlineHiliteException
from pymdownx.superfences import SuperFencesException

from calculators import labels as label_files
from calculators.form.errors import ParameterError
from calculators.form.parse import parse
from calculators.registry import find
from calculators.show.blocks import Block, Frames, Number, Numbers, Result, Section, numbers_of
from calculators.show.html import block_html, render, value_html
from calculators.show.labels import LANGUAGES, Language
from scripts.site import formulas, runtime, sums
from scripts.site.archive_fence import measured_html, measurements_html
from scripts.site.drawings import draw_plots
from scripts.site.figures import figure as drawn_figure
from scripts.site.form_page import FormPage

# What a mistake in a page can raise. pymdownx would print the source in place of any other error.
MISTAKES = (ParameterError, LookupError, ValueError, TypeError, OSError)

type Render = Callable[[str, Language], str]


def fence(make: Render, lang: Language) -> Callable[..., str]:
    """A block formatter of pymdownx.superfences in one language."""

    def formatter(source: str, *_: Any, **__: Any) -> str:
        try:
            return make(source, lang)
        except MISTAKES as error:
            raise SuperFencesException(f"{make.__name__}: {error}\n{source}") from error

    return formatter


def word(make: Render, lang: Language) -> Callable[..., str]:
    """A formatter of pymdownx.inlinehilite in one language."""

    def formatter(source: str, *_: Any, **__: Any) -> str:
        try:
            return make(source, lang)
        except MISTAKES as error:
            raise InlineHiliteException(f"{make.__name__}: {error}\n{source}") from error

    return formatter


def calculator_html(source: str, lang: Language, *, level: int = 3) -> str:
    """A live calculator with its answer for the stated values, its title a heading of a level."""
    name, values = stated(source)
    labels = label_files.load(name, lang)
    html = draw_plots(render(solved(name, values), labels))
    params = find(name).params
    page = FormPage(name=name, params=params, labels=labels, values=values, level=level)
    return page.section(html, runtime.addresses())


def answer_html(source: str, lang: Language) -> str:
    """A worked example: part of an answer, computed now."""
    name, values = stated(source)
    wanted = values.pop("show", "all")
    labels = label_files.load(name, lang)
    blocks = chosen(solved(name, values).blocks, wanted)
    html = "".join(block_html(block, labels) for block in blocks)
    given = ", ".join(f"{key} = {value}" for key, value in values.items())
    command = escape(f"{name}: {given}" if given else name)
    given_line = f'<p class="cp-given"><code>{command}</code></p>'
    return f'<div class="cp-worked">{given_line}{draw_plots(html)}</div>'


def figure_html(source: str, lang: Language) -> str:
    """A hand-drawn figure."""
    return drawn_figure(source.strip(), lang)


def math_html(source: str, lang: Language) -> str:
    """A formula on its own line; formulas are the same in all languages."""
    del lang
    return formulas.block(source)


def math_word(source: str, lang: Language) -> str:
    """A formula within a line."""
    del lang
    return formulas.inline(source)


def value_word(source: str, lang: Language) -> str:
    """A computed figure within a line: ``kv total layers=80``."""
    name, figure_id, *pairs = shlex.split(source)
    values = dict(pair.split("=", 1) for pair in pairs)
    found = numbers_of(solved(name, values).blocks)
    if figure_id not in found:
        raise LookupError(f"{name} has no figure {figure_id}; it has {sorted(found)}")
    return value_html(found[figure_id], label_files.load(name, lang))


def sum_word(source: str, lang: Language) -> str:
    """Arithmetic within a line: ``(500 + 99 * 20) / 100 in ms:1``."""
    shown = label_files.load("shared", lang).quantity(sums.quantity(source))
    return sums.sum_html(source, shown)


def stated(source: str) -> tuple[str, dict[str, str]]:
    """The calculator's name and the ``field = value`` lines of a fence."""
    name, *lines = [line.strip() for line in source.strip().splitlines() if line.strip()]
    pairs = (line.partition("=") for line in lines)
    return name, {key.strip(): value.strip() for key, _, value in pairs}


def solved(name: str, values: Mapping[str, str]) -> Result:
    """The answer for values, computed once a build however often it is shown."""
    return solved_once(name, json.dumps(dict(values), sort_keys=True))


@cache
def solved_once(name: str, values: str) -> Result:
    """The answer for values written as JSON."""
    found = find(name)
    return found.solve(parse(found.params, json.loads(values)), lambda _done: None)


def chosen(blocks: tuple[Block, ...], wanted: str) -> tuple[Block, ...]:
    """The blocks that a fence names by id, ``figures`` for all numbers, or ``all``."""
    if wanted == "all":
        return blocks
    if wanted == "figures":
        return tuple(block for block in blocks if isinstance(block, Number | Numbers))
    found = {getattr(block, "id", ""): block for block in flat(blocks)}
    names = [name.strip() for name in wanted.split(",")]
    missing = [name for name in names if name not in found]
    if missing:
        raise LookupError(f"no block {missing}; there are {sorted(filter(None, found))}")
    return tuple(found[name] for name in names)


def flat(blocks: tuple[Block, ...]) -> Iterator[Block]:
    """Blocks and those within sections and frames."""
    for block in blocks:
        yield block
        if isinstance(block, Section):
            yield from flat(block.blocks)
        if isinstance(block, Frames):
            for frame in block.frames:
                yield from flat(frame.blocks)


# The names that the two configurations of MkDocs use.
calculator_en, calculator_zh = fence(calculator_html, "en"), fence(calculator_html, "zh")
answer_en, answer_zh = fence(answer_html, "en"), fence(answer_html, "zh")
figure_en, figure_zh = fence(figure_html, "en"), fence(figure_html, "zh")
math_en, math_zh = fence(math_html, "en"), fence(math_html, "zh")
measurements_en, measurements_zh = (fence(measurements_html, lang) for lang in LANGUAGES)
inline_math_en, inline_math_zh = word(math_word, "en"), word(math_word, "zh")
inline_measured_en, inline_measured_zh = (word(measured_html, lang) for lang in LANGUAGES)
inline_value_en, inline_value_zh = word(value_word, "en"), word(value_word, "zh")
inline_sum_en, inline_sum_zh = word(sum_word, "en"), word(sum_word, "zh")
