"""How the theme's search cuts what a reader types in Chinese, mended.

Pure text in, text out. The theme leaves out the last word of each run of characters, stops at the
first character that begins no word of the index, and then counts words as not found that were.
``han_words.js`` takes its place. Material is pinned; each place must be there exactly once.
"""

import re
from pathlib import Path
from typing import Final

from scripts.site.theme_script import only

WORDS: Final = Path(__file__).with_name("han_words.js")
CUTTING: Final = re.compile(
    r'\w+=>\[\.\.\.\w+\(\w+,(this\.index\.invertedIndex)\)\]\.join\("\* "\)'
)
COMMENT: Final = re.compile(r"(?m)^ *//.*\n")


def with_han_words(code: str) -> str:
    """The search worker's script with our cutting; ``LookupError`` where it is not as expected."""
    cut = only(CUTTING, code)
    words = COMMENT.sub("", WORDS.read_text(encoding="utf-8")).strip()
    return code.replace(cut[0], f'run=>" "+({words})(run,{cut[1]})+" "')
