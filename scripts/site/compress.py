"""Precompressed copies beside the files of a site, for hosts that send them.

Brotli at its best takes half a minute for the interpreter, so results are kept by content.
"""

import gzip
import sys
from collections.abc import Callable
from pathlib import Path

import brotli

from scripts.cache import cached, digest, write_whole

SUFFIXES = {".html", ".css", ".js", ".mjs", ".json", ".svg", ".xml", ".txt"}
BINARY = {".wasm", ".zip", ".whl"}
SMALLEST = 1400  # bytes; one packet is one packet


def compress(site: Path) -> None:
    """Write ``.br`` and ``.gz`` beside every file that gains from it."""
    for path in sorted(site.rglob("*")):
        known = path.suffix in SUFFIXES | BINARY
        if known and path.is_file() and path.stat().st_size > SMALLEST:
            data = path.read_bytes()
            write_whole(path.with_name(f"{path.name}.br"), packed("br", data, best_brotli))
            write_whole(path.with_name(f"{path.name}.gz"), packed("gz", data, best_gzip))


def packed(coding: str, data: bytes, pack: Callable[[bytes], bytes]) -> bytes:
    """The packed bytes, from the cache where they are known."""
    return cached(coding, digest(data), lambda: pack(data))


def best_brotli(data: bytes) -> bytes:
    """As small as Brotli gets it."""
    return bytes(brotli.compress(data, quality=11))


def best_gzip(data: bytes) -> bytes:
    """As small as gzip gets it, without a date."""
    return gzip.compress(data, 9, mtime=0)


if __name__ == "__main__":
    compress(Path(sys.argv[1]))
