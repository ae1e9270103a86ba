"""Every switch of a hit rate changes exactly what its definition says."""

from fractions import Fraction

import pytest

from calculators.form.errors import ParameterError
from calculators.prefix.invariants import MisuseError
from calculators.prefix.keys import pack
from calculators.prefix.rates import Definition, Outcome, rate, requests_with_hit, reused_tokens
from calculators.prefix.trace import Trace

# Two requests of 10 and 8 tokens in blocks of 4: 3 blocks (one partial) and 2 full ones.
TRACE = Trace(
    format="test",
    block_tokens=4,
    keys=(pack([1, 2, 3]), pack([1, 4])),
    input_tokens=(10, 8),
)
OUTCOME = Outcome(runs=(3, 2), anywhere=(3, 2), lookups=(3, 2), evictions=0, resident=4)
PART = Outcome(runs=(0, 1), anywhere=(2, 1), lookups=(3, 2), evictions=0, resident=4)


@pytest.mark.parametrize(
    ("expected", "outcome", "definition"),
    [
        pytest.param(Fraction(12, 18), OUTCOME, Definition(), id="tokens, last recomputed"),
        pytest.param(Fraction(1), OUTCOME, Definition(recompute_last=False), id="all tokens"),
        pytest.param(Fraction(3, 5), OUTCOME, Definition(unit="blocks"), id="blocks"),
        pytest.param(
            Fraction(3, 4), OUTCOME, Definition(unit="blocks", over="full"), id="over full"
        ),
        pytest.param(
            Fraction(3, 5), PART, Definition(unit="blocks", scope="anywhere"), id="anywhere"
        ),
        pytest.param(Fraction(1, 2), OUTCOME, Definition(unit="blocks", warmup=1), id="warm"),
        pytest.param(
            Fraction(7, 12), OUTCOME, Definition(unit="blocks", average="per_request"), id="mean"
        ),
        pytest.param(None, OUTCOME, Definition(warmup=2), id="nothing counted"),
    ],
)
def test_rate_follows_its_definition(expected, outcome, definition):
    """The rate is the stated numerator over the stated denominator."""
    assert pytest.approx(expected) == rate(TRACE, outcome, definition)


def test_reused_tokens_stop_at_the_prompt():
    """A partial block counts the tokens that it holds."""
    assert 18 == reused_tokens(TRACE, OUTCOME)
    assert Fraction(1, 2) == requests_with_hit(PART)


@pytest.mark.parametrize(
    ("definition", "error"),
    [
        pytest.param(Definition(warmup=3), ParameterError, id="warm-up beyond the trace"),
        pytest.param(
            Definition(scope="anywhere", unit="tokens"), MisuseError, id="tokens without prefixes"
        ),
    ],
)
def test_definitions_that_mean_nothing_are_refused(definition, error):
    """What a form can ask for is a reader's error, what only a program can is a misuse."""
    with pytest.raises(error):
        rate(TRACE, OUTCOME, definition)
