"""A calculator in a frame of another site: alive in the strictest sandbox that allows scripts."""

import http.server
import threading

import pytest

from tests.browser.conftest import SITE, Heard
from tests.browser.test_browser_site import axe

pytestmark = pytest.mark.browser

BYTES = 32_768  # 2 (K and V) × 16 layers × 8 heads × 64 elements × 2 bytes
QUERY = "c=kv&layers=16&kv_heads=8&head_dim=64&tokens=1&sequences=1"


class Elsewhere(http.server.BaseHTTPRequestHandler):
    """Another site: a page with one frame, stated in the query as ``sandbox|address``."""

    def do_GET(self):
        """Answer with the page."""
        sandbox, _, address = self.path.partition("?")[2].partition("|")
        attribute = f' sandbox="{sandbox.replace("+", " ")}"' if sandbox else ""
        page = (
            '<!doctype html><html lang="en"><title>elsewhere</title>'
            f'<iframe title="calculator" width="900" height="1200"{attribute} '
            f'src="{address.replace("&", "&amp;")}"></iframe></html>'
        )
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(page.encode())

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture(scope="module")
def elsewhere():
    """The address of the other site."""
    serving = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{serving.server_address[1]}/"
    serving.shutdown()
    serving.server_close()


@pytest.mark.parametrize("folder", ["", "zh/"])
@pytest.mark.parametrize(
    "sandbox",
    [
        pytest.param("", id="no sandbox"),
        pytest.param("allow-scripts", id="scripts without an origin"),
        pytest.param("allow-scripts+allow-same-origin", id="scripts with their origin"),
    ],
)
def test_a_frame_computes(fresh, base, elsewhere, sandbox, folder):
    """The values of the address are computed in the frame, with no error and no foreign request."""
    heard = Heard()
    heard.listen(fresh)
    fresh.goto(f"{elsewhere}?{sandbox}|{base}{folder}embed/kv/?{QUERY}")
    frame = fresh.frame_locator("iframe")
    frame.locator(f'.cp-answer data[value="{BYTES}"]').first.wait_for()

    assert "16" == frame.locator('[name="layers"]').input_value()
    frame.locator('[name="layers"]').fill("32")
    frame.locator(f'.cp-answer data[value="{2 * BYTES}"]').first.wait_for()

    assert heard.errors == []
    assert [
        u for u in heard.requests if not u.startswith((base, elsewhere, "blob:", "data:"))
    ] == []


def test_without_scripts_a_frame_shows_the_default(fresh, base, elsewhere):
    """Where no script may run, the frame shows the answer for the defaults."""
    fresh.goto(f"{elsewhere}?allow-forms|{base}embed/kv/")
    answer = fresh.frame_locator("iframe").locator(".cp-answer .cp-lead").first
    answer.wait_for()

    assert answer.inner_text().strip()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("folder", ["", "zh/"])
def test_axe_finds_nothing_in_a_frame(chromium, base, folder, scheme):
    """No calculator alone has an accessibility violation, in either language or scheme."""
    context = chromium.new_context(color_scheme=scheme, reduced_motion="reduce")
    page = context.new_page()
    found = {}
    for one in sorted((SITE / "embed").iterdir()):
        found[one.name] = axe(page, f"{base}{folder}embed/{one.name}/", scheme)
    context.close()

    assert found
    assert not {name: violations for name, violations in found.items() if violations}


def test_a_frame_is_for_no_index(fresh, base):
    """The page says so, and names its guide as the address to keep."""
    fresh.goto(f"{base}embed/kv/")

    assert "noindex" == fresh.locator('meta[name="robots"]').get_attribute("content")
    assert fresh.locator("link[rel=canonical]").get_attribute("href").endswith("/kv-cache/")
    assert fresh.locator(".cp-embed-from a").get_attribute("href").endswith("kv-cache/#calc-kv")
