"""Python for the browser as bytecode: our wheel and a trimmed standard library.

The compiler is ``pyodide py-compile``, run with the CPython whose minor version Pyodide has.
Archives are stored (HTTP compresses better than a zip) and the same on every machine: entries
sorted, dates fixed, bytecode checked by hash and not by time.
"""

import ast
import io
import json
import os
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from scripts.cache import cached, digest
from scripts.paths import CALCULATORS, NODE_MODULES, ROOT

VERSION = "0.1.0"
WHEEL = f"calculators-{VERSION}-py3-none-any.whl"
ZIP_DATE = (1980, 1, 1, 0, 0, 0)
NOT_IN_THE_BROWSER = {"calculators", "__future__", "tomllib"}  # labels come as JSON
TERMINAL_ONLY = {"command_line.py", "__main__.py"}

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)

# What Pyodide itself and a traceback need although no calculator imports it.
ALWAYS = ("asyncio", "traceback", "json")


def recipe() -> bytes:
    """What changes the archives besides their files: this module and the compiler."""
    return sys.version.encode() + Path(__file__).read_bytes()


def package_files() -> dict[str, bytes]:
    """Name → bytes of every file of the package that the browser gets."""
    found = sorted(p for p in CALCULATORS.rglob("*") if p.suffix in {".py", ".toml"})
    return {
        p.relative_to(ROOT).as_posix(): p.read_bytes() for p in found if p.name not in TERMINAL_ONLY
    }


def wheel() -> bytes:
    """The calculators as a compiled wheel, labels as JSON, which is read faster than TOML."""
    files = dict(lighter(name, data) for name, data in package_files().items())
    key = digest(recipe(), *(part for item in files.items() for part in item))
    return cached("wheel", key, lambda: compiled(WHEEL, {**files, **metadata()}))


def lighter(name: str, data: bytes) -> tuple[str, bytes]:
    """A file as the browser gets it."""
    if name.endswith(".toml"):
        tree = tomllib.loads(data.decode())
        return f"{name[:-5]}.json", json.dumps(tree, ensure_ascii=False).encode()
    return name, without_docstrings(data) if name.endswith(".py") else data


def without_docstrings(source: bytes) -> bytes:
    """The source with every docstring as short as it can be, on the same lines.

    ``-OO`` would remove assertions too. A class keeps a word: a dataclass without any would write
    its own signature there, which takes longer than all the rest of it.
    """
    lines = source.splitlines(keepends=True)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            text = node.body[0]
            first, last = text.lineno - 1, (text.end_lineno or text.lineno) - 1
            ending = lines[last][text.end_col_offset :]
            lines[first : last + 1] = [
                lines[first][: text.col_offset] + b'"."' + (ending if first == last else b"\n"),
                *([b"\n"] * (last - first - 1)),
                *([ending.lstrip() or b"\n"] if first != last else []),
            ]
    return b"".join(lines)


def metadata() -> dict[str, bytes]:
    """The little that makes a zip a wheel."""
    folder = f"calculators-{VERSION}.dist-info"
    return {
        f"{folder}/METADATA": f"Metadata-Version: 2.1\nName: calculators\n"
        f"Version: {VERSION}\n".encode(),
        f"{folder}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{folder}/RECORD": b"",
    }


def standard_library() -> bytes:
    """Pyodide's standard library, only what is imported, compiled."""
    stock = NODE_MODULES / "pyodide" / "python_stdlib.zip"
    roots = sorted({*ALWAYS, *imported(package_files())})
    key = digest(recipe(), stock.read_bytes(), *roots)
    return cached("stdlib", key, lambda: trimmed(stock, roots))


def imported(files: Mapping[str, bytes]) -> set[str]:
    """Modules of the standard library that the package imports anywhere, function bodies too."""
    names: set[str] = set()
    for name, source in files.items():
        if name.endswith(".py"):
            for node in ast.walk(ast.parse(source)):
                names |= imports_of(node)
    return {n for n in names if n.split(".")[0] not in NOT_IN_THE_BROWSER}


def imports_of(node: ast.AST) -> set[str]:
    """The modules that one statement imports."""
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names}
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        submodules = {f"{node.module}.{alias.name}" for alias in node.names}
        return {node.module, *(s for s in submodules if s == "os.path")}
    return set()


def trimmed(stock: Path, roots: Iterable[str]) -> bytes:
    """The files that are loaded when the roots are imported, compiled."""
    command = ["node", str(Path(__file__).with_name("imports.mjs")), *roots]
    printed = subprocess.run(command, check=True, capture_output=True, cwd=ROOT).stdout
    with zipfile.ZipFile(stock) as archive:
        files = {name: without_docstrings(archive.read(name)) for name in json.loads(printed)}
    return compiled("python_stdlib.zip", files)


def compiled(name: str, files: Mapping[str, bytes]) -> bytes:
    """Compile an archive of these files with ``pyodide py-compile``."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(archive_of(files))
        command = [
            str(Path(sys.executable).with_name("pyodide")),
            "py-compile",
            "--silent",
            str(path),
        ]
        environment = {**os.environ, "SOURCE_DATE_EPOCH": "315532800"}
        subprocess.run(command, check=True, env=environment, capture_output=True)
        [result] = [p for p in Path(folder).iterdir() if p.suffix in {".whl", ".zip"}]
        with zipfile.ZipFile(result) as archive:
            return archive_of({n: archive.read(n) for n in archive.namelist()})


def archive_of(files: Mapping[str, bytes]) -> bytes:
    """A stored zip that depends on nothing but its content."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            archive.writestr(zipfile.ZipInfo(name, ZIP_DATE), files[name])
    return out.getvalue()
