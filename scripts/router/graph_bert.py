"""A BERT encoder as a graph: token ids in, one normalised mean-pooled vector out.

Post-norm layers, exact GELU, absolute positions (Devlin et al. 2018; transformers modeling_bert).
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from scripts.router.graph import Graph

Tensors = Mapping[str, np.ndarray[Any, Any]]


def build(config: Mapping[str, Any], tensors: Tensors) -> Graph:
    """The graph over ``ids`` and ``positions``; its output is named ``out``."""
    graph = Graph()
    prefix = "bert." if "bert.embeddings.word_embeddings.weight" in tensors else ""
    bert = Bert(
        graph, {name.removeprefix(prefix): value for name, value in tensors.items()}, config
    )
    hidden = bert.embedded()
    for number in range(config["num_hidden_layers"]):
        hidden = bert.layer(hidden, f"encoder.layer.{number}.")
    pooled = graph.op("ReduceMean", hidden, graph.constant([0], np.int64), keepdims=0)
    graph.op("LpNormalization", pooled, axis=-1, p=2)
    return graph


class Bert:
    """The parts of the encoder over one graph."""

    def __init__(self, graph: Graph, tensors: Tensors, config: Mapping[str, Any]) -> None:
        self.graph = graph
        self.tensors = tensors
        self.heads = config["num_attention_heads"]
        self.head = config["hidden_size"] // self.heads
        self.epsilon = config.get("layer_norm_eps", 1e-12)

    def weight(self, name: str) -> str:
        """A tensor of the checkpoint."""
        return self.graph.weight(name, self.tensors[name])

    def embedded(self) -> str:
        """Words, positions and segment 0, normalised."""
        graph = self.graph
        words = graph.op("Gather", self.weight("embeddings.word_embeddings.weight"), "ids")
        places = graph.op(
            "Gather", self.weight("embeddings.position_embeddings.weight"), "positions"
        )
        segment = graph.op(
            "Gather",
            self.weight("embeddings.token_type_embeddings.weight"),
            graph.constant(0, np.int64),
        )
        total = graph.op("Add", graph.op("Add", words, places), segment)
        return self.norm(total, "embeddings.LayerNorm")

    def norm(self, value: str, name: str) -> str:
        """Layer normalisation."""
        return self.graph.op(
            "LayerNormalization",
            value,
            self.weight(f"{name}.weight"),
            self.weight(f"{name}.bias"),
            epsilon=self.epsilon,
        )

    def dense(self, value: str, name: str) -> str:
        """A linear layer."""
        return self.graph.op(
            "Gemm", value, self.weight(f"{name}.weight"), self.weight(f"{name}.bias"), transB=1
        )

    def split(self, value: str) -> str:
        """[tokens, hidden] to [heads, tokens, head]."""
        parts = self.graph.op("Reshape", value, self.graph.shape(0, self.heads, self.head))
        return self.graph.op("Transpose", parts, perm=[1, 0, 2])

    def layer(self, hidden: str, name: str) -> str:
        """Attention and feed-forward, each with its residual."""
        attended = self.dense(
            self.attention(hidden, f"{name}attention.self."), f"{name}attention.output.dense"
        )
        hidden = self.norm(
            self.graph.op("Add", attended, hidden), f"{name}attention.output.LayerNorm"
        )
        middle = self.graph.op("Gelu", self.dense(hidden, f"{name}intermediate.dense"))
        out = self.dense(middle, f"{name}output.dense")
        return self.norm(self.graph.op("Add", out, hidden), f"{name}output.LayerNorm")

    def attention(self, hidden: str, name: str) -> str:
        """Softmax attention over all tokens."""
        graph = self.graph
        query, key, value = (
            self.split(self.dense(hidden, name + part)) for part in ("query", "key", "value")
        )
        scores = graph.op("MatMul", query, graph.op("Transpose", key, perm=[0, 2, 1]))
        scaled = graph.op("Mul", scores, graph.constant(1 / math.sqrt(self.head)))
        mixed = graph.op("MatMul", graph.op("Softmax", scaled, axis=-1), value)
        joined = graph.op("Transpose", mixed, perm=[1, 0, 2])
        return graph.op("Reshape", joined, graph.shape(0, self.heads * self.head))
