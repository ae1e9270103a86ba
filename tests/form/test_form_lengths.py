"""Lists of sequence lengths: runs kept, sums exact, text and value agree."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculators.form.errors import ParameterError
from calculators.form.lengths import LONGEST_LIST, LONGEST_TEXT, Lengths, Run, parse_lengths

MOST = 10**12
RUNS = st.builds(Run, st.integers(1, MOST), st.integers(1, 10**9))
READ = [
    pytest.param("8192", (Run(8192, 1),), id="one"),
    pytest.param("8192, 4096x3", (Run(8192, 1), Run(4096, 3)), id="repeat"),
    pytest.param("8192，4096×3", (Run(8192, 1), Run(4096, 3)), id="Chinese comma and times"),
    pytest.param("1、2；3;4", tuple(Run(n, 1) for n in (1, 2, 3, 4)), id="other separators"),
    pytest.param("1\r\n2\n", (Run(1, 1), Run(2, 1)), id="a length a line, CRLF"),
    pytest.param(",1,,2,", (Run(1, 1), Run(2, 1)), id="empty entries"),
    pytest.param("4096 X 3, 5*2", (Run(4096, 3), Run(5, 2)), id="capital, star, blanks"),
]
REFUSED = [
    pytest.param("3x", "not_a_number", id="no count"),
    pytest.param("x3", "not_a_number", id="no length"),
    pytest.param("", "empty", id="nothing"),
    pytest.param(" , ,", "empty", id="commas alone"),
    pytest.param("0", "too_small", id="zero"),
    pytest.param("8192x0", "too_small", id="zero times"),
    pytest.param(f"{MOST + 1}", "too_large", id="too long a sequence"),
    pytest.param("1x1000000001", "too_large", id="too many sequences"),
    pytest.param("1x2x3", "not_a_number", id="two factors"),
    pytest.param("1.5x2", "not_whole", id="fraction"),
    pytest.param("８１９２", "full_width", id="full-width"),
    pytest.param("1 2", "not_a_number", id="blank as separator"),
    pytest.param("1," * (LONGEST_LIST + 1), "too_many", id="too many entries"),
    pytest.param("1" * (LONGEST_TEXT + 1), "too_long", id="endless text"),
]


@pytest.mark.parametrize(("text", "runs"), READ)
def test_reads(text, runs):
    """Lengths are read with any usual separator and times sign, in order."""
    assert runs == parse_lengths("tokens", text, MOST, 10**9).runs


@pytest.mark.parametrize(("text", "reason"), REFUSED)
def test_refuses(text, reason):
    """A list that cannot be used raises the reason of its first bad entry."""
    with pytest.raises(ParameterError) as caught:
        parse_lengths("tokens", text, MOST, 10**9)

    assert ("tokens", reason) == (caught.value.field, caught.value.reason)


@given(st.lists(RUNS, min_size=1, max_size=20).map(tuple))
def test_text_gives_the_value_back(runs):
    """``str`` of lengths parses to the same lengths."""
    assert Lengths(runs) == parse_lengths("tokens", str(Lengths(runs)), MOST, 10**9)


@given(st.lists(st.builds(Run, st.integers(1, 50), st.integers(1, 9)), min_size=1, max_size=9))
def test_sums_are_those_of_the_written_out_list(runs):
    """Sequences and tokens equal those of the list with every repeat written out."""
    written_out = [run.length for run in runs for _ in range(run.count)]
    lengths = Lengths(tuple(runs))

    assert (len(written_out), sum(written_out)) == (lengths.sequences, lengths.tokens)
