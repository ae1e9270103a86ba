"""Builds an ONNX graph operation by operation; weights stay outside the graph."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 20
IR_VERSION = 10


class Graph:
    """A graph that is being built: every method appends one operation and names its output."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.external: dict[str, np.ndarray[Any, Any]] = {}

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """An operation with one output."""
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def constant(self, values: Any, dtype: type = np.float32) -> str:
        """A small constant inside the graph."""
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values, dtype=dtype), name))
        return name

    def shape(self, *sizes: int) -> str:
        """A constant shape; 0 keeps a size, -1 is inferred."""
        return self.constant(sizes, np.int64)

    def weight(self, name: str, values: np.ndarray[Any, Any]) -> str:
        """A weight that the engine takes from memory: protobuf cannot hold more than 2 GiB."""
        if name not in self.external:
            self.external[name] = values
            proto = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=values.shape)
            proto.data_location = TensorProto.EXTERNAL
            location = proto.external_data.add()
            location.key, location.value = "location", "memory"
            self.weights.append(proto)
        return name

    def model(self, inputs: Sequence[str], output: str) -> onnx.ModelProto:
        """The graph with int64 token inputs of one dynamic length and one float output."""
        given = [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["tokens"]) for name in inputs
        ]
        self.nodes.append(helper.make_node("Identity", [output], ["vector"]))
        result = helper.make_tensor_value_info("vector", TensorProto.FLOAT, None)
        graph = helper.make_graph(
            self.nodes, "encoder", given, [result], initializer=[*self.constants, *self.weights]
        )
        return helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION
        )
