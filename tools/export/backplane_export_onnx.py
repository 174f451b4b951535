"""Writes policy.onnx from policy.npz: backplane_export_onnx.py FOLDER. Needs the package onnx."""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Graph:
    def __init__(self):
        self.nodes, self.constants = [], []

    def constant(self, name, values):
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def add(self, kind, inputs, output=None, **attributes):
        output = output or f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output


def normalized(graph, x, arrays):
    x = graph.add("Cast", [x], to=TensorProto.DOUBLE)
    x = graph.add("Sub", [x, graph.constant("normalizer.mean", arrays["normalizer.mean"])])
    x = graph.add("Mul", [x, graph.constant("normalizer.scale", arrays["normalizer.scale"])])
    clip = arrays["normalizer.clip"]
    if np.isfinite(clip):
        x = graph.add("Clip", [x, graph.constant("least", -clip), graph.constant("most", clip)])
    return graph.add("Cast", [x], to=TensorProto.FLOAT)


def remembered(graph, x, arrays):
    """The next state of the gated recurrent unit (as torch.nn.GRU)."""
    parts = []
    for name, source in (("input", x), ("hidden", "state")):
        y = graph.add("MatMul", [source, graph.constant(f"memory.{name}.weight", arrays[f"memory.{name}.weight"])])
        y = graph.add("Add", [y, graph.constant(f"memory.{name}.bias", arrays[f"memory.{name}.bias"])])
        parts.append([f"{name}.{gate}" for gate in "rzn"])
        graph.nodes.append(helper.make_node("Split", [y], parts[-1], axis=-1))
    r, z = (graph.add("Sigmoid", [graph.add("Add", [parts[0][i], parts[1][i]])]) for i in range(2))
    n = graph.add("Tanh", [graph.add("Add", [parts[0][2], graph.add("Mul", [r, parts[1][2]])])])
    return graph.add("Add", [n, graph.add("Mul", [z, graph.add("Sub", ["state", n])])], "next_state")


def head(graph, x, arrays):
    if arrays["head"] == "discrete":
        allowed = graph.add("Cast", ["mask"], to=TensorProto.BOOL)
        x = graph.add("Where", [allowed, x, graph.constant("never", np.float32(-np.inf))])
        x = graph.add("ArgMax", [x], axis=-1, keepdims=0)
        return graph.add("Cast", [x], "action", to=TensorProto.INT32)
    low, high = arrays["action.low"], arrays["action.high"]
    if arrays["action.squash"]:
        x = graph.add("Tanh", [x])
        x = graph.add("Add", [x, graph.constant("one", np.float32(1))])
        x = graph.add("Mul", [x, graph.constant("half_range", (high - low) / np.float32(2))])
        x = graph.add("Add", [x, graph.constant("shift", low)])
    x = graph.add("Max", [x, graph.constant("action.low", low)])
    return graph.add("Min", [x, graph.constant("action.high", high)], "action")


def model(arrays):
    graph, x = Graph(), "obs"
    layers = sum(name.startswith("layer.") and name.endswith(".weight") for name in arrays)
    remembers = "memory.input.weight" in arrays
    if "normalizer.mean" in arrays:
        x = normalized(graph, x, arrays)
    if remembers:
        x = remembered(graph, x, arrays)
    for i in range(layers):
        x = graph.add("MatMul", [x, graph.constant(f"layer.{i}.weight", arrays[f"layer.{i}.weight"])])
        x = graph.add("Add", [x, graph.constant(f"layer.{i}.bias", arrays[f"layer.{i}.bias"])])
        if i + 1 < layers:
            x = graph.add("Tanh" if arrays["activation"] == "tanh" else "Relu", [x])
    head(graph, x, arrays)
    obs, actions = arrays["memory.input.weight" if remembers else "layer.0.weight"].shape[0], arrays[f"layer.{layers - 1}.bias"].shape[0]
    discrete = arrays["head"] == "discrete"
    inputs = [helper.make_tensor_value_info("obs", TensorProto.FLOAT, ["n", obs])]
    if discrete:
        inputs.append(helper.make_tensor_value_info("mask", TensorProto.UINT8, ["n", actions]))
    action = helper.make_tensor_value_info("action", TensorProto.INT32 if discrete else TensorProto.FLOAT, ["n"] if discrete else ["n", actions])
    results = [action]
    if remembers:
        state = ["n", arrays["memory.hidden.weight"].shape[0]]
        inputs.append(helper.make_tensor_value_info("state", TensorProto.FLOAT, state))
        results.append(helper.make_tensor_value_info("next_state", TensorProto.FLOAT, state))
    made = helper.make_graph(graph.nodes, "policy", inputs, results, graph.constants)
    # Old enough for every runtime that is in use.
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 13)], ir_version=8, producer_name="backplane")


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    written = model(dict(np.load(folder / "policy.npz")))
    onnx.checker.check_model(written)
    onnx.save(written, folder / "policy.onnx")
