"""The KV workbench in the reader's browser."""

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from tests.browser.conftest import LANGUAGES, PAGES, SITE, SLOWEST_MS, Heard, config_text, lead

pytestmark = pytest.mark.browser
GIB = 2**30
PRODUCT = "2 × 32 × 8 × 128 × 2 × 8192 × 4 = 4294967296 bytes"
both = pytest.mark.parametrize("folder", LANGUAGES.values(), ids=LANGUAGES.keys())


@both
def test_default_answer_without_script(chromium: Browser, base: str, folder: str) -> None:
    """The page is complete before, and without, any script."""
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{base}{folder}kv-cache/")

    text = page.locator(".cp-calculator").first.inner_text()
    for figure in ("4.00 GiB", "128.00 KiB", "1.00 GiB", PRODUCT):
        assert figure in text.replace("\u00a0", " ")
    assert page.locator(".cp-calculator .cp-canvas svg").count() >= 1
    context.close()


@both
def test_first_edit(page: Page, base: str, folder: str, heard: Heard) -> None:
    """An edit is answered, the plot is drawn anew, a listener hears the figure, nothing fails."""
    page.goto(f"{base}{folder}kv-cache/")
    page.fill("#calc-kv [name=layers]", "80")
    lead(page, 10 * GIB)

    expect(page.locator(".cp-status").first).to_contain_text("10.00")
    expect(page.locator(".cp-answer .cp-canvas svg").first).to_be_visible()
    assert heard.errors == []


def test_integers_beyond_javascript(page: Page, base: str) -> None:
    """The bytes are exact far beyond 2^53."""
    page.goto(f"{base}kv-cache/")
    page.fill("#calc-kv [name=tokens]", "999999999999")
    page.fill("#calc-kv [name=sequences]", "999999999")

    lead(page, 2 * 32 * 8 * 128 * 2 * 999999999999 * 999999999)


@both
def test_error_sentences(page: Page, base: str, folder: str) -> None:
    """Bad input is one sentence that names the field; the last answer stands; all recovers."""
    page.goto(f"{base}{folder}kv-cache/")
    error = page.locator(".cp-error").first
    layers = page.locator("#calc-kv [name=layers]")
    for text in ("", "-3", "0", "1.5", "1e400", "NaN", "9" * 10_000, "３２", "x"):
        layers.fill(text)
        expect(error).to_contain_text("层数" if folder else "Layers", timeout=SLOWEST_MS)
        assert len(error.inner_text()) < 200
        assert layers.get_attribute("aria-invalid") == "true"
        lead(page, 4 * GIB)
        layers.fill("32")
        expect(error).to_be_hidden()


@both
def test_pasted_config(page: Page, base: str, folder: str) -> None:
    """A pasted config.json gives the exact bytes for the lengths that follow."""
    page.goto(f"{base}{folder}kv-cache/")
    page.check("#calc-kv [name=source][value=config]")
    page.fill("#calc-kv [name=config]", "\ufeff" + config_text().replace("\n", "\r\n"))
    page.fill("#calc-kv [name=tokens]", "8192, 4096x3")

    lead(page, 2 * 16 * 4 * 64 * 2 * (8192 + 3 * 4096))


def test_dropped_config(page: Page, base: str) -> None:
    """A chosen file chooses its source and stays on the machine."""
    page.goto(f"{base}kv-cache/")
    file = {"name": "config.json", "mimeType": "application/json"}
    page.locator("#calc-kv [data-file=config] input[type=file]").set_input_files(
        {**file, "buffer": config_text().encode()}
    )

    lead(page, 2 * 16 * 4 * 64 * 2 * 8192 * 4)
    expect(page.locator("#calc-kv [name=source][value=config]")).to_be_checked()


def test_model_from_the_list(page: Page, base: str) -> None:
    """A model of the list is computed and its source is named."""
    page.goto(f"{base}kv-cache/")
    page.check("#calc-kv [name=source][value=model]")
    page.select_option("#calc-kv [name=model]", "Qwen/Qwen3-0.6B")

    lead(page, 2 * 28 * 8 * 128 * 2 * 8192 * 4)
    expect(page.locator(".cp-notes").first).to_contain_text("Qwen/Qwen3-0.6B")


@both
def test_shared_address(visit: BrowserContext, base: str, folder: str) -> None:
    """The copied link opens the same question, a pasted config included."""
    visit.grant_permissions(["clipboard-read", "clipboard-write"])
    page = visit.new_page()
    page.goto(f"{base}{folder}kv-cache/")
    page.check("#calc-kv [name=source][value=config]")
    page.fill("#calc-kv [name=config]", config_text())
    lead(page, 2 * 16 * 4 * 64 * 2 * 8192 * 4)
    page.click("#calc-kv [data-do=share]")
    link = page.evaluate("navigator.clipboard.readText()")
    other = visit.new_page()
    other.goto(link)
    lead(other, 2 * 16 * 4 * 64 * 2 * 8192 * 4)

    assert len(link) < 200
    assert other.input_value("#calc-kv [name=stack]") == "16*full:4x64"


