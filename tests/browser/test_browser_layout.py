"""Where one looks while one fills a form: the answer's gist, what is wrong, and the focus."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.conftest import LANGUAGES, SLOWEST_MS

pytestmark = pytest.mark.browser
both = pytest.mark.parametrize("folder", LANGUAGES.values(), ids=LANGUAGES.keys())
WIDTHS = pytest.mark.parametrize("width", [320, 1219, 1220])
# Whether the focused element, as far as the window can hold it, is what one sees there.
SEEN = """element => {
  if (element.getBoundingClientRect().height > innerHeight / 2) return true;
  return [...element.getClientRects()].every(({left, top, bottom, width}) => {  // one a line
    const seen = y => element.contains(document.elementFromPoint(left + width / 2, y));
    return top >= 0 && bottom <= innerHeight && seen(top + 2) && seen(bottom - 2);
  });
}"""


type Open = Callable[[str, int], Locator]


@pytest.fixture(scope="module")
def floor(visit: BrowserContext, base: str) -> Iterator[Open]:
    """The tallest form, in a window of some width, with its last field in hand.

    Each language's page is opened once and serves all tests, since a start takes longest.
    """
    pages: dict[str, Page] = {}

    def opened(folder: str, width: int) -> Locator:
        if folder not in pages:
            pages[folder] = visit.new_page()
            pages[folder].goto(f"{base}{folder}latency/")
        page = pages[folder]
        page.set_viewport_size({"width": width, "height": 700})
        lab = page.locator("#calc-floor")
        lab.locator("[name=context_tokens]").fill("8192")
        expect(lab.locator(".cp-status")).to_contain_text("54", timeout=SLOWEST_MS)
        page.evaluate("scrollTo(0, 0)")
        lab.locator("[name=context_tokens]").focus()
        lab.locator("[name=context_tokens]").select_text()
        return lab

    yield opened
    for page in pages.values():
        page.close()


@both
@WIDTHS
def test_the_gist_is_in_sight_while_one_types(floor: Open, folder: str, width: int) -> None:
    """However far the form reaches below the answer's first lines, the status line is there."""
    lab = floor(folder, width)
    lab.page.keyboard.type("16384")
    status = lab.locator(".cp-status")

    expect(status).to_contain_text("27", timeout=SLOWEST_MS)
    expect(status).to_be_in_viewport(ratio=0.9)


@WIDTHS
def test_what_is_wrong_is_in_sight_where_it_is_typed(floor: Open, width: int) -> None:
    """The sentence about the last field of a long form is read without scrolling."""
    lab = floor("", width)
    lab.page.keyboard.type("16k")

    expect(lab.locator(".cp-error")).to_be_in_viewport(ratio=0.9, timeout=SLOWEST_MS)
    expect(lab.locator(".cp-status")).not_to_be_visible()


@WIDTHS
@pytest.mark.parametrize("key", ["Tab", "Shift+Tab"])
def test_nothing_covers_the_focus(floor: Open, width: int, key: str) -> None:
    """Forwards and backwards, what has the focus lies clear of the header and the status line."""
    lab = floor("", width)
    lab.page.keyboard.type("16384")
    expect(lab.locator(".cp-status")).to_contain_text("27", timeout=SLOWEST_MS)
    hidden = []
    if key == "Tab":
        lab.locator("[name=source]").first.focus()
    for _ in range(20):
        lab.page.keyboard.press(key)
        focus = lab.page.locator(":focus")
        if not focus.evaluate(SEEN):
            hidden.append(focus.get_attribute("name") or focus.get_attribute("class"))

    assert hidden == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_more_contrast_draws_lines_as_dark_as_words(page: Page, base: str, scheme: str) -> None:
    """Whoever asks for contrast gets lines in the colour of the smaller texts, in both schemes."""
    page.emulate_media(contrast="more", color_scheme="dark" if scheme == "dark" else "light")
    page.goto(f"{base}latency/")
    line, words = page.locator("#calc-floor").evaluate(
        """section => [getComputedStyle(section).borderTopColor,
                       getComputedStyle(section.querySelector(".cp-intro")).color]"""
    )

    assert words == line
