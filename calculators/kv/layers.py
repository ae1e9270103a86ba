"""What one layer of a model keeps for a sequence while it generates.

A model is a ``Stack`` of layers; a layer is the tuple of caches that it owns (a layer of a hybrid
model may own two, an MLP layer none). Every engine and every total is computed from these kinds
alone, never from a model's name.

Widths are in elements, counts before any sharding. What is left out: weights, activations, and
how an engine rounds and groups (``engines/``) or a data type stores (``dtypes``).
"""

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import ClassVar


@dataclass(frozen=True, kw_only=True, slots=True)
class Cache:
    """What all kinds answer; a kind overrides what differs from "keeps nothing"."""

    kind: ClassVar[str] = "cache"

    @property
    def rows(self) -> tuple[tuple[int, int], ...]:
        """What one retained token adds: (number of rows, elements in a row), K before V."""
        return ()

    @property
    def elements_per_token(self) -> int:
        """Elements that one retained token adds."""
        return sum(count * width for count, width in self.rows)

    @property
    def reach(self) -> int | None:
        """Tokens beyond which nothing has to be kept: a window or chunk; None without one."""
        return None

    def retained(self, tokens: int) -> int:
        """How many of a sequence's tokens are kept."""
        return tokens if self.reach is None else min(tokens, self.reach)

    def on_rank(self, tensor_parallel_size: int) -> "Cache":
        """The part that one tensor-parallel rank keeps: all of it unless the kind says less."""
        del tensor_parallel_size
        return self


