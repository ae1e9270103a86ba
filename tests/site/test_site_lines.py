"""Lines end where a reader expects it."""

import pytest

from scripts.site.lines import unbroken

MATHS = '<span class="cp-math"><math><mi>b</mi></math></span>'


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        pytest.param("<p>in 60 ms</p>", "<p>in 60\xa0ms</p>", id="a unit"),
        pytest.param("<p>7 % off</p>", "<p>7\xa0% off</p>", id="per cent"),
        pytest.param("<p>4 <b>s</b></p>", "<p>4 <b>s</b></p>", id="no figure before it"),
        pytest.param("<p>in 60 months</p>", "<p>in 60 months</p>", id="a word"),
        pytest.param("<pre>a 60 ms</pre>", "<pre>a 60 ms</pre>", id="a listing"),
        pytest.param(
            "<section><p>6 s</p></section>6 s",
            "<section><p>6 s</p></section>6\xa0s",
            id="a calculator, and behind it",
        ),
        pytest.param(
            "<code>--max-len 8</code>",
            '<code><span class="cp-whole">--max</span>-len 8</code>',
            id="an option",
        ),
        pytest.param(f"{MATHS}，", f'<span class="cp-whole">{MATHS}，</span>', id="a formula"),
        pytest.param("<br/>1 GB/s", "<br/>1\xa0GB/s", id="a rate"),
        pytest.param("1 GB/h", "1 GB/h", id="another rate"),
    ],
)
def test_unbroken(html, expected):
    """What belongs together stays on one line, and all else is as it was."""
    assert expected == unbroken(html)
