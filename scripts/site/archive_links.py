"""Addresses within generated HTML: a fence does not know the page that it stands on.

A fence writes ``href="site:/archive/x"`` for a file at the root of the site and
``href="here:/measurements/x/"`` for a page of the same language; once a page is whole, both become
relative, so that the site works below any path.
"""

import re

DEPTH = {"en": 0, "zh": 1}  # folders between the site's root and the language's
PLACE = re.compile(r'href="(site|here):/([^"]*)"')


def resolved(html: str, *, url: str, lang: str) -> str:
    """The page with relative addresses. ``url`` is the page's below its language."""
    below = url.count("/")

    def relative(match: re.Match[str]) -> str:
        up = below + (DEPTH[lang] if match[1] == "site" else 0)
        return f'href="{"../" * up}{match[2]}"'

    return PLACE.sub(relative, html)


def site(path: str) -> str:
    """A link to a file at the root."""
    return f"site:/{path}"


def here(path: str) -> str:
    """A link to a page of the same language."""
    return f"here:/{path}"
