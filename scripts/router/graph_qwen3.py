"""A Qwen3 decoder's prefill as a graph: token ids in, the last token's normalised state out.

Pre-norm layers, grouped-query attention with RMS-normalised queries and keys, rotary positions,
SiLU-gated feed-forward (transformers modeling_qwen3). No cache is kept: a router needs one prefill.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from scripts.router.graph import Graph

Tensors = Mapping[str, np.ndarray[Any, Any]]


def build(config: Mapping[str, Any], tensors: Tensors, most_tokens: int) -> Graph:
    """The graph over ``ids`` and ``positions``; its output is named ``out``."""
    graph = Graph()
    qwen = Qwen3(graph, tensors, config, most_tokens)
    hidden = graph.op("Gather", qwen.weight("model.embed_tokens"), "ids")
    for number in range(config["num_hidden_layers"]):
        hidden = qwen.layer(hidden, f"model.layers.{number}.")
    last = graph.op("Gather", hidden, graph.constant(-1, np.int64), axis=0)
    graph.op("LpNormalization", qwen.norm(last, "model.norm"), axis=-1, p=2)
    return graph


class Qwen3:
    """The parts of the decoder over one graph."""

    def __init__(
        self, graph: Graph, tensors: Tensors, config: Mapping[str, Any], most_tokens: int
    ) -> None:
        self.graph = graph
        self.tensors = tensors
        self.head = config["head_dim"]
        self.keys = config["num_key_value_heads"]
        self.group = config["num_attention_heads"] // self.keys
        self.epsilon = config["rms_norm_eps"]
        self.cosines, self.sines = self.rotations(config["rope_theta"], most_tokens)
        self.mask = self.causal()

    def weight(self, name: str) -> str:
        """A tensor of the checkpoint."""
        return self.graph.weight(f"{name}.weight", self.tensors[f"{name}.weight"])

    def rotations(self, theta: float, most_tokens: int) -> tuple[str, str]:
        """Cosines and sines of every position asked for, [tokens, head]."""
        steps = theta ** (-np.arange(0, self.head, 2) / self.head)
        angles = np.outer(np.arange(most_tokens), np.concatenate([steps, steps]))
        tables = (self.graph.constant(np.cos(angles)), self.graph.constant(np.sin(angles)))
        cosines, sines = (self.graph.op("Gather", table, "positions") for table in tables)
        return cosines, sines

    def causal(self) -> str:
        """0 where a token may look, a large negative number where it may not."""
        graph = self.graph
        rows = graph.op("Unsqueeze", "positions", graph.constant([1], np.int64))
        columns = graph.op("Unsqueeze", "positions", graph.constant([0], np.int64))
        allowed = graph.op("GreaterOrEqual", rows, columns)
        return graph.op("Where", allowed, graph.constant(0.0), graph.constant(-1e9))

    def norm(self, value: str, name: str) -> str:
        """RMS normalisation over the last axis."""
        graph = self.graph
        square = graph.op(
            "ReduceMean", graph.op("Mul", value, value), graph.constant([-1], np.int64), keepdims=1
        )
        root = graph.op("Sqrt", graph.op("Add", square, graph.constant(self.epsilon)))
        return graph.op("Mul", graph.op("Div", value, root), self.weight(name))

    def dense(self, value: str, name: str) -> str:
        """A linear layer without bias."""
        return self.graph.op("Gemm", value, self.weight(name), transB=1)

    def rotated(self, value: str) -> str:
        """Rotary positions on [..., tokens, head]."""
        graph = self.graph
        half = self.head // 2
        first, second = (
            graph.op("Slice", value, graph.shape(start), graph.shape(end), graph.shape(-1))
            for start, end in ((0, half), (half, self.head))
        )
        turned = graph.op("Concat", graph.op("Neg", second), first, axis=-1)
        return graph.op(
            "Add", graph.op("Mul", value, self.cosines), graph.op("Mul", turned, self.sines)
        )

    def layer(self, hidden: str, name: str) -> str:
        """Attention and feed-forward, each with its residual."""
        graph = self.graph
        attended = self.attention(self.norm(hidden, f"{name}input_layernorm"), f"{name}self_attn.")
        hidden = graph.op("Add", hidden, attended)
        normed = self.norm(hidden, f"{name}post_attention_layernorm")
        gate = self.dense(normed, f"{name}mlp.gate_proj")
        swish = graph.op("Mul", gate, graph.op("Sigmoid", gate))
        middle = graph.op("Mul", swish, self.dense(normed, f"{name}mlp.up_proj"))
        return graph.op("Add", hidden, self.dense(middle, f"{name}mlp.down_proj"))

    def attention(self, hidden: str, name: str) -> str:
        """Grouped-query attention: [key heads, group, tokens, head] against [key heads, 1, ...]."""
        graph = self.graph
        query = self.rotated(
            self.norm(self.split(hidden, f"{name}q_proj", self.group), f"{name}q_norm")
        )
        key = self.rotated(self.norm(self.split(hidden, f"{name}k_proj", 1), f"{name}k_norm"))
        value = self.split(hidden, f"{name}v_proj", 1)
        scores = graph.op("MatMul", query, graph.op("Transpose", key, perm=[0, 1, 3, 2]))
        scaled = graph.op("Mul", scores, graph.constant(1 / math.sqrt(self.head)))
        shares = graph.op("Softmax", graph.op("Add", scaled, self.mask), axis=-1)
        mixed = graph.op("Transpose", graph.op("MatMul", shares, value), perm=[2, 0, 1, 3])
        width = self.keys * self.group * self.head
        return self.dense(graph.op("Reshape", mixed, graph.shape(0, width)), f"{name}o_proj")

    def split(self, hidden: str, name: str, group: int) -> str:
        """[tokens, width] to [key heads, group, tokens, head]."""
        parts = self.graph.op(
            "Reshape", self.dense(hidden, name), self.graph.shape(0, self.keys, group, self.head)
        )
        return self.graph.op("Transpose", parts, perm=[1, 2, 0, 3])
