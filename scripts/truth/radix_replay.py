"""Replay figures: block caches and SGLang's tree on the Mooncake traces, and a token workload."""

import gzip
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from calculators.prefix.block_policies import POLICIES, replay_blocks
from calculators.prefix.keys import pack
from calculators.prefix.policy_choice import policy
from calculators.prefix.radix import RadixTree
from calculators.prefix.radix_serve import Visit, serve_all
from calculators.prefix.rates import Definition, rate, requests_with_hit, reused_tokens
from calculators.prefix.readers.hashed import MOONCAKE, read_hashed
from calculators.prefix.replay import UNLIMITED, replay_tree
from calculators.prefix.trace import Trace
from scripts.truth.verdict import Verdict

PLACES = 6
TIMINGS = {"cpython_seconds", "seconds", "requests_per_s", "tokens_per_s"}
TRACE_INPUTS = {"file", "gz_sha256", "origin"}
BLOCK_INPUTS = {"trace", "capacity_blocks", "policy", "partial_tail_block_cached", "touch_order"}
TREE_INPUTS = {"trace", "capacity_blocks", "policy"}
TOKEN_INPUTS = {"page_size", "capacity_tokens", "policy"}
DOCUMENT_KEYS = {
    "traces",
    "definitions",
    "published",
    "token_workload",
    "replay_rows",
    "sglang_radix_rows",
}
PROMPTS = 10_000
SYSTEM_PROMPTS, SYSTEM_TOKENS, SUFFIX_TOKENS, VOCABULARY = 64, 2000, 200, 32000
type Row = dict[str, Any]


def recognises(document: object, path: Path) -> bool:
    """Whether the document holds replay figures."""
    del path
    rows = {"replay_rows", "sglang_radix_rows", "token_workload"}
    return isinstance(document, dict) and bool(rows & document.keys())


def verdicts(document: dict[str, Any], path: Path) -> Iterator[Verdict]:
    """The verdicts of every row; the published figures are quotations, not cases."""
    for name in sorted(set(document) - DOCUMENT_KEYS):
        yield not_run(name, "unknown part of the file")
    folder = path.resolve().parent.parent / "traces"
    facts = document.get("traces", {})
    for name, row in facts.items():
        yield from compare(f"trace {name}", row, trace_facts(folder, row), TRACE_INPUTS)
    for row in document.get("replay_rows", []):
        file = facts.get(row["trace"], {})
        yield from compare(block_name(row), row, block_figures(folder, file, row), BLOCK_INPUTS)
    for row in document.get("sglang_radix_rows", {}).get("rows", []):
        file = facts.get(row["trace"], {})
        yield from compare(tree_name(row), row, tree_figures(folder, file, row), TREE_INPUTS)
    for row in document.get("token_workload", {}).get("sglang_0_5_23", []):
        yield from compare(token_name(row), row, token_figures(row), TOKEN_INPUTS)


def block_name(row: Row) -> str:
    """The name of a case of a block cache."""
    tail = "with" if row["partial_tail_block_cached"] else "without"
    return (
        f"blocks {row['trace']} {row['policy']} {row['capacity_blocks']} "
        f"{row['touch_order']} {tail} partial"
    )


def tree_name(row: Row) -> str:
    """The name of a case of the tree on a block trace."""
    return f"tree {row['trace']} {row['policy']} {row['capacity_blocks']}"


def token_name(row: Row) -> str:
    """The name of a case of the tree on tokens."""
    return f"tokens {row['policy']} {row['capacity_tokens']} page {row['page_size']}"


def not_run(case: str, reason: str) -> Verdict:
    """A case that could not be run."""
    return Verdict(
        case=case, figure="-", expected=None, computed=None, outcome="not run", reason=reason
    )


def compare(
    case: str, row: Row, computed: dict[str, object] | None, inputs: set[str]
) -> Iterator[Verdict]:
    """Every figure of a row against ours; an unknown key or a missing trace runs nothing."""
    if computed is None:
        yield not_run(case, "the trace is not at hand, or its policy is none of ours")
        return
    unknown = set(row) - set(computed) - inputs - TIMINGS
    if unknown:
        yield not_run(case, f"unknown keys: {', '.join(sorted(unknown))}")
        return
    for figure in row:
        if figure in computed:
            yield Verdict(
                case=case,
                figure=figure,
                expected=row[figure],
                computed=computed[figure],
                outcome="passed" if row[figure] == computed[figure] else "failed",
            )


@cache
def read(path: Path) -> Trace | None:
    """A Mooncake trace, or None if the file is not there."""
    if not path.is_file():
        return None
    return read_hashed(gzip.decompress(path.read_bytes()).decode(), MOONCAKE)


