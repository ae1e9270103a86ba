"""Small looks at parsed JSON that every format needs."""

from collections.abc import Mapping
from typing import Any


def mapping(value: Any) -> Mapping[str, Any]:
    """The value when it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    """The value when it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def at(value: Any, *path: str | int) -> Any:
    """The value at a path of keys and positions, or None: ``at({"a": [5]}, "a", 0) → 5``."""
    for step in path:
        if isinstance(value, dict) and isinstance(step, str):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def first_at(value: Any, *paths: tuple[str | int, ...]) -> Any:
    """The first of several places that holds something: versions move their keys."""
    return next((found for path in paths if (found := at(value, *path)) is not None), None)


def has(value: Any, *keys: str) -> bool:
    """Whether the value is an object with all these keys."""
    return isinstance(value, dict) and all(key in value for key in keys)


def escaped(key: str) -> str:
    """A key inside a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def below(pointer: str, *steps: str | int) -> str:
    """``below("L3", "benchmarks", 0) → "L3/benchmarks/0"``."""
    return pointer + "".join(f"/{escaped(str(step))}" for step in steps)
