"""What redaction takes out, and what it leaves as it was."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.archive.redact import redact

TAKEN = [
    ("home path", '{"model": "/home/jane/models/Qwen"}', '{"model": "<path>/Qwen"}'),
    ("windows path", r'{"exe": "C:\\Users\\jane\\run.exe"}', '{"exe": "<path>/run.exe"}'),
    ("address", '{"url": "https://h.example:80/v1?k=1"}', '{"url": "https://<address>"}'),
    ("ip", '{"m": "from 10.0.0.7 ok"}', '{"m": "from <ip> ok"}'),
    ("key by name", '{"api_key": "abc"}', '{"api_key": "<key>"}'),
    ("key by form", '{"x": "hf_abcdefghijklmnopqrst"}', '{"x": "<key>"}'),
    ("host", '{"host_name": "box7"}', '{"host_name": "<host>"}'),
    ("mail", '{"x": "a.b@c.org"}', '{"x": "<email>"}'),
    (
        "texts",
        '{"generated_texts": ["one", "four"], "n": 1}',
        '{"generated_texts": ["<3 characters>", "<4 characters>"], "n": 1}',
    ),
    (
        "nested prompt",
        '{"prompt": {"a": ["hey"]}, "b": "c"}',
        '{"prompt": {"a": ["<3 characters>"]}, "b": "c"}',
    ),
    ("yaml", "user: jane\nbase_url: http://h/x\n", "user: <user>\nbase_url: http://<address>\n"),
]


@pytest.mark.parametrize(("text", "expected"), [pytest.param(t, e, id=n) for n, t, e in TAKEN])
def test_private_detail_is_replaced(text, expected):
    """Each kind of detail is replaced, and the rest of the text stays."""
    assert expected == redact(text).text


KEPT = [
    '{"version": "0.10.2", "x": 1.50e-3}',
    '{"model": "Qwen/Qwen3-0.6B"}',
    '{"token": null, "total_tokens": 5}',
    '{"unit": "tokens/s", "u": "ms/token"}',
    "TTFT (ms),p99\n1,2\n",
    '{"a": NaN, "b": [1,  2]}',
]


@pytest.mark.parametrize("text", KEPT)
def test_other_text_is_untouched(text):
    """Models, units, versions and numbers stay character by character."""
    assert (text, {}) == (redact(text).text, redact(text).counts)


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=12),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=8), inner),
    )
)
def test_json_stays_json(value):
    """Redacted JSON still parses and keeps its shape."""
    again = json.loads(redact(json.dumps({"v": value})).text)

    assert shape({"v": value}) == shape(again)


def shape(value):
    """A value with its strings forgotten."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    return [shape(item) for item in value] if isinstance(value, list) else isinstance(value, str)
