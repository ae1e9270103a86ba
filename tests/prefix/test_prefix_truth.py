"""What SGLang's own tree did: recorded scripts and replays, kept with their source."""

import json
from pathlib import Path

import pytest

from calculators.prefix.block_policies import replay_blocks
from calculators.prefix.rates import reused_tokens
from scripts.truth import radix_golden, radix_replay

ROOT = Path(__file__).parents[2]
TRACES = ROOT.parent / "shared" / "traces"
SCRIPTS = json.loads((ROOT / "data/truth/prefix_scripts.json").read_text(encoding="utf-8"))
REPLAYS = json.loads((ROOT / "data/truth/prefix_replays.json").read_text(encoding="utf-8"))


def case_of(script):
    """A kept script as the recorder wrote it."""
    columns = SCRIPTS["columns"]
    operations = []
    for kind, *values in script["operations"]:
        fields = dict(zip(columns[kind], values, strict=True))
        sizes = dict(zip(columns["sizes"], fields.pop("sizes"), strict=True))
        operations.append(
            {"op": kind, **{k: v for k, v in fields.items() if k != "priority"}, **sizes}
        )
        if fields.get("priority") is not None:
            operations[-1]["priority"] = fields["priority"]
    return {
        "seed": script["seed"],
        "page_size": script["page_size"],
        "policy": script["policy"],
        "ops": operations,
        "final_leaf_paths": script["leaves"],
    }


@pytest.mark.parametrize(
    "script",
    SCRIPTS["scripts"],
    ids=lambda s: f"{s['policy']}-{s['page_size']}-{s['seed']}",
)
def test_tree_does_what_sglang_did(script):
    """Every field of a recorded script, after every operation."""
    for figure, expected, computed in radix_golden.run(case_of(script)):
        assert (figure, expected) == (figure, computed)


def test_an_unknown_key_is_not_run():
    """A script with a key that the adapter does not know never counts as passed."""
    case = case_of(SCRIPTS["scripts"][0]) | {"tier": "host"}
    [verdict] = radix_golden.verdicts({"cases": [case]}, ROOT)

    assert verdict.outcome == "not run"


def test_a_wrong_figure_fails():
    """A recorded figure that is changed is reported as failed, with its place."""
    case = case_of(SCRIPTS["scripts"][0])
    case["ops"][-1]["total"] += 1
    [verdict] = radix_golden.verdicts({"cases": [case]}, ROOT)

    assert (verdict.outcome, verdict.figure.split()[-1]) == ("failed", "total")


@pytest.mark.slow
@pytest.mark.parametrize("row", REPLAYS["token_rows"], ids=radix_replay.token_name)
def test_token_workload_reuses_what_sglang_reused(row):
    """Reused, resident and evicted tokens and the nodes of the stated workload."""
    computed = radix_replay.token_figures(row)

    assert {name: row[name] for name in computed} == computed


@pytest.mark.slow
@pytest.mark.skipif(not TRACES.is_dir(), reason="the Mooncake traces are not at hand")
@pytest.mark.parametrize(
    "row", REPLAYS["block_rows"][::7], ids=lambda row: "-".join(map(str, row[:5]))
)
def test_block_caches_give_the_kept_figures(row):
    """A sample of the block replays on the Mooncake traces."""
    name, capacity, policy, partial, order, *expected = row
    trace = radix_replay.read(TRACES / f"mooncake_{name}_trace.jsonl.gz")
    outcome = replay_blocks(trace, policy, capacity, touch_order=order, partial=partial)

    assert expected == [
        sum(outcome.anywhere),
        outcome.hit_blocks,
        reused_tokens(trace, outcome),
        reused_tokens(trace, outcome, recompute_last=True),
        outcome.evictions,
        outcome.resident,
    ]
