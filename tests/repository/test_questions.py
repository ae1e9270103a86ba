"""Every question that readers ask has its place: an anchor in both languages, under their words."""

import json
import re
from collections import Counter
from functools import cache

import pytest
from page_skeleton import HEADING

from scripts.paths import DATA, DOCS

QUESTIONS = json.loads((DATA / "questions.json").read_text(encoding="utf-8"))
LANGUAGES = ("en", "zh")
GUIDES = ("latency", "kv-cache", "radix-attention", "lmcache", "scheduling")
FENCE = re.compile(r"^ *```")
# Who is spoken of: an engine, a tool, or a layer that has versions.
NAMED = re.compile(
    r"vLLM|SGLang|TensorRT|llama\.cpp|LMCache|HiCache|Mooncake|Dynamo|guidellm|AIPerf|llmperf|"
    r"inference-perf|genai-bench|Vidur|evalscope|inference-sim|InferenceX|llm-d|kaito|lmdeploy|"
    r"transformers|hf-mem|Sarathi|DistServe|CacheBlend|DeepSeek|gptme|opencode|PyTorch",
    re.IGNORECASE,
)
# Where and when: a thread, a pull request, a release, a commit, a paper, or a footnote to one.
DATED = re.compile(
    r"/issues/\d+|/pull/\d+|/(blob|tree|commit)/\w|\bv?\d+\.\d+|\bv[01]\b|"
    r"arxiv|\[\^[\w-]+\]"
)
# Questions whose answer is the same in every engine: definitions, arithmetic, statistics.
EVERYWHERE = {
    "latency#tpot-itl", "latency#goodput", "latency#p99-samples", "kv-cache#bytes-per-token",
    "kv-cache#gib-gb", "kv-cache#same-answers", "lmcache#fair-benefit",
}  # fmt: skip


def at(question):
    """The name of a case."""
    return question["at"]


@cache
def sections(page, lang):
    """``{anchor: heading and text}`` of a page; a section holds those below it."""
    found, open_ones, fenced = {}, [], False
    for line in (DOCS / lang / f"{page}.md").read_text(encoding="utf-8").splitlines():
        fenced ^= bool(FENCE.match(line))
        heading = None if fenced else HEADING.match(line)
        if heading:
            level = len(heading["marks"])
            open_ones = [(lev, name) for lev, name in open_ones if lev < level]
            open_ones.append((level, heading["anchor"]))
            found[heading["anchor"]] = []
        for _, name in open_ones:
            found[name].append(line)
    return {name: "\n".join(lines) for name, lines in found.items()}


def section(question, lang):
    """The text that answers a question."""
    page, _, anchor = question["at"].partition("#")
    assert anchor in sections(page, lang), f"{lang}: no #{anchor} on {page}"
    return sections(page, lang)[anchor]


def squeezed(text):
    """Text as a search compares it: no case, no spaces or hyphens, no marks of emphasis or code."""
    return re.sub(r"[\s`*_-]+", "", text).lower()


def test_the_map_is_whole():
    """The map has as many questions for each guide, every place once, every wording once."""
    pages = Counter(at(question).partition("#")[0] for question in QUESTIONS)

    assert dict.fromkeys(GUIDES, 19) == pages
    assert max(Counter(map(at, QUESTIONS)).values()) == 1
    for lang in LANGUAGES:
        assert max(Counter(question[lang] for question in QUESTIONS).values()) == 1


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("question", QUESTIONS, ids=at)
def test_the_words_of_a_search(question, lang):
    """The section of a question stands on its page and has the words that a reader searches."""
    text = squeezed(section(question, lang))

    assert [word for word in question["find"][lang] if squeezed(word) not in text] == []


@pytest.mark.parametrize("question", QUESTIONS, ids=at)
def test_an_answer_says_whose_and_which(question):
    """An answer names the engine or tool it speaks of and a version, thread, paper or source."""
    text = section(question, "en")
    if at(question) in EVERYWHERE:
        pytest.skip("the same in every engine")

    assert NAMED.search(text)
    assert DATED.search(text)


@pytest.mark.parametrize("question", QUESTIONS, ids=at)
def test_the_heading_is_a_question_in_both_languages(question):
    """A section that answers a question has a heading that asks, in both languages, or neither."""
    english, chinese = (section(question, lang).splitlines()[0] for lang in LANGUAGES)

    assert ("?" in english) == ("？" in chinese)
