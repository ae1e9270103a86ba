"""What the theme's script does on every view for nothing, and is kept from doing.

Pure text in, text out. Material is pinned; each place must be there exactly once, so that another
version of the theme fails the build instead of losing a change in silence.
"""

import re

# Material takes ``hreflang`` addresses for the roots of other languages; ours name the very page,
# as search engines want it, so each view would ask for three files that do not exist.
ALTERNATES = '"link[rel=alternate]"'
SITEMAP = '"link[rel=sitemap]"'
# While it starts, the theme forbids transitions to every element and allows them again: twice the
# style of the whole document, on each view, for the moment in which a reader switches schemes.
SWITCHING = 'document.body.setAttribute("data-md-color-switching","")'
# It states the scheme of the document in its head, once more at the price of the whole style;
# ``site.css`` says it.
STATING = re.compile(
    r'(\w+)=x\("meta",\{name:"color-scheme"\}\);(document\.head\.appendChild\(\1\))'
)
# It makes every address absolute for navigation within the document, among them those of the style
# sheets, which are then read and applied once more; here at the first click.
ADDRESSES = re.compile(r"\$\(document\)\.subscribe\((\w+)\)")
ONCE = "{once:!0,capture:!0}"
# It wraps tables into scrollers; ``pages.finished`` does.
TABLES, NONE = '"table:not([class])"', '"cp-none"'
# It measures every listing, also those within answers that need not be laid out yet.
LISTINGS, FEWER = '"pre:not(.mermaid) > code"', '"pre:not(.mermaid):not(.cp-code) > code"'
# The index is fetched, parsed, copied and indexed on every view; here once a reader turns to the
# search, at the event that ``main.html`` sends.
INDEX = re.compile(r',(\w+\(1\))\):(\w+\(new URL\("search/search_index\.json",\w+\.base\)\))')
FROM_EVENT = re.compile(r'(\w+)\(window,"contextmenu"\)')
SWITCH_MAP = re.compile(r'\.pipe\((\w+)\(\(\)=>\w+\("link\[rel=alternate\]"\)\)')


def quiet(code: str) -> str:
    """The theme's script without that work; ``LookupError`` where it is not as expected."""
    event, mapped = only(FROM_EVENT, code)[1], only(SWITCH_MAP, code)[1]
    fetched, addresses = only(INDEX, code), only(ADDRESSES, code)
    shared, request = fetched.groups()
    waits = f',{shared}):{event}(window,"cp-search").pipe({mapped}(()=>{request}),{shared})'
    replaced = {
        fetched[0]: waits,
        ALTERNATES: SITEMAP,
        SWITCHING: "void 0",
        only(STATING, code)[2]: "void 0",
        LISTINGS: FEWER,
        TABLES: NONE,
        addresses[0]: f'addEventListener("click",()=>{addresses[1]}(document),{ONCE})',
    }
    for old, new in replaced.items():
        only(re.compile(re.escape(old)), code)
        code = code.replace(old, new)
    return code


def only(pattern: re.Pattern[str], code: str) -> re.Match[str]:
    """The one place of a pattern."""
    found = list(pattern.finditer(code))
    if len(found) != 1:
        raise LookupError(f"{pattern.pattern} is {len(found)} times in the script: see the theme")
    return found[0]
