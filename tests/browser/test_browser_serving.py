"""The serving lab in the reader's browser: by hand and under load."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import LANGUAGES, SLOWEST_MS, Heard

pytestmark = pytest.mark.browser
both = pytest.mark.parametrize("folder", LANGUAGES.values(), ids=LANGUAGES.keys())
FIRST_STEPS = (
    ("0 to 5", "5 to 12"),
    ("0 到 5", "5 到 12"),
)  # of the default scenario in chunks


def lab(page: Page, base: str, name: str, folder: str = "") -> Locator:
    """A calculator of the scheduling page, live."""
    page.goto(f"{base}{folder}scheduling/")
    found = page.locator(f"#calc-{name}[data-live]")
    found.wait_for()
    return found


@both
def test_runs_stand_in_the_page_without_script(chromium: Browser, base: str, folder: str) -> None:
    """Both answers, the chart, every frame of the grid and the plots were made by the build."""
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{base}{folder}scheduling/")

    by_hand = page.locator("#calc-serving")
    assert by_hand.locator(".cp-frame .cp-time").count() > 3
    assert "0 + 21 + 0" in by_hand.inner_text()
    assert page.locator("#calc-serving-load .cp-canvas svg").count() >= 6
    context.close()


@both
def test_the_grid_is_walked_by_keyboard(page: Page, base: str, folder: str, heard: Heard) -> None:
    """Arrow keys go from iteration to iteration; a listener hears which one it is."""
    first, second = FIRST_STEPS[bool(folder)]
    found = lab(page, base, "serving", folder)
    slider = found.locator(".cp-slider")
    slider.focus()
    frame = found.locator(".cp-frame:visible")
    expect(frame).to_contain_text(first, timeout=SLOWEST_MS)

    page.keyboard.press("ArrowRight")

    expect(frame).to_have_count(1, timeout=SLOWEST_MS)
    expect(frame).to_contain_text(second, timeout=SLOWEST_MS)
    expect(frame.locator(".cp-time-now")).to_have_count(1, timeout=SLOWEST_MS)
    assert slider.get_attribute("aria-valuetext") == frame.get_attribute("aria-label")
    assert heard.errors == []


@both
def test_another_scheduler_is_answered(page: Page, base: str, folder: str) -> None:
    """Whole prompts first: the longest gap of the stall scenario is 17 in place of 7."""
    found = lab(page, base, "serving", folder)
    expect(found.locator('.cp-numbers data[value="7"]')).to_have_count(1, timeout=SLOWEST_MS)

    found.locator("[name=policy]").select_option("prefill_first")

    expect(found.locator('.cp-numbers data[value="17"]')).to_have_count(1, timeout=SLOWEST_MS)


@both
def test_a_bad_row_is_named(page: Page, base: str, folder: str) -> None:
    """A dropped CSV with a slip is one sentence with the row; the last answer stands."""
    found = lab(page, base, "serving-load", folder)
    found.locator("[name=workload]").select_option("trace")
    found.locator("[name=trace]").fill("arrival_s,prompt,output\n0,5,2\n1,many,3\n")

    error = found.locator(".cp-error")
    expect(error).to_contain_text("第 3 行" if folder else "row 3", timeout=SLOWEST_MS)
    expect(error).to_contain_text("many", timeout=SLOWEST_MS)
    assert found.locator(".cp-answer[data-stale] table").count() > 0


def test_a_long_run_asks_first_and_can_be_cancelled(page: Page, base: str) -> None:
    """It says how long it would take; started, it tells its progress, and the form survives."""
    found = lab(page, base, "serving-load")
    found.locator("[name=count]").fill("60000")
    expect(found.locator(".cp-error")).to_contain_text("would take about", timeout=SLOWEST_MS)

    found.locator("[name=long_run]").check()
    expect(found.locator("progress")).to_be_visible(timeout=SLOWEST_MS)
    found.locator("[data-do=cancel]").click()

    expect(found.locator("progress")).to_be_hidden(timeout=SLOWEST_MS)
    assert found.locator("[name=count]").input_value() == "60000"
    found.locator("[name=count]").fill("30")
    expect(found.locator(".cp-answer:not([data-stale]):not([aria-busy])")).to_be_visible(
        timeout=SLOWEST_MS
    )


def test_a_sweep_s_file_is_opened(page: Page, base: str, tmp_path: Path) -> None:
    """A file of scripts.sweep is chosen; its systems stand in the table."""
    entry = {
        "system": "v1 2048",
        "share": 0.99,
        "seeds": 1,
        "largest_rate": 4.0,
        "smallest_over_seeds": 4.0,
        "largest_over_seeds": 4.0,
        "attainment_by_rate": [{"rate": 4.0, "mean": 1.0, "half_width": None}],
    }
    path = tmp_path / "sweep.json"
    path.write_text(json.dumps({"format": "serving-sweep/1", "capacity": [entry]}))
    found = lab(page, base, "serving-load")
    found.locator("[name=workload]").select_option("sweep_file")

    found.locator("input[type=file][data-for=sweep_file]").set_input_files(path)

    expect(found.locator(".cp-answer th", has_text="v1 2048").first).to_be_visible(
        timeout=SLOWEST_MS
    )


@both
def test_nothing_is_wider_than_a_phone(chromium: Browser, base: str, folder: str) -> None:
    """Charts and tables scroll in their own boxes; the page does not, and type stays legible."""
    context = chromium.new_context(viewport={"width": 390, "height": 800})
    page = context.new_page()
    lab(page, base, "serving", folder)

    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    sizes = page.eval_on_selector_all(
        ".cp-time text",
        "all => all.map(t => parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a)",
    )
    assert min(size for size in sizes if size) > 11.9  # 12, in whole device pixels
    context.close()
