"""A calculator as a section of a page: its form and the default answer, complete without script."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Any

from calculators.form.fields import Choice, Decimal, Integer, Kind, LengthList, Switch, Text, kinds
from calculators.form.numbers import plain
from calculators.form.parse import applies
from calculators.show.labels import Labels

RADIO_LIMIT = 5  # up to this many options are radio buttons, more are a list
ACTIONS = ("share", "copy", "json", "csv", "reset", "cancel")
FAILURES = (
    "no_webassembly",
    "blocked",
    "wrong_mime",
    "unreachable",
    "missing",
    "wrong_hash",
    "timeout",
    "memory",
    "crashed",
    "retry",
    "file_too_large",
)


@dataclass(frozen=True, kw_only=True)
class FormPage:
    """One calculator on a page, in one language, with the values that it shows first."""

    name: str
    params: type
    labels: Labels
    values: Mapping[str, str]
    level: int = 3  # of the title among the page's headings

    def section(self, answer: str, where: Mapping[str, Any]) -> str:
        """The whole section. ``answer`` is the HTML of the answer for the values."""
        ident = f"calc-{self.name}"
        text = self.text
        return "\n".join(
            (
                f'<section class="cp-calculator" id="{ident}" aria-labelledby="{ident}-title">',
                f'<p class="cp-title" id="{ident}-title" role="heading" aria-level="{self.level}">',
                f"{text('title')}</p>",
                f'<p class="cp-intro">{text("intro")}</p>',
                f'<form class="cp-form" autocomplete="off" novalidate>{"".join(self.groups())}',
                "</form>",
                f'<p class="cp-error" id="{ident}-error" role="alert" hidden></p>',
                (
                    f'<progress class="cp-progress" max="1" value="0" hidden '
                    f'aria-label="{text("action.progress")}"></progress>'
                ),
                (
                    '<div class="cp-answer" role="group" '
                    f'aria-label="{text("action.answer")}">{answer}</div>'
                ),
                '<output class="cp-status cp-hidden"></output>',
                f'<div class="cp-actions">{"".join(self.actions())}</div>',
                f'<noscript><p class="cp-noscript">{text("action.noscript")}</p></noscript>',
                f'<script type="application/json" class="cp-setup">{self.setup(where)}</script>',
                "</section>",
            )
        )

    def text(self, key: str) -> str:
        """A label, escaped."""
        return escape(self.labels.text(key), quote=True)

    def setup(self, where: Mapping[str, Any]) -> str:
        """What the bridge needs to know, as JSON that cannot end its script element."""
        about = {
            "calculator": self.name,
            "lang": self.labels.lang,
            "where": where,
            "copied": self.labels.text("action.copied"),
            "failures": {code: self.labels.texts[f"failure.{code}"] for code in FAILURES},
        }
        return json.dumps(about, ensure_ascii=False).replace("<", "\\u003c")

    def actions(self) -> Iterator[str]:
        """The buttons below an answer."""
        for what in ACTIONS:
            label = self.text(f"action.{what}")
            yield f'<button type="button" class="cp-button" data-do="{what}">{label}</button>'

    def groups(self) -> Iterator[str]:
        """The fields in order; neighbours of one group share a fieldset."""
        for group, members in groupby(kinds(self.params).items(), key=lambda item: item[1].group):
            inner = "".join(self.field(name, kind) for name, kind in members)
            legend = f"<legend>{self.text(f'group.{group}')}</legend>" if group else ""
            yield f'<fieldset class="cp-group">{legend}{inner}</fieldset>' if group else inner

    def field(self, name: str, kind: Kind) -> str:
        """A field: label, control, help."""
        if isinstance(kind, Choice) and kind.labelled and len(kind.options) <= RADIO_LIMIT:
            return self.radios(name, kind)
        if isinstance(kind, Switch):
            return self.switch(name, kind)
        if isinstance(kind, Text):
            return self.text_area(name, kind)
        return (
            f'<div class="cp-field"{self.dependence(kind)}>{self.label(name)}'
            f"{self.control(name, kind)}{self.help(name, kind)}</div>"
        )

    def value(self, name: str) -> str:
        """The text that a field shows first."""
        return self.values.get(name, kinds(self.params)[name].default)

    def dependence(self, kind: Kind) -> str:
        """``data-when`` and ``hidden`` of a field that depends on a choice."""
        if kind.when is None:
            return ""
        chooser, wanted = kind.when
        fields = kinds(self.params)
        hidden = "" if applies(fields, kind, {n: self.value(n) for n in fields}) else " hidden"
        return f' data-when="{chooser}={"|".join(wanted)}"{hidden}'

    def ident(self, name: str) -> str:
        """The id of a control."""
        return f"calc-{self.name}-{name}"

    def label(self, name: str) -> str:
        """The label of a control."""
        return f'<label for="{self.ident(name)}">{self.text(f"field.{name}.label")}</label>'

    def attributes(self, name: str, kind: Kind) -> str:
        """Id, name and description of a control."""
        helped = f' aria-describedby="{self.ident(name)}-help"' if self.help(name, kind) else ""
        return f'id="{self.ident(name)}" name="{name}"{helped}'

    def control(self, name: str, kind: Kind) -> str:
        """A control of one line."""
        common, value = self.attributes(name, kind), self.value(name)
        if isinstance(kind, Choice):
            options = "".join(
                f'<option value="{escape(option)}"{" selected" if option == value else ""}>'
                f"{self.option(name, option, kind)}</option>"
                for option in kind.options
            )
            return f"<select {common}>{options}</select>"
        mode = {Integer: "numeric", Decimal: "decimal"}.get(type(kind), "text")
        return (
            f'<input type="text" inputmode="{mode}" {common} '
            f'value="{escape(value)}" spellcheck="false">'
        )

    def option(self, name: str, option: str, kind: Choice) -> str:
        """The wording of an option, or its own name."""
        return self.text(f"option.{name}.{option}") if kind.labelled else escape(option)

    def radios(self, name: str, kind: Choice) -> str:
        """A choice of few as radio buttons."""
        items = "".join(
            f'<label><input type="radio" name="{name}" value="{escape(option)}"'
            f"{' checked' if option == self.value(name) else ''}> "
            f"{self.option(name, option, kind)}</label>"
            for option in kind.options
        )
        legend = self.text(f"field.{name}.label")
        return (
            f'<fieldset class="cp-field cp-radios"{self.dependence(kind)}>'
            f"<legend>{legend}</legend>{items}{self.help(name, kind)}</fieldset>"
        )

    def switch(self, name: str, kind: Switch) -> str:
        """A box to tick."""
        checked = " checked" if kind.parse(name, self.value(name)) else ""
        return (
            f'<div class="cp-field cp-switch"{self.dependence(kind)}><label>'
            f'<input type="checkbox" value="1"{checked} {self.attributes(name, kind)}> '
            f"{self.text(f'field.{name}.label')}</label>{self.help(name, kind)}</div>"
        )

    def text_area(self, name: str, kind: Text) -> str:
        """A place to paste text or drop a file, which never leaves the reader's machine."""
        pick = ""
        if kind.suffixes:
            pick = (
                f'<label class="cp-button cp-pick">{self.text("action.file")}'
                f'<input class="cp-hidden" type="file" data-for="{name}" '
                f'accept="{",".join(kind.suffixes)}"></label> <span class="cp-file-name"></span>'
            )
        return (
            f'<div class="cp-field cp-text" data-file="{name}"{self.dependence(kind)}>'
            f'{self.label(name)}<textarea rows="{kind.lines}" spellcheck="false" '
            f'data-longest="{kind.longest}" {self.attributes(name, kind)}>'
            f"{escape(self.value(name))}</textarea>{pick}{self.help(name, kind)}</div>"
        )

    def help(self, name: str, kind: Kind) -> str:
        """What a field means, and its limits."""
        parts = []
        if self.labels.has(f"field.{name}.help"):
            parts.append(self.labels.text(f"field.{name}.help"))
        if isinstance(kind, Integer | Decimal):
            limits = {"minimum": plain(kind.minimum), "maximum": plain(kind.maximum)}
            parts.append(self.labels.text("action.limits", limits))
        elif isinstance(kind, LengthList):
            limits = {"minimum": "1", "maximum": str(kind.maximum)}
            parts.append(self.labels.text("action.limits", limits))
        joint = " " if self.labels.lang == "en" else ""
        shown = escape(joint.join(parts))
        return (
            f'<small class="cp-help" id="{self.ident(name)}-help">{shown}</small>' if parts else ""
        )
