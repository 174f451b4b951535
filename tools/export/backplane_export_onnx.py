"""Writes policy.onnx from policy.npz: backplane_export_onnx.py FOLDER. Needs the package onnx."""
import json
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


def features(graph, pixels, k, arrays):
    """The features of image k, from uint8 [n, numbers]."""
    height, width, depth, planar = (int(x) for x in arrays[f"image.{k}.shape"])
    x = graph.add("Mul", [graph.add("Cast", [pixels], to=TensorProto.FLOAT), graph.constant(f"image.{k}.scale", np.float32(1) / np.float32(255))])
    x = graph.add("Reshape", [x, graph.constant(f"image.{k}.sides", np.int64([-1, depth, height, width] if planar else [-1, height, width, depth]))])
    x, i = x if planar else graph.add("Transpose", [x], perm=[0, 3, 1, 2]), 0
    while f"image.{k}.{i}.weight" in arrays:
        weight, (kernel, stride) = arrays[f"image.{k}.{i}.weight"], (int(n) for n in arrays[f"image.{k}.{i}.patch"])
        # Patches have the order of the image; ONNX wants [filter, channel, y, x].
        order = (depth, kernel, kernel) if planar else (kernel, kernel, depth)
        weight = np.moveaxis(weight.reshape(*order, -1), [3, 0, 1, 2] if planar else [3, 2, 0, 1], [0, 1, 2, 3])
        x = graph.add("Conv", [x, graph.constant(f"image.{k}.{i}.weight", weight), graph.constant(f"image.{k}.{i}.bias", arrays[f"image.{k}.{i}.bias"])],
                      strides=[stride, stride])
        x, depth, planar, i = graph.add("Relu", [x]), weight.shape[0], False, i + 1
    dense = arrays[f"image.{k}.dense.weight"]
    x = graph.add("Transpose", [x], perm=[0, 2, 3, 1])
    x = graph.add("Reshape", [x, graph.constant(f"image.{k}.flat", np.int64([-1, dense.shape[0]]))])
    return graph.add("Relu", [product(graph, x, f"image.{k}.dense", arrays)])


def product(graph, x, name, arrays):
    x = graph.add("MatMul", [x, graph.constant(f"{name}.weight", arrays[f"{name}.weight"])])
    return graph.add("Add", [x, graph.constant(f"{name}.bias", arrays[f"{name}.bias"])])


def part_of(graph, x, first, count, output=None):
    """Columns of x."""
    ends = [graph.constant(f"{name}_{len(graph.nodes)}", np.int64([value])) for name, value in (("first", first), ("end", first + count), ("axis", 1))]
    return graph.add("Slice", [x, *ends], output)


def joined(graph, parts, output=None):
    return graph.add("Concat", parts, output, axis=1) if len(parts) > 1 or output else parts[0]


def best(graph, x, mask, keep, output=None):
    allowed = graph.add("Cast", [mask], to=TensorProto.BOOL)
    x = graph.add("Where", [allowed, x, graph.constant(f"never_{len(graph.nodes)}", np.float32(-np.inf))])
    return graph.add("Cast", [graph.add("ArgMax", [x], axis=-1, keepdims=int(keep))], output, to=TensorProto.INT32)


def bounded(graph, x, arrays, output):
    low, high = arrays["action.low"], arrays["action.high"]
    if arrays["action.squash"]:
        x = graph.add("Tanh", [x])
        x = graph.add("Add", [x, graph.constant("one", np.float32(1))])
        x = graph.add("Mul", [x, graph.constant("half_range", (high - low) / np.float32(2))])
        x = graph.add("Add", [x, graph.constant("shift", low)])
    x = graph.add("Max", [x, graph.constant("action.low", low)])
    return graph.add("Min", [x, graph.constant("action.high", high)], output)


def head(graph, x, arrays):
    """[(output, its type, its columns)], and the number of flags of a mask."""
    columns = arrays[max((name for name in arrays if name.startswith("layer.") and name.endswith(".bias")), key=lambda name: int(name.split(".")[1]))].shape[0]
    if arrays["head"] == "discrete":
        best(graph, x, "mask", False, "action")
        return [("action", TensorProto.INT32, 0)], columns
    if arrays["head"] == "continuous":
        bounded(graph, x, arrays, "action")
        return [("action", TensorProto.FLOAT, columns)], 0
    numbers, choices, chosen, flags = [], [], 0, 0
    for part in json.loads(str(arrays["parts"])):
        first, count = part["first"], part["count"]
        if part["kind"] == "continuous":
            numbers.append(part_of(graph, x, first, count))
            continue
        chosen += count
        if part["kind"] == "bits":
            above = graph.add("Greater", [part_of(graph, x, first, count), graph.constant(f"zero_{len(graph.nodes)}", np.float32(0))])
            choices.append(graph.add("Cast", [above], to=TensorProto.INT32))
        for size in part.get("sizes", []):
            choices.append(best(graph, part_of(graph, x, first, size), part_of(graph, "mask", flags, size), True))
            first, flags = first + size, flags + size
    made = []
    if numbers:
        bounded(graph, joined(graph, numbers), arrays, "numbers")
        made.append(("numbers", TensorProto.FLOAT, len(arrays["action.low"])))
    if choices:
        joined(graph, choices, "choices")
        made.append(("choices", TensorProto.INT32, chosen))
    return made, flags


def model(arrays):
    graph, inputs = Graph(), []
    layers = sum(name.startswith("layer.") and name.endswith(".weight") for name in arrays)
    remembers = "memory.input.weight" in arrays
    tensor = lambda name, kind, columns: helper.make_tensor_value_info(name, kind, ["n", columns] if columns else ["n"])

    obs, parts = arrays["memory.input.weight" if remembers else "layer.0.weight"].shape[0], []
    pixels = [int(np.prod(arrays[f"image.{k}.shape"][:3])) for k in range(sum(name.startswith("image.") and name.endswith(".shape") for name in arrays))]
    for k, size in enumerate(pixels):
        parts.append(features(graph, part_of(graph, "pixels", sum(pixels[:k]), size), k, arrays))
        obs -= arrays[f"image.{k}.dense.bias"].shape[0]
    if obs:
        inputs.append(tensor("obs", TensorProto.FLOAT, obs))
        parts.append(normalized(graph, "obs", arrays) if "normalizer.mean" in arrays else "obs")
    if pixels:
        inputs.append(tensor("pixels", TensorProto.UINT8, sum(pixels)))
    x = joined(graph, parts)
    if remembers:
        x = remembered(graph, x, arrays)
    for i in range(layers):
        x = product(graph, x, f"layer.{i}", arrays)
        if i + 1 < layers:
            x = graph.add("Tanh" if arrays["activation"] == "tanh" else "Relu", [x])
    outputs, flags = head(graph, x, arrays)
    results = [tensor(*output) for output in outputs]
    if flags:
        inputs.append(tensor("mask", TensorProto.UINT8, flags))
    if remembers:
        size = arrays["memory.hidden.weight"].shape[0]
        inputs.append(tensor("state", TensorProto.FLOAT, size))
        results.append(tensor("next_state", TensorProto.FLOAT, size))
    made = helper.make_graph(graph.nodes, "policy", inputs, results, graph.constants)
    # Old enough for every runtime that is in use.
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 13)], ir_version=8, producer_name="backplane")


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    written = model(dict(np.load(folder / "policy.npz")))
    onnx.checker.check_model(written)
    onnx.save(written, folder / "policy.onnx")
