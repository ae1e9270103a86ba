"""The whole site in a real Chromium, both languages."""

import json
import re
import threading
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from scripts.setup import find_browser
from scripts.site.serve import server
from tests.browser.conftest import LANGUAGES, PAGES, QUIET, ROOT, SITE, Heard

pytestmark = pytest.mark.browser
AXE = (ROOT / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
both = pytest.mark.parametrize("folder", LANGUAGES.values(), ids=LANGUAGES.keys())
every = pytest.mark.parametrize("path", PAGES, ids=[p.strip("/") or "home" for p in PAGES])
# The schemes differ in colours alone, so that the other rules are asked once.
RULES = {"light": "{}", "dark": "{runOnly: ['color-contrast', 'link-in-text-block']}"}


def axe(page: Page, address: str, scheme: str) -> list[str]:
    """The accessibility violations of a page in one scheme; no calculator needs to run for it."""
    page.route("**/worker.mjs", lambda route: route.abort())
    page.goto(address)
    page.evaluate(AXE)
    said = "r => r.violations.map(v => v.id + ' ' + v.nodes.map(n => n.target))"
    found: list[str] = page.evaluate(f"axe.run({RULES[scheme]}).then({said})")
    return found


@both
@every
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(
    chromium: Browser, base: str, folder: str, path: str, scheme: str
) -> None:
    """No page has an accessibility violation, in either language or scheme."""
    context = chromium.new_context(color_scheme=scheme, reduced_motion="reduce")
    page = context.new_page()

    assert axe(page, f"{base}{folder}{path}", scheme) == []
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_where_no_page_is(chromium: Browser, scheme: str) -> None:
    """The page for unknown addresses, which knows the root that it was built for."""
    serving = server(SITE, 0, quiet=True)
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    context = chromium.new_context(color_scheme=scheme, reduced_motion="reduce")
    found = axe(
        context.new_page(), f"http://127.0.0.1:{serving.server_address[1]}/no/such/page/", scheme
    )
    context.close()
    serving.shutdown()
    serving.server_close()

    assert found == []


@both
@every
def test_no_other_host_and_no_error(
    page: Page, base: str, folder: str, path: str, heard: Heard
) -> None:
    """A page asks its own host for everything, and breaks none of its own rules."""
    page.goto(f"{base}{folder}{path}")
    page.mouse.wheel(0, 20_000)
    page.wait_for_load_state("networkidle")
    host = re.match(r"http://[^/]+", base)[0]

    assert [url for url in heard.requests if not url.startswith((host, "data:", "blob:"))] == []
    assert heard.errors == []


@both
@every
def test_phone_width(chromium: Browser, base: str, folder: str, path: str) -> None:
    """At 390 pixels nothing makes the page scroll sideways."""
    context = chromium.new_context(viewport={"width": 390, "height": 800})
    page = context.new_page()
    page.goto(f"{base}{folder}{path}")

    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()


@both
def test_doubled_text_on_a_phone(chromium: Browser, tmp_path: Path, base: str, folder: str) -> None:
    """With text at twice its size nothing makes a page of a phone scroll sideways."""
    settings = {"webkit": {"webprefs": {"default_font_size": 32, "default_fixed_font_size": 26}}}
    (tmp_path / "Default").mkdir()
    (tmp_path / "Default" / "Preferences").write_text(json.dumps(settings), encoding="utf-8")
    context = chromium.browser_type.launch_persistent_context(
        tmp_path,
        executable_path=find_browser(),
        args=list(QUIET),
        viewport={"width": 390, "height": 844},
    )
    page = context.new_page()
    widths = {}
    for path in PAGES:
        page.goto(f"{base}{folder}{path}")
        widths[path] = page.evaluate("document.documentElement.scrollWidth")
    doubled = page.evaluate("parseFloat(getComputedStyle(document.documentElement).fontSize)")
    context.close()

    assert doubled >= 2 * 20
    assert not {path: width for path, width in widths.items() if width > 390}


@pytest.mark.parametrize("anchor", ["worked-numbers", "gib-gb", "references"])
@pytest.mark.parametrize("width", [390, 1280])
def test_links_meet_their_headings(chromium: Browser, base: str, width: int, anchor: str) -> None:
    """What is out of sight has guessed heights, and a link still ends at its heading."""
    context = chromium.new_context(viewport={"width": width, "height": 900})
    page = context.new_page()
    page.goto(f"{base}kv-cache/#{anchor}")
    page.wait_for_timeout(2_000)
    top = page.evaluate("id => document.getElementById(id).getBoundingClientRect().top", anchor)
    end = page.evaluate("scrollY + innerHeight > document.documentElement.scrollHeight - 2")

    assert end or 0 <= top < 140
    context.close()


@both
@every
def test_alternates_are_absolute(page: Page, base: str, folder: str, path: str) -> None:
    """``hreflang`` names both twins and a default, absolutely; the canonical address is one."""
    page.goto(f"{base}{folder}{path}")
    links = page.eval_on_selector_all(
        "link[rel=alternate][hreflang]", "all => all.map(l => [l.hreflang, l.getAttribute('href')])"
    )
    found = dict(links)

    assert set(found) == {"en", "zh", "x-default"}
    assert found["en"] == found["x-default"]
    assert found["en"].startswith("https://")
    assert found["en"].endswith(path)
    assert found["zh"] == found["en"].removesuffix(path) + f"zh/{path}"
    assert page.get_attribute("link[rel=canonical]", "href") == found["zh" if folder else "en"]


@pytest.mark.parametrize(
    ("folder", "words", "page_found"),
    [
        pytest.param("zh/", "前缀", "radix-attention/", id="zh prefix"),
        pytest.param("zh/", "显存", "kv-cache/", id="zh memory"),
        pytest.param("", "prefix", "radix-attention/", id="en prefix"),
        pytest.param("", "bytes per token", "kv-cache/", id="en bytes"),
    ],
)
def test_search(page: Page, base: str, folder: str, words: str, page_found: str) -> None:
    """Each language has its own index, which finds the right page."""
    page.goto(f"{base}{folder}")
    page.click("[data-md-component=search-query]")
    page.keyboard.type(words)
    first = page.locator(".md-search-result__link")
    expect(first.first).to_be_visible()
    hrefs = [link.get_attribute("href") for link in first.all()]

    assert any(f"{folder}{page_found}" in href for href in hrefs[:4])
    assert all(("/zh/" in href) == bool(folder) for href in hrefs)


@both
def test_a_listing_is_copied(page: Page, base: str, folder: str) -> None:
    """The button of a listing copies its text and nothing else, also after instant navigation."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{base}{folder}latency/")
    page.click('.md-tabs a:has-text("KV")')
    page.wait_for_url(f"{base}{folder}kv-cache/")
    listing = page.locator(".highlight pre").first
    listing.locator(".md-code__button").click()
    expect(page.locator(".md-dialog--active")).to_be_visible()
    shown = listing.locator("code").inner_text()

    assert page.evaluate("navigator.clipboard.readText()") == shown.strip()


def test_one_bilingual_page_for_missing_addresses(page: Page, base: str) -> None:
    """An unknown address is answered in both languages, at any depth."""
    reply = page.goto(f"{base}zh/no/such/page")

    assert reply.status == 404
    assert "there is no such page" in page.inner_text("main")
    assert "没有这个页面" in page.inner_text("main")


@both
def test_schemes(page: Page, base: str, folder: str) -> None:
    """Light and dark follow the system and differ."""
    shades = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.goto(f"{base}{folder}")
        shades.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    assert shades[0] != shades[1]
