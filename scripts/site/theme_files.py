"""The theme's scripts that are mended, under names of their own.

A name with a hash is kept by browsers for a year, so what is changed after the theme gave the name
needs another. The source maps belong to what the theme wrote and are not published.
"""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

from scripts.cache import write_whole
from scripts.site.search_script import with_han_words
from scripts.site.theme_script import quiet

TEMPLATES: Final = Path(str(files("material"))) / "templates"
HASH: Final = re.compile(r"\.[0-9a-f]{8}\.")
MAP: Final = re.compile(r"\n//# sourceMappingURL=\S+\s*$")
MENDED: Final[dict[str, Callable[[str], str]]] = {
    "assets/javascripts/bundle.*.min.js": quiet,
    "assets/javascripts/workers/search.*.min.js": with_han_words,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Script:
    """A script of the theme: where it lies, how it is called afterwards, what is in it."""

    path: str
    name: str
    text: str

    def write(self, site: Path) -> None:
        """Put it into a built site in the place of the theme's own."""
        old = site / self.path
        write_whole(old.with_name(self.name), self.text.encode())
        old.unlink(missing_ok=True)
        old.with_name(f"{old.name}.map").unlink(missing_ok=True)


@cache
def scripts() -> tuple[Script, ...]:
    """Both scripts as they are published."""
    return tuple(script(pattern, mend) for pattern, mend in MENDED.items())


def script(pattern: str, mend: Callable[[str], str]) -> Script:
    """The one script of the installed theme that fits, mended."""
    [old] = TEMPLATES.glob(pattern)
    text = MAP.sub("\n", mend(old.read_text(encoding="utf-8")))
    mark = hashlib.sha256(text.encode()).hexdigest()[:8]
    name = HASH.sub(f".{mark}.", old.name)
    return Script(path=old.relative_to(TEMPLATES).as_posix(), name=name, text=text)


def searching(langs: Sequence[str]) -> list[str]:
    """What a search fetches, below the root of a language whose index is in these languages."""
    worker = next(one for one in scripts() if "/workers/" in one.path)
    other = [lang for lang in langs if lang != "en"]
    parts = ["stemmer.support", *other, *(["multi"] if len(langs) > 1 else [])] if other else []
    return [
        "search/search_index.json",
        f"{worker.path.rpartition('/')[0]}/{worker.name}",
        *(f"assets/javascripts/lunr/min/lunr.{part}.min.js" for part in parts),
    ]


def with_names(html: str) -> str:
    """A page that asks for the scripts by their names."""
    for one in scripts():
        html = html.replace(one.path.rpartition("/")[2], one.name)
    return html
