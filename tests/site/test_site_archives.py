"""Archives for the browser: whole, trimmed to what is imported, the same on every machine."""

import gzip
import io
import os
import zipfile

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts import cache
from scripts.paths import CALCULATORS, NODE_MODULES, ROOT
from scripts.site import bytecode, compress

TOOLS = pytest.mark.skipif(
    not (NODE_MODULES / "pyodide").is_dir(), reason="the packages of the browser are not set up"
)


@given(
    st.dictionaries(st.text("abc/.", min_size=1, max_size=6), st.binary(max_size=50), max_size=6)
)
def test_archives_depend_on_content_only(files):
    """Order and time leave no trace; every file comes back as it was, uncompressed."""
    packed = bytecode.archive_of(files)

    assert packed == bytecode.archive_of(dict(reversed(files.items())))
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        assert files == {name: archive.read(name) for name in archive.namelist()}
        assert {zipfile.ZIP_STORED} >= {info.compress_type for info in archive.infolist()}


def test_the_wheel_holds_the_package_without_the_terminal():
    """Every module and label file that a page can need is in; the command line is not."""
    names = bytecode.package_files().keys()
    on_disk = {
        path.relative_to(ROOT).as_posix()
        for path in CALCULATORS.rglob("*")
        if path.suffix in {".py", ".toml"}
    }

    assert on_disk - names == {"calculators/command_line.py", "calculators/__main__.py"}


def test_imports_are_found_wherever_they_stand():
    """Imports in functions and of submodules count; our own and relative ones do not."""
    source = b"""
import json, os.path
from collections import abc
from os import path
from calculators.form import errors
from . import near
def late():
    import heapq
"""

    assert bytecode.imported({"a.py": source, "b.toml": b"import x"}) == {
        "json", "os.path", "collections", "os", "heapq",
    }  # fmt: skip


@TOOLS
@pytest.mark.slow
def test_compiling_twice_gives_the_same_bytes():
    """Bytecode is checked by hash and not by time, so an archive has one SHA-256."""
    files = {"calculators/a.py": b"def f(x):\n    return x + 1\n", **bytecode.metadata()}
    once, again = (bytecode.compiled(bytecode.WHEEL, files) for _ in range(2))

    assert once == again
    with zipfile.ZipFile(io.BytesIO(once)) as archive:
        assert "calculators/a.pyc" in archive.namelist()
        assert "calculators/a.py" not in archive.namelist()


@TOOLS
def test_the_runtime_library_is_trimmed():
    """The library for the browser has less than half of the stock files, and no terminal."""
    library = bytecode.standard_library()
    with zipfile.ZipFile(io.BytesIO(library)) as archive:
        names = archive.namelist()

    with zipfile.ZipFile(NODE_MODULES / "pyodide" / "python_stdlib.zip") as stock:
        assert len(names) < len(stock.namelist()) / 2
    assert not [n for n in names if n.startswith(("test/", "unittest/", "argparse", "pydoc"))]
    assert {"json/__init__.pyc", "fractions.pyc"} <= {*names}


@given(st.binary(max_size=2000))
def test_packed_copies_unpack_to_the_file(data):
    """Brotli and gzip give the bytes back, and gzip holds no date."""
    assert brotli.decompress(compress.best_brotli(data)) == data
    assert gzip.decompress(compress.best_gzip(data)) == data
    assert compress.best_gzip(data)[4:8] == bytes(4)


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    """A cache of this test alone."""
    monkeypatch.setattr(cache, "CACHE", tmp_path / "cache")
    return tmp_path / "cache"


def test_compress_packs_what_gains_from_it(tmp_path, own_cache):
    """Text and programs get copies; small files, pictures and the copies themselves do not."""
    site = tmp_path / "site"
    for name in ("page.html", "program.wasm", "small.css", "picture.png", "sub/style.css"):
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * (10 if name.startswith("small") else 5000))
    for _ in range(2):
        compress.compress(site)
    packed = {p.relative_to(site).as_posix() for p in site.rglob("*") if p.suffix in {".br", ".gz"}}

    assert packed == {
        f"{name}{suffix}"
        for name in ("page.html", "program.wasm", "sub/style.css")
        for suffix in (".br", ".gz")
    }


def test_a_changed_file_gets_a_new_copy(tmp_path, own_cache):
    """A copy follows its file, whatever its date says."""
    page = tmp_path / "page.html"
    for letter in (b"a", b"b"):
        page.write_bytes(letter * 5000)
        os.utime(page, (0, 0))
        compress.compress(tmp_path)

        assert brotli.decompress((tmp_path / "page.html.br").read_bytes()) == letter * 5000


def test_nothing_is_made_twice(own_cache):
    """The second call with the same key reads what the first one made."""
    made = []

    def make():
        made.append(1)
        return b"data"

    assert [b"data", b"data"] == [cache.cached("kind", "key", make) for _ in range(2)]
    assert made == [1]
    assert [path.name for path in (own_cache / "kind").iterdir()] == ["key"]


def test_a_failure_leaves_nothing_behind(own_cache):
    """What could not be made is not in the cache."""

    def fail():
        raise OSError("no space")

    with pytest.raises(OSError, match="no space"):
        cache.cached("kind", "key", fail)

    assert not (own_cache / "kind" / "key").exists()


@given(st.lists(st.text(max_size=4), max_size=4), st.lists(st.text(max_size=4), max_size=4))
def test_parts_cannot_run_together(one, other):
    """Two lists of parts have one digest only if they are the same list."""
    assert (one == other) == (cache.digest(*one) == cache.digest(*other))
