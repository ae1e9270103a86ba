"""Tensors of a safetensors file as float32 arrays, memory-mapped where no conversion is needed.

Format: an 8-byte little-endian length, a JSON header with ``dtype``, ``shape`` and
``data_offsets`` a name, then the data. BF16 is widened by shifting its bits into a float32.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from calculators.form.errors import ParameterError

LONGEST_HEADER = 100_000_000
PLAIN = {"F32": np.float32, "F16": np.float16}


def read(path: Path) -> dict[str, np.ndarray[Any, Any]]:
    """Every floating tensor of a file. Raises ParameterError for another layout."""
    data = np.memmap(path, dtype=np.uint8, mode="r")
    length = int.from_bytes(data[:8].tobytes(), "little") if data.size > 8 else 0  # noqa: PLR2004
    if not 0 < length <= min(LONGEST_HEADER, data.size - 8):
        raise ParameterError("checkpoint", "not_safetensors", text=path.name)
    header = json.loads(data[8 : 8 + length].tobytes())
    header.pop("__metadata__", None)
    body = data[8 + length :]
    return {name: tensor(body, node) for name, node in header.items() if is_floating(node)}


def is_floating(node: dict[str, Any]) -> bool:
    """Whether a tensor holds weights, not indices."""
    return node["dtype"] in {"F32", "F16", "BF16"}


def tensor(body: np.ndarray[Any, Any], node: dict[str, Any]) -> np.ndarray[Any, Any]:
    """One tensor in float32."""
    start, end = node["data_offsets"]
    raw = body[start:end]
    if node["dtype"] == "BF16":
        wide = raw.view(np.uint16).astype(np.uint32) << 16
        return wide.view(np.float32).reshape(node["shape"])
    plain = raw.view(PLAIN[node["dtype"]]).reshape(node["shape"])
    return np.ascontiguousarray(plain, dtype=np.float32)
