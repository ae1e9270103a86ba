"""Large files: progress within one object and one table, and a text that is let go once read."""

import json

import pytest

from calculators.measurements.read import read_text
from calculators.measurements.source import HEAD_CHARACTERS, open_text
from calculators.measurements.tables import lines_of

SERIES = json.dumps({"avg_latency": 0.5, "latencies": [0.5] * 70_000})
HEAD = "prompt_tokens,generation_tokens,ttft,generation_time,launch_time,finish_time\n"
TABLE = HEAD + "10,20,0.5,1.5,100.0,102.0\n" * 5000


@pytest.mark.parametrize(
    "text", [pytest.param(SERIES, id="object"), pytest.param(TABLE, id="table")]
)
def test_progress_is_told_within_one_object_and_one_table(text):
    """A file that is a single object, or rows alone, tells how far its reading is."""
    told = []
    reading = read_text(text, "a.csv", progress=told.append)

    assert told == sorted(told)
    assert told
    assert figures(reading) == figures(read_text(text, "a.csv"))


def figures(reading):
    """Every figure's value."""
    return [(f.quantity, f.stat, f.value) for m in reading.measurements for f in m.figures]


def test_a_text_is_let_go_where_it_is_one_object():
    """Of a file that is one object the head stays; with a second one behind it all of it does."""
    twice = f"{SERIES}\n{SERIES}"

    assert HEAD_CHARACTERS == len(open_text(SERIES).text)
    assert len(twice) == len(open_text(twice).text)
    assert 2 == len(read_text(twice).measurements)


@pytest.mark.parametrize("text", ["", "a", "a\n", "a\r\nb", "\n\n", "a\n\nb\n"])
def test_lines_one_by_one(text):
    """The lines together are the text, and only the last one may lack its end."""
    lines = list(lines_of(text))

    assert text == "".join(lines)
    assert all(line.endswith("\n") for line in lines[:-1])


def test_rows_without_a_token_only_count():
    """Rows are folded while reading: 0 and NaN are no first token, a lost time makes no sample."""
    rows = "10,0,0,0,100.0,101.0\n10,0,nan,0,100.0,101.0\n10,20,0.25,1.5,,\n"
    [found] = read_text(TABLE + rows, "a.csv").measurements

    assert (5001, 2) == (found.figure("n_success").value, found.figure("n_failure").value)
    assert (250.0, 5001) == (found.figure("ttft", "min").value, len(found.sampled("ttft").values))
    assert "not_stated" == found.figure("e2e", "p50").reason
