"""What the readers warn about, which labels they keep, and what they drop."""

import json

import measurement_samples as samples
import pytest

from calculators.form.errors import ParameterError
from calculators.measurements.read import read_text
from calculators.measurements.source import decode


def codes(text, name="a.json"):
    """The codes of all notes of a file."""
    return {note.code for note in read_text(text, name).all_notes}


NOTED = [
    ("same arguments", samples.lines(samples.SGLANG, samples.SGLANG), "same_arguments"),
    ("empty answers", samples.lines(samples.SGLANG), "answers_empty"),
    ("cut tail", samples.lines(samples.VLLM) + '{"completed": 1', "broken_tail"),
    ("log lines", "starting\n" + json.dumps(samples.VLLM), "lines_skipped"),
    (
        "cap exceeded",
        json.dumps(samples.VLLM | {"max_concurrency": 16, "max_concurrent_requests": 17}),
        "peak_above_cap",
    ),
    (
        "rate and cap",
        json.dumps(samples.VLLM | {"max_concurrency": 16, "request_rate": 4.0}),
        "client_queue_not_counted",
    ),
    ("reciprocal", json.dumps(samples.INFERENCEX), "intvty_is_reciprocal"),
    ("bounds", json.dumps(samples.BENCHER), "bounds_equal"),
    (
        "dirty commit",
        json.dumps(samples.PYTEST | {"commit_info": {"id": "c", "dirty": True}}),
        "commit_dirty",
    ),
    ("unknown keys", json.dumps(samples.VLLM | {"kv_cache_usage_perc": 0.5}), "keys_unknown"),
    ("asv without units", json.dumps(samples.ASV_1), "unit_in_other_file"),
    ("guidellm zeros", json.dumps(samples.GUIDELLM_1), "empty_group_filled_with_zeros"),
]


@pytest.mark.parametrize(("text", "code"), [pytest.param(t, c, id=n) for n, t, c in NOTED])
def test_note_is_given(text, code):
    """A reader is warned of what the file does not show by itself."""
    assert code in codes(text)


REFUSED = [
    ("empty", "", "empty"),
    ("prose", "once upon a time", "format_unknown"),
    ("other JSON", '{"hello": 1}', "format_unknown"),
    ("cut", '{"completed": 1, "dura', "json_cut"),
    ("broken", '{"completed": 1, "duration": 12%}', "json_broken"),
    ("deep", "[" * 200_000, "too_deep"),
    ("narrow row", "build_commit,n_prompt,n_gen,avg_ns\n1,2,3\n", "row_width"),
    ("long number", '{"completed": 1, "duration": ' + "9" * 5000 + "}", "number_too_long"),
]


@pytest.mark.parametrize(("text", "reason"), [pytest.param(t, r, id=n) for n, t, r in REFUSED])
def test_refused_with_one_reason(text, reason):
    """What cannot be read ends in one exception with a reason code."""
    with pytest.raises(ParameterError) as caught:
        read_text(text)

    assert reason == caught.value.reason


def test_known_file_without_entries_holds_no_measurement():
    """A file of a known format without a single entry is recognised, not refused."""
    reading = read_text('{"benchmarks": [], "machine_info": {}}')

    assert ("no_measurement", 0) == (reading.outcome, reading.figure("n_measurements").value)
    assert ["no_entries"] == [note.code for note in reading.notes]


def test_known_keys_without_figures_are_kept_and_not_called_unknown():
    """Arguments such as the tokenizer stay in the record without a warning."""
    reading = read_text(json.dumps(samples.VLLM | {"tokenizer_id": "t"}))

    assert {"tokenizer_id": "t"} == reading.measurements[0].extra
    assert "keys_unknown" not in {note.code for note in reading.all_notes}


def test_unknown_keys_are_kept():
    """A fork's own keys stand unchanged in the measurement's extra block."""
    text = json.dumps(samples.VLLM | {"reject_rate": 0.25})

    assert {"reject_rate": 0.25} == read_text(text).measurements[0].extra


def test_generated_text_is_dropped_while_reading():
    """No prompt or answer of the file is in the record."""
    reading = read_text(json.dumps(samples.VLLM_DETAIL))

    assert "secret" not in repr(reading)


def test_integers_beyond_double_precision_keep_their_digits():
    """Time stamps and seeds of 64 bits are text, digit by digit."""
    records = read_text(samples.lines(*samples.AIPERF_ROWS)).measurements[0]
    events = read_text(samples.MLPERF_DETAIL).measurements[0]

    assert "1759522419154568962" == records.label("first_timestamp_ns").value
    assert "18209322760996052031" == events.label("schedule_rng_seed").value


def test_line_pointers_are_distinct():
    """Two runs in one line are two measurements with two pointers."""
    row = json.dumps(samples.VLLM)
    pointers = [m.pointer for m in read_text(f"{row} {row}\n{row}").measurements]

    assert 3 == len(set(pointers))


DECODED = [
    ("utf-8", "{}é".encode(), "{}é"),
    ("utf-8 mark", b"\xef\xbb\xbf{}", "{}"),
    ("utf-16 mark", "{}é".encode("utf-16"), "{}é"),
    ("utf-16 without mark", "{}  ".encode("utf-16-le"), "{}  "),
]


@pytest.mark.parametrize(("data", "text"), [pytest.param(d, t, id=n) for n, d, t in DECODED])
def test_bytes_become_text(data, text):
    """Byte order marks decide the encoding and vanish."""
    assert text == decode(data)


def test_other_bytes_are_refused():
    """Bytes that are no text are refused with the position."""
    with pytest.raises(ParameterError) as caught:
        decode(b"abc\xff")

    assert ("not_text", 3) == (caught.value.reason, caught.value.limits["position"])
