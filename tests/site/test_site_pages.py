"""The last touch on a page: twins by absolute and relative addresses, and a strict policy."""

import re
from html.parser import HTMLParser

import pytest

from scripts.paths import ROOT
from scripts.site.pages import finished, script_hash, with_copying, with_policy, with_switcher

PAGE = """<!doctype html>
<html><head>
      <meta charset="utf-8">
      <link rel="alternate" href="/" hreflang="en">
      <link rel="alternate" href="/zh/" hreflang="zh">
      <link rel="icon" href="x.png">
<script>one()</script><script src="a.js"></script><script>two("<b>")</script>
<script type="application/json">{"a": 1}</script>
</head><body>
<a href="/" hreflang="en" class="md-select__link">English</a>
<a href="/zh/" hreflang="zh" class="md-select__link">中文</a>
<script>one()</script>
</body></html>"""
ROOT_URL = "https://example.org/guides/"
SITE = ROOT / "site"


def links(html):
    """{language: address} of the alternates in the head."""
    return {
        lang: href
        for href, lang in re.findall(
            r'<link rel="alternate" href="([^"]*)" hreflang="([^"]*)"', html
        )
    }


def switches(html):
    """{language: address} of the theme's switcher."""
    return {lang: href for href, lang in re.findall(r'<a href="([^"]*)" hreflang="(\w+)"', html)}


@pytest.mark.parametrize(
    ("expected", "html"),
    [
        pytest.param(
            1, '<div class="highlight"><pre><span></span><code>a</code></pre>', id="fence"
        ),
        pytest.param(1, '<pre tabindex="0"><code>a</code></pre>', id="citation"),
        pytest.param(2, "<pre><code>a</code></pre><pre><code>b</code></pre>", id="two"),
        pytest.param(
            0, '<pre class="cp-code" tabindex="0"><code>a</code></pre>', id="of an answer"
        ),
    ],
)
def test_listings_have_buttons(expected, html):
    """Each listing of the text has its own button, which names it, and scrolls by the keyboard."""
    shown = with_copying(html, "Copy")
    targets = re.findall(r'data-clipboard-target="#(\w+) > code"', shown)

    assert expected == len(targets) == shown.count('<code tabindex="0">')
    assert re.findall(r'<pre id="(\w+)">', shown) == targets
    assert len(set(targets)) == expected


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("url", ["", "kv-cache/", "a/b/"])
def test_alternates_are_absolute(lang, url):
    """Every page names itself and its twin absolutely, and English for all other readers."""
    found = links(finished(PAGE, root=ROOT_URL, url=url, lang=lang))

    assert found == {
        "en": f"{ROOT_URL}{url}",
        "zh": f"{ROOT_URL}zh/{url}",
        "x-default": f"{ROOT_URL}{url}",
    }


@pytest.mark.parametrize(
    ("expected", "url", "lang"),
    [
        pytest.param({"en": "./", "zh": "zh/"}, "", "en", id="home"),
        pytest.param({"en": "../", "zh": "../zh/"}, "", "zh", id="Chinese home"),
        pytest.param({"en": "../kv/", "zh": "../zh/kv/"}, "kv/", "en", id="page"),
        pytest.param({"en": "../../kv/", "zh": "../../zh/kv/"}, "kv/", "zh", id="Chinese page"),
        pytest.param({"en": "../../a/b/", "zh": "../../zh/a/b/"}, "a/b/", "en", id="deeper"),
    ],
)
def test_the_switcher_keeps_the_page(expected, url, lang):
    """The language links lead to the twin of the page, relative, so that any sub-path works."""
    assert switches(with_switcher(PAGE, url=url, lang=lang)) == expected


def policy_of(html):
    """The directives of a page's policy."""
    [content] = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    return {name: values for name, *values in (part.split() for part in content.split(";"))}


class Scripts(HTMLParser):
    """The text of every script that a browser would run from the page itself."""

    def __init__(self, html):
        super().__init__(convert_charrefs=False)
        self.inside, self.found = False, []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        """Enter a script that has no address and is no data."""
        about = dict(attrs)
        runs = about.get("type", "text/javascript") in {"text/javascript", "module"}
        self.inside = tag == "script" and "src" not in about and runs
        if self.inside:
            self.found.append("")

    def handle_endtag(self, tag):
        """Leave it."""
        self.inside = self.inside and tag != "script"

    def handle_data(self, data):
        """Collect its text."""
        if self.inside:
            self.found[-1] += data


def unnamed(html):
    """Inline scripts that the policy of a page does not allow."""
    allowed = policy_of(html)["script-src"]
    return [text[:80] for text in Scripts(html).found if f"'{script_hash(text)}'" not in allowed]


def test_the_policy_names_every_inline_script():
    """Each inline script is allowed by its own hash, and no other is."""
    html = with_policy(PAGE)

    assert unnamed(html) == []
    assert 2 == sum(value.startswith("'sha256-") for value in policy_of(html)["script-src"])
    assert unnamed(html.replace("one()", "other()", 1)) == ["other()"]


def test_the_policy_allows_nothing_else():
    """Everything else is this site's own or forbidden; nothing inline, nothing evaluated."""
    policy = policy_of(with_policy(PAGE))

    assert policy["default-src"] == ["'none'"]
    assert not {"'unsafe-inline'", "'unsafe-eval'", "*", "https:"} & {
        value for values in policy.values() for value in values
    }


def test_script_hash():
    """The hash is the one of the specification's own example."""
    expected = "sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng="

    assert expected == script_hash("alert('Hello, world.');")


@pytest.mark.skipif(not (SITE / "index.html").exists(), reason="the site is not built")
def test_every_built_page():
    """Each built page has a policy that allows its scripts, its alternates and a twin."""
    pages = [path for path in SITE.rglob("*.html") if path.name != "404.html"]
    for page in pages:
        html = page.read_text(encoding="utf-8")

        assert unnamed(html) == [], page
        assert links(html).keys() == {"en", "zh", "x-default"}, page
        for href in switches(html).values():
            assert (page.parent / href / "index.html").is_file(), (page, href)

    assert len(pages) > 10


@pytest.mark.parametrize(
    ("expected", "after"),
    [("cp-whole", "："), ("cp-whole", ", "), ("cp-math", " 个"), ("cp-math", "</p>")],
)
def test_a_formula_keeps_the_sign_behind_it(expected, after):
    """Where a sign closes a formula, no line ends between the two; elsewhere one may."""
    formula = '<span class="cp-math"><math><mi>g</mi></math></span>'
    html = finished(f"{PAGE}<p>{formula}{after}", root=ROOT_URL, url="kv-cache/", lang="zh")

    assert f'<p><span class="{expected}">' in html
