"""The step-by-step calculator's side for vLLM: the block pool after each operation."""

from collections.abc import Iterator, Sequence

from calculators.prefix.block_content import BlockView, Content
from calculators.prefix.block_steps import BlockStep, play_blocks
from calculators.show.block_pool import SIGNS, PoolBlock, Square, Strip, drawable, pool_svg
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
from calculators.show.quantity import Quantity
from calculators.show.tree import TreeNode, outline

QUEUE = "free_block_queue"  # names in vLLM's code
START = "NONE_HASH"


def block_result(
    text: str, *, num_gpu_blocks: int, block_size: int, unhashed_first: bool
) -> Result:
    """Play a script; a frame a step."""
    steps = play_blocks(
        text,
        num_gpu_blocks=num_gpu_blocks,
        block_size=block_size,
        unhashed_first=unhashed_first,
    )
    last = steps[-1]
    return Result(
        blocks=(
            Frames(
                id="steps",
                frames=tuple(
                    Frame(caption=step.operation.text, blocks=blocks(step, block_size))
                    for step in steps
                ),
            ),
            Notes(items=(Message("note.vllm_version"),)),
        ),
        status=Message(
            "status.pool",
            {"count": len(steps), "cached": last.cached, "free": len(last.queue)},
        ),
        data={"steps": len(steps)},
    )


def blocks(step: BlockStep, block_size: int) -> tuple[Block, ...]:
    """One step: what happened, the pool, its sizes, every block with its figures."""
    held = sum(view.references > 0 for view in step.views)
    sizes = {"cached_blocks": step.cached, "held_blocks": held, "free_blocks": len(step.queue)}
    return (
        Notes(items=tuple(sentences(step, block_size))),
        *drawing(step, block_size),
        Numbers(
            items=tuple(
                Number(id=name, quantity=Quantity(value, "blocks")) for name, value in sizes.items()
            )
        ),
        Table(
            id="pool",
            columns=("block", "tokens", "parent", "ref_cnt", "hashed", "place", "state"),
            rows=tuple(rows(step)),
            folded=True,
        ),
    )


def drawing(step: BlockStep, block_size: int) -> tuple[Block, ...]:
    """The pool with what this step evicted; a sentence where it is too large to read."""
    strips, drawn = strips_of(step), [drawn_block(view, block_size) for view in step.views]
    if not drawable(strips, drawn):
        return (Notes(items=(Message("note.pool_not_drawn"),)),)
    return (
        Drawing(
            id="pool",
            svg=pool_svg(strips, drawn, START),
            alt=Message(
                "drawing.pool.alt", {"queue": told(step), "chains": chains(step, block_size)}
            ),
        ),
    )


def strips_of(step: BlockStep) -> list[Strip]:
    """The free queue and the block table of each running request."""
    found = step.contents
    queue = tuple(Square(str(block), hollow=block not in found) for block in step.queue)
    tables = [
        Strip(name=name, squares=tuple(Square(str(block)) for block in table))
        for name, table in step.tables
    ]
    return [Strip(name=QUEUE, squares=queue, head=True), *tables]


def drawn_block(view: BlockView, block_size: int) -> PoolBlock:
    """A block as the drawing takes it."""
    content = view.content
    return PoolBlock(
        number=content.number,
        words=content.words,
        extra=content.extra,
        empty=block_size - len(content.words),
        above=view.above,
        state=view.state,
        references=view.references,
        place=view.place,
    )


def told(step: BlockStep) -> str:
    """The free queue and the block tables in a line; what can still be found has a star."""
    found = step.contents
    queue = " ".join(f"{block}*" if block in found else str(block) for block in step.queue)
    tables = "".join(f"; {name}: {numbers(table)}" for name, table in step.tables)
    return f"{queue or '–'}{tables}"


