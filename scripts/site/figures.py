"""Hand-drawn figures: an SVG with placeholders and a TOML with its words in both languages.

``docs/figures/NAME.svg`` holds ``{key}`` where a word stands; ``NAME.toml`` has ``title``, ``alt``
and every key. The drawing stands in the page itself, so that it follows the colours of the scheme.
"""

import re
import tomllib
from html import escape

from calculators.show.labels import Language, flatten
from scripts.paths import FIGURES

PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_.]*)\}")


def figure(name: str, lang: Language) -> str:
    """The figure of a name with caption and text alternative."""
    path = FIGURES / f"{name}.svg"
    if not path.exists():
        raise LookupError(f"there is no figure {name}")
    words = flatten(tomllib.loads(path.with_suffix(".toml").read_text(encoding="utf-8")), lang)
    drawing = PLACEHOLDER.sub(lambda m: escape(words[m[1]]), path.read_text(encoding="utf-8"))
    unused = (
        set(words) - {"title", "alt"} - set(PLACEHOLDER.findall(path.read_text(encoding="utf-8")))
    )
    if unused:
        raise LookupError(f"figure {name}: words that the drawing does not use: {sorted(unused)}")
    svg = drawing[drawing.index("<svg") :].replace("<svg ", '<svg aria-hidden="true" ', 1)
    return (
        f'<figure class="cp-figure" id="figure-{name}">'
        f'<div class="cp-scroll" role="img" aria-label="{escape(words["alt"], quote=True)}" '
        f'tabindex="0">{svg}</div>'
        f"<figcaption>{escape(words['title'])}</figcaption></figure>"
    )
