"""A form with every kind of field, for the tests of parsing, addresses and pages."""

from dataclasses import dataclass
from fractions import Fraction

from calculators.form import fields
from calculators.form.lengths import Lengths


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Every kind of field, with a choice that hides some and a choice within a choice."""

    source: str = fields.choice("typed", ("typed", "file", "name"))
    layers: int = fields.integer(32, minimum=1, maximum=100, when=("source", ("typed",)))
    config: str | None = fields.text(
        longest=1000, suffixes=(".json",), shared=False, when=("source", ("file",))
    )
    name: str = fields.choice("a", ("a", "b"), labelled=False, when=("source", ("name", "file")))
    detail: int | None = fields.integer(None, minimum=0, maximum=9, when=("name", ("b",)))
    share: Fraction = fields.decimal("0.9", minimum="0", maximum="1")  # noqa: RUF009
    optional: Fraction | None = fields.decimal("", minimum="0", maximum="1")  # noqa: RUF009
    exact: bool = fields.switch()
    tokens: Lengths = fields.lengths("8192", maximum=10**6, maximum_count=1000)
    note: str = fields.text("plain words", longest=200)
