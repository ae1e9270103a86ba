"""A calculator alone, for frames on other sites: ``/embed/NAME/`` and ``/zh/embed/NAME/``.

The query of a shared link is that of a frame. The page needs no storage and no origin of its own,
so it also works under ``sandbox="allow-scripts"``, where the host of the site has to send
``Access-Control-Allow-Origin`` with its files: to a frame without an origin nothing is its own.
Such a page is for no index: its canonical address is the guide that explains the calculator.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from html import escape
from typing import Final

from calculators import labels as label_files
from calculators.registry import MODULES
from calculators.show.labels import LANGUAGES, Language
from scripts.paths import DOCS
from scripts.site import runtime
from scripts.site.fences import calculator_html
from scripts.site.pages import FIRST, FOLDERS, finished

FENCE: Final = re.compile(r"^```calculator\n([\w-]+)", re.MULTILINE)
WHOLE: Final = {"en": "The guide to it: {title}", "zh": "它的指南：{title}"}
NAMES: Final = {"en": "Critical Path", "zh": "关键路径"}
# The scheme of the reader's system, before anything is drawn; the policy names it by its hash.
SCHEME: Final = (
    'if (matchMedia("(prefers-color-scheme: dark)").matches) '
    'document.body.dataset.mdColorScheme = "slate";'
)


def pages(root: str, styles: Sequence[str]) -> Iterator[tuple[str, str]]:
    """``(path, HTML)`` of every calculator in both languages.

    ``root`` is the address of the English home page; ``styles`` are the theme's style sheets by
    their paths below it.
    """
    for name in MODULES:
        for lang in LANGUAGES:
            yield f"{FOLDERS[lang]}embed/{name}/index.html", page(name, lang, root, styles)


def page(name: str, lang: Language, root: str, styles: Sequence[str]) -> str:
    """The whole page of a calculator."""
    url = f"embed/{name}/"
    up = "../" * (FOLDERS[lang] + url).count("/")
    html = TEMPLATE.format(
        lang=lang,
        title=f"{escape(title(name, lang))} - {NAMES[lang]}",
        canonical=escape(f"{root}{FOLDERS[lang]}{home(name)}"),
        up=up,
        sheets="\n".join(
            f'      <link rel="stylesheet" href="{up}{sheet}">'
            for sheet in (*styles, f"assets/{runtime.current().style}")
        ),
        scheme=SCHEME,
        calculator=calculator_html(name, lang, level=2),
        guide=f"{up}{FOLDERS[lang]}{home(name)}#calc-{name}",
        whole=WHOLE[lang].format(title=NAMES[lang]),
        bridge=f"{up}assets/{runtime.current().bridge}",
    )
    framed = finished(html, root=root, url=url, lang=lang)
    # A frame without an origin may start no worker by address, only one that it wrote itself.
    return framed.replace("worker-src 'self'", "worker-src 'self' blob:", 1)


def title(name: str, lang: Language) -> str:
    """The calculator's title."""
    return label_files.load(name, lang).text("title")


@cache
def homes() -> dict[str, str]:
    """``{calculator: address of the first page that has it}``."""
    found: dict[str, str] = {}
    for path in sorted((DOCS / FIRST).rglob("*.md")):
        for name in FENCE.findall(path.read_text(encoding="utf-8")):
            found.setdefault(name, path.relative_to(DOCS / FIRST).with_suffix("").as_posix() + "/")
    return found


def home(name: str) -> str:
    """The address of a calculator's guide, below its language; "" is the home page."""
    return homes().get(name, "").removesuffix("index/")


TEMPLATE: Final = """<!doctype html>
<html lang="{lang}">
  <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width,initial-scale=1">
      <meta name="robots" content="noindex">
      <link rel="canonical" href="{canonical}">
      <link rel="icon" href="{up}assets/images/favicon.png">
      <title>{title}</title>
{sheets}
  </head>
  <body class="cp-embed" dir="ltr" data-md-color-scheme="default" data-md-color-primary="custom"
    data-md-color-accent="custom">
    <script>{scheme}</script>
    <main class="md-typeset">
      <h1 class="cp-hidden">{title}</h1>
{calculator}
      <p class="cp-embed-from"><a href="{guide}" target="_blank" rel="noopener">{whole}</a></p>
    </main>
    <script type="module" src="{bridge}"></script>
  </body>
</html>
"""
