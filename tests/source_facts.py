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


def named(call):
    """The bare name of what is called."""
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return None


@cache
def calls(module):
    """(enclosing function, call) of every call within a function of a module, innermost first."""
    found = {}
    for function in ast.walk(modules()[module]):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Call):
                    found[node] = function  # a nested function is walked later and wins
    return [(function, call) for call, function in found.items()]


@dataclass(frozen=True)
class Reason:
    """One place that can raise: the reason's code and the names of the data that it gives."""

    code: str
    given: frozenset[str]
    module: str
    function: str
    line: int

    @property
    def place(self):
        """The function that states the reason, as a traceback names it."""
        return self.module, self.function

    def __str__(self):
        return f"{self.module}:{self.line}: {self.code}"


def reasons(within):
    """Every reason that these modules raise.

    A function that passes its own parameter on as the reason counts once for each call of it, with
    the data that both give. Raises UnknownReasonError for a reason that is neither.
    """
    for module in within:
        for function, call in calls(module):
            if named(call) == ERROR:
                if ast.unparse(call).endswith("error.reason, **error.limits)"):
                    continue  # another's error under another field: counted where it is raised
                yield from told(module, function, call, within, place=1)


def told(module, function, call, within, place, names=frozenset(), seen=frozenset()):  # noqa: PLR0913, PLR0917 - it walks
    """The reasons of one call whose argument at ``place`` is the code."""
    given = names | {keyword.arg for keyword in call.keywords if keyword.arg}
    code = call.args[place] if place < len(call.args) else None
    codes = constants(code, function)
    if codes:
        raising = [(module, function)]
        if any(isinstance(n, ast.Return) and n.value is call for n in ast.walk(function)):
            raising = [(other, caller) for other, caller, _ in callers(module, function, within)]
        for text in codes:
            for where, raised_in in raising:
                yield Reason(text, given, where, raised_in.name, call.lineno)
        return
    parameters = [argument.arg for argument in function.args.args]
    if not isinstance(code, ast.Name) or code.id not in parameters:
        raise UnknownReasonError(f"{module}:{call.lineno}")
    if (module, function.name) in seen:
        return  # it calls itself with what it was given: no reason of its own
    seen |= {(module, function.name)}
    bound = parameters[0] == "self"
    for caller_module, caller, further in callers(module, function, within):
        place = parameters.index(code.id) - bound
        yield from told(caller_module, caller, further, within, place, given, seen)


def callers(module, function, within):
    """(module, enclosing function, call) of every call of a function, told apart by imports."""
    for other in within:
        if other == module or module in imports(other):
            for caller, call in calls(other):
                if named(call) == function.name:
                    yield other, caller, call
