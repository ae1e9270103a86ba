"""Honest tables: what n samples allow, one link a row, and provenance that cannot be left out.

The median has its interval between order statistics; a p95 has an upper bound only where a sample
is one; a first call is one value. Rows are put in the order of their medians only on request, and
the build fails where their intervals do not allow it, as it does for rows of several artefacts
without their own origin.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape

from calculators.form.errors import ParameterError
from calculators.latency.intervals import needed_for
from calculators.latency.overlap import Span
from calculators.measurements.record import Number
from calculators.show.blocks import Message
from calculators.show.html import scroll
from calculators.show.labels import UNIT_GAP, Labels
from scripts.archive.tabulate import may_rank, require_provenance
from scripts.site.archive_conditions import shared
from scripts.site.archive_links import here
from scripts.site.archive_records import Entry
from scripts.site.archive_words import (
    amount,
    amount_text,
    boundary,
    model_name,
    moment,
    rule_name,
    title,
    what,
)

P95 = Fraction(19, 20)
HASH_DIGITS = 12


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """The rows of one table and how it shows where they come from."""

    entries: tuple[Entry, ...]
    labels: Labels
    origin_per_row: bool = False
    linked: bool = True

    def html(self) -> str:
        """Rows, then what may not be read out of them."""
        require_provenance([e.row for e in self.entries], shown_per_row=self.origin_per_row)
        caption = escape(self.labels.text("table.honest"))
        notes = "".join(f"<li>{escape(self.labels.plain(note))}</li>" for note in self.remarks())
        return f'{scroll(self.grid(), caption)}<ul class="cp-notes">{notes}</ul>'

    def grid(self) -> str:
        """The ``<table>`` itself."""
        columns = tuple(self.columns())
        head = "".join(f'<th scope="col">{self.head(name)}</th>' for name in columns)
        body = "".join(f"<tr>{self.line(entry, columns)}</tr>" for entry in self.entries)
        return (
            f'<table class="cp-honest"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
        )

    def columns(self) -> Iterator[str]:
        """The columns that these rows fill; the first one heads the row."""
        alike = len({(boundary(e, self.labels), e.model) for e in self.entries}) == 1
        lengths = all(e.prompt_tokens is not None for e in self.entries)
        yield "tokens" if alike and lengths else "measurement"
        if any(e.given.get("characters") is not None for e in self.entries):
            yield "characters"
        yield from ("n", "p50", "p95", "range", "cold")

    def head(self, name: str) -> str:
        """A column's head; that of p95 names the rule when all rows share it."""
        text = escape(self.labels.text(f"head.{name}"))
        if name in {"p50", "p95"} and any(e.row.p50_span.low is not None for e in self.entries):
            text += small(self.labels.text("cell.bounds"))
        rules = self.rules()
        if name == "p95" and len(rules) == 1:
            text += small(self.labels.text("cell.rule", {"rule": rules[0]}))
        return text

    def rules(self) -> list[str]:
        """The percentile rules of the rows."""
        stated = [e for e in self.entries if e.row.p95 is not None]
        return list(dict.fromkeys(rule_name(e, self.labels) for e in stated))

    def line(self, entry: Entry, columns: Sequence[str]) -> str:
        """One row."""
        first, *others = columns
        cells = "".join(f'<td class="cp-num">{self.cell(entry, name)}</td>' for name in others)
        return f'<th scope="row">{self.cell(entry, first)}</th>{cells}'

    def cell(self, entry: Entry, name: str) -> str:
        """One cell as HTML."""
        made = {
            "measurement": lambda: self.first(entry, what(entry, self.labels)),
            "tokens": lambda: self.first(entry, whole(entry.prompt_tokens)),
            "characters": lambda: whole(entry.given.get("characters")),
            "n": lambda: whole(None if entry.row.p50 is None else entry.row.n),
            "p50": lambda: self.middle(entry),
            "p95": lambda: self.tail(entry),
            "range": lambda: self.extremes(entry),
            "cold": lambda: self.cold(entry),
        }
        return made[name]()

    def first(self, entry: Entry, text: str) -> str:
        """The cell that heads a row: the link and, where rows differ in it, the origin."""
        name = self.link(entry, text) + seen(entry, self.labels)
        return name + (self.origin(entry) if self.origin_per_row else "")

    def link(self, entry: Entry, text: str) -> str:
        """The way to the measurement's own page."""
        marked = ""
        if entry.superseded_by:
            marked = small(self.labels.text("cell.superseded"))
        if not self.linked:
            return escape(text) + marked
        name = escape(title(entry, self.labels), quote=True)
        return f'<a href="{here(entry.page_path)}" title="{name}">{escape(text)}</a>{marked}'

    def value(self, entry: Entry, value: Number | None) -> str:
        """A latency in the unit of the row's quantity."""
        return amount(entry.measurement.figure(entry.row.quantity, "p50"), value, self.labels)

    def interval(self, entry: Entry, span: Span) -> str:
        """What bounds a quantile: both sides, one side, or nothing."""
        low, high = (self.bound(entry, side) for side in (span.low, span.high))
        values = {"low": low if span.high is None else bare(low), "high": high}
        match (span.low is not None, span.high is not None):
            case (True, True):
                return small(self.labels.text("cell.interval", values))
            case (True, False):
                return small(self.labels.text("cell.at_least", values))
            case (False, True):
                return small(self.labels.text("cell.at_most", values))
        return ""

    def bound(self, entry: Entry, value: Number | None) -> str:
        """One bound as plain text."""
        return amount_text(entry.measurement.figure(entry.row.quantity, "p50"), value, self.labels)

    def middle(self, entry: Entry) -> str:
        """The p50 and its interval."""
        return self.value(entry, entry.row.p50) + self.interval(entry, entry.row.p50_span)

    def tail(self, entry: Entry) -> str:
        """The p95, its bounds, and its rule where rows differ in it."""
        found = self.value(entry, entry.row.p95) + self.interval(entry, entry.row.p95_span)
        if entry.row.p95 is not None and len(self.rules()) > 1:
            found += small(self.labels.text("cell.rule", {"rule": rule_name(entry, self.labels)}))
        return found

    def extremes(self, entry: Entry) -> str:
        """The range of the samples, which is no limit of what may come."""
        low, high = entry.row.low, entry.row.high
        if low is None and high is None:
            return self.value(entry, None)
        return f"{escape(bare(self.bound(entry, low)))} – {self.value(entry, high)}"

    def cold(self, entry: Entry) -> str:
        """The first call, always with its n."""
        cold = entry.row.cold
        shown = amount(entry.measurement.figure("first_call"), cold, self.labels)
        return shown if cold is None else shown + small(self.labels.text("cell.one"))

    def origin(self, entry: Entry) -> str:
        """Where a row comes from, in the row; what all rows have alike stands below the table."""
        alike = set.intersection(*(set(self.facts(one)) for one in self.entries))
        told = [fact for fact in self.facts(entry) if fact not in alike]
        model = model_name(entry, self.labels)
        if entry.timing_only and model is not None and model not in told:
            told.insert(0, model)
        kind = self.labels.text(f"kind.{entry.kind}")
        shown = [kind, *told, *filter(None, [moment(entry)])]
        return small(", ".join(shown)) + small(short_hash(entry))

    def facts(self, entry: Entry) -> tuple[str, ...]:
        """Model, checkpoint, data type and device, as far as they are stated."""
        device = entry.given.get("device") or {}
        used = device.get("used") if isinstance(device, dict) else device
        checkpoint = entry.given.get("checkpoint")
        name = checkpoint.get("model") if isinstance(checkpoint, dict) else checkpoint
        other = None if name == entry.model else name
        found = (model_name(entry, self.labels), other, entry.given.get("dtype"), used)
        return tuple(dict.fromkeys(str(fact) for fact in found if fact))

    def remarks(self) -> Iterator[Message]:
        """What the numbers do not say."""
        rows = [e.row for e in self.entries]
        quantiles = [e for e in self.entries if e.row.p50 is not None]
        for why in filter(None, dict.fromkeys(e.record["samples_absent"] for e in quantiles)):
            yield Message("note.no_intervals", {"why": Message(f"samples.{why}")})
        if any(e.timing_only for e in self.entries):
            yield Message("warning.random_weights")
        for count in sorted({e.seen_tokens for e in self.entries if e.seen_tokens is not None}):
            yield Message("note.cut", {"count": f"{count:,}"})
        if any(r.cold is not None for r in rows):
            yield Message("note.first_call")
        if any(r.p95_span.low is not None and r.p95_span.high is None for r in rows):
            yield Message("note.no_upper", {"count": needed_for(P95)})
        if len(quantiles) > 1 and not may_rank([e.row for e in quantiles]):
            yield Message("note.no_ranking")


