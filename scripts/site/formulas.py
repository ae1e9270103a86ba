"""TeX to MathML at build time: formulas need no script and no font from elsewhere."""

from html import escape

from latex2mathml.converter import convert


def inline(tex: str) -> str:
    """A formula within a line."""
    return f'<span class="cp-math">{with_source(convert(tex.strip()), tex)}</span>'


def block(tex: str) -> str:
    """A formula on a line of its own, which scrolls where it does not fit."""
    math = with_source(convert(tex.strip(), display="block"), tex)
    label = escape(" ".join(tex.split()), quote=True)
    return f'<div class="cp-formula" role="group" aria-label="{label}" tabindex="0">{math}</div>'


def with_source(mathml: str, tex: str) -> str:
    """Keep the TeX with the formula, for those who copy it."""
    return mathml.replace(
        "<math ", f'<math alttext="{escape(" ".join(tex.split()), quote=True)}" ', 1
    )
