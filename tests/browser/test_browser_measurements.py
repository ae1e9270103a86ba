"""The pages of the archive in the reader's browser, in both languages."""

import hashlib
import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import LANGUAGES, SLOWEST_MS, Heard

pytestmark = pytest.mark.browser
both = pytest.mark.parametrize("folder", LANGUAGES.values(), ids=LANGUAGES.keys())
RECORDS = Path(__file__).parents[2] / "data" / "measurements" / "records"


def record(**asked: object) -> dict[str, object]:
    """The first record with these members."""
    for path in sorted(RECORDS.glob("*.json")):
        found: dict[str, object] = json.loads(path.read_text(encoding="utf-8"))
        if all(found[name] == value for name, value in asked.items()):
            return found
    raise LookupError(asked)


OURS = record(kind="measured_here", boundary="router_decide")
CITED = record(kind="published_elsewhere")


@both
def test_a_page_shows_and_cites_its_measurement(
    page: Page, base: str, folder: str, heard: Heard
) -> None:
    """Every sample in a table, the place and both hashes, a citation, and one for machines."""
    page.goto(f"{base}{folder}measurements/{OURS['id']}/")
    samples = OURS["samples"][0]["values"]  # type: ignore[index]

    rows = page.locator("#samples ~ .cp-plot tbody tr")
    assert len(samples) + 1 == rows.count()  # the first call too
    sha256 = OURS["identity"]["original_sha256"]  # type: ignore[index]
    expect(page.locator("code.cp-hash", has_text=str(sha256)).first).to_be_visible()
    assert str(OURS["id"]) in page.locator("#cite ~ blockquote").first.inner_text()
    assert (
        f"@misc{{critical-path-{OURS['id']}"
        in page.locator("#cite ~ .highlight").first.inner_text()
    )
    about = json.loads(page.locator('script[type="application/ld+json"]').first.inner_text())
    assert "Dataset" in json.dumps(about)
    assert [] == heard.errors


@both
def test_both_files_download_and_their_hashes_hold(page: Page, base: str, folder: str) -> None:
    """Artefact and record are the bytes whose hashes stand beside their links."""
    page.goto(f"{base}{folder}measurements/{OURS['id']}/")
    links = page.locator("#files ~ * a[download]").all()
    assert 2 == len(links)
    for link in links:
        row = link.locator("xpath=ancestor::tr")
        with page.expect_download() as caught:
            link.click()
        data = Path(caught.value.path()).read_bytes()

        assert row.locator("code").inner_text().strip() == hashlib.sha256(data).hexdigest()


@both
def test_the_index_filters_and_sorts_without_script(
    chromium: Browser, base: str, folder: str
) -> None:
    """Radio buttons choose the kind and one of three orders; no row is lost on the way."""
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{base}{folder}measurements/")
    rows = page.locator(".cp-index .cp-order:visible tbody tr:visible")
    every = len(list(RECORDS.glob("*.json")))
    assert every == rows.count()

    page.locator('.cp-index [value="published_elsewhere"]').check()
    kinds = {row.get_attribute("data-kind") for row in rows.all()}
    assert {"published_elsewhere"} == kinds

    page.locator('.cp-index [value="all"]').check()
    page.locator('.cp-index [value="models"]').check()
    assert every == rows.count()
    expect(page.locator(".cp-index .cp-order:visible")).to_have_attribute("data-order", "models")
    context.close()


@both
def test_the_guide_leads_to_the_pages(page: Page, base: str, folder: str) -> None:
    """A row of the guide's table leads to its page, and the page back to the archive."""
    page.goto(f"{base}{folder}latency/")
    page.locator(f'.cp-measurements a[href*="{OURS["id"]}"]').first.click()
    expect(page).to_have_url(re.compile(rf"/{folder}measurements/{OURS['id']}/"))

    page.locator('article a[href$="#archive"]').first.click()
    expect(page.locator("#archive")).to_be_in_viewport(timeout=SLOWEST_MS)


def test_remarks_are_in_the_reader_s_language(page: Page, base: str) -> None:
    """The Chinese page words the remarks that the record keeps in English."""
    given = CITED["provenance"]["remarks"]  # type: ignore[index]
    page.goto(f"{base}zh/measurements/{CITED['id']}/")
    shown = page.locator("#remarks ~ ul").first.inner_text()

    assert len(given) == len(shown.splitlines())
    assert not any(str(text) in shown for text in given)


@both
def test_a_measurement_fits_a_phone(chromium: Browser, base: str, folder: str) -> None:
    """Tables and hashes scroll in their own boxes; the page does not."""
    context = chromium.new_context(viewport={"width": 390, "height": 800})
    page = context.new_page()
    for place in (f"measurements/{OURS['id']}/", "measurements/", "latency/"):
        page.goto(f"{base}{folder}{place}")

        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()
