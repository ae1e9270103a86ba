"""The step-by-step calculator: a small scenario, the cache after each operation.

SGLang's tree is told here, vLLM's block pool in ``lab_block_steps``.
"""

from dataclasses import dataclass

from calculators.form import fields
from calculators.prefix import policy_choice
from calculators.prefix.block_script import SHIPPED_BLOCKS
from calculators.prefix.lab_block_steps import block_result
from calculators.prefix.scenario import SHIPPED
from calculators.prefix.steps import Evicted, NodeView, Step, play
from calculators.show.blocks import (
    Block,
    Cell,
    Drawing,
    Frame,
    Frames,
    Message,
    Notes,
    Number,
    Numbers,
    Result,
    Table,
)
from calculators.show.progress import Progress
from calculators.show.quantity import Quantity
from calculators.show.tree import TreeNode, drawable, outline, tree_svg

OWN = "own"
FIRST = "eviction_under_lock"
FIRST_BLOCKS = "shared_prefix"
TREE, POOL = ("engine", ("sglang",)), ("engine", ("vllm",))
MOST_BLOCKS = 60  # that one can read
WIDEST_BLOCK = 8


@dataclass(frozen=True, kw_only=True)
class Params:
    """The form."""

    engine: str = fields.choice("sglang", ("sglang", "vllm"), group="scenario")
    scenario: str = fields.choice(FIRST, (*SHIPPED, OWN), group="scenario", when=TREE)
    operations: str = fields.text(
        SHIPPED[FIRST], longest=20_000, lines=9, group="scenario", when=("scenario", (OWN,))
    )
    script: str = fields.choice(FIRST_BLOCKS, (*SHIPPED_BLOCKS, OWN), group="scenario", when=POOL)
    requests: str = fields.text(
        SHIPPED_BLOCKS[FIRST_BLOCKS],
        longest=20_000,
        lines=9,
        group="scenario",
        when=("script", (OWN,)),
    )
    policy: str = fields.choice(
        "lru", policy_choice.NAMES, labelled=False, group="cache", when=TREE
    )
    threshold: int = fields.integer(
        4, minimum=1, maximum=1000, group="cache", when=("policy", ("tlru",))
    )
    next_prompt_estimate: int = fields.integer(
        1, minimum=0, maximum=1000, group="cache", when=("policy", ("tlru",))
    )
    page_size: int = fields.integer(1, minimum=1, maximum=16, group="cache", when=TREE)
    num_gpu_blocks: int = fields.integer(
        10, minimum=1, maximum=MOST_BLOCKS, group="cache", when=POOL
    )
    block_size: int = fields.integer(4, minimum=1, maximum=WIDEST_BLOCK, group="cache", when=POOL)
    unhashed_blocks: str = fields.choice("tail", ("tail", "head"), group="cache", when=POOL)


def solve(params: Params, _progress: Progress) -> Result:
    """Play the scenario."""
    if params.engine == "vllm":
        return block_result(
            params.requests if params.script == OWN else SHIPPED_BLOCKS[params.script],
            num_gpu_blocks=params.num_gpu_blocks,
            block_size=params.block_size,
            unhashed_first=params.unhashed_blocks == "head",
        )
    text = params.operations if params.scenario == OWN else SHIPPED[params.scenario]
    chosen = policy_choice.policy(
        params.policy,
        threshold=params.threshold,
        next_prompt_estimate=params.next_prompt_estimate,
    )
    steps = play(text, page_size=params.page_size, policy=chosen)
    frames = tuple(Frame(caption=step.operation.text, blocks=blocks(step)) for step in steps)
    return Result(
        blocks=(Frames(id="steps", frames=frames),),
        status=Message("status.done", {"count": len(steps), "total": steps[-1].total}),
        data={"steps": len(steps)},
    )


def blocks(step: Step) -> tuple[Block, ...]:
    """One step: what happened, the tree, the sizes, every node with its figures."""
    sizes = {"total": step.total, "evictable": step.evictable, "protected": step.protected}
    return (
        Notes(items=tuple(sentences(step))),
        *drawing(step),
        Numbers(
            items=tuple(
                Number(id=name, quantity=Quantity(value, "tokens")) for name, value in sizes.items()
            )
        ),
        Table(
            id="tree",
            columns=("node", "namespace", "locks", "hits", "last_used", "state"),
            rows=tuple(row(node) for node in step.nodes),
            folded=True,
        ),
    )


def drawing(step: Step) -> tuple[Block, ...]:
    """The tree with what this step evicted; nothing where it is empty or too large to read."""
    places = {node.number: index for index, node in enumerate(step.drawn)}
    nodes = [tree_node(node, places) for node in step.drawn]
    if not drawable(nodes):
        return (Notes(items=(Message("note.not_drawn" if nodes else "note.empty"),)),)
    alt = Message("drawing.tree.alt", {"tree": outline(nodes)})
    return (Drawing(id="tree", svg=tree_svg(nodes), alt=alt),)


def tree_node(node: NodeView, places: dict[int, int]) -> TreeNode:
    """A node as the drawing takes it."""
    return TreeNode(
        words=node.words,
        parent=None if node.parent is None else places[node.parent],
        root="root" if node.namespace is None else f"root @{node.namespace}",
        state=node.state,
        locks=node.locks,
        evictable=node.evictable,
    )


def sentences(step: Step) -> list[Message]:
    """What the operation did, in words."""
    operation = step.operation
    found = []
    if operation.kind in {"insert", "match", "lock"}:
        asked = len(operation.words)
        found.append(Message("step.matched", {"count": step.matched, "asked": asked}))
    if operation.kind == "insert":
        found.append(Message("step.added" if step.added else "step.known", {"count": step.added}))
    if operation.kind in {"lock", "unlock"}:
        found.append(Message(f"step.{operation.kind}", {"name": operation.name}))
    if step.split is not None:
        parts = {"upper": " ".join(step.split.upper), "lower": " ".join(step.split.lower)}
        found.append(Message("step.split", parts))
    if operation.kind == "evict":
        found.append(Message("step.freed", {"count": step.freed, "asked": step.asked}))
        found += [evicted(leaf) for leaf in step.evicted]
    return found


def evicted(leaf: Evicted) -> Message:
    """Which leaf went and why that one."""
    return Message(
        "step.evicted" if leaf.runner_up else "step.evicted_only",
        {
            "path": " ".join(leaf.path),
            "count": leaf.candidates,
            "used": leaf.last_used,
            "created": leaf.created,
            "hits": leaf.hits,
            "priority": leaf.priority,
            "next": " ".join(leaf.runner_up or ()),
        },
    )


def row(node: NodeView) -> tuple[Cell, ...]:
    """A node as a row, indented by its depth."""
    return (
        "· " * node.depth + " ".join(node.words),
        node.namespace,
        Quantity(node.locks),
        Quantity(node.hits),
        Quantity(node.last_used),
        Message(f"state.{node.state or 'same'}"),
    )