@pytest.mark.parametrize(
    "query",
    [
        "layers=<script>alert(1)</script>",
        "layers=" + "9" * 5000,
        "no_such_field=1",
        "layers=%F0%28%8C%28",
        "source=config&config=" + "[" * 2000,
        "tokens=" + "1," * 12_000,
    ],
    ids=["script", "huge", "unknown", "encoding", "nested", "many"],
)
def test_hostile_address(page: Page, base: str, query: str, heard: Heard) -> None:
    """An address from a stranger is data: one sentence, no script, the page stays."""
    page.goto(f"{base}kv-cache/?c=kv&{query}")
    expect(page.locator(".cp-error").first).to_be_visible(timeout=SLOWEST_MS)

    assert page.locator(".cp-error script").count() == 0
    assert heard.errors == []
    lead(page, 4 * GIB)


def test_address_of_a_search_is_no_question(page: Page, base: str) -> None:
    """The theme's own parameters do not reach the calculator."""
    page.goto(f"{base}kv-cache/?h=layers&utm_source=x")
    page.fill("#calc-kv [name=layers]", "16")
    lead(page, 2 * GIB)

    assert page.locator(".cp-error").first.is_hidden()


def test_late_answers_are_dropped(page: Page, base: str) -> None:
    """Of many edits in a row the last one stands."""
    page.goto(f"{base}kv-cache/")
    for layers in range(1, 41):
        page.fill("#calc-kv [name=layers]", str(layers))
    lead(page, 5 * GIB)
    page.wait_for_timeout(300)

    lead(page, 5 * GIB)


def test_keyboard_only(page: Page, base: str) -> None:
    """Field, buttons and scrolling regions are reached and worked by the keyboard."""
    page.goto(f"{base}kv-cache/")
    page.focus("#calc-kv [name=layers]")
    page.keyboard.press("Control+A")
    page.keyboard.type("80")
    lead(page, 10 * GIB)
    page.keyboard.press("Tab")

    assert page.evaluate("document.activeElement.name") == "kv_heads"
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset.do") == "reset":
            break
    page.keyboard.press("Enter")
    lead(page, 4 * GIB)
    assert page.evaluate("document.activeElement.form !== null")


def test_reset(page: Page, base: str) -> None:
    """Reset brings back the default form and answer."""
    page.goto(f"{base}kv-cache/")
    page.fill("#calc-kv [name=layers]", "80")
    lead(page, 10 * GIB)
    page.click("#calc-kv [data-do=reset]")
    lead(page, 4 * GIB)

    assert page.input_value("#calc-kv [name=layers]") == "32"


@pytest.mark.parametrize("style", ["json", "csv"])
def test_download(page: Page, base: str, style: str) -> None:
    """JSON and CSV hold the exact figures of the answer."""
    page.goto(f"{base}kv-cache/")
    page.fill("#calc-kv [name=layers]", "80")
    lead(page, 10 * GIB)
    with page.expect_download() as waiting:
        page.click(f"#calc-kv [data-do={style}]")
    text = waiting.value.path().read_text()

    if style == "json":
        document = json.loads(text)
        assert document["figures"]["total"] == {"value": 10 * GIB, "unit": "bytes"}
        assert document["inputs"]["layers"] == "80"
    else:
        assert f"total,{10 * GIB},bytes" in text


@both
def test_language_switch_keeps_the_page(page: Page, base: str, folder: str) -> None:
    """The switcher leads to the twin of the page."""
    page.goto(f"{base}{folder}kv-cache/")
    other = "en" if folder else "zh"
    page.hover(".md-select")
    page.click(f'.md-select a[hreflang="{other}"]')
    page.wait_for_url(f"{base}{LANGUAGES[other]}kv-cache/")

    assert page.locator("html").get_attribute("lang") == other


