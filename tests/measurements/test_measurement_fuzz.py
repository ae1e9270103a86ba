"""Whatever a file holds, the readers end in a record or in one refusal."""

import contextlib
import json

import measurement_samples as samples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from calculators.form.errors import ParameterError
from calculators.measurements.read import claimed
from calculators.measurements.source import open_text

TEXTS = [case[2] for case in samples.CASES]
WEIRD = st.sampled_from(
    [None, True, [], {}, "", "inf", "NaN", 0, -1, 1e308, 10**400, [None], {"a": {}}, [[1]], "x"]
)


NAMES = st.sampled_from(
    ["", "p", "pxx", "p²5", "p99.9", "mean", "ttfts", "p(x)", "1e5%", "value", "unit", "count"]
)


def reads_or_refuses(text):
    """Read a text; a record must be consistent, a refusal of the one kind."""
    with contextlib.suppress(ParameterError):
        module, source = claimed(open_text(text, "a_summary.json"))
        module.read(source).check()


def parsed():
    """The sample files that are one JSON document."""
    for text in TEXTS:
        try:
            yield json.loads(text.removeprefix("\ufeff"))
        except ValueError:
            continue


DOCUMENTS = list(parsed())


@st.composite
def mutated_values(draw):
    """A sample with some values replaced by values of another kind."""
    document = json.loads(json.dumps(draw(st.sampled_from(DOCUMENTS))))
    for _ in range(draw(st.integers(1, 4))):
        node = document
        while isinstance(node, dict | list) and node:
            key = draw(
                st.sampled_from(sorted(node) if isinstance(node, dict) else range(len(node)))
            )
            if isinstance(node, dict) and draw(st.integers(0, 5)) == 0:
                node[draw(NAMES)] = node.pop(key)
                break
            if not isinstance(node[key], dict | list) or draw(st.integers(0, 3)) == 0:
                node[key] = json.loads(json.dumps(draw(WEIRD)))
                break
            node = node[key]
    return json.dumps(document)


@st.composite
def mutated_texts(draw):
    """A sample with a piece cut out, doubled or replaced."""
    text = draw(st.sampled_from(TEXTS))
    start = draw(st.integers(0, len(text)))
    end = min(len(text), start + draw(st.integers(0, 60)))
    piece = draw(
        st.sampled_from(["", "\x00", "\n", ",", "}", "NaN", "\ud7ff", text[start:end] * 2])
    )
    return text[:start] + piece + text[end:]


SLOW = settings(
    max_examples=400,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@SLOW
@given(mutated_values())
def test_other_kinds_of_values(text):
    """A value of an unexpected kind is a null with a reason or a refusal."""
    reads_or_refuses(text)


@SLOW
@given(mutated_texts())
def test_damaged_text(text):
    """A damaged file is read as far as it is whole, or refused."""
    reads_or_refuses(text)


@SLOW
@given(st.text(max_size=200))
def test_any_text(text):
    """Any text is refused or read."""
    reads_or_refuses(text)
