"""Scripts for vLLM's blocks: their language, the facts of each step, the drawing's strips."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculators.form.errors import ParameterError
from calculators.prefix.block_content import parent_of
from calculators.prefix.block_script import SHIPPED_BLOCKS, parse_block_script
from calculators.prefix.block_steps import BlockStage, play_blocks
from calculators.prefix.invariants import BrokenInvariantError
from calculators.prefix.lab_block_steps import sentences, strips_of
from calculators.prefix.vllm import VllmCache

NAMES = ("r1", "r2", "r3")
lines = st.lists(
    st.tuples(
        st.sampled_from(("start", "append", "finish", "match")),
        st.sampled_from(NAMES),
        st.lists(st.sampled_from("ab"), min_size=1, max_size=9),
        st.sampled_from(("", " @lora", " salt=x")),
    ),
    min_size=1,
    max_size=25,
)


def steps(text, blocks=10, size=4, *, unhashed_first=False):
    """A script played."""
    return play_blocks(text, num_gpu_blocks=blocks, block_size=size, unhashed_first=unhashed_first)


def told(step, size=4):
    """The keys of the sentences of a step."""
    return [message.key.removeprefix("block_step.") for message in sentences(step, size)]


def test_documented_example_step_by_step():
    """The queue and the last request's blocks are those of vLLM's design page (rules 41 to 43)."""
    *_, freed, last = steps(SHIPPED_BLOCKS["documented"])

    assert (7, 8, 9, 4, 3, 2, 6, 5, 1, 0) == freed.queue
    assert ((0, 1, 2), (7, 8, 9, 4, 3)) == (last.hits, last.taken)
    assert (0, 1, 2) == last.revived
    assert [("m", "n", "o", "p")] == [content.words for content in last.evicted]
    assert (6, 5) == last.queue


def test_a_request_frees_its_last_block_first():
    """What a finished request held joins the tail of the queue in reverse (rule 42)."""
    *_, step = steps("start r1 a b c d e f g h i\nfinish r1")

    assert (2, 1, 0) == step.released
    assert (*range(3, 10), 2, 1, 0) == step.queue
    assert {0, 1} == set(step.contents)
    assert ["released", "lost"] == told(step)


def test_since_0_23_an_end_without_a_hash_is_taken_first():
    """By the newer rule the half-full last block goes to the head, and the reader is told so."""
    *_, step = steps("start r1 a b c d e f g h i\nfinish r1", unhashed_first=True)

    assert (2, *range(3, 10), 1, 0) == step.queue
    assert (2,) == step.prepended
    assert ["released", "prepended", "lost"] == told(step)


def test_a_full_hit_computes_its_last_block_again():
    """The last block is cached, yet computed once more; both copies stay (rules 40 and 44)."""
    *_, step, _, _ = steps(SHIPPED_BLOCKS["last_block"])

    assert ((0,), 1, (2,)) == (step.hits, step.withheld, step.taken)
    assert ((2, 1),) == step.copies
    assert ["hits", "withheld", "revived", "taken", "copy"] == told(step)


def test_a_partial_block_cannot_be_shared():
    """A block without all its tokens has no hash; it gets one when it is full (rule 38)."""
    _, before, _, after = steps("start r a b c d e f\nmatch a b c d e f g h i\nappend r g h\n"
                                "match a b c d e f g h i")  # fmt: skip

    assert ((0,), (0, 1)) == (before.hits, after.hits)


def test_a_shared_block_is_held_twice_and_stays_with_the_other():
    """Two requests on one block count two references; one of them ending leaves it held."""
    _, both, one = steps("start r1 a b c d e\nstart r2 a b c d f\nfinish r1")

    assert 2 == both.views[0].references
    assert ((0,), (1,)) == (one.kept, one.released)


def test_a_request_without_room_waits_and_changes_nothing():
    """It says how many blocks are lacking; once they are free it starts."""
    text = "start r1 a b c d e f g h\nstart r2 x\nappend r1 i\nfinish r1\nstart r2 x\nfinish r2"
    first, waits, lacks, _, starts, ends = steps(text, blocks=2)

    assert (1, first.queue, first.tables) == (waits.lacking, waits.queue, waits.tables)
    assert ["no_hit", "start_lacks"] == told(waits)
    assert ["append_lacks"] == told(lacks)
    assert (("r2", (1,)),) == starts.tables
    assert "evicted" in told(starts)
    assert ["released", "lost"] == told(ends)


def test_a_waiting_request_generates_nothing():
    """Tokens for it and its end are told and leave the pool alone."""
    text = "start r1 a b c d\nstart r2 x\nappend r2 y\nfinish r2\nappend r1 z"
    first, _, added, withdrawn, lacks = steps(text, blocks=1)

    assert [["append_waits"], ["finish_waits"]] == [told(added), told(withdrawn)]
    assert (first.queue, first.tables) == (withdrawn.queue, withdrawn.tables)
    assert 1 == lacks.lacking


def test_the_salt_stands_in_the_first_block_and_the_adapter_in_each():
    """Extra keys are shown where they enter the hash, and keep requests apart (rule 39)."""
    step, other = steps("start r a b c d e f g h @lora salt=s\nmatch a b c d e f g h i salt=s")

    assert [("@lora", "salt=s"), ("@lora",)] == [view.content.extra for view in step.views]
    assert () == other.hits


def test_the_queue_is_drawn_in_order():
    """The strip has the queue from its head; what cannot be found is hollow."""
    *_, step = steps("start r1 a b c d e\nfinish r1\nstart r2 x", blocks=4)
    queue, table = strips_of(step)

    assert [("3", True), ("1", True), ("0", False)] == [(s.text, s.hollow) for s in queue.squares]
    assert ("r2", ["2"]) == (table.name, [square.text for square in table.squares])


@given(script=lines, blocks=st.integers(1, 7), size=st.integers(1, 4), first=st.booleans())
def test_every_step_keeps_its_books(script, blocks, size, first):
    """What is shown is what the pool holds: queue, references, hashes, parents, tokens."""
    stage = BlockStage(VllmCache(blocks, block_size=size, unhashed_first=first))
    for step in played(stage, script):
        pool = stage.cache.pool
        pool.check()
        shown = {v.content.number: v for v in step.views if v.cached or v.references}

        assert list(pool.free) == list(step.queue)
        assert {b for b in range(blocks) if pool.references[b] or pool.identities[b]} == set(shown)
        assert pool.cached_blocks == step.cached
        for place, view in enumerate(step.views):
            above = None if view.above is None else step.views[view.above].content

            assert view.above is None or view.above < place
            assert view.content.parent == (None if above is None else above.identity)
            assert len(view.content.words) <= size
        for number, view in shown.items():
            assert pool.references[number] == view.references
            assert pool.identities[number] == view.content.identity
            assert (view.place is None) == (view.references > 0)


def played(stage, script):
    """The steps of a script that can be performed; those of requests that do not run are left."""
    for kind, name, tokens, extra in script:
        ending = "" if kind == "finish" else f" {' '.join(tokens)}"
        named = "" if kind == "match" else f" {name}"
        [operation] = parse_block_script(f"{kind}{named}{ending}{extra * (kind != 'finish')}")
        runs = name in stage.running | dict.fromkeys(stage.waiting)
        if kind != "match" and (name in stage.running if kind == "start" else not runs):
            with pytest.raises(ParameterError):
                stage.perform(operation)
        else:
            yield stage.perform(operation)


def test_a_block_without_its_parent_is_found():
    """A chain that lost its beginning is our mistake and says so."""
    *_, step = steps("start r1 a b c d e f g h")
    child = step.views[1].content
    with pytest.raises(BrokenInvariantError):
        parent_of(child, [child], [])


@pytest.mark.parametrize(
    ("text", "reason", "row"),
    [
        pytest.param("", "no_rows", None, id="empty"),
        pytest.param("# only a comment", "no_rows", None, id="comment"),
        pytest.param("insert a", "unknown_operation", 1, id="unknown operation"),
        pytest.param("start r", "needs_tokens", 1, id="start without tokens"),
        pytest.param("match @x", "needs_tokens", 1, id="match without tokens"),
        pytest.param("finish", "needs_a_request", 1, id="finish nobody"),
        pytest.param("start r a\nfinish r a", "needs_a_request", 2, id="finish with tokens"),
        pytest.param("start r a\nstart r b", "runs_already", 2, id="started twice"),
        pytest.param("append r a", "not_running", 1, id="append to nobody"),
        pytest.param("start r a\nfinish r\nfinish r", "not_running", 3, id="finished twice"),
        pytest.param("match " + "a " * 65, "too_many_tokens", 1, id="long line"),
        pytest.param("match a\n" * 101, "too_many", None, id="long script"),
    ],
)
def test_bad_lines_are_refused_by_row(text, reason, row):
    """The error names the line, and no step has been run."""
    with pytest.raises(ParameterError) as error:
        steps(text)

    assert ("requests", reason, row) == (
        error.value.field,
        error.value.reason,
        error.value.limits.get("row"),
    )