def test_calculators_live_after_instant_navigation(fresh: Page, base: str) -> None:
    """The theme swaps pages without a load, and those that come are as whole as loaded ones.

    It takes links for its own by the sitemap, which names the address that the site is built for.
    """
    heard = Heard()
    heard.listen(fresh)
    map_text = (SITE / "sitemap.xml").read_text(encoding="utf-8")
    here = re.sub(r"<loc>https?://[^/]+/", f"<loc>{base}", map_text)
    fresh.route("**/sitemap.xml", lambda route: route.fulfill(body=here, content_type="text/xml"))
    fresh.goto(f"{base}?c=kv&layers=3")
    with fresh.expect_response("**/sitemap.xml"):
        fresh.hover(".md-tabs a:has-text('KV cache')")
    fresh.evaluate("window.stays = true")
    fresh.click(".md-tabs a:has-text('KV cache')")
    fresh.wait_for_url(f"{base}kv-cache/")
    fresh.fill("#calc-kv [name=layers]", "80")

    lead(fresh, 10 * GIB)
    expect(fresh.locator("#calc-kv .cp-canvas svg").first).to_be_visible()
    assert fresh.evaluate("window.stays")
    assert fresh.locator(".cp-calculator").count() == fresh.locator("[data-live]").count()
    other = fresh.locator(".md-select a[hreflang=zh]").evaluate("link => link.href")
    assert other.startswith(f"{base}zh/kv-cache/")
    assert heard.errors == []


def test_a_reset_restores_the_first_answer(page: Page, base: str) -> None:
    """Number, plot and links to the other language are again as they were, twice."""
    page.goto(f"{base}kv-cache/")
    lab = page.locator("#calc-kv")
    link = page.locator(".md-select a[hreflang=zh]")
    before = lab.locator(".cp-canvas").inner_html(), link.evaluate("link => link.href")
    first = lab.locator(".cp-lead").inner_text()
    for _ in range(2):
        lab.locator("[name=layers]").fill("80")
        expect(lab.locator(".cp-lead")).to_contain_text("10.00", timeout=SLOWEST_MS)
        lab.locator("[data-do=reset]").click()
        after = lab.locator(".cp-canvas").inner_html(), link.evaluate("link => link.href")

        assert before == after
        assert first == lab.locator(".cp-lead").inner_text()


def test_offline_after_a_visit(context: BrowserContext, base: str) -> None:
    """A visited page can be read and computed without a network."""
    fresh = context.new_page()
    fresh.goto(f"{base}kv-cache/")
    fresh.fill("#calc-kv [name=layers]", "80")
    lead(fresh, 10 * GIB)
    fresh.evaluate("navigator.serviceWorker.ready.then(() => true)")
    kept = "caches.open('critical-path-1').then(c => c.keys()).then(k => k.length)"
    for _ in range(100):
        if fresh.evaluate(kept) >= 9:
            break
        fresh.wait_for_timeout(100)
    fresh.wait_for_timeout(1000)
    context.set_offline(True)
    fresh.goto(f"{base}kv-cache/")
    fresh.fill("#calc-kv [name=layers]", "16")

    lead(fresh, 2 * GIB)


CACHED = "caches.open('critical-path-1').then(c => c.keys()).then(k => k.map(r => r.url))"


def kept_when(page: Page, meets: Callable[[list[str]], bool]) -> list[str]:
    """The addresses of all copies once they meet a condition: the rest follows after seconds."""
    for _ in range(300):
        if meets(kept := page.evaluate(CACHED)):
            return kept
        page.wait_for_timeout(200)
    raise AssertionError(kept)


def ends(kept: list[str], *ends: str) -> bool:
    """Whether there is a copy for each of the ends of an address."""
    return all(any(address.endswith(end) for address in kept) for end in ends)


@pytest.mark.parametrize("folder", LANGUAGES.values(), ids=LANGUAGES.keys())
def test_offline_also_where_nobody_was(context: BrowserContext, base: str, folder: str) -> None:
    """After one page of a language another can be read, computed and found without a network."""
    fresh = context.new_page()
    fresh.goto(f"{base}{folder}latency/")
    fresh.focus("#calc-samples textarea")
    pages = [f"/sub-path/{folder}{path}" for path in PAGES]
    kept_when(fresh, lambda kept: ends(kept, ".whl", ".wasm", ".css", "_index.json", *pages))
    context.set_offline(True)
    fresh.goto(f"{base}{folder}kv-cache/")
    fresh.fill("#calc-kv [name=layers]", "16")

    lead(fresh, 2 * GIB)

    fresh.locator('[data-md-component="search-query"]').click()
    fresh.keyboard.type("goodput")
    expect(fresh.locator(".md-search-result__item").first).to_be_visible()


def test_copies_are_of_one_deployment(context: BrowserContext, base: str) -> None:
    """What no page names any more is let go, and a page that is gone; current files stay."""
    fresh = context.new_page()
    fresh.goto(f"{base}latency/")
    fresh.evaluate("navigator.serviceWorker.ready.then(() => true)")
    old = [f"{base}assets/bridge-0123456789.mjs", f"{base}no-such-page/"]
    put = "async all => { const c = await caches.open('critical-path-1');"
    put += " for (const a of all) await c.put(a, new Response('old')); }"
    fresh.evaluate(put, old)
    kept_when(fresh, lambda kept: ends(kept, "/scheduling/"))
    kept = kept_when(fresh, lambda kept: not any(ends(kept, address) for address in old))

    assert any(re.search(r"/bridge-\w+\.mjs$", address) for address in kept)
    assert any(address.endswith(".css") for address in kept)


