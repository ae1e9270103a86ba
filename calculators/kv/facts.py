"""Typed look-ups in a config, which remember what was read and refuse what cannot be used."""

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from calculators.form.errors import ParameterError, excerpt
from calculators.kv.notation import MOST_ELEMENTS

FIELD = "config"
# Of several names for one thing, the one to ask for.
USUAL = {"num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim"}


class Facts:
    """One object of a config. Names are tried in order: the first that is there and not null wins.

    ``read`` maps the path of every value that was used; ``asked`` are all paths that were looked
    at, so that the rest can be listed as ignored. Both are shared with child objects.
    """

    def __init__(
        self, tree: Mapping[str, Any], path: str = "", parent: "Facts | None" = None
    ) -> None:
        self.tree = tree
        self.path = path
        self.read: dict[str, object] = {} if parent is None else parent.read
        self.asked: set[str] = set() if parent is None else parent.asked

    def value(self, *names: str) -> tuple[str, Any]:
        """(path, value) of the first name that is there; the value is None where none is."""
        for name in names:
            path = self.path + name
            self.asked.add(path)
            value = self.tree.get(name)
            if value is not None:
                if not isinstance(value, dict | list):
                    self.read[path] = value
                return path, value
        return self.path + names[0], None

    def whole(self, *names: str, least: int = 1, most: int = MOST_ELEMENTS) -> int | None:
        """A whole number, also where it is written ``32.0``; a text is none."""
        path, value = self.value(*names)
        return None if value is None else whole(path, value, least, most)

    def need(self, *names: str, least: int = 1) -> int:
        """A whole number that the answer cannot do without: asked for by its name."""
        found = self.whole(*names, least=least)
        if found is None:
            raise missing(self.path, *names)
        return found

    def flag(self, *names: str) -> bool | None:
        """True or false (or 1 and 0); None where the config does not say."""
        path, value = self.value(*names)
        if value is None or isinstance(value, bool):
            return value
        if value in (0, 1):
            return bool(value)
        raise wrong_type(path, "key_not_flag", value)

    def text(self, *names: str) -> str | None:
        """A text, such as ``model_type``."""
        path, value = self.value(*names)
        if value is None or isinstance(value, str):
            return value
        raise wrong_type(path, "key_not_text", value)

    def items(self, *names: str) -> list[Any] | None:
        """A list; what it holds is checked where it is used."""
        path, value = self.value(*names)
        if value is None:
            return None
        if not isinstance(value, list):
            raise wrong_type(path, "key_not_list", value)
        self.read[path] = value
        return value

    def wholes(self, *names: str, least: int = 0) -> list[int] | None:
        """A list of whole numbers."""
        values = self.items(*names)
        if values is None:
            return None
        path, _ = self.value(*names)
        return [
            whole(f"{path}[{index}]", value, least, MOST_ELEMENTS)
            for index, value in enumerate(values)
        ]

    def child(self, name: str) -> "Facts | None":
        """The object that a key holds."""
        path, value = self.value(name)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise wrong_type(path, "key_not_object", value)
        return Facts(value, f"{path}.", self)

    def holds(self, kind: type, name: str) -> bool:
        """Whether a key that comes in several forms has this one."""
        return isinstance(self.tree.get(name), kind)

    def has(self, *names: str) -> bool:
        """Whether any name is there and not null; not counted as read."""
        return any(self.tree.get(name) is not None for name in names)

    def ignored(self) -> Iterator[str]:
        """Paths of this object that nothing asked for."""
        return (self.path + name for name in self.tree if self.path + name not in self.asked)


def whole(path: str, value: Any, least: int, most: int) -> int:
    """A value as a whole number within limits, or ParameterError with the key."""
    number = value
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        number = int(value)
    if isinstance(value, str):
        raise ParameterError(FIELD, "text_for_number", key=path, text=excerpt(value))
    if not isinstance(number, int) or isinstance(number, bool):
        raise ParameterError(FIELD, "bad_value", key=path, text=shown(value))
    if not least <= number <= most:
        raise ParameterError(
            FIELD, "out_of_range", key=path, text=shown(value), minimum=least, maximum=most
        )
    return number


def wrong_type(path: str, reason: str, value: Any) -> ParameterError:
    """A key of the wrong JSON type: ``key_not_flag``, ``key_not_list`` and so on."""
    return ParameterError(FIELD, reason, key=path, text=shown(value))


def shown(value: Any) -> str:
    """A value as the file writes it, cut short."""
    return excerpt(json.dumps(value, ensure_ascii=False))


def missing(path: str, *names: str) -> ParameterError:
    """The question for a key: its first name, and the other names it goes by."""
    shown = next((name for name in names if name in USUAL), names[0])
    others = [name for name in names if name != shown]
    return ParameterError(FIELD, "missing_key", key=path + shown, other=", ".join(others) or "–")
