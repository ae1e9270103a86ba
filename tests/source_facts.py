"""What the source itself says: imports between modules and every reason an error can have."""

import ast
from dataclasses import dataclass
from functools import cache

from scripts.paths import CALCULATORS, ROOT

ERROR = "ParameterError"


@cache
def modules():
    """Module name → syntax tree, for every module of the package ``calculators``."""
    found = {}
    for path in sorted(CALCULATORS.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


@cache
def imports(name):
    """The modules that a module imports, by full name; of ``from a import b`` the submodule."""
    found = set()
    for node in ast.walk(modules()[name]):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name}: imports are absolute"
            submodules = {f"{node.module}.{alias.name}" for alias in node.names}
            inside = submodules & modules().keys()
            found |= inside or {node.module}
    return found


def closure(name):
    """A module and every module of the package that it needs, parents included."""
    found, open_ = set(), {name}
    while open_:
        current = open_.pop()
        found.add(current)
        parent = current.rpartition(".")[0]
        open_ |= ({*imports(current), parent} & modules().keys()) - found
    return found


@dataclass(frozen=True)
class Reason:
    """One place that can raise: the reason's code and the names of the data that it gives."""

    code: str
    given: frozenset[str]
    where: str


class UnknownReasonError(Exception):
    """A reason or its data that cannot be read from the source."""


def constants(node, function):
    """The texts that an expression can have: literals, either side of ``if``, local names."""
    match node:
        case ast.Constant(value=str(text)):
            return {text}
        case ast.IfExp(body=body, orelse=other):
            return constants(body, function) | constants(other, function)
        case ast.Name(id=name):
            assigned = [
                n.value
                for n in ast.walk(function)
                if isinstance(n, ast.Assign)
                and any(isinstance(t, ast.Name) and t.id == name for t in n.targets)
            ]
            return set().union(*(constants(value, function) for value in assigned))
        case _:
            return set()


def calls_of(name, within):
    """(module, enclosing function, call) of every call of a name in these modules."""
    for module in within:
        for function in ast.walk(modules()[module]):
            if isinstance(function, ast.FunctionDef):
                for node in ast.walk(function):
                    if isinstance(node, ast.Call) and (
                        (isinstance(node.func, ast.Name) and node.func.id == name)
                        or (isinstance(node.func, ast.Attribute) and node.func.attr == name)
                    ):
                        yield module, function, node


def reasons(within):
    """Every reason that these modules raise.

    A function that passes its own parameter on as the reason counts once for each call of it.
    Raises UnknownReasonError for a reason that is neither.
    """
    for module, function, call in calls_of(ERROR, within):
        where = f"{module}:{call.lineno}"
        if ast.unparse(call).endswith("error.reason, **error.limits)"):
            continue  # another's error under another field: counted where it is first raised
        names = [keyword.arg for keyword in call.keywords]
        if None in names or len(call.args) != 2:
            raise UnknownReasonError(where)
        given = frozenset(names)
        codes = constants(call.args[1], function)
        if not codes and isinstance(call.args[1], ast.Name):
            codes = passed_on(function, call.args[1].id, within)
        if not codes:
            raise UnknownReasonError(where)
        yield from (Reason(code, given, where) for code in codes)


def passed_on(function, parameter, within):
    """The texts that callers give for a parameter of a function."""
    names = [argument.arg for argument in function.args.args]
    if parameter not in names:
        return set()
    place = names.index(parameter)
    found = set()
    for module, caller, call in calls_of(function.name, within):
        bound = names[0] == "self" and isinstance(call.func, ast.Attribute)
        codes = constants(call.args[place - bound], caller)
        if not codes:
            raise UnknownReasonError(f"{module}:{call.lineno}")
        found |= codes
    return found
