"""Runs as drawings: lanes cover a request's life without gap or overlap, cells match schedules."""

from dataclasses import replace
from itertools import pairwise

import pytest
import serving_strategies as strategies
from hypothesis import given, settings

from calculators.serving import engine, scenarios
from calculators.serving.costs import Linear
from calculators.serving.drawn import by_start, columns, group
from calculators.serving.workbench import NAMES, Params, run_policy
from calculators.show.timeline import MOST_COLUMNS

ENGINES = ["static", "orca", "prefill_first", "chunked", "v1", "sglang"]


def run_of(policy, text, **params):
    """A scenario under a policy, with the form's other defaults."""
    return run_policy(policy, scenarios.parse(text), Params(**params))


def kinds(run, name):
    """The stretches of a request, as letters of their kind."""
    lane = next(lane for lane in group("x", run).lanes if lane.name == name)
    return [(span.kind, span.start, span.end) for span in lane.spans]


@settings(max_examples=150, deadline=None)
@given(strategies.requests(), strategies.settings(ENGINES), strategies.COSTS)
def test_lanes_cover_each_life_without_gap(requests, options, cost):
    """From arrival to the end, each stretch begins where the one before ended."""
    run = engine.run(requests, options, Linear(**cost))

    for outcome, lane in zip(run.outcomes, group("x", run).lanes, strict=True):
        assert all(a.end == b.start for a, b in pairwise(lane.spans))
        if outcome.end is not None and outcome.end > outcome.request.arrival:
            assert (outcome.request.arrival, outcome.end) == (
                lane.spans[0].start,
                lane.spans[-1].end,
            )


def test_whole_prompts_first_stall_the_decodes():
    """VLLM v0 in the stall scenario: both decodes stand still while C is prefilled from 5 to 18."""
    assert [("prompt", 0, 5), ("stall", 5, 18), ("decode", 18, 34)] == kinds(
        run_of("prefill_first", scenarios.SCENARIOS["stall"]), "A"
    )


def test_chunks_do_not_stall():
    """Sarathi-Serve decodes in every iteration."""
    assert "stall" not in [
        kind for kind, _, _ in kinds(run_of("chunked", scenarios.SCENARIOS["stall"]), "A")
    ]


def test_a_split_shows_the_transfer():
    """Between the token of the prefill side and the decode side."""
    assert "transfer" in [
        kind for kind, _, _ in kinds(run_of("pd", scenarios.SCENARIOS["stall"]), "A")
    ]


def test_an_empty_first_chunk_is_a_stretch_of_its_own():
    """T_first_content is the time from the first token to the second."""
    [one] = scenarios.parse("A,0,2,3")
    run = run_policy("v1", (replace(one, first_content_token=2),), Params())

    assert [("prompt", 0, 3), ("content", 3, 5), ("decode", 5, 7)] == kinds(run, "A")


@pytest.mark.parametrize("policy", NAMES)
@pytest.mark.parametrize("scenario", scenarios.SCENARIOS)
def test_cells_say_what_the_schedule_says(policy, scenario):
    """Prefill tokens and decodes of each iteration, and one finish for each finished request."""
    run = run_of(policy, scenarios.SCENARIOS[scenario], num_blocks=6)
    made = columns(run)

    for column, one in zip(made, by_start(run), strict=True):
        cells = {o.request.id: c for o, c in zip(run.outcomes, column.cells, strict=True)}
        assert dict(one.prefill) == {n: c.tokens for n, c in cells.items() if c.doing == "prefill"}
        assert set(one.decode) == {n for n, c in cells.items() if c.doing == "decode"}
    finished = [o for o in run.outcomes if o.status == "finished"]
    assert len(finished) == sum(cell.ends for column in made for cell in column.cells)


def test_the_other_side_of_a_split_is_told_apart_from_waiting():
    """While one worker decodes, a request in prefill at the other is elsewhere."""
    made = columns(run_of("pd", scenarios.SCENARIOS["stall"]))

    assert "elsewhere" in {cell.doing for column in made for cell in column.cells}


def test_no_more_columns_than_one_can_follow():
    """A long run is cut; the tables have all of it."""
    run = run_of("v1", "A,0,4,90")

    assert MOST_COLUMNS == len(columns(run))
    assert len(run.schedule) == 90
