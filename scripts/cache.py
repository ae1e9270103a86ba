"""A folder of results by the hash of what they were made from, so that nothing is made twice."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

from scripts.paths import CACHE


def digest(*parts: bytes | str) -> str:
    """SHA-256 over the parts, each with its length, so that parts cannot run together."""
    total = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        total.update(len(data).to_bytes(8, "little") + data)
    return total.hexdigest()


def cached(kind: str, key: str, make: Callable[[], bytes]) -> bytes:
    """The bytes made earlier from the same inputs, or made now."""
    path = CACHE / kind / key
    if path.exists():
        return path.read_bytes()
    data = make()
    write_whole(path, data)
    return data


def write_whole(path: Path, data: bytes) -> None:
    """Write a file that is either there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    draft.write_bytes(data)
    draft.replace(path)
