"""Slow and obvious versions of what the prefix lab does cleverly."""

from dataclasses import dataclass

from calculators.prefix.keys import NO_NAMESPACE, Namespace, unpack


@dataclass
class SlowNode:
    """A node as the whole path to its end; ``start`` is where its own tokens begin."""

    namespace: Namespace
    path: tuple[int, ...]
    start: int
    last: int
    created: int
    history: int
    hits: int = 0
    locks: int = 0
    priority: int = 0


class SlowTree:
    """SGLang's tree as a list of nodes; everything is found by looking at all of them."""

    def __init__(self, page_size=1, policy="lru", *, beyond=0, partial_refresh=True):
        self.page_size = page_size
        self.policy = policy
        self.beyond = beyond
        self.partial_refresh = partial_refresh
        self.nodes = []
        self.clock = 0

    def tick(self):
        """Move the clock on."""
        self.clock += 1
        return self.clock

    def aligned(self, tokens):
        """Whole pages only."""
        return tuple(tokens[: len(tokens) // self.page_size * self.page_size])

    def children(self, node):
        """The nodes that begin where this one ends."""
        return [
            n
            for n in self.nodes
            if n.namespace == node.namespace
            and n.start == len(node.path)
            and n.path[: n.start] == node.path
        ]

    def child(self, namespace, key, at):
        """The node that begins with the page at a place."""
        for n in self.nodes:
            same = n.namespace == namespace and n.start == at and n.path[:at] == key[:at]
            if same and n.path[at : at + self.page_size] == key[at : at + self.page_size]:
                return n
        return None

    def shared(self, node, key):
        """Page by page, from the root."""
        length = 0
        page = self.page_size
        while (
            length < len(node.path)
            and node.path[length : length + page] == (key[length : length + page])
        ):
            length += page
        return length

    def split(self, node, length):
        """Cut a node; the first part becomes a node of its own."""
        upper = SlowNode(
            node.namespace,
            node.path[:length],
            node.start,
            self.tick() if self.partial_refresh else node.last,
            self.tick(),
            node.history,
            node.hits,
            node.locks,
            node.priority,
        )
        node.start = length
        self.nodes.append(upper)
        return upper

    def walk(self, tokens, namespace, visit):
        """Follow a key as far as it goes, splitting where it ends."""
        key = self.aligned(tokens)
        now = self.tick()
        node, at = None, 0
        while at < len(key) and (found := self.child(namespace, key, at)) is not None:
            at = self.shared(found, key)
            if at == len(found.path) or self.partial_refresh:
                found.last = now
            node = found if at == len(found.path) else self.split(found, at)
            visit(node, at)
        return node, at, key

    def match(self, tokens, namespace=NO_NAMESPACE):
        """Look up."""
        node, at, _ = self.walk(tokens, namespace, lambda _node, _at: None)
        return node, at

    def insert(self, tokens, namespace=NO_NAMESPACE, priority=0, inserted=0):
        """Look up, then add the rest as one leaf."""

        def visit(node, at):
            node.priority = max(node.priority, priority)
            node.hits += at > inserted

        _, at, key = self.walk(tokens, namespace, visit)
        if at < len(key):
            now = self.tick()
            leaf = SlowNode(namespace, key, at, now, now, len(key), int(len(key) > inserted))
            leaf.priority = priority
            self.nodes.append(leaf)
            for other in self.path(leaf):
                other.history = max(other.history, len(key))
        return at

    def path(self, node):
        """The node and everything above it."""
        return [
            n
            for n in self.nodes
            if n.namespace == node.namespace and n.path == node.path[: len(n.path)]
        ]

    def lock(self, node, step=1):
        """Lock, or with -1 unlock, a path."""
        for n in self.path(node) if node is not None else []:
            n.locks += step

    def score(self, node):
        """What the policy compares."""
        beyond = node.start >= max(node.history - self.beyond, 0)
        return {
            "lru": (node.last,),
            "lfu": (node.hits, node.last),
            "slru": (node.hits >= 2, node.last),
            "priority": (node.priority, node.last),
            "fifo": (node.created,),
            "mru": (-node.last,),
            "filo": (-node.created,),
            "tlru": (-1 if beyond else 0, node.last),
        }[self.policy]

    def evict(self, tokens):
        """The lowest score first, looking at all nodes each time."""
        gone = 0
        while gone < tokens:
            candidates = [n for n in self.nodes if not n.locks and not self.children(n)]
            if not candidates:
                break
            victim = min(candidates, key=lambda n: (self.score(n), n.last))
            self.nodes.remove(victim)
            gone += len(victim.path) - victim.start
        return gone

    def serve(self, tokens, usable, capacity, namespace=NO_NAMESPACE):
        """Match, lock, make room, insert, unlock."""
        node, at = self.match(tokens[:usable], namespace)
        self.lock(node)
        missing = len(self.aligned(tokens)) - at
        short = self.total + missing - capacity
        if missing and short > 0:
            short -= self.evict(short)
        fits = not missing or short <= 0
        if fits:
            self.insert(tokens, namespace)
        self.lock(node, -1)
        return at if fits else 0

    @property
    def total(self):
        """All tokens."""
        return sum(len(n.path) - n.start for n in self.nodes)

    @property
    def protected(self):
        """Tokens of locked nodes."""
        return sum(len(n.path) - n.start for n in self.nodes if n.locks)

    def facts(self):
        """Every node, in an order that does not depend on how it came to be."""
        return sorted(
            (repr(n.namespace), n.path, n.start, n.hits, n.locks, n.priority) for n in self.nodes
        )


def facts(tree):
    """The same facts of a RadixTree over packed keys or lists."""
    rows = []
    for namespace, root in tree.roots.items():
        stack = [(root, ())]
        while stack:
            node, prefix = stack.pop()
            own = tuple(unpack(node.key) if isinstance(node.key, bytes) else node.key)
            path = prefix + own
            if own:
                state = (node.hits, node.locks, node.priority)
                rows.append((repr(namespace), path, len(prefix), *state))
            stack += [(child, path) for child in (node.children or {}).values()]
    return sorted(rows)


class SlowBlocks:
    """vLLM's pool with plain lists; an identity is the whole prefix itself."""

    def __init__(self, blocks, block_size):
        self.block_size = block_size
        self.free = list(range(blocks))
        self.held = dict.fromkeys(range(blocks), 0)
        self.content = []  # (prefix, block), oldest first

    def prefixes(self, tokens, namespace):
        """Every full block as its whole prefix."""
        size = self.block_size
        return [(namespace, tokens[: i + size]) for i in range(0, len(tokens) - size + 1, size)]

    def find(self, prefix):
        """The oldest block of a prefix."""
        return next((block for known, block in self.content if known == prefix), None)

    def begin(self, tokens, namespace):
        """Hold hits, take the rest."""
        hits = []
        for prefix in self.prefixes(tokens[:-1], namespace):
            block = self.find(prefix)
            if block is None:
                break
            hits.append(block)
        new = -(-len(tokens) // self.block_size) - len(hits)
        if new > len([b for b in self.free if b not in hits]):
            return None
        for block in hits:
            self.held[block] += 1
            self.free = [b for b in self.free if b != block]
        blocks = hits + [self.take() for _ in range(new)]
        self.publish(blocks, tokens, namespace)
        return blocks

    def take(self):
        """The head of the queue."""
        block = self.free.pop(0)
        self.content = [(p, b) for p, b in self.content if b != block]
        self.held[block] = 1
        return block

    def publish(self, blocks, tokens, namespace):
        """Remember full blocks."""
        for block, prefix in zip(blocks, self.prefixes(tokens, namespace), strict=False):
            if block not in [b for _, b in self.content]:
                self.content.append((prefix, block))

    def finish(self, blocks, tokens, namespace):
        """Store the output, then free last to first."""
        new = -(-len(tokens) // self.block_size) - len(blocks)
        if new <= len(self.free):
            blocks = blocks + [self.take() for _ in range(new)]
            self.publish(blocks, tokens, namespace)
        for block in reversed(blocks):
            self.held[block] -= 1
            if not self.held[block]:
                self.free.append(block)


def belady(requests, capacity):
    """Farthest next use goes first, single blocks, own blocks may go at once."""
    never = 10**9
    kept = {}
    found = []
    for index, blocks in enumerate(requests):
        run = 0
        while run < len(blocks) and blocks[run] in kept:
            run += 1
        found.append(run)
        for depth, block in enumerate(blocks):
            later = (i for i in range(index + 1, len(requests)) if block in requests[i])
            kept[block] = (next(later, never), depth)
        while len(kept) > capacity:
            del kept[max(kept, key=kept.__getitem__)]
    return found