def chains(step: BlockStep, block_size: int) -> str:
    """The blocks in a line, those behind a block in brackets; a cross before what was evicted."""
    nodes = [TreeNode(words=told_block(view, block_size), parent=view.above) for view in step.views]
    return outline(nodes) or "–"


def told_block(view: BlockView, block_size: int) -> tuple[str, ...]:
    """``3: a b`` as words; three dots stand for slots that are not filled."""
    content = view.content
    gone = SIGNS["evicted"] if view.state == "evicted" else ""
    dots = ("…",) if len(content.words) < block_size else ()
    return (f"{gone}{content.number}:", *content.extra, *content.words, *dots)


def numbers(blocks: Sequence[int]) -> str:
    """Blocks by number."""
    return ", ".join(map(str, blocks))


def sentences(step: BlockStep, block_size: int) -> Iterator[Message]:
    """What the operation did, in words."""
    kind, name = step.operation.kind, step.operation.name
    if kind in {"start", "match"}:
        yield from looked_up(step, block_size)
    if step.lacking:
        yield Message(f"block_step.{kind}_lacks", {"name": name, "count": step.lacking})
    if step.waits:
        yield Message(f"block_step.{kind}_waits", {"name": name})
    elif kind == "finish":
        yield from let_go(step)
        return
    if step.taken:
        yield Message("block_step.taken", {"blocks": numbers(step.taken)})
    if step.evicted:
        yield Message("block_step.evicted", {"contents": ", ".join(map(quoted, step.evicted))})
    for copy, first in step.copies:
        yield Message("block_step.copy", {"copy": copy, "first": first})
    if step.unfilled:
        yield Message("block_step.unfilled", {"count": step.unfilled, "size": block_size})


def looked_up(step: BlockStep, block_size: int) -> Iterator[Message]:
    """What was found, and why not more."""
    asked = len(step.operation.words)
    if step.hits:
        found = {"tokens": len(step.hits) * block_size, "blocks": numbers(step.hits)}
        yield Message("block_step.hits", {"asked": asked, **found})
    else:
        yield Message("block_step.no_hit", {"asked": asked})
    if step.withheld is not None:
        yield Message("block_step.withheld", {"block": step.withheld})
    if step.revived:
        yield Message("block_step.revived", {"blocks": numbers(step.revived)})
    if step.operation.kind == "match":
        yield Message("block_step.looked")


def quoted(content: Content) -> str:
    """A block with its tokens."""
    return f"{content.number} “{' '.join(content.words)}”"


def let_go(step: BlockStep) -> Iterator[Message]:
    """The end of a request: what joined the queue, what others still hold, what is lost."""
    name = step.operation.name
    last = [block for block in step.released if block not in step.prepended]
    if last:
        yield Message("block_step.released", {"name": name, "blocks": numbers(last)})
    if step.prepended:
        yield Message("block_step.prepended", {"blocks": numbers(step.prepended)})
    if step.kept:
        yield Message("block_step.kept", {"blocks": numbers(step.kept)})
    if step.unfilled:
        yield Message("block_step.lost", {"block": step.released[0]})


def rows(step: BlockStep) -> Iterator[tuple[Cell, ...]]:
    """Every block with content, then the free ones without."""
    for view in step.views:
        yield row(view, step)
    found = {view.content.number for view in step.views if view.state != "evicted"}
    for place, block in enumerate(step.queue, 1):
        if block not in found:
            yield (str(block), None, None, Quantity(0), None, Quantity(place), None)


def row(view: BlockView, step: BlockStep) -> tuple[Cell, ...]:
    """A block as a row."""
    content = view.content
    parent = None if view.above is None else str(step.views[view.above].content.number)
    hashed = "full" if content.identity is not None else "not_full"
    return (
        str(content.number),
        " ".join((*content.extra, *content.words)),
        parent or START,
        Quantity(view.references),
        Message(f"hashed.{hashed}"),
        None if view.place is None else Quantity(view.place),
        Message(f"block_state.{view.state or 'same'}"),
    )
