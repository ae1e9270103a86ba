"""The search of each language finds the page for the questions that are asked most."""

import pytest
from playwright.sync_api import TimeoutError  # noqa: A004 - the name that Playwright gives it

from tests.browser.conftest import LANGUAGES

pytestmark = pytest.mark.browser

AMONG = 3  # the page is among the first results
LONGEST_MS = 3_000  # of a search that finds nothing
# What a reader types, and the page that answers; for each language the twenty likeliest.
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
        ("长 prompt", "scheduling"),
    ],
}  # fmt: skip


# Not yet found within the first three (an open point of the guides): one in English, and in
# Chinese option names with underscores, which the index splits, and two terms of scheduling.
KNOWN_MISSES = {"en": 2, "zh": 5}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_likeliest_questions(fresh, base, lang):
    """Each of the twenty likeliest questions leads to its page, in the reader's language."""
    fresh.goto(f"{base}{LANGUAGES[lang]}")
    fresh.locator('[data-md-component="search-query"]').click()
    missed = {}
    for words, page in ASKED[lang]:
        found = results(fresh, words)
        wanted = f"{base}{LANGUAGES[lang]}{page}/"
        if not any(address.startswith(wanted) for address in found[:AMONG]):
            missed[words] = [address.removeprefix(base) for address in found[:AMONG]]

    assert len(missed) <= KNOWN_MISSES[lang], missed


def results(page, words):
    """The pages that the theme's search offers for some words, best first."""
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
    return page.locator(".md-search-result__item > a").evaluate_all("all => all.map(a => a.href)")