@dataclass(frozen=True, kw_only=True, slots=True)
class FullAttention(Cache):
    """K and V of every token, per KV head. ``v_width`` differs from ``k_width`` in a few models."""

    kind: ClassVar[str] = "full"
    heads: int
    k_width: int
    v_width: int

    @property
    def rows(self) -> tuple[tuple[int, int], ...]:
        """One K row and one V row a head."""
        return ((self.heads, self.k_width), (self.heads, self.v_width))

    def on_rank(self, tensor_parallel_size: int) -> "FullAttention":
        """Heads are split, and replicated once there are more ranks than heads."""
        return replace(self, heads=max(1, self.heads // tensor_parallel_size))


@dataclass(frozen=True, kw_only=True, slots=True)
class SlidingAttention(FullAttention):
    """Attention to the last ``window`` tokens; older rows can be dropped."""

    kind: ClassVar[str] = "sliding"
    window: int

    @property
    def reach(self) -> int | None:
        """The window."""
        return self.window


@dataclass(frozen=True, kw_only=True, slots=True)
class ChunkedAttention(FullAttention):
    """Attention within fixed chunks of ``chunk`` tokens; finished chunks can be dropped.

    At most one chunk is retained: the figure of a sequence that has just filled its last one.
    """

    kind: ClassVar[str] = "chunked"
    chunk: int

    @property
    def reach(self) -> int | None:
        """The chunk."""
        return self.chunk


@dataclass(frozen=True, kw_only=True, slots=True)
class CrossAttention(FullAttention):
    """K and V of what an encoder made: fixed per sequence, whatever is generated.

    ``positions`` is the encoder's output length where the model fixes it (Whisper: 1,500); None
    where it is the length of the input.
    """

    kind: ClassVar[str] = "cross"
    positions: int | None = None

    def retained(self, tokens: int) -> int:
        """The encoder's positions; without a fixed number, as many as the sequence has."""
        return tokens if self.positions is None else self.positions


@dataclass(frozen=True, kw_only=True, slots=True)
class LatentAttention(Cache):
    """MLA: one compressed row for K and V together, and one rotary row, for all heads at once.

    No factor 2, and nothing to split by heads: every tensor-parallel rank keeps a whole copy.
    ``window`` is that of a sliding latent layer (dots3-note).
    """

    kind: ClassVar[str] = "mla"
    rank: int
    rope: int
    window: int | None = None

    @property
    def reach(self) -> int | None:
        """The window, if there is one."""
        return self.window

    @property
    def rows(self) -> tuple[tuple[int, int], ...]:
        """One row of ``kv_lora_rank + qk_rope_head_dim`` elements."""
        return ((1, self.rank + self.rope),)


@dataclass(frozen=True, kw_only=True, slots=True)
class IndexKeys(Cache):
    """Keys of a sparse-attention indexer, beside the cache that it selects from."""

    kind: ClassVar[str] = "index"
    width: int

    @property
    def rows(self) -> tuple[tuple[int, int], ...]:
        """One key a token, for all index heads."""
        return ((1, self.width),)


@dataclass(frozen=True, kw_only=True, slots=True)
class State(Cache):
    """A linear-attention, Mamba or convolution layer: fixed size, however long the sequence.

    ``heads`` x ``head_rows`` x ``head_columns`` recurrent elements, and the last
    ``conv_kernel - 1`` inputs of a convolution over ``heads x head_rows`` channels plus two
    (B and C, or q and k) of ``groups x head_columns``. ``dtype`` names the recurrent part's own
    type; None is the model's. Gated delta rule, KDA, Mamba 1 and 2, and short convolutions are
    all of this form.
    """

    kind: ClassVar[str] = "state"
    heads: int
    head_rows: int = 1
    head_columns: int = 0
    groups: int = 0
    conv_kernel: int = 1
    dtype: str | None = None

    @property
    def conv_channels(self) -> int:
        """Channels of the convolution."""
        return self.heads * self.head_rows + 2 * self.groups * self.head_columns

    @property
    def conv_elements(self) -> int:
        """Elements of the convolution's memory."""
        return (self.conv_kernel - 1) * self.conv_channels

    @property
    def recurrent_elements(self) -> int:
        """Elements of the recurrent state."""
        return self.heads * self.head_rows * self.head_columns

    def retained(self, tokens: int) -> int:
        """No token is kept."""
        del tokens
        return 0

    def on_rank(self, tensor_parallel_size: int) -> "State":
        """Heads are split; groups too, and replicated where they do not divide."""
        groups = self.groups
        if groups % tensor_parallel_size:
            groups = max(groups, tensor_parallel_size)
        return replace(
            self,
            heads=-(-self.heads // tensor_parallel_size),
            groups=-(-groups // tensor_parallel_size),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class SharedCache(Cache):
    """A layer that reads the rows of an earlier layer and keeps none of its own."""

    kind: ClassVar[str] = "shared"


type Layer = tuple[Cache, ...]


@dataclass(frozen=True)
class Stack:
    """The layers of a model in order, each with the caches that it owns."""

    layers: tuple[Layer, ...]

    @cached_property
    def counts(self) -> dict[Cache, int]:
        """How many of each cache there are, in order of first appearance."""
        return dict(Counter(cache for layer in self.layers for cache in layer))

    @property
    def runs(self) -> tuple[tuple[int, Layer], ...]:
        """Neighbouring equal layers with their number."""
        return tuple((len(list(run)), layer) for layer, run in groupby(self.layers))

    @property
    def elements_per_token(self) -> int:
        """K and V elements of one token if every layer kept it; an indexer's keys not counted."""
        return sum(
            count * cache.elements_per_token
            for cache, count in self.counts.items()
            if not isinstance(cache, IndexKeys | CrossAttention)
        )

    def on_rank(self, tensor_parallel_size: int) -> "Stack":
        """What one tensor-parallel rank keeps of every layer."""
        if tensor_parallel_size == 1:
            return self
        return Stack(
            tuple(
                tuple(cache.on_rank(tensor_parallel_size) for cache in layer)
                for layer in self.layers
            )
        )

    def part(self, rank: int, pipeline_parallel_size: int) -> "Stack":
        """The layers of one pipeline rank.

        As vLLM deals them (``get_pp_indices``, vllm/distributed/utils.py): equal shares, what is
        left over goes to the last ranks but the very last.
        """
        size, left = divmod(len(self.layers), pipeline_parallel_size)
        shares = [size] * pipeline_parallel_size
        for index in range(2, left + 2):
            shares[-index] += 1
        start = sum(shares[:rank])
        return Stack(self.layers[start : start + shares[rank]])


NO_LAYERS = Stack(())


def full(count: int, heads: int, k_width: int, v_width: int | None = None) -> Stack:
    """``count`` equal full-attention layers: the plain model."""
    layer = FullAttention(
        heads=heads, k_width=k_width, v_width=k_width if v_width is None else v_width
    )
    return Stack(((layer,),) * count)
