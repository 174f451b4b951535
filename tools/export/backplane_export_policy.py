"""A trained policy as `backplane-trial --policy` records it: a line of JSON (host/libs/record/policy_file.hpp), the bytes of the policy as
its form describes them (backplane/ext/policy.h), and acts."""
import array
import json
import math
import os
import pathlib
import struct
import zipfile

CODES = {"float32": ("f", "<f4"), "float64": ("d", "<f8"), "int32": ("i", "<i4"), "int8": ("b", "|i1"), "uint8": ("B", "|u1")}


class Problem(Exception):
    """An error for the user."""


def numbers(data, dtype, at=0, count=None):
    code = CODES[dtype][0]
    size = struct.calcsize(code)
    count = (len(data) - at) // size if count is None else count
    if at < 0 or at + count * size > len(data):
        raise Problem(f"expected {count} numbers at byte {at} of the policy, got {len(data)} bytes; the form of the policy does not match its bytes")
    return list(struct.unpack(f"<{count}{code}", data[at : at + count * size]))


def to_float32(values):
    return list(array.array("f", values))


class Policy:
    """The net with its weights, and acts of the trial: `inputs` [act][obs], `masks`, `actions`."""

    def __init__(self, file):
        with open(file, "rb") as opened:
            self.about = about = json.loads(opened.readline())
            policy = opened.read(about["policy_bytes"])
            recorded = {c["name"]: self._acts(c, opened.read(about["acts"] * c["bytes"])) for c in about["channels"]}
        self.channels = {c["name"]: c for c in about["channels"]}
        form = self.form = about["form"]
        if form.get("kind") == "images":
            raise Problem(f"{about['learner']}: expected a policy that reads numbers, got one that reads images, which has no export")
        if form.get("kind") not in ("mlp", "gru"):
            raise Problem(f"{about['learner']}: expected a policy of kind mlp or gru, got {form.get('kind')!r}, which has no export")
        self.activation, self.head = form["activation"], form["head"]
        if self.head["kind"] == "several":
            raise Problem(f"{about['learner']}: expected one continuous or DISCRETE action, got several actions, which have no export")
        if self.activation not in ("tanh", "relu") or self.head["kind"] not in ("continuous", "discrete"):
            raise Problem(f"{about['learner']}: expected tanh or relu and a continuous or discrete head, got {self.activation} and {self.head['kind']}")
        self.layers = [self._layer(policy, layer) for layer in form["layers"]]
        self.memory = None
        if form["kind"] == "gru":
            memory = form["memory"]
            self.memory = {**memory, **{name: self._layer(policy, memory[name]) for name in ("input", "hidden")}}
            part = slice(memory["first"], memory["first"] + memory["size"])
            self.states, self.next_states = ([each[part] for each in recorded[prefix + memory["channel"]]] for prefix in ("", "next_"))
        self.obs = (self.memory["input"] if self.memory else self.layers[0])["in"]
        self.outputs = self.layers[-1]["out"]
        self.normalizer = self._normalizer(policy, form["normalizer"])
        self.low = [-math.inf if x is None else x for x in self.head.get("low", [])]
        self.high = [math.inf if x is None else x for x in self.head.get("high", [])]
        self.discrete = self.head["kind"] == "discrete"
        self.inputs = [to_float32(sum(parts, [])) for parts in zip(*(recorded[name] for name in form["obs"]))]
        self.masks = recorded[form["mask"]] if "mask" in form else None
        self.actions = recorded[form["action"]]

    @staticmethod
    def _acts(channel, data):
        n = channel["bytes"]
        return [numbers(data[i : i + n], channel["dtype"]) for i in range(0, len(data), n)]

    def _layer(self, policy, layer):
        read = lambda at, n: None if at is None else to_float32(numbers(policy, self.form["dtype"], at, n))
        return {**layer, "weight": read(layer["weight"], layer["in"] * layer["out"]), "bias": read(layer["bias"], layer["out"]) or [0.0] * layer["out"]}

    def _normalizer(self, policy, n):
        if n is None:
            return None
        if n["rule"] not in ("variance", "squares"):
            raise Problem(f"{self.about['learner']}: expected a normalizer by variance or squares, got {n['rule']}")
        read = lambda key, count: numbers(policy, "float64", n[key], count)
        count, mean, spread = read("count", 1)[0], read("mean", self.obs), read(n["rule"], self.obs)
        if not all(map(math.isfinite, [count, *mean, *spread])) or min([count, *spread]) < 0:
            raise Problem(f"{self.about['learner']}: expected finite statistics of observations, 0 or more, got invalid numbers")
        if n["rule"] == "variance":
            variance, scale = spread, [1 / math.sqrt(v + n["epsilon"]) for v in spread]
        elif count < 2:
            mean, variance, scale = [0.0] * self.obs, [1.0] * self.obs, [1.0] * self.obs
        else:
            variance = [s / (count - 1) for s in spread]
            scale = [0.0 if math.sqrt(v) < n["least_deviation"] else 1 / (math.sqrt(v) + n["epsilon"]) for v in variance]
        return {"mean": mean, "scale": scale, "variance": variance, "count": count, "epsilon": n["epsilon"], "clip": n["clip"] or math.inf}

    def ranges(self):
        """The range of each action: between its bounds, or in the acts if a bound is missing."""
        seen = list(zip(*self.actions))
        return [h - l if math.isfinite(h - l) else max(max(s) - min(s), 1.0) for l, h, s in zip(self.low, self.high, seen)]


