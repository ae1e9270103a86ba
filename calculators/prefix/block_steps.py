"""A script through vLLM's block pool step by step: hits, blocks taken, evicted and let go.

Pure facts of the V1 engine as in ``blocks`` and ``vllm`` (sources there), ready to be drawn or
told. Left out: preemption, chunked prefill, and the step of delay until a generated token's KV is
written: a token that was appended counts as written.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from calculators.form.errors import ParameterError, excerpt
from calculators.prefix.block_content import (
    BlockState,
    BlockView,
    Content,
    extra_of,
    parent_of,
)
from calculators.prefix.block_script import FIELD, BlockOperation, parse_block_script
from calculators.prefix.cache import Lease, Prompt
from calculators.prefix.identity import block_identities
from calculators.prefix.keys import pack, unpack
from calculators.prefix.vllm import VllmCache


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockStep:
    """One operation and the pool after it. Blocks by number unless said otherwise.

    ``hits`` were found, ``revived`` are those of them that stood in the free queue, ``withheld``
    is cached too but left to be computed (the last-token rule). ``taken`` left the head of the
    queue, in that order, and ``evicted`` is what some of them held. ``released`` went to the tail
    of the queue, in that order, but for those of ``prepended``, which went to its head. ``copies``
    are pairs: a new block, and the one with the same content that lookups go on returning.
    ``lacking`` blocks kept the operation from happening; ``waits`` says that it is for a request
    that found no room before, so nothing happened either.
    """

    operation: BlockOperation
    hits: tuple[int, ...] = ()
    revived: tuple[int, ...] = ()
    withheld: int | None = None
    taken: tuple[int, ...] = ()
    evicted: tuple[Content, ...] = ()
    released: tuple[int, ...] = ()
    prepended: tuple[int, ...] = ()
    kept: tuple[int, ...] = ()
    copies: tuple[tuple[int, int], ...] = ()
    lacking: int = 0
    waits: bool = False
    unfilled: int = 0
    queue: tuple[int, ...] = ()
    tables: tuple[tuple[str, tuple[int, ...]], ...] = ()
    views: tuple[BlockView, ...] = ()

    @property
    def contents(self) -> dict[int, Content]:
        """What each block holds after the step, by number; released and not full: nothing."""
        return {
            view.content.number: view.content
            for view in self.views
            if view.cached or view.references
        }

    @property
    def cached(self) -> int:
        """Blocks that a lookup can find."""
        return sum(view.cached for view in self.views)


def play_blocks(
    text: str, *, num_gpu_blocks: int, block_size: int, unhashed_first: bool = False
) -> tuple[BlockStep, ...]:
    """Run a script. ParameterError names the line; then nothing at all has been run."""
    operations = parse_block_script(text)
    stage = BlockStage(
        VllmCache(num_gpu_blocks, block_size=block_size, unhashed_first=unhashed_first)
    )
    return tuple(stage.perform(operation) for operation in operations)


@dataclass
class BlockStage:
    """The cache with what the reader calls things."""

    cache: VllmCache
    tokens: dict[str, int] = field(default_factory=dict)
    running: dict[str, Lease] = field(default_factory=dict)
    waiting: set[str] = field(default_factory=set)
    contents: dict[int, Content] = field(default_factory=dict)
    stamps: int = 0

    def perform(self, operation: BlockOperation) -> BlockStep:
        """Run one operation and describe it."""
        earlier = dict(self.contents)
        match operation.kind:
            case "append" | "finish" if operation.name in self.waiting:
                step = self.wait(operation)
            case "start":
                step = self.start(operation)
            case "append":
                step = self.append(operation)
            case "finish":
                step = self.finish(operation)
            case _:
                step = self.look_up(operation)
        evicted = tuple(earlier[block] for block in step.taken if block in earlier)
        gone = [earlier[block] for block in step.released if block not in self.contents]
        step = replace(
            step,
            evicted=evicted,
            queue=tuple(self.cache.pool.free),
            tables=tuple((name, lease_blocks(lease)) for name, lease in self.running.items()),
        )
        return replace(step, views=self.views(step, earlier, gone))

    def start(self, operation: BlockOperation) -> BlockStep:
        """Begin a request, or say how many blocks are lacking."""
        if operation.name in self.running:
            raise refused(operation, "runs_already")
        step = self.look_up(operation)
        pool = self.cache.pool
        revived = tuple(block for block in step.hits if not pool.references[block])
        lease = self.cache.begin(self.prompt(operation))
        if lease is None:
            self.waiting.add(operation.name)
            needed = -(-len(operation.words) // self.cache.block_size) - len(step.hits)
            return replace(step, lacking=pool.shortage(step.hits, needed))
        self.waiting.discard(operation.name)
        return self.written(replace(step, revived=revived), lease, len(step.hits))

    def wait(self, operation: BlockOperation) -> BlockStep:
        """A request that waits writes nothing; finishing it takes it out of the waiting ones."""
        if operation.kind == "finish":
            self.waiting.discard(operation.name)
        return BlockStep(operation=operation, waits=True)

    def append(self, operation: BlockOperation) -> BlockStep:
        """Add generated tokens to a request, or say how many blocks are lacking."""
        lease = self.running.get(operation.name)
        if lease is None:
            raise refused(operation, "not_running")
        grown = self.cache.grow(lease, self.packed(operation.words))
        step = BlockStep(operation=operation)
        if grown is None:
            needed = -(-(len(lease.prompt) + len(operation.words)) // self.cache.block_size)
            new = needed - len(lease_blocks(lease))
            return replace(step, lacking=self.cache.pool.shortage((), new))
        return self.written(step, grown, len(lease_blocks(lease)))

    def finish(self, operation: BlockOperation) -> BlockStep:
        """End a request: its blocks go to the tail of the queue, last first."""
        lease = self.running.pop(operation.name, None)
        if lease is None:
            raise refused(operation, "not_running")
        self.cache.finish(lease)
        pool = self.cache.pool
        blocks = lease_blocks(lease)
        released = tuple(block for block in reversed(blocks) if not pool.references[block])
        unhashed = tuple(block for block in released if pool.identities[block] is None)
        for block in unhashed:
            del self.contents[block]
        return BlockStep(
            operation=operation,
            released=released,
            prepended=unhashed if pool.unhashed_first else (),
            kept=tuple(block for block in blocks if pool.references[block]),
            unfilled=len(lease.prompt) % self.cache.block_size,
        )

    def look_up(self, operation: BlockOperation) -> BlockStep:
        """Find the cached blocks; changes nothing."""
        prompt = self.prompt(operation)
        hits = tuple(self.cache.hits(prompt))
        found = self.cache.pool.find(block_identities(prompt, self.cache.block_size))
        return BlockStep(
            operation=operation,
            hits=hits,
            withheld=found[len(hits)] if len(found) > len(hits) else None,
        )

    def written(self, step: BlockStep, lease: Lease, held: int) -> BlockStep:
        """Note what the blocks of a request hold now, the first ``held`` of which it had."""
        self.running[step.operation.name] = lease
        blocks, pool = lease_blocks(lease), self.cache.pool
        taken = blocks[held:]
        for block in taken:
            self.contents.pop(block, None)
        self.describe(lease)
        full = [(block, identity) for block in taken if (identity := pool.identities[block])]
        found = [(block, pool.find([identity])[0]) for block, identity in full]
        return replace(
            step,
            taken=taken,
            copies=tuple((block, first) for block, first in found if first != block),
            unfilled=len(lease.prompt) % self.cache.block_size,
        )

    def describe(self, lease: Lease) -> None:
        """Write down the content of the blocks of a request; full ones never change."""
        prompt, width = lease.prompt, self.cache.block_size
        words = self.spelled(prompt.tokens)
        identities = list(block_identities(prompt, width))
        above: Content | None = None
        for index, block in enumerate(lease_blocks(lease)):
            known = self.contents.get(block)
            if known is None or known.identity is None:
                self.stamps += known is None
                self.contents[block] = Content(
                    stamp=self.stamps if known is None else known.stamp,
                    number=block,
                    words=words[index * width : (index + 1) * width],
                    extra=extra_of(prompt, first=not index),
                    identity=identities[index] if index < len(identities) else None,
                    parent=above.identity if above else None,
                    before=above.stamp if above else None,
                )
            above = self.contents[block]

    def prompt(self, operation: BlockOperation) -> Prompt:
        """The prompt of an operation."""
        return Prompt(tokens=self.packed(operation.words), namespace=operation.namespace)

    def packed(self, words: Sequence[str]) -> bytes:
        """Words as tokens; a new word gets the next number."""
        return pack([self.tokens.setdefault(word, len(self.tokens)) for word in words])

    def spelled(self, tokens: bytes) -> tuple[str, ...]:
        """Tokens as words."""
        names = list(self.tokens)
        return tuple(names[token] for token in unpack(tokens))

    def views(
        self, step: BlockStep, earlier: dict[int, Content], gone: list[Content]
    ) -> tuple[BlockView, ...]:
        """Every content after its parent, siblings by age; what the step took away included."""
        live, left = list(self.contents.values()), [*step.evicted, *gone]
        below: dict[int | None, list[Content]] = {}
        for content in sorted([*live, *left], key=lambda content: content.stamp):
            below.setdefault(parent_of(content, live, left), []).append(content)
        places = {block: place for place, block in enumerate(step.queue, 1)}
        views: list[BlockView] = []

        def descend(stamp: int | None, above: int | None) -> None:
            for content in below.get(stamp, ()):
                state = state_of(content, step, earlier)
                held = state != "evicted"
                views.append(
                    BlockView(
                        content=content,
                        above=above,
                        references=self.cache.pool.references[content.number] if held else 0,
                        place=places.get(content.number) if held else None,
                        state=state,
                    )
                )
                descend(content.stamp, len(views) - 1)

        descend(None, None)
        return tuple(views)


def state_of(content: Content, step: BlockStep, earlier: dict[int, Content]) -> BlockState:
    """What a step did to what a block holds."""
    if content in step.evicted:
        return "evicted"
    if content.number in step.taken:
        return "new"
    if content.number in step.hits:
        return "matched"
    if content.number in step.released:
        return "released"
    return "" if earlier.get(content.number) == content else "grown"


def lease_blocks(lease: Lease) -> tuple[int, ...]:
    """The blocks of a request in order."""
    return tuple(VllmCache.blocks_of(lease))


def refused(operation: BlockOperation, reason: str) -> ParameterError:
    """What a line asks cannot be done."""
    return ParameterError(FIELD, reason, row=operation.row, text=excerpt(operation.name))
