"""The search of each language finds the page for the questions that are asked most."""

import json
import re

import pytest
from playwright.sync_api import TimeoutError, expect  # noqa: A004 - Playwright's name

from scripts.paths import DATA
from tests.browser.conftest import LANGUAGES, SITE, Heard

pytestmark = pytest.mark.browser

ROUGHLY = 5  # pages, for a question with all its words
AMONG = 3  # the page is among the first pages found
LONGEST_MS = 3_000  # of a search that finds nothing
# What a reader types, and the page that answers; for each language the twenty likeliest
# and some more terms.
ASKED = {
    "en": [
        ("bytes per token", "kv-cache"), ("TPOT ITL", "latency"),
        ("hit rate zero", "radix-attention"),
        ("cold start", "latency"), ("cache salt", "radix-attention"),
        ("external cache TTFT worse", "lmcache"), ("HiCache", "lmcache"),
        ("P/D slower", "scheduling"), ("TTFT concurrency queueing", "latency"),
        ("first token event", "latency"), ("gpu_memory_utilization", "kv-cache"),
        ("maximum concurrency", "kv-cache"), ("max_model_len", "kv-cache"), ("FP8", "kv-cache"),
        ("preemption victim", "scheduling"), ("max_num_batched_tokens", "scheduling"),
        ("routing hot worker", "radix-attention"), ("goodput denominator", "latency"),
        ("sliding window", "kv-cache"), ("long prompt stalls", "scheduling"),
        ("tensor_parallel_size", "kv-cache"), ("cache_salt", "radix-attention"),
    ],
    "zh": [
        ("每个 token 多少字节", "kv-cache"), ("TPOT ITL", "latency"),
        ("命中率 零", "radix-attention"),
        ("首个请求 慢", "latency"), ("租户 salt", "radix-attention"), ("外部缓存", "lmcache"),
        ("HiCache", "lmcache"), ("PD 分离", "scheduling"), ("并发 排队", "latency"),
        ("首 token 事件", "latency"), ("gpu_memory_utilization", "kv-cache"),
        ("maximum concurrency", "kv-cache"), ("max_model_len", "kv-cache"), ("FP8", "kv-cache"),
        ("抢占", "scheduling"), ("max_num_batched_tokens", "scheduling"),
        ("缓存热的实例", "radix-attention"), ("达标吞吐", "latency"), ("滑动窗口", "kv-cache"),
        ("长 prompt", "scheduling"), ("冷启动", "latency"), ("显存 占满", "kv-cache"),
        ("P/D 分离", "scheduling"), ("分块 prefill", "scheduling"), ("淘汰", "radix-attention"),
        ("mem_fraction_static", "kv-cache"), ("RadixAttention", "radix-attention"),
        ("LMCache", "lmcache"), ("cache_salt", "radix-attention"),
        ("前缀没命中", "radix-attention"), ("空闲队列", "radix-attention"),
        ("缓存命中率低", "radix-attention"), ("外部缓存变慢", "lmcache"),
        ("分块预填充", "scheduling"), ("一个 token 占多少显存", "kv-cache"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_likeliest_questions(fresh, base, lang):
    """Each of the twenty likeliest questions leads to its page, in the reader's language."""
    fresh.goto(f"{base}{LANGUAGES[lang]}")
    fresh.locator('[data-md-component="search-query"]').click()
    missed = {}
    for words, page in ASKED[lang]:
        found = results(fresh, words)
        wanted = f"{base}{LANGUAGES[lang]}{page}/"
        if wanted not in found[:AMONG]:
            missed[words] = [address.removeprefix(base) for address in found]

    assert {} == missed


# The theme's worker is asked without its keyboard; the worker's messages are the theme's own.
ASK_WORKER = """async ([root, worker, queries]) => {
  const index = await (await fetch(`${root}search/search_index.json`)).json();
  const search = new Worker(`${root}assets/javascripts/workers/${worker}`);
  const reply = (sent) => new Promise((resolve) => {
    search.onmessage = ({data}) => resolve(data.data);
    search.postMessage(sent);
  });
  await reply({type: 0, data: {config: index.config, docs: index.docs, options: {}}});
  const pages = [];
  for (const query of queries) {
    const {items} = await reply({type: 2, data: query});
    pages.push(items.map(([first]) => first.location.replace(/#.*/, "")));
  }
  return pages;
}"""


@pytest.mark.parametrize("lang", LANGUAGES)
def test_whole_questions(fresh, base, lang):
    """Each question of the list, typed as it stands, leads to the page that answers it."""
    questions = json.loads((DATA / "questions.json").read_text(encoding="utf-8"))
    folder = LANGUAGES[lang]
    [worker] = (SITE / folder / "assets/javascripts/workers").glob("search.*.min.js")
    fresh.goto(f"{base}{folder}")
    asked = [question[lang] for question in questions]
    found = fresh.evaluate(ASK_WORKER, [f"{base}{folder}", worker.name, asked])
    missed = {
        question[lang]: pages[:ROUGHLY]
        for question, pages in zip(questions, found, strict=True)
        if f"{question['at'].partition('#')[0]}/" not in pages[:ROUGHLY]
    }

    assert {} == missed


def test_the_index_waits_for_the_reader(fresh, base):
    """The index is fetched once a reader turns to the search, and not before."""
    heard = Heard()
    heard.listen(fresh)
    fresh.goto(f"{base}glossary/", wait_until="networkidle")
    before = [url for url in heard.requests if "search_index" in url]
    fresh.locator('[data-md-component="search-query"]').click()
    found = results(fresh, "goodput")

    assert [] == before
    assert f"{base}latency/" in found
    assert 1 == len([url for url in heard.requests if "search_index" in url])


def test_the_key_for_the_search(fresh, base):
    """The slash turns to the search, which only then begins, and what is typed next is found."""
    fresh.goto(f"{base}glossary/", wait_until="networkidle")
    fresh.keyboard.press("/")
    asked = fresh.locator('[data-md-component="search-query"]')
    expect(asked).to_be_focused()
    fresh.keyboard.type("goodput")
    fresh.locator(".md-search-result__item").first.wait_for()

    assert "goodput" == asked.input_value()


def test_an_address_that_searches(fresh, base):
    """An address with a query opens the search with it, as the theme has it."""
    fresh.goto(f"{base}?q=goodput")

    expect(fresh.locator('[data-md-component="search-query"]')).to_have_value("goodput")
    expect(fresh.locator(".md-search-result__item").first).to_be_visible()


def results(page, words):
    """The pages that the theme's search offers for some words, best first, each once."""
    asked = page.locator('[data-md-component="search-query"]')
    first = page.locator(".md-search-result__item").first
    asked.fill("")
    asked.press("End")  # the theme listens to keys
    first.wait_for(state="detached")
    asked.fill(words)
    asked.press("End")
    try:
        first.wait_for(timeout=LONGEST_MS)
    except TimeoutError:
        return []
    links = page.locator(".md-search-result__item > a").evaluate_all("all => all.map(a => a.href)")
    return list(dict.fromkeys(re.sub(r"[?#].*", "", link) for link in links))
