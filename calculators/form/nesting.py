"""How deep the brackets of a JSON text nest, found without a parser that recurses.

In the browser a few thousand open brackets end the interpreter (``json`` runs out of the stack
of WebAssembly, which raises nothing in Python), so depth is looked at before a text is parsed.
"""

import re

DEEPEST = 200  # no config or result file known nests deeper than a dozen
# A string that never ends takes the rest of the text: it is looked at once, not from each quote.
PARTS = re.compile(r'"(?:[^"\\]+|\\.?)*+"?|([\[{])|([\]}])', re.DOTALL)


def nests_deeper(text: str, limit: int = DEEPEST) -> bool:
    """Whether more than ``limit`` brackets outside strings are open at once."""
    if text.count("[") + text.count("{") <= limit:
        return False
    depth = 0
    for part in PARTS.finditer(text):
        if part[1]:
            depth += 1
            if depth > limit:
                return True
        elif part[2]:
            depth -= 1
    return False
