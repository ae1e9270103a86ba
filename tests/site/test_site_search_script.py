"""A Chinese query is cut along the words of the index, whole."""

import json
import shutil
import subprocess
from pathlib import Path

import material
import pytest

from scripts.site.search_script import WORDS, with_han_words

[WORKER] = Path(material.__file__).parent.glob(
    "templates/assets/javascripts/workers/search.*.min.js"
)
CODE = WORKER.read_text(encoding="utf-8")
INDEX = ["前缀", "命中", "命中率", "没", "没有", "为什么", "缓存", "首", "空闲", "队列", "请求"]


def cut(run: str) -> str:
    """The words that the script asks the index for."""
    script = f"console.log(({WORDS.read_text()})({json.dumps(run)}, {json.dumps(index())}))"
    ran = subprocess.run(["node", "-e", script], capture_output=True, text=True, check=True)
    return ran.stdout.rstrip("\n")


def index() -> dict[str, object]:
    """A vocabulary as the search holds it: words are keys."""
    return {word: {} for word in INDEX}


@pytest.mark.skipif(shutil.which("node") is None, reason="no Node")
@pytest.mark.parametrize(
    ("run", "words"),
    [
        pytest.param("空闲队列", "空闲 队列", id="the last word is not left out"),
        pytest.param("缓存命中率", "缓存 命中率", id="longer words first"),
        pytest.param("前缀嗯命中", "前缀 命中", id="what is in no index ends nothing"),
        pytest.param("为什么前缀没有命中", "前缀 命中", id="words that only ask"),
        pytest.param("为什么没有", "为什么 没有", id="nothing else is asked"),
        pytest.param("首请求", "首^1 请求", id="a single character stands for itself"),
        pytest.param("龘", "龘", id="no word at all"),
    ],
)
def test_cutting(run, words):
    """A run becomes the words that are known, in their order."""
    assert words == cut(run)


def test_the_pinned_theme_is_as_expected():
    """The theme's own cutting is in its script once, and is gone afterwards."""
    mended = with_han_words(CODE)

    assert CODE != mended
    assert 1 == mended.count("const ASKING")
    with pytest.raises(LookupError):
        with_han_words(mended)
