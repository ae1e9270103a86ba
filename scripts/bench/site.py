"""The reader's wait: first answer cold and warm, ours beside stock Pyodide; bytes; build time.

"Stock" is the same page with Pyodide's own standard library and our package as source: all that
the build does for speed is taken away, nothing else. The runs of both alternate. An answer
counts from the start of the navigation, with the edit made as soon as the form is there.
"""

import base64
import hashlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from scripts.bench.report import Figure
from scripts.paths import BUILD, NODE_MODULES, ROOT
from scripts.setup import find_browser
from scripts.site import runtime
from scripts.site.bytecode import archive_of, package_files
from scripts.site.serve import server

SITE = ROOT / "site"
PAGE = "kv-cache/"
ROUNDS = 5
TRIPS = 300
BUILDS = 3
CODE_CACHE_MS = 4000  # V8 keeps compiled code only after a while
MB = 1e6
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip

# Edits the form as soon as it is there, and notes when the answer stands.
FIRST_ANSWER = """
const field = () => document.querySelector(".cp-calculator[data-live] [name=layers]");
const edit = () => {
  if (window.edited || !field()) return;
  window.edited = performance.now();
  field().value = "80";
  field().dispatchEvent(new Event("input", { bubbles: true }));
};
new MutationObserver(() => {
  edit();
  const found = document.querySelector('.cp-answer .cp-lead data[value="10737418240"]');
  if (found) window.answered ??= performance.now();
}).observe(document, { childList: true, subtree: true, attributeFilter: ["data-live"] });
"""

# Edits one after the other, each when the one before is answered; times in milliseconds.
ROUND_TRIPS = """
async (trips) => {
  const answer = document.querySelector(".cp-answer");
  const field = document.querySelector("[name=layers]");
  const times = [];
  for (let i = 0; i < trips; i++) {
    await new Promise((done) => setTimeout(done, 20));
    const changed = new Promise((done) => {
      const watch = new MutationObserver(() => { watch.disconnect(); done(); });
      watch.observe(answer, { childList: true });
    });
    const start = performance.now();
    field.value = String(1 + (i % 97));
    field.dispatchEvent(new Event("input", { bubbles: true }));
    await changed;
    times.push(performance.now() - start);
  }
  return times;
}
"""


def figures() -> Iterator[Figure]:
    """All figures, in the order of a reader's visit."""
    with tempfile.TemporaryDirectory() as folder:
        stock = stock_site(Path(folder))
        with serving(SITE) as ours, serving(stock) as theirs, chromium() as browser:
            yield from first_answers(browser, ours, theirs)
            yield from round_trips(browser, ours)
    yield from sizes()
    yield from builds()


def stock_site(folder: Path) -> Path:
    """A copy of the page and its assets with stock Pyodide and our package as source."""
    site = folder / "stock"
    shutil.copytree(SITE, site, ignore=shutil.ignore_patterns("*.br", "*.gz", "zh", "search"))
    wheel = archive_of(package_files())
    page = site / PAGE / "index.html"
    text = page.read_text(encoding="utf-8")
    sha256 = base64.b64encode(hashlib.sha256(wheel).digest()).decode()
    page.write_text(
        text.replace(runtime.current().wheel_integrity, f"sha256-{sha256}"), encoding="utf-8"
    )
    (site / "assets" / runtime.current().wheel).write_bytes(wheel)
    home = site / "assets" / runtime.current().home
    shutil.copy(NODE_MODULES / "pyodide" / "python_stdlib.zip", home / "python_stdlib.zip")
    return site


