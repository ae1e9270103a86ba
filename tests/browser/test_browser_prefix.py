"""The prefix lab in the reader's browser."""

import json
import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import LANGUAGES, SLOWEST_MS, Heard

pytestmark = pytest.mark.browser
both = pytest.mark.parametrize("folder", LANGUAGES.values(), ids=LANGUAGES.keys())
ROWS = [
    {"timestamp": 0, "input_length": 1024, "output_length": 1, "hash_ids": [1, 2]},
    {"timestamp": 9, "input_length": 1500, "output_length": 1, "hash_ids": [1, 2, 3]},
]
REUSED = 2 * 512  # both blocks of the first request are the beginning of the second


def calculator(page: Page, base: str, folder: str, name: str) -> Locator:
    """A calculator of the guide."""
    page.goto(f"{base}{folder}radix-attention/")
    return page.locator(f"#calc-{name}")


def choose_trace(lab: Locator, text: str) -> None:
    """Give a file to the calculator."""
    lab.locator("[data-file=trace] input[type=file]").set_input_files(
        {"name": "trace.jsonl", "mimeType": "application/jsonl", "buffer": text.encode()}
    )


@both
def test_the_tree_is_walked_by_keyboard(page: Page, base: str, folder: str, heard: Heard) -> None:
    """The arrow keys move through the steps; one step is seen at a time, its tree drawn."""
    lab = calculator(page, base, folder, "prefix-steps")
    slider = lab.locator(".cp-slider")
    slider.focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    frame = lab.locator(".cp-frame:visible")

    expect(frame).to_have_count(1)
    expect(frame.locator(".cp-caption").first).to_contain_text("evict 4")
    expect(frame.locator(".cp-tree-evicted")).to_have_count(2)
    expect(frame.locator(".cp-tree-lock").first).to_be_visible()
    expect(frame.locator("[role=img]")).to_have_attribute("aria-label", re.compile("doc 1 2 3 4"))
    assert slider.get_attribute("aria-valuetext") == (
        "第 5 步，共 8 步" if folder else "Step 5 of 8"
    )
    assert heard.errors == []


@both
def test_own_scenario(page: Page, base: str, folder: str) -> None:
    """The reader's own operations are played; a bad line is named by its number."""
    lab = calculator(page, base, folder, "prefix-steps")
    lab.locator("[name=scenario]").select_option("own")
    lab.locator("[name=operations]").fill("insert a b c\ninsert a b d")
    expect(lab.locator(".cp-frame")).to_have_count(2, timeout=SLOWEST_MS)
    lab.locator("[name=operations]").fill("insert a b c\nunlock nobody")

    error = lab.locator(".cp-error")
    expect(error).to_contain_text("nobody")
    expect(error).to_contain_text("第 2 行" if folder else "line 2")
    expect(lab.locator(".cp-frame")).to_have_count(2)


@both
def test_why_in_both_languages(page: Page, base: str, folder: str, heard: Heard) -> None:
    """Two pasted prompts: the first difference is named, and what each engine reuses."""
    lab = calculator(page, base, folder, "prefix-why")
    lab.locator("[name=reading][value=token_ids]").check()
    lab.locator("[name=earlier]").fill(" ".join(map(str, range(40))))
    lab.locator("[name=later]").fill(" ".join(map(str, [*range(33), 99])))

    status = lab.locator(".cp-status")
    expect(status).to_contain_text("SGLang 33", timeout=SLOWEST_MS)
    expect(status).to_contain_text("vLLM 32")
    expect(lab.locator(".cp-answer")).to_contain_text("'99'")
    lab.locator("[name=later_salt]").fill("tenant")
    expect(status).to_contain_text("SGLang 0")
    expect(lab.locator(".cp-answer")).to_contain_text("salt 不同" if folder else "salt differ")
    assert heard.errors == []


@both
def test_a_dropped_trace(page: Page, base: str, folder: str, heard: Heard) -> None:
    """A trace from the reader's disk is replayed and never sent anywhere."""
    lab = calculator(page, base, folder, "prefix-replay")
    lab.locator("[name=capacity_tokens]").fill("")
    choose_trace(lab, "".join(json.dumps(row) + "\n" for row in ROWS))

    lab.locator(f'.cp-numbers data[value="{REUSED}"]').first.wait_for()
    expect(lab.locator("[name=source][value=own]")).to_be_checked()
    assert heard.errors == []
    assert not [url for url in heard.requests if not url.startswith(base) and "blob:" not in url]


@both
def test_a_bad_row_is_named(page: Page, base: str, folder: str) -> None:
    """A cut-off line is named by its row, the last answer stands, a good file recovers."""
    lab = calculator(page, base, folder, "prefix-replay")
    before = lab.locator(".cp-lead").inner_text()
    choose_trace(lab, json.dumps(ROWS[0]) + "\n" + json.dumps(ROWS[1])[:40])

    error = lab.locator(".cp-error")
    expect(error).to_contain_text("第 2 行" if folder else "row 2", timeout=SLOWEST_MS)
    assert lab.locator(".cp-lead").inner_text() == before
    lab.locator("[name=capacity_tokens]").fill("")
    choose_trace(lab, json.dumps(ROWS[0]))
    expect(error).to_be_hidden()


def test_a_long_sweep_tells_its_progress_and_can_be_cancelled(page: Page, base: str) -> None:
    """A sweep over many requests moves the bar, and cancelling leaves the form as it was."""
    lab = calculator(page, base, "", "prefix-replay")
    lab.locator("[name=sweep_points]").fill("30")
    lab.locator("[name=turns]").fill("40")
    lab.locator("[name=groups]").fill("60")
    bar = lab.locator("progress")
    expect(bar).to_be_visible(timeout=SLOWEST_MS)
    lab.locator("[data-do=cancel]").click()

    expect(bar).to_be_hidden()
    assert lab.locator("[name=groups]").input_value() == "60"
