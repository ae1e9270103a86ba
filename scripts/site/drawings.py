"""Puts the drawn SVG into the plots of an answer at build time."""

import json
import re
from typing import Any

from scripts.cache import cached, digest

PLOT = re.compile(
    r'(<div class="cp-canvas"[^>]*>)(</div>'
    r'<script type="application/json" class="cp-spec">)(.*?)(</script>)',
    re.DOTALL,
)


def draw_plots(answer: str) -> str:
    """The answer with every empty canvas filled."""
    return PLOT.sub(lambda m: m[1] + svg(json.loads(m[3])) + m[2] + m[3] + m[4], answer)


def svg(specification: dict[str, Any]) -> str:
    """One plot as SVG, from the cache where its specification is unchanged."""
    text = json.dumps(specification, sort_keys=True)
    return cached("plots", digest(text), lambda: drawn(specification)).decode()


def drawn(specification: dict[str, Any]) -> bytes:
    """One plot, drawn by the same library as in the browser."""
    import vl_convert  # noqa: PLC0415 - starting it takes a second, and most builds find the cache

    text = vl_convert.vegalite_to_svg(specification, vl_version="6.4")
    return accessible(text).encode()


def accessible(text: str) -> str:
    """The canvas names the plot; its inner marks are not read out one by one."""
    return text.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1)
