"""What the theme's script does on every view for nothing, and is kept from doing.

Pure text in, text out. Material is pinned; each place must be there exactly once, so that another
version of the theme fails the build instead of losing a change in silence.
"""

import re
from collections.abc import Iterator

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
# It gives each listing a button and then measures it, so that every listing costs one layout of the
# page; ``pages.with_copying`` writes the buttons.
LISTINGS = '"pre:not(.mermaid) > code"'
# It does all of its work in one task, which on a phone holds up the reader's first touch for half
# a second; here the script ends where its own parts begin. They follow when the page that they
# measure was drawn, each statement and each part of a page in a task of its own. What others want
# is there at once.
DRAWN = "requestAnimationFrame(()=>setTimeout(async()=>"
NEXT_TASK = "await new Promise(go=>setTimeout(go))"
START = re.compile(
    r"\w+\(\{alert\$:\w+\}\);\w+\(\{document\$:\w+\}\);"
    r'var \w+=new \w+,\w+=\w+\(\w+\.base\);V\("navigation\.instant"\)&&\w+\(\{.*'
    r";window\.document\$=(\w+);[^{}]*(?=\}\)\(\);)"
)
SEARCH = re.compile(r'(\w+)=document\.forms\.namedItem\("search"\)\?')
# The search starts a worker on every view; here at the event that starts its index.
LASTING = re.compile(
    r'(\w+)\((\.\.\.\w+\("consent"\)[^;]*?)(\.\.\.\w+\("search"\)\.map\(\w+=>\w+\(\w+,\{[^}]*\}\)\))'
    r',(\.\.\.\w+\("source"\)\.map\(\w+=>[\w$]+\(\w+\)\))\)'
)
# Links are followed within the document from the first sign of a reader on, which precedes a click.
INSTANT = "navigation.instant"
SIGNS = '["pointerover","keydown"]'
# Whether a name in the navigation is cut off is asked of each; ours are broken, not cut.
CUT_OFF = '".md-ellipsis"'
PARTS = re.compile(
    r'(\$s=(\w+)\(\(\)=>\w+\()(\.\.\.\w+\("announce"\).*?\}\)\))(\)\),\w+=\w+\.pipe\()'
)
VIEWPORT = re.compile(r"(\w+\(\[\w+\(\),\w+\(\)\]\))(\.pipe\(\w+\(\(\[\w+,\w+\]\)=>\(\{offset:)")
LATER = re.compile(r"([\w$]+)\((\w+)\)\.pipe\((\w+)\(\2\?400:100\)\)")
# Where a page takes another's place, every script in it is made anew without what says that it is
# data, and the links to other languages stay those of the page before.
SCRIPTS = re.compile(r'"script",\w+\)\)\.pipe')
DATA_TOO, NO_DATA = '"script",', "\"script:not([type='application/json'])\","
SKIP, SELECT = '"[data-md-component=skip]",', '".md-select",'
# Whether a browser can copy is asked twice, each time at the price of the style; all can.
COPYING = re.compile(r"\w+\.default\.isSupported\(\)&&(new \w+\(\w+=>\{new \w+\.default\()")
# The index is fetched, parsed, copied and indexed on every view; here once a reader turns to the
# search, at the event that ``main.html`` sends.
INDEX = re.compile(r',(\w+\(1\))\):(\w+\(new URL\("search/search_index\.json",\w+\.base\)\))')
FROM_EVENT = re.compile(r'(\w+)\(window,"contextmenu"\)')
TOKENS = re.compile(r""""[^"]*"|'[^']*'|`[^`]*`|[^\w\s]""")
SWITCH_MAP = re.compile(r'\.pipe\((\w+)\(\(\)=>\w+\("link\[rel=alternate\]"\)\)')


def quiet(code: str) -> str:
    """The theme's script without that work; ``LookupError`` where it is not as expected."""
    event, mapped = only(FROM_EVENT, code)[1], only(SWITCH_MAP, code)[1]
    fetched, addresses, copying = only(INDEX, code), only(ADDRESSES, code), only(COPYING, code)
    shared, request = fetched.groups()
    parts, later, viewport = only(PARTS, code), only(LATER, code), only(VIEWPORT, code)
    lasting = only(LASTING, code)
    merge, before, searching, after = lasting.groups()
    search_later = f"searched.pipe({mapped}(()=>{merge}({searching})))"
    turn = f"{later[1]}(part).pipe({later[3]}(1),{mapped}(part=>part))"
    waits = f',{shared}):{event}(window,"cp-search").pipe({mapped}(()=>{request}),{shared})'
    replaced = {
        fetched[0]: waits,
        ALTERNATES: SITEMAP,
        SWITCHING: "void 0",
        only(STATING, code)[2]: "void 0",
        LISTINGS: NONE,
        copying[0]: copying[1],
        viewport[0]: f"{parts[2]}(()=>{viewport[1]}){viewport[2]}",
        parts[0]: f"{parts[1]}...[{parts[3]}].map(part=>{turn}){parts[4]}",
        lasting[0]: f"{merge}(...[{before}{after}].map(part=>{turn}),{search_later})",
        CUT_OFF: NONE,
        only(SCRIPTS, code)[0]: only(SCRIPTS, code)[0].replace(DATA_TOO, NO_DATA),
        SKIP: SKIP + SELECT,
        TABLES: NONE,
        addresses[0]: f'addEventListener("click",()=>{addresses[1]}(document),{ONCE})',
    }
    for old, new in replaced.items():
        only(re.compile(re.escape(old)), code)
        code = code.replace(old, new)
    start, search = only(START, code), only(SEARCH, code)[1]
    listens = f'var searched={event}(window,"cp-search").pipe({shared})'
    early = f"{listens};searched.subscribe();{search}.subscribe();window.document$={start[1]}"
    late = ";".join(map(in_turn, statements(start[0])))
    return code.replace(start[0], f"{early};{DRAWN}{{{late}}}))")


def in_turn(statement: str) -> str:
    """A statement that waits for its turn: for a task of its own, or for the reader."""
    if INSTANT in statement:
        forget = f"{SIGNS}.forEach(sign=>removeEventListener(sign,go))"
        listen = f"{SIGNS}.forEach(sign=>addEventListener(sign,go))"
        return f"let go=()=>{{{forget};{statement}}};{listen}"
    return f"{NEXT_TASK};{statement}" if "(" in statement else statement


def statements(code: str) -> Iterator[str]:
    """The statements of a body, a declaration of several names as several.

    Only what this body has is understood: strings without escapes, no comments, no patterns.
    """
    for statement in split(code, ";"):
        if statement.startswith("var "):
            yield from (f"var {name}" for name in split(statement[len("var ") :], ","))
        else:
            yield statement


def split(code: str, sign: str) -> Iterator[str]:
    """What stands between signs that are in no bracket and no string; nothing that is empty."""
    depth = begin = 0
    for token in TOKENS.finditer(code):
        depth += (token[0] in "([{") - (token[0] in ")]}")
        if token[0] == sign and not depth:
            yield code[begin : token.start()]
            begin = token.end()
    if code[begin:]:
        yield code[begin:]


def only(pattern: re.Pattern[str], code: str) -> re.Match[str]:
    """The one place of a pattern."""
    found = list(pattern.finditer(code))
    if len(found) != 1:
        raise LookupError(f"{pattern.pattern} is {len(found)} times in the script: see the theme")
    return found[0]
