"""Chinese copy keeps one set of rules, on the pages and in everything a program says."""

import tomllib

import pytest
from chinese_copy import problems

from scripts.paths import CALCULATORS, DOCS, FIGURES, ROOT

PAGES = [*sorted((DOCS / "zh").rglob("*.md")), ROOT / "README.zh.md"]
WORDINGS = [
    *sorted((CALCULATORS / "labels").glob("*.toml")),
    *sorted((ROOT / "scripts" / "site").glob("*.toml")),
    *sorted(FIGURES.glob("*.toml")),
]


def name(path):
    """A file by its path in the repository."""
    return path.relative_to(ROOT).as_posix()


def chinese(tree, path=()):
    """``(key, wording)`` of every Chinese wording of a file."""
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from chinese(value, (*path, key))
        elif key == "zh":
            yield ".".join(path), value


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_pages(page):
    """No page breaks a rule of Chinese copy."""
    assert problems(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", WORDINGS, ids=name)
def test_wordings(path):
    """No label, message or caption breaks one."""
    found = {
        key: faults
        for key, text in chinese(tomllib.loads(path.read_text(encoding="utf-8")))
        if (faults := problems(text))
    }

    assert found == {}


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        pytest.param("显存是24 GB", "显存是 24 GB", id="Han and digits"),
        pytest.param("用 vLLM,再重启", "用 vLLM，再重启", id="comma"),
        pytest.param("所谓 “慢” 的", "所谓“慢”的", id="quotation marks"),
        pytest.param("看`x` 的值", "看 `x` 的值", id="code"),
        pytest.param("这个（慢） ，对", "这个（慢），对", id="space before a comma"),
        pytest.param("块(按页取整)", "块（按页取整）", id="brackets"),
        pytest.param("占 70 % 的时间", "占 70% 的时间", id="percent"),
        pytest.param("共 10GiB", "共 10 GiB", id="unit"),
        pytest.param("等等...", "等等……", id="ellipsis"),
        pytest.param("真的？！", "真的？", id="two marks"),
    ],
)
def test_each_rule_is_kept(wrong, right):
    """Each rule sees its fault and is silent about what should be written."""
    assert problems(wrong)
    assert problems(right) == []


def test_what_is_left_alone():
    """Code, fences, addresses, formulas and anchors are no copy."""
    lines = "## 题 {#t}", "见 [文档](http://a.b/(x)?y=1)。", "```", "显存,24GB", "```", "值 `a,b`。"

    assert problems("\n".join(lines)) == []
