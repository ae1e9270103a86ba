"""Opens files for the readers: bytes to text, YAML to parsed values."""

from pathlib import Path

import yaml

from calculators.form.errors import ParameterError
from calculators.measurements.scan import Progress
from calculators.measurements.source import Source, decode, open_text, open_value

YAML_ENDINGS = {".yaml", ".yml"}


def open_file(
    path: Path, *, companions: tuple[Source, ...] = (), progress: Progress | None = None
) -> Source:
    """Open one result file. Raises OSError and ParameterError."""
    return open_bytes(path.read_bytes(), path.name, companions=companions, progress=progress)


def open_bytes(
    data: bytes,
    name: str,
    *,
    companions: tuple[Source, ...] = (),
    progress: Progress | None = None,
) -> Source:
    """Open a file's bytes; what its name calls YAML and is no JSON is parsed as YAML."""
    text = decode(data)
    del data  # a file of 100 MB is not held twice while it is parsed
    if Path(name).suffix.lower() in YAML_ENDINGS and text.lstrip()[:1] not in {"{", "["}:
        return open_value(parsed_yaml(text), text, name)
    return open_text(text, name, companions=companions, progress=progress)


def parsed_yaml(text: str) -> object:
    """The first YAML document, with dates left as text. Raises ParameterError."""
    try:
        return yaml.load(text, TextDates)  # noqa: S506 -- a subclass of the safe loader
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        line = None if mark is None else mark.line + 1
        raise ParameterError("file", "yaml_broken", line=line) from None


class TextDates(yaml.SafeLoader):
    """The safe loader without dates: a label is compared character by character."""


TextDates.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
