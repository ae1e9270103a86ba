"""What a page says of itself: how to cite it, when it last changed, and its picture for links.

Dates are those of the last commit that touched the page's source. A copy without its history has
none, and then nothing is said.
"""

import subprocess
from functools import cache
from typing import Any, Final

from calculators.show.labels import Language
from scripts.paths import ROOT
from scripts.site import cards
from scripts.site.archive_cite import NAME, in_tex
from scripts.site.pages import FOLDERS

WORDS: Final = {
    "en": {
        "cite": "Cite this page",
        "text": "Text",
        "bibtex": "BibTeX",
        "changed": "Last changed",
        "log": "what changed",
        "site": "Critical Path",
        "version": "version of",
        "locale": "en_US",
    },
    "zh": {
        "cite": "引用本页",
        "text": "文本",
        "bibtex": "BibTeX",
        "changed": "最后修改",
        "log": "改了什么",
        "site": "关键路径（Critical Path）",
        "version": "版本",
        "locale": "zh_CN",
    },
}


def about(*, title: str, source: str, url: str, lang: Language, root: str) -> dict[str, Any]:
    """What the template shows of a page.

    ``source`` is the page's file below the folder of its language, ``url`` its address there,
    ``root`` the address of the English home page.
    """
    words, changed = WORDS[lang], dates().get(f"docs/{lang}/{source}", "")
    address = f"{root}{FOLDERS[lang]}{url}"
    return {
        "words": words,
        "changed": changed,
        "place": source.removesuffix(".md"),  # of its entry in the changelog
        "image": f"{root}{cards.address(url, lang)}",
        "text": text(title, address, changed, lang),
        "bibtex": bibtex(title, address, changed, key=f"{url.strip('/') or 'home'}-{lang}"),
    }


def text(title: str, address: str, changed: str, lang: Language) -> str:
    """One line that names a page and the version that was read."""
    site, version = WORDS[lang]["site"], WORDS[lang]["version"]
    if lang == "zh":
        read = f"，{version} {changed}" if changed else ""
        return f"{site}：《{title}》{read}。{address}"
    read = f", {version} {changed}" if changed else ""
    return f"{site}, “{title}”{read}. {address}"


def bibtex(title: str, address: str, changed: str, *, key: str) -> str:
    """The same as an entry of BibTeX."""
    fields = {
        "author": f"{{{NAME}}}",
        "title": f"{{{in_tex(title)}}}",
        "howpublished": rf"\url{{{address}}}",
    }
    if changed:
        year, month, _ = changed.split("-")
        fields |= {"year": year, "month": str(int(month)), "note": f"Version of {changed}"}
    body = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return f"@misc{{critical-path-{key.replace('/', '-')},\n{body}\n}}"


@cache
def dates() -> dict[str, str]:
    """``{path: date of its last commit}`` of the pages' sources; empty without a history."""
    command = [
        "git",
        "-c",
        "core.quotepath=off",
        "log",
        "--format=@%cs",
        "--name-only",
        "--",
        "docs",
    ]
    try:
        asked = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return {}
    found: dict[str, str] = {}
    day = ""
    for line in asked.stdout.decode("utf-8", errors="replace").splitlines():
        if line.startswith("@"):
            day = line[1:]
        elif line:
            found.setdefault(line, day)
    return found