def npy(values, dtype, shape):
    """The bytes of a .npy file, version 1.0."""
    if dtype == "text":
        descr, data, shape = f"<U{len(values)}", values.encode("utf-32-le"), ()
    else:
        code, descr = CODES[dtype]
        data = struct.pack(f"<{len(values)}{code}", *values)
    header = repr({"descr": descr, "fortran_order": False, "shape": tuple(shape)})
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def npz(policy):
    """The bytes of its arrays, by name."""
    arrays = {"activation": npy(policy.activation, "text", ()), "head": npy(policy.head["kind"], "text", ())}
    for i, layer in enumerate(policy.layers):
        arrays[f"layer.{i}.weight"] = npy(layer["weight"], "float32", (layer["in"], layer["out"]))
        arrays[f"layer.{i}.bias"] = npy(layer["bias"], "float32", (layer["out"],))
    for name in ("input", "hidden") if policy.memory else ():
        layer = policy.memory[name]
        arrays[f"memory.{name}.weight"] = npy(layer["weight"], "float32", (layer["in"], layer["out"]))
        arrays[f"memory.{name}.bias"] = npy(layer["bias"], "float32", (layer["out"],))
    if policy.normalizer:
        for name in ("mean", "scale", "variance"):
            arrays[f"normalizer.{name}"] = npy(policy.normalizer[name], "float64", (policy.obs,))
        for name in ("count", "epsilon", "clip"):
            arrays[f"normalizer.{name}"] = npy([policy.normalizer[name]], "float64", ())
    if not policy.discrete:
        arrays["action.low"] = npy(policy.low, "float32", (policy.outputs,))
        arrays["action.high"] = npy(policy.high, "float32", (policy.outputs,))
        arrays["action.squash"] = npy([int(policy.head["squash"])], "uint8", ())
    return arrays


def write_npz(path, arrays):
    """Writes the bytes of arrays by name: under another name first, so that the file is whole or absent."""
    draft = pathlib.Path(f"{path}.draft")
    with zipfile.ZipFile(draft, "w") as file:  # stored, with a fixed date: equal policies give equal files
        for name, data in arrays.items():
            file.writestr(zipfile.ZipInfo(name + ".npy"), data)
    os.replace(draft, path)
