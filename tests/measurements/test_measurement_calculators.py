"""The calculators over records and samples: what they answer, and that every word of it exists."""

import json
import re
from pathlib import Path

import measurement_samples as samples
import pytest

from calculators import latency, measurements
from calculators.form.errors import ParameterError
from calculators.form.parse import parse
from calculators.labels import load
from calculators.latency.samples import Params as SampleParams
from calculators.latency.samples import solve as solve_samples
from calculators.measurements.comparison import Params as CompareParams
from calculators.measurements.comparison import solve as solve_compare
from calculators.measurements.result_file import Params as FileParams
from calculators.measurements.result_file import solve as solve_file
from calculators.show.blocks import numbers_of
from calculators.show.text import render_text
from tests.questions_archive import router

LANGUAGES = ("en", "zh")
PACKAGE = Path(measurements.__file__).parent
FILES = [pytest.param(case[2], id=case[0]) for case in samples.CASES]


def quiet(done):
    """Progress that nobody watches."""
    del done


def rendered(name, result):
    """The whole answer as text in both languages; an unknown label raises."""
    return [render_text(result, load(name, lang)) for lang in LANGUAGES]


@pytest.mark.parametrize("text", FILES)
def test_every_sample_file_is_worded(text):
    """Figures, reasons, warnings and rules of every sample file have words in both languages."""
    result = solve_file(FileParams(file=text), quiet)

    for shown in rendered("result-file", result):
        assert "{" not in shown.split("kept as it is")[0][:200]


def sources():
    """The package's own source texts."""
    return [path.read_text() for path in sorted(PACKAGE.rglob("*.py"))]


def test_every_warning_code_has_words():
    """No reader module gives a note that the labels do not word."""
    codes = {
        code
        for text in sources()
        for code in re.findall(r'(?:\.note\(\s*|Note\(\s*code=)"([a-z_]+)"', text)
    }
    known = load("result-file", "en")

    assert len(codes) > 40
    assert [] == sorted(code for code in codes if not known.has(f"warning.{code}"))


def test_every_refusal_has_words():
    """No reader refuses with a reason that the labels do not word."""
    folder = Path(latency.__file__).parent
    texts = sources() + [path.read_text() for path in folder.glob("*.py")]
    reasons = {
        found
        for text in texts
        for found in re.findall(r'ParameterError\(\s*"?[a-z_]+"?,\s*"([a-z_]+)"', text)
    }
    known = [load(name, "en") for name in ("samples", "result-file", "compare")]

    assert [] == sorted(r for r in reasons if not any(k.has(f"error.{r}") for k in known))


def test_sample_sizes_without_samples():
    """A p95 bounded on both sides needs 72 samples, an upper bound alone 59."""
    found = numbers_of(solve_samples(SampleParams(), quiet).blocks)

    assert (72, 59) == (found["needed_two"].value, found["needed_one"].value)


@pytest.mark.parametrize(
    ("percentile", "count", "expected"),
    [
        pytest.param("50", "25", (8, 18), id="median of 25"),
        pytest.param("95", "25", (22, None), id="p95 of 25"),
        pytest.param("95", "100", (90, 100), id="p95 of 100"),
        pytest.param("99", "1000", (983, 997), id="p99 of 1,000"),
        pytest.param("50", "1", (None, None), id="one sample"),
    ],
)
def test_ranks_without_samples(percentile, count, expected):
    """How many samples there will be is enough to name the ranks that bound a percentile."""
    given = parse(SampleParams, {"percentile": percentile, "count": count})
    found = numbers_of(solve_samples(given, quiet).blocks)
    ranks = [found[name].value if name in found else None for name in ("rank_low", "rank_high")]

    assert list(expected) == ranks


def test_25_samples_have_no_upper_bound_of_p95():
    """Twenty-five samples bound the median by X(8) and X(18) and the p95 only from below."""
    text = " ".join(str(value) for value in range(101, 126))
    english, chinese = rendered("samples", solve_samples(SampleParams(samples=text), quiet))

    assert "X(8)..X(18)" in english
    assert "X(22)..–" in english
    assert "27.7%" in english
    assert "27.7%" in chinese


@pytest.mark.parametrize("text", ["5", "1 1 1", "0", "0.001,2e3\n3"])
def test_few_samples_are_answered(text):
    """One sample, equal samples and zero are answered in both languages."""
    assert all(rendered("samples", solve_samples(SampleParams(samples=text), quiet)))


@pytest.mark.parametrize("text", ["1 x", "-1", "1e999", "nan", "１"])
def test_other_entries_are_refused(text):
    """What is no finite number of 0 or more is refused with its row."""
    with pytest.raises(ParameterError) as caught:
        solve_samples(SampleParams(samples=text), quiet)

    assert "not_a_sample" == caught.value.reason


ROUTER = json.loads(router(10.0, 11.0, 12.0, 13.0, 14.0))


def slower(report, **changes):
    """A report with other conditions, every call twice as long."""
    run = report["runs"][0]
    warm = [2 * value for value in run["warm_ms"]]
    return report | {"runs": [run | {"warm_ms": warm}]} | changes


def compared(first, second):
    """The comparison of two reports."""
    params = CompareParams(first=json.dumps(first), second=json.dumps(second))
    return solve_compare(params, quiet)


def test_equal_conditions_give_a_ratio():
    """With all conditions equal the medians' ratio comes with an interval and an exact test."""
    result = compared(ROUTER, slower(ROUTER))
    found = numbers_of(result.blocks)

    assert "status.comparable" == result.status.key
    assert 2.0 == found["ratio"].value
    assert found["low"].value <= 2.0 <= found["high"].value
    assert all(rendered("compare", result))


def test_other_conditions_give_no_ratio():
    """Another data type or an unstated one leaves the answer without a ratio."""
    for changes, key in (({"dtype": "bfloat16"}, "different"), ({"dtype": None}, "unknown")):
        result = compared(ROUTER, slower(ROUTER, **changes))

        assert f"status.{key}" == result.status.key
        assert {} == numbers_of(result.blocks)
        assert all(rendered("compare", result))


def test_refusal_names_the_field():
    """A broken second file is refused under the second field's name."""
    with pytest.raises(ParameterError) as caught:
        solve_compare(CompareParams(first=json.dumps(ROUTER), second="{"), quiet)

    assert ("second", "json_cut") == (caught.value.field, caught.value.reason)
