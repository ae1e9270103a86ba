"""Arithmetic within a line, computed at build: ``(500 + 99 * 20) / 100 in ms:1`` → 24.8 ms.

Whole numbers and decimals, ``+ - * / // %``, parentheses, ``min``, ``max``, ``floor`` and
``ceil``, exact as fractions. For steps that a reader does by hand; what a model computes comes from
a calculator. Whatever else stands in an expression raises ValueError, and the build fails.
"""

import ast
import math
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from html import escape
from typing import Final

from calculators.show.quantity import Exact, Quantity, machine_text

BINARY: Final[Mapping[type[ast.operator], Callable[[Exact, Exact], Exact]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
FUNCTIONS: Final[Mapping[str, Callable[..., Exact]]] = {
    "min": min,
    "max": max,
    "floor": math.floor,
    "ceil": math.ceil,
}


def quantity(source: str) -> Quantity:
    """The value of ``EXPRESSION [in UNIT[:DIGITS]]``."""
    expression, _, unit = source.partition(" in ")
    name, _, digits = unit.strip().partition(":")
    value = evaluated(ast.parse(expression.strip(), mode="eval").body)
    return Quantity(value, name, int(digits) if digits else None)


def sum_html(source: str, shown: str) -> str:
    """A result in running text, marked as computed; its title is the arithmetic."""
    expression = source.partition(" in ")[0].strip().replace("*", "×")
    value = escape(machine_text(quantity(source).value), quote=True)
    title = escape(expression, quote=True)
    return f'<data class="cp-computed" value="{value}" title="{title}">{escape(shown)}</data>'


def evaluated(node: ast.expr) -> Exact:
    """The exact value of one part of an expression."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return Fraction(repr(number))
        case ast.UnaryOp(op=ast.USub(), operand=part):
            return -evaluated(part)
        case ast.BinOp(left=left, op=how, right=right) if type(how) in BINARY:
            return BINARY[type(how)](evaluated(left), evaluated(right))
        case ast.Call(func=ast.Name(id=name), args=parts, keywords=[]) if name in FUNCTIONS:
            return FUNCTIONS[name](*map(evaluated, parts))
        case _:
            raise ValueError(f"no arithmetic: {ast.unparse(node)}")