@contextmanager
def serving(site: Path) -> Iterator[str]:
    """Serve a site on a free port."""
    serves = server(site, 0, quiet=True)
    threading.Thread(target=serves.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{serves.server_address[1]}/"
    serves.shutdown()
    serves.server_close()


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser."""
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=find_browser(), args=list(FLAGS))
        yield browser
        browser.close()


def first_answers(browser: Browser, ours: str, theirs: str) -> Iterator[Figure]:
    """Cold and warm, ours and stock in turn."""
    times: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        for name, base in (("ours", ours), ("stock", theirs)):
            context = browser.new_context()
            times.setdefault(f"{name} cold", []).append(first_answer(context, base))
            times.setdefault(f"{name} warm", []).append(first_answer(context, base))
            context.close()
    medians = {name: statistics.median(values) for name, values in times.items()}
    for name, value in medians.items():
        yield f"first answer, {name}, median of {ROUNDS}", value, "ms", times[name]
    for state in ("cold", "warm"):
        yield (
            f"stock / ours, {state}",
            medians[f"stock {state}"] / medians[f"ours {state}"],
            "times",
        )


def first_answer(context: BrowserContext, base: str) -> float:
    """Milliseconds from navigation to the first computed answer."""
    page = context.new_page()
    page.add_init_script(FIRST_ANSWER)
    page.goto(f"{base}{PAGE}")
    elapsed = wait_for_answer(page)
    page.wait_for_timeout(CODE_CACHE_MS)
    page.close()
    return elapsed


def wait_for_answer(page: Page) -> float:
    """Poll from outside, since the page's policy forbids evaluated predicates."""
    while True:
        answered: float | None = page.evaluate("window.answered")
        if answered is not None:
            return answered
        page.wait_for_timeout(10)


def round_trips(browser: Browser, base: str) -> Iterator[Figure]:
    """From an edit to its answer in the page, once all is warm."""
    page = browser.new_page()
    page.add_init_script(FIRST_ANSWER)
    page.goto(f"{base}{PAGE}")
    wait_for_answer(page)
    series: list[float] = page.evaluate(ROUND_TRIPS, TRIPS)[20:]
    times = sorted(series)
    page.close()
    yield f"edit to answer, p50 of {len(times)}", times[len(times) // 2], "ms", series
    for share in (0.95, 0.99):
        yield (
            f"edit to answer, p{share * 100:g} of {len(times)}",
            times[int(share * len(times))],
            "ms",
        )


def sizes() -> Iterator[Figure]:
    """Bytes of what a first answer needs, by file."""
    names = [n for n in runtime.current().files if n.startswith("runtime/")]
    names += [runtime.current().bridge]
    totals = dict.fromkeys(("", ".gz", ".br"), 0)
    for name in sorted(names):
        for suffix in totals:
            path = SITE / "assets" / f"{name}{suffix}"
            size = (path if path.exists() else SITE / "assets" / name).stat().st_size
            totals[suffix] += size
            yield f"{Path(name).name}{suffix}", size, "bytes"
    for suffix, total in totals.items():
        yield f"all that a first answer needs, {suffix or 'raw'}", total / MB, "MB"


def builds() -> Iterator[Figure]:
    """A strict build of both languages, beside Material alone on the same pages."""
    ours_s = [timed_build("mkdocs.yml", "mkdocs") for _ in range(BUILDS)]
    plain_s = [
        sum(timed_build(name, "plain") for name in plain_configurations()) for _ in range(BUILDS)
    ]
    ours, plain = statistics.median(ours_s), statistics.median(plain_s)
    yield f"build, ours, median of {BUILDS}", ours, "s", ours_s
    yield f"build, plain Material of the same pages, median of {BUILDS}", plain, "s", plain_s
    yield "ours / plain", ours / plain, "times"


def plain_configurations() -> Iterator[str]:
    """Two configurations without anything of ours: theme, search and the standard extensions."""
    BUILD.mkdir(exist_ok=True)
    for lang in ("en", "zh"):
        path = BUILD / f"plain-{lang}.yml"
        path.write_text(
            f"site_name: plain\nsite_url: https://plain.example/\ndocs_dir: {ROOT}/docs/{lang}\n"
            f"theme: {{name: material, language: {lang}, font: false}}\nplugins: [search]\n"
            "markdown_extensions: [abbr, admonition, attr_list, def_list, footnotes, md_in_html,"
            " tables, toc, pymdownx.details, pymdownx.highlight, pymdownx.superfences]\n",
            encoding="utf-8",
        )
        yield str(path)


def timed_build(configuration: str, name: str) -> float:
    """Seconds of one build in a process of its own."""
    target = BUILD / f"bench-{name}"
    command = [sys.executable, "-W", "ignore", "-m", "mkdocs", "build", "-f", configuration]
    start = time.perf_counter()
    subprocess.run([*command, "-d", str(target)], check=True, capture_output=True, cwd=ROOT)
    return time.perf_counter() - start
