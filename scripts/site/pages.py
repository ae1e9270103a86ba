"""The last touch on a page: addresses of its twin in the other language, and its security policy.

Pure text in, text out; ``hooks`` alone knows MkDocs.
"""

import base64
import hashlib
import re
from html import escape
from itertools import count

from scripts.site.lines import unbroken

ALTERNATE = re.compile(r'\s*<link rel="alternate" href="[^"]*" hreflang="[^"]*">')
SWITCHER = re.compile(r'<a href="[^"]*" hreflang="(\w+)" class="md-select')
ALIGNED = re.compile(r' style="text-align: (left|right|center);"')
TABLE = re.compile(r"^<table>\n.*?^</table>", re.DOTALL | re.MULTILINE)
SCROLLER = r'<div class="md-typeset__scrollwrap"><div class="md-typeset__table">\g<0></div></div>'
LISTING = re.compile(r'<pre(?: tabindex="0")?>(?:<span></span>)?<code>')
COPY_NAMES = {"en": "Copy to clipboard", "zh": "复制"}
# The theme looks in each page for tabs that a link opens; this site has none, and where a page
# takes another's place the policy of the first would refuse the script.
TABBED = re.compile(r"<script>var target=document\.getElementById\(location\.hash.*?</script>")
INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
CHARSET = '<meta charset="utf-8">'


FIRST = "en"
SEARCH = 'data-md-component="search" role="dialog"'  # the theme gives it no name
SEARCH_NAMES = {"en": "Search", "zh": "搜索"}
FOLDERS = {"en": "", "zh": "zh/"}


def finished(html: str, *, root: str, url: str, lang: str) -> str:
    """The page with absolute ``hreflang``, a switcher that keeps the page, and a strict policy.

    ``root`` is the address of the English home page, ``url`` the page below its language.
    """
    addresses = {code: f"{root}{folder}{url}" for code, folder in FOLDERS.items()}
    addresses["x-default"] = addresses[FIRST]
    linked = with_switcher(with_alternates(html, addresses), url=url, lang=lang)
    linked = TABBED.sub("", with_named_search(linked, lang))
    # Markdown aligns table cells by inline style, which the policy forbids.
    aligned = ALIGNED.sub(r' class="cp-\1"', linked)
    return with_policy(with_scrollers(with_copying(unbroken(aligned), COPY_NAMES[lang])))


def with_named_search(html: str, lang: str) -> str:
    """Give the dialog of the search a name for those who hear the page."""
    return html.replace(SEARCH, f'{SEARCH} aria-label="{SEARCH_NAMES[lang]}"')


def with_copying(html: str, name: str) -> str:
    """Let listings scroll by the keyboard, and write the button that the theme's script listens to.

    The script would make it, and measure the page between one listing and the next.
    """
    numbers = count()

    def listing(_: re.Match[str]) -> str:
        ident = f"__code_{next(numbers)}"
        return (
            f'<pre id="{ident}"><span class="md-code__nav"><button type="button" '
            f'class="md-code__button" title="{name}" data-clipboard-target="#{ident} > code" '
            f'data-md-type="copy"></button></span><code tabindex="0">'
        )

    return LISTING.sub(listing, html)


def with_scrollers(html: str) -> str:
    """Let tables of the text scroll by themselves, also before and without any script."""
    return TABLE.sub(SCROLLER, html)


def with_switcher(html: str, *, url: str, lang: str) -> str:
    """Point the theme's language links at the twin of the page, relative, for any sub-path."""
    up = "../" * (url + FOLDERS[lang]).count("/")
    return SWITCHER.sub(
        lambda m: (
            f'<a href="{up + FOLDERS[m[1]] + url or "./"}" hreflang="{m[1]}" class="md-select'
        ),
        html,
    )


def with_alternates(html: str, alternates: dict[str, str]) -> str:
    """Replace the theme's relative links by absolute ones, by language."""
    links = "".join(
        f'\n      <link rel="alternate" href="{escape(url)}" hreflang="{lang}">'
        for lang, url in alternates.items()
    )
    bare = ALTERNATE.sub("", html)
    return bare.replace('<link rel="icon"', f'{links.strip()}\n      <link rel="icon"', 1)


def with_policy(html: str) -> str:
    """Allow this page's own inline scripts by hash, files of this site, and nothing else."""
    hashes = {script_hash(match[1]) for match in INLINE_SCRIPT.finditer(html)}
    scripts = " ".join(["'self'", "'wasm-unsafe-eval'", *sorted(f"'{h}'" for h in hashes)])
    policy = (
        f"default-src 'none'; script-src {scripts}; style-src 'self'; img-src 'self' data:; "
        "font-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'; "
        "base-uri 'self'; form-action 'self'"
    )
    tag = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    return html.replace(CHARSET, f"{CHARSET}\n      {tag}", 1)


def script_hash(script: str) -> str:
    """The hash by which a policy names an inline script."""
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"
