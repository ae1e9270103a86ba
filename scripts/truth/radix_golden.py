"""Operation scripts recorded from SGLang's tree, run on ours, field by field."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from calculators.prefix.keys import Namespace, pack, unpack
from calculators.prefix.node import Match, Node
from calculators.prefix.policy_choice import policy
from calculators.prefix.radix import RadixTree
from scripts.truth.verdict import Verdict

CASE_KEYS = {"seed", "page_size", "policy", "ops", "final_leaf_paths"}
SIZES = {"total", "evictable", "protected", "nodes"}
OPERATION_KEYS = {
    "insert": {"op", "key", "ns", "priority", "prefix_len"} | SIZES,
    "match": {"op", "key", "ns", "matched"} | SIZES,
    "match_lock": {"op", "key", "ns", "matched", "lock", "evictable_delta"} | SIZES,
    "unlock": {"op", "lock", "evictable_delta"} | SIZES,
    "evict": {"op", "ask", "evicted"} | SIZES,
}
type Operation = dict[str, Any]


def recognises(document: object, path: Path) -> bool:
    """Whether the document holds operation scripts."""
    del path
    if not isinstance(document, dict) or not isinstance(document.get("cases"), list):
        return False
    cases = document["cases"]
    return bool(cases) and all(isinstance(c, dict) and {"ops", "policy"} <= c.keys() for c in cases)


def verdicts(document: dict[str, Any], path: Path) -> Iterator[Verdict]:
    """One verdict a field of each operation that differs, or one for a whole script."""
    del path
    for case in document["cases"]:
        name = f"{case.get('policy')} page {case.get('page_size')} seed {case.get('seed')}"
        yield from script_verdicts(name, case)


def script_verdicts(name: str, case: dict[str, Any]) -> Iterator[Verdict]:
    """The verdicts of one script."""
    unknown = unknown_keys(case)
    if unknown:
        yield Verdict(
            case=name,
            figure="-",
            expected=None,
            computed=None,
            outcome="not run",
            reason=f"unknown keys: {', '.join(sorted(unknown))}",
        )
        return
    differing = 0
    for figure, expected, computed in run(case):
        if expected != computed:
            differing += 1
            yield verdict(name, figure, expected, computed)
    if not differing:
        yield verdict(name, "every field", len(case["ops"]), len(case["ops"]))


def verdict(name: str, figure: str, expected: object, computed: object) -> Verdict:
    """Passed if both are equal."""
    return Verdict(
        case=name,
        figure=figure,
        expected=expected,
        computed=computed,
        outcome="passed" if expected == computed else "failed",
    )


def unknown_keys(case: dict[str, Any]) -> set[str]:
    """Keys of a script that this adapter does not know."""
    unknown = set(case) - CASE_KEYS
    for operation in case["ops"]:
        known = OPERATION_KEYS.get(operation["op"])
        unknown |= {operation["op"]} if known is None else set(operation) - known
    return unknown


def run(case: dict[str, Any]) -> Iterator[tuple[str, object, object]]:
    """Every field of a script: its name, what was recorded, what our tree says."""
    tree = RadixTree(page_size=case["page_size"], policy=policy(case["policy"]))
    locks: dict[int, Node] = {}
    for number, operation in enumerate(case["ops"]):
        computed = apply(tree, operation, locks) | sizes(tree)
        tree.check()
        for field, value in computed.items():
            if field in operation:
                yield f"operation {number} {operation['op']} {field}", operation[field], value
    if "final_leaf_paths" in case:
        yield "final_leaf_paths", ordered(case["final_leaf_paths"]), ordered(leaf_paths(tree))


def apply(tree: RadixTree, operation: Operation, locks: dict[int, Node]) -> dict[str, int]:
    """Run one operation and return its fields."""
    match operation["op"]:
        case "insert":
            found = tree.insert(
                pack(operation["key"]),
                Namespace(operation["ns"]),
                priority=operation.get("priority", 0),
            )
            return {"prefix_len": found.tokens}
        case "match":
            return {"matched": lookup(tree, operation).tokens}
        case "match_lock":
            found = lookup(tree, operation)
            locks[operation["lock"]] = found.node
            return {"matched": found.tokens, "evictable_delta": tree.lock(found.node)}
        case "unlock":
            return {"evictable_delta": tree.unlock(locks.pop(operation["lock"]))}
        case _:
            return {"evicted": tree.evict(operation["ask"])}


def lookup(tree: RadixTree, operation: Operation) -> Match:
    """The match of an operation's key."""
    return tree.match(pack(operation["key"]), Namespace(operation["ns"]))


def sizes(tree: RadixTree) -> dict[str, int]:
    """The four sizes that every operation records."""
    return {
        "total": tree.total,
        "evictable": tree.evictable,
        "protected": tree.protected,
        "nodes": tree.nodes,
    }


def leaf_paths(tree: RadixTree) -> list[list[Any]]:
    """Namespace and tokens of every leaf."""
    return [
        [namespace.extra_key, path]
        for namespace, root in tree.roots.items()
        for path in paths_below(root, [])
    ]


def paths_below(node: Node, prefix: list[int]) -> Iterator[list[int]]:
    """The token paths of the leaves under a node."""
    path = prefix + unpack(bytes(node.key))
    if node.children is None:
        if path:
            yield path
        return
    for child in node.children.values():
        yield from paths_below(child, path)


def ordered(paths: list[list[Any]]) -> list[tuple[str, list[int]]]:
    """Leaf paths in an order that does not depend on the walk; None sorts as no text."""
    return sorted((repr(namespace), list(tokens)) for namespace, tokens in paths)
