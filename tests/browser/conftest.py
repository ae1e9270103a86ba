"""A real Chromium on the built site, served below a sub-path."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, Route, sync_playwright

from scripts.setup import find_browser
from scripts.site.serve import server

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "site"
PREFIX = "/some/sub-path/"
PAGES = ("", "latency/", "kv-cache/", "radix-attention/", "lmcache/", "scheduling/",
         "measurements/", "method/", "glossary/", "changelog/")  # fmt: skip
LANGUAGES = {"en": "", "zh": "zh/"}
QUIET = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
SLOWEST_MS = 30_000  # of a start on a busy machine; nothing is timed here


@pytest.fixture(scope="session")
def base() -> Iterator[str]:
    """The address of the English home page."""
    assert (SITE / "index.html").exists(), "build the site first: make build"
    serving = server(SITE, 0, PREFIX, quiet=True)
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{serving.server_address[1]}{PREFIX}"
    serving.shutdown()
    serving.server_close()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One browser for all tests of a process."""
    path = find_browser()
    assert path, "no Chromium: make browser"
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path, args=list(QUIET))
        yield browser
        browser.close()


@dataclass
class Heard:
    """What a page said and asked for."""

    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def listen(self, page: Page) -> None:
        """Note errors of scripts and policies, and every request."""
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)
        page.on("request", self.note)

    def note(self, request: Request) -> None:
        """Note one request."""
        self.requests.append(request.url)


@pytest.fixture(scope="session")
def visit(chromium: Browser) -> Iterator[BrowserContext]:
    """One profile for the tests that leave nothing behind: its caches are warm."""
    made = profile(chromium)
    yield made
    made.close()


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    """A fresh profile."""
    made = profile(chromium)
    yield made
    made.close()


def profile(chromium: Browser, **options: Any) -> BrowserContext:
    """A profile on a laptop's screen."""
    made = chromium.new_context(
        viewport={"width": 1280, "height": 900}, accept_downloads=True, **options
    )
    made.set_default_timeout(SLOWEST_MS)
    return made


@pytest.fixture
def page(visit: BrowserContext) -> Iterator[Page]:
    """A page in the shared profile."""
    made = visit.new_page()
    yield made
    made.close()


@pytest.fixture
def fresh(chromium: Browser) -> Iterator[Page]:
    """A page in a fresh profile without a service worker, for tests that break something."""
    made = profile(chromium, service_workers="block")
    yield made.new_page()
    made.close()


@pytest.fixture
def heard(page: Page) -> Heard:
    """What the page says and asks for."""
    heard = Heard()
    heard.listen(page)
    return heard


def lead(page: Page, value: int) -> None:
    """Wait until the headline figure of the calculator is this number of bytes."""
    page.locator(f'.cp-calculator .cp-lead data[value="{value}"]').first.wait_for()


def config_text(**changes: object) -> str:
    """A small config.json of our own."""
    return json.dumps(
        {
            "model_type": "llama",
            "num_hidden_layers": 16,
            "num_attention_heads": 32,
            "num_key_value_heads": 4,
            "hidden_size": 2048,
            "torch_dtype": "bfloat16",
            **changes,
        }
    )


def changed(route: Route, **headers: str) -> None:
    """Let a file through with other headers."""
    reply = route.fetch()
    route.fulfill(response=reply, headers={**reply.headers, **headers})
