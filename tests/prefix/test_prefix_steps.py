"""Scenarios: their language, and the facts of each step."""

import pytest

from calculators.form.errors import ParameterError
from calculators.prefix.policies import FIXED
from calculators.prefix.scenario import SHIPPED
from calculators.prefix.steps import play


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("chosen", FIXED.values(), ids=FIXED.keys())
def test_shipped_scenarios_keep_their_books(name, chosen):
    """After every step the nodes make up the total, and evictable plus protected too."""
    for step in play(SHIPPED[name], policy=chosen):
        assert step.total == sum(len(node.words) for node in step.nodes)
        assert step.total == step.evictable + step.protected


def test_a_branch_splits_the_node_that_it_leaves():
    """The second insert cuts the first node where they part."""
    *_, step = play("insert a b c d\ninsert a b x")

    assert (2, 1) == (step.matched, step.added)
    assert (("a", "b"), ("c", "d")) == (step.split.upper, step.split.lower)
    assert ["split", "shortened", "new"] == [node.state for node in step.nodes]


def test_eviction_says_why_that_leaf():
    """The least recently used unlocked leaf goes, and the runner-up is named."""
    *_, step = play("insert a b\ninsert c d\nmatch a b\nevict 1")
    [gone] = step.evicted

    assert (("c", "d"), 2, 2, ("a", "b")) == (
        gone.path,
        gone.candidates,
        gone.last_used,
        gone.runner_up,
    )
    assert (1, 2) == (step.asked, step.freed)


def test_a_lock_is_seen_and_respected():
    """A locked path is protected; eviction stops short of it."""
    steps = play("insert a b c\nlock r a b\nevict 9\nunlock r")

    assert (("r",), 2, 1) == (steps[1].locks, steps[1].protected, steps[1].evictable)
    assert 1 == steps[2].freed
    assert (0, 2) == (steps[3].protected, steps[3].evictable)


@pytest.mark.parametrize(
    ("text", "reason", "row"),
    [
        pytest.param("", "no_rows", None, id="empty"),
        pytest.param("insert a\nremove a", "unknown_operation", 2, id="unknown operation"),
        pytest.param("insert @x", "needs_tokens", 1, id="no tokens"),
        pytest.param("evict many", "needs_a_number", 1, id="evict without a number"),
        pytest.param("evict -1", "needs_a_number", 1, id="evict less than nothing"),
        pytest.param("unlock r", "not_locked", 1, id="unlock of what is not locked"),
        pytest.param("lock r a\nlock r a", "locked_already", 2, id="two locks of one name"),
        pytest.param("unlock", "needs_a_name", 1, id="unlock nobody"),
        pytest.param("insert " + "a " * 65, "too_many_tokens", 1, id="long line"),
        pytest.param("insert a\n" * 101, "too_many", None, id="long scenario"),
    ],
)
def test_bad_lines_are_refused_by_row(text, reason, row):
    """The error names the line, and no step has been run."""
    with pytest.raises(ParameterError) as error:
        play(text)

    assert (reason, row) == (error.value.reason, error.value.limits.get("row"))