FAILURES = {
    "wrong_mime": ("wrong type", "类型不对"),
    "missing": ("missing on the server", "缺少计算器文件"),
    "unreachable": ("could not be fetched", "无法获取"),
    "blocked": ("blocks WebAssembly", "禁用了 WebAssembly"),
    "no_webassembly": ("has no WebAssembly", "不支持 WebAssembly"),
    "wrong_hash": ("SHA-256", "SHA-256"),
    "crashed": ("stopped unexpectedly", "意外停止"),
}


def sabotage(page: Page, code: str) -> None:
    """Break one thing on the way."""

    def respond(route: Route, **change: object) -> None:
        reply = route.fetch()
        route.fulfill(response=reply, **change)

    match code:
        case "wrong_mime":
            page.route("**/pyodide.asm.wasm", lambda r: respond(r, content_type="text/plain"))
        case "missing":
            page.route("**/pyodide.asm.wasm", lambda r: r.fulfill(status=404, body="gone"))
        case "unreachable":
            page.route("**/pyodide.asm.wasm", lambda r: r.abort())
        case "no_webassembly":
            page.route("**/worker.mjs", lambda r: prefixed(r, "delete self.WebAssembly;"))
        case "wrong_hash":
            page.route("**/calculators-*.whl", lambda r: respond(r, body=b"not this wheel"))
        case "crashed":
            page.route("**/worker.mjs", lambda r: prefixed(r, "throw new Error('killed');"))


def prefixed(route: Route, code: str) -> None:
    """A module with a line before it."""
    reply = route.fetch()
    route.fulfill(response=reply, body=f"{code}\n{reply.text()}")


@pytest.mark.parametrize(
    ("code", "folder"),
    [(c, "zh/" if n % 2 else "") for n, c in enumerate(FAILURES) if c != "blocked"],
)
def test_failure_sentence(fresh: Page, base: str, folder: str, code: str) -> None:
    """Every failure of the runtime is a sentence beside the default answer, with a retry."""
    sabotage(fresh, code)
    fresh.goto(f"{base}{folder}kv-cache/")
    fresh.fill("#calc-kv [name=layers]", "80")
    error = fresh.locator(".cp-error").first
    expect(error).to_contain_text(FAILURES[code][bool(folder)], timeout=SLOWEST_MS)

    lead(fresh, 4 * GIB)
    fresh.unroute_all()
    error.locator("button").click()
    lead(fresh, 10 * GIB)


def test_blocked_webassembly(fresh: Page, base: str) -> None:
    """A policy without 'wasm-unsafe-eval' is named; the default answer stays."""
    page, folder = fresh, "zh/"
    page.route("**/*", forbid_wasm)
    page.goto(f"{base}{folder}kv-cache/")
    page.fill("#calc-kv [name=layers]", "80")

    expect(page.locator(".cp-error").first).to_contain_text(
        FAILURES["blocked"][bool(folder)], timeout=SLOWEST_MS
    )
    lead(page, 4 * GIB)


def forbid_wasm(route: Route) -> None:
    """Serve pages and the worker with a policy that forbids WebAssembly."""
    if not re.search(r"(kv-cache/|worker\.mjs)$", route.request.url):
        route.continue_()
        return
    reply = route.fetch()
    policy = "script-src 'self'; worker-src 'self'"
    headers = {**reply.headers, "content-security-policy": policy}
    route.fulfill(response=reply, headers=headers)


def test_killed_worker(fresh: Page, base: str) -> None:
    """A worker that dies between two questions is named, and the retry starts another."""
    fresh.goto(f"{base}kv-cache/")
    fresh.fill("#calc-kv [name=layers]", "80")
    lead(fresh, 10 * GIB)
    fresh.workers[-1].evaluate("setTimeout(() => { throw new Error('killed'); }, 0)")
    fresh.wait_for_timeout(300)
    fresh.fill("#calc-kv [name=layers]", "16")

    lead(fresh, 2 * GIB)


@pytest.mark.slow
def test_silent_worker(fresh: Page, base: str) -> None:
    """A worker that is gone without a word is given up, and the retry starts another."""
    fresh.goto(f"{base}kv-cache/")
    fresh.fill("#calc-kv [name=layers]", "80")
    lead(fresh, 10 * GIB)
    fresh.workers[-1].evaluate("self.close()")
    fresh.fill("#calc-kv [name=layers]", "16")
    error = fresh.locator(".cp-error").first
    expect(error).to_contain_text("in time", timeout=3 * SLOWEST_MS)
    error.locator("button").click()

    lead(fresh, 2 * GIB)
