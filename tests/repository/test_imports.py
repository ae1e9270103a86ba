"""Imports go down only, and the calculators know nothing but their parameters."""

import ast
import sys

import pytest

from scripts.paths import ROOT
from tests.source_facts import closure, imports, modules

# What each part of ``calculators`` may import of the others: the table of the design.
BOTTOM = {"form", "show"}
SHARED = BOTTOM | {"latency"}  # statistics that several calculators use
# The labs in the order in which they build on each other; why: CONTRIBUTING.
LABS = ("kv", "prefix", "serving", "tiering", "floor")
TOP = {"web", "registry", "command_line", "__main__"}
ALLOWED = {
    "form": {"form"},
    "show": {"show"},
    "labels": {"labels", "show"},
    "latency": SHARED,
    **{lab: SHARED | set(LABS[: place + 1]) for place, lab in enumerate(LABS)},
    "registry": BOTTOM,
    "web": BOTTOM | {"labels", "registry"},
    "command_line": BOTTOM | {"labels", "registry", "web"},
    "__main__": {"command_line"},
}
TERMINAL = {"calculators.command_line", "calculators.__main__"}
# Modules of the standard library that reach beyond the parameters of a function.
OUTSIDE = {
    "os", "io", "sys", "time", "datetime", "pathlib", "shutil", "tempfile", "subprocess", "socket",
    "threading", "multiprocessing", "asyncio", "signal", "secrets", "uuid", "platform", "locale",
    "getpass", "glob", "logging", "warnings", "atexit", "ctypes", "pickle", "sqlite3", "inspect",
    "importlib", "pkgutil", "argparse",
}  # fmt: skip
EXCUSED = {
    "calculators.labels": {"pkgutil"},  # reads the wordings that travel with the package
    "calculators.registry": {"importlib"},  # imports a calculator when it is first asked for
    "calculators.command_line": {"argparse", "sys", "pathlib"},
    "calculators.__main__": {"io", "sys"},
}
CALLS = {"open", "input", "print", "exec", "eval", "compile", "__import__", "globals", "breakpoint"}
IN_MEMORY = {"StringIO", "BytesIO"}
PARTS = sorted({name.split(".")[1] for name in modules() if "." in name})


def part(name):
    """The part of the package that a module belongs to."""
    return [*name.split("."), ""][1]


@pytest.mark.parametrize("of", PARTS)
def test_imports_go_down(of):
    """A part imports the parts below it, never its neighbours and never what stands above."""
    allowed = ALLOWED.get(of, SHARED | {of})
    wrong = [
        f"{name} imports {imported}"
        for name in modules()
        if part(name) == of
        for imported in sorted(imports(name))
        if imported.startswith("calculators") and part(imported) not in allowed
    ]

    assert wrong == []


def test_calculators_need_the_standard_library_only():
    """Everything that is imported is ours or Python's own."""
    foreign = {
        f"{name} imports {imported}"
        for name in modules()
        for imported in imports(name)
        if imported.split(".")[0] not in {"calculators", *sys.stdlib_module_names}
    }

    assert foreign == set()


def test_nothing_imports_what_stands_above_all():
    """The page's and the terminal's doors are imported by no calculator, directly or not."""
    for name in modules():
        if part(name) not in TOP | {""}:
            assert not {f"calculators.{top}" for top in TOP - {"registry"}} & closure(name)


def outside_modules(name):
    """Modules that reach outside, without those that this module is excused for."""
    for imported in imports(name):
        root = imported.split(".")[0]
        if root in OUTSIDE - EXCUSED.get(name, set()):
            yield imported


def only_text_buffers(tree):
    """Whether ``io`` is used for nothing but buffers in memory."""
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "io"
    }
    return used <= IN_MEMORY


def test_no_files_clock_or_environment():
    """No module but the terminal's reaches a file, the clock, the environment or a process."""
    found = {
        f"{name}: {imported}"
        for name, tree in modules().items()
        for imported in outside_modules(name)
        if not (imported == "io" and only_text_buffers(tree))
    }

    assert found == set()


@pytest.mark.parametrize("name", sorted(set(modules()) - TERMINAL))
def test_no_call_reaches_outside(name):
    """No module prints, opens, evaluates or rebinds a global."""
    tree = modules()[name]
    calls = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }

    assert calls & CALLS == set()
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Global)]


def test_no_common_source_of_randomness():
    """Random numbers come from a generator with a seed, never from the module's own."""
    found = []
    for name, tree in modules().items():
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id == "random"
                and node.attr != "Random"
            ):
                found.append(f"{name}:{node.lineno} random.{node.attr}")
            if isinstance(node, ast.ImportFrom) and node.module == "random":
                found += [f"{name}: {a.name}" for a in node.names if a.name != "Random"]
            if (
                isinstance(node, ast.Call)
                and ast.unparse(node.func) in {"Random", "random.Random"}
                and not node.args
            ):
                found.append(f"{name}:{node.lineno} a generator without a seed")

    assert found == []


def test_hashes_of_text_decide_nothing():
    """``hash`` of a text differs from run to run, so no module but a ``__hash__`` asks for it."""
    found = []
    for name, tree in modules().items():
        own = {
            id(inner)
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef) and node.name == "__hash__"
            for inner in ast.walk(node)
        }
        found += [
            f"{name}:{node.lineno}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "hash"
            and id(node) not in own
        ]

    assert found == []


def test_only_one_file_knows_mkdocs():
    """MkDocs is imported by the hook and by nothing else."""
    knowing = set()
    for path in (ROOT / "scripts").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
            if any(name.split(".")[0] == "mkdocs" for name in names):
                knowing.add(path.relative_to(ROOT).as_posix())

    assert knowing == {"scripts/site/hooks.py"}
