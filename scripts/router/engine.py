"""Encodes token ids with ONNX Runtime, and tells on which device the weights really lie.

The device is asked of the session and of the weights after the session was made: a provider that is
missing falls back to the CPU in silence, whatever the flag said. Weights that lie on another device
than the session runs on are refused.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import onnxruntime as ort

from calculators.form.errors import ParameterError
from scripts.router import graph_bert, graph_qwen3
from scripts.router.checkpoint import Checkpoint
from scripts.router.conversation import truncate_left
from scripts.router.graph import Graph

PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}
DEVICES = {provider: device for device, provider in PROVIDERS.items()}


@dataclass(frozen=True, kw_only=True, slots=True)
class Engine:
    """A session over one checkpoint. ``device`` is where it runs, not what was asked for."""

    checkpoint: Checkpoint
    session: Any
    weights: tuple[Any, ...]
    device: str
    threads: int
    limit: int

    def tokens(self, text: str) -> list[int]:
        """Token ids, truncated from the left, special tokens around them."""
        tokenizer = self.checkpoint.tokenizer
        inside = self.limit - len(tokenizer.before) - len(tokenizer.after)
        kept = truncate_left(tokenizer.encode(text), inside)
        return [*tokenizer.before, *kept, *tokenizer.after]

    def encode(self, text: str) -> np.ndarray[Any, Any]:
        """The text's vector of length 1: one whole prefill."""
        ids = np.asarray(self.tokens(text), dtype=np.int64)
        given = {"ids": ids, "positions": np.arange(len(ids), dtype=np.int64)}
        (vector,) = self.session.run(["vector"], given)
        return np.asarray(vector)


def start(checkpoint: Checkpoint, *, device: str, max_tokens: int, threads: int) -> Engine:
    """A session; raises ParameterError for an unknown device or architecture."""
    if device not in PROVIDERS:
        raise ParameterError("device", "device_unknown", text=device, devices=", ".join(PROVIDERS))
    limit = min(max_tokens, checkpoint.most_tokens)
    graph = graph_of(checkpoint, limit)
    place = device if PROVIDERS[device] in ort.get_available_providers() else "cpu"
    values = {
        name: ort.OrtValue.ortvalue_from_numpy(array, place)
        for name, array in graph.external.items()
    }
    session = session_of(graph, values, place, threads)
    return Engine(
        checkpoint=checkpoint,
        session=session,
        weights=tuple(values.values()),
        device=device_of(session, values),
        threads=threads,
        limit=limit,
    )


def session_of(graph: Graph, values: dict[str, Any], place: str, threads: int) -> Any:
    """A session whose weights are the given values."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    options.add_external_initializers(list(values), list(values.values()))
    model = graph.model(("ids", "positions"), f"v{len(graph.nodes) - 1}").SerializeToString()
    wanted = list(dict.fromkeys((PROVIDERS[place], PROVIDERS["cpu"])))
    return ort.InferenceSession(model, options, providers=wanted)


def device_of(session: Any, values: dict[str, Any]) -> str:
    """Where the session runs and the weights lie. Raises ParameterError when the two differ."""
    provider = session.get_providers()[0]
    runs: str = DEVICES.get(provider, provider)
    lies = {value.device_name() for value in values.values()}
    if lies != {runs}:
        raise ParameterError("device", "weights_elsewhere", runs=runs, lies=", ".join(lies))
    return runs


def graph_of(checkpoint: Checkpoint, limit: int) -> Graph:
    """The architecture's graph."""
    kind = checkpoint.config.get("model_type")
    if kind == "bert":
        return graph_bert.build(checkpoint.config, checkpoint.tensors)
    if kind == "qwen3":
        return graph_qwen3.build(checkpoint.config, checkpoint.tensors, limit)
    raise ParameterError("checkpoint", "architecture_unknown", text=str(kind))