def conditions_html(entries: Sequence[Entry], labels: Labels) -> str:
    """The conditions that all rows share, below the table."""
    silent, found = labels.text("reason.not_stated"), shared(entries, labels)
    unsaid = labels.text("silent.joint").join(name for name, text in found if text == silent)
    said = [(name, text) for name, text in found if text != silent]
    items = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(text)}</dd></div>"
        for name, text in [*said, *([(labels.text("silent.names"), unsaid)] if unsaid else [])]
    )
    caption = escape(labels.text("table.shared" if len(entries) > 1 else "page.conditions"))
    return f'<p class="cp-caption">{caption}</p><dl class="cp-conditions">{items}</dl>'


def ordered(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """The rows by their medians. Raises ParameterError where intervals allow no order."""
    if not may_rank([entry.row for entry in entries]):
        raise ParameterError("order", "no_ranking", rows=len(entries))
    return tuple(sorted(entries, key=lambda entry: entry.row.p50 or 0))


def seen(entry: Entry, labels: Labels) -> str:
    """How much of its prompt the encoder saw, where that is not all of it."""
    count = entry.seen_tokens
    return "" if count is None else small(labels.text("cell.seen", {"count": f"{count:,}"}))


def bare(shown: str) -> str:
    """A shown amount without its unit, which follows once behind the second one."""
    return shown.partition(UNIT_GAP)[0]


def whole(value: Number | None) -> str:
    """A count, or a dash."""
    return "–" if value is None else f"{value:,}"


def short_hash(entry: Entry) -> str:
    """The beginning of the artefact's hash."""
    return str(entry.record["identity"]["original_sha256"])[:HASH_DIGITS]


def small(text: str) -> str:
    """A second line of a cell."""
    return f"<small>{escape(text)}</small>"