def trace_of(folder: Path, facts: Row) -> Trace | None:
    """The trace that a case names; it lies beside the case file."""
    return read(folder / Path(facts.get("file", "-")).name)


def trace_facts(folder: Path, facts: Row) -> dict[str, object] | None:
    """Counts of a trace."""
    trace = trace_of(folder, facts)
    if trace is None:
        return None
    return {
        "requests": len(trace),
        "blocks": sum(trace.block_counts),
        "unique_blocks": trace.unique_blocks,
        "full_blocks": sum(trace.full_block_counts),
        "input_tokens": sum(trace.input_tokens),
        "mean_input": round(sum(trace.input_tokens) / len(trace), 2),
        "mean_output": round(sum(trace.output_tokens) / len(trace), 2),
        "block_tokens": trace.block_tokens,
        "distinct_timestamps": len(set(trace.arrivals_ms)),
        "last_timestamp_ms": round(max(trace.arrivals_ms)),
        "max_input": max(trace.input_tokens),
    }


def block_figures(folder: Path, facts: Row, row: Row) -> dict[str, object] | None:
    """A block cache on a trace."""
    trace = trace_of(folder, facts)
    if trace is None or row["policy"] not in POLICIES:
        return None
    outcome = replay_blocks(
        trace,
        row["policy"],
        row["capacity_blocks"],
        touch_order=row["touch_order"],
        partial=row["partial_tail_block_cached"],
    )

    def rounded(**switches: Any) -> float:
        value = rate(trace, outcome, Definition(**{"recompute_last": False} | switches))
        return round(float(value or 0), PLACES)

    return {
        "blocks": sum(outcome.lookups),
        "hit_blocks_any": sum(outcome.anywhere),
        "hit_blocks_prefix": outcome.hit_blocks,
        "tokens": sum(trace.input_tokens),
        "reused_tokens": reused_tokens(trace, outcome),
        "reused_tokens_last_token_recomputed": reused_tokens(trace, outcome, recompute_last=True),
        "evictions": outcome.evictions,
        "resident": outcome.resident,
        "hit_any": rounded(unit="blocks", scope="anywhere"),
        "hit_prefix_blocks": rounded(unit="blocks"),
        "hit_prefix_tokens": rounded(),
        "hit_prefix_tokens_last_recomputed": rounded(recompute_last=True),
        "mean_request_ratio": rounded(unit="blocks", average="per_request"),
        "requests_with_hit": round(float(requests_with_hit(outcome)), PLACES),
    }


def tree_figures(folder: Path, facts: Row, row: Row) -> dict[str, object] | None:
    """SGLang's tree on the ids of a trace, page 1, whole key looked up."""
    trace = trace_of(folder, facts)
    if trace is None:
        return None
    outcome = replay_tree(trace, policy(row["policy"]), row["capacity_blocks"], keep_last=True)
    tokens = rate(trace, outcome, Definition(recompute_last=False))
    blocks = rate(trace, outcome, Definition(unit="blocks", recompute_last=False))
    return {
        "hit_blocks": outcome.hit_blocks,
        "blocks": sum(outcome.lookups),
        "block_hit": round(float(blocks or 0), PLACES),
        "token_hit": round(float(tokens or 0), PLACES),
        "reused_tokens": reused_tokens(trace, outcome),
        "evicted_blocks": outcome.evictions,
        "resident": outcome.resident,
    }


@cache
def token_workload() -> tuple[bytes, ...]:
    """The prompts of the recipe in the case file, packed."""
    rng = random.Random(7)  # noqa: S311 # the recipe names this generator
    system = [
        [rng.randrange(VOCABULARY) for _ in range(SYSTEM_TOKENS)] for _ in range(SYSTEM_PROMPTS)
    ]
    prompts = []
    for _ in range(PROMPTS):
        chosen = system[rng.randrange(SYSTEM_PROMPTS)]
        prompts.append(pack(chosen + [rng.randrange(VOCABULARY) for _ in range(SUFFIX_TOKENS)]))
    return tuple(prompts)


def token_figures(row: Row) -> dict[str, object]:
    """SGLang's tree on the token workload."""
    trace = Trace(
        format="tokens",
        block_tokens=1,
        keys=token_workload(),
        input_tokens=(SYSTEM_TOKENS + SUFFIX_TOKENS,) * PROMPTS,
    )
    tree = RadixTree(page_size=row["page_size"], policy=policy(row["policy"]))
    visits: list[Visit] = trace.visits(page_size=row["page_size"])
    capacity = row["capacity_tokens"]
    reused = serve_all(tree, visits, UNLIMITED if capacity is None else capacity * tree.width)
    return {
        "reused_tokens": sum(reused) // tree.width,
        "resident_tokens": tree.total,
        "evicted_tokens": tree.evicted,
        "nodes_with_root": tree.nodes + 1,
    }
