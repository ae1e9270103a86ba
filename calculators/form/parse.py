"""Form values, all text, to a calculator's Params."""

from collections.abc import Mapping

from calculators.form.errors import ParameterError, excerpt
from calculators.form.fields import Kind, kinds


def parse[P](params: type[P], values: Mapping[str, str]) -> P:
    """The Params of the values; fields that are not given have their default.

    Raises ParameterError: for an unknown field, for the first field that cannot be used, and for
    two fields that imply different choices. A field that its ``when`` rules out is not read, so
    that a hidden field cannot fail.
    """
    fields = kinds(params)
    given = completed(params, values)
    parsed = {
        name: kind.parse(name, given[name])
        for name, kind in fields.items()
        if name in given and applies(fields, kind, given)
    }
    return params(**parsed)


def completed(params: type, values: Mapping[str, str]) -> dict[str, str]:
    """The values with the choices that follow from them, as a form has to show them.

    Raises ParameterError ``unknown_field`` and ``conflict``.
    """
    fields = kinds(params)
    for name in values:
        if name not in fields:
            raise ParameterError(excerpt(name), "unknown_field", fields=", ".join(fields))
    return {**implied_choices(fields, values), **values}


def applies(fields: Mapping[str, Kind], kind: Kind, values: Mapping[str, str]) -> bool:
    """Whether a field matters under the choices that are made."""
    if kind.when is None:
        return True
    chooser, wanted = kind.when
    return values.get(chooser, fields[chooser].default) in wanted and applies(
        fields, fields[chooser], values
    )


def implied_choices(fields: Mapping[str, Kind], values: Mapping[str, str]) -> dict[str, str]:
    """Choices that were not made but follow from a field that was given.

    ``--config FILE`` alone means "shape from a config": nobody should have to say it twice.
    """
    possible: dict[str, tuple[str, ...]] = {}
    given = [name for name, value in values.items() if value.strip()]
    for name in given:  # grows: a choice that follows may itself stand under a choice
        rule = fields[name].when
        if rule is None or rule[0] in values:
            continue
        chooser, wanted = rule
        if chooser not in possible:
            given.append(chooser)
        left = tuple(option for option in possible.get(chooser, wanted) if option in wanted)
        if not left:
            raise ParameterError(name, "conflict", other=chooser)
        possible[chooser] = left
    return {chooser: options[0] for chooser, options in possible.items()}
