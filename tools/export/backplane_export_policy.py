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
    """The net with its weights, and acts of the trial. Each act has `inputs` (numbers) and `pixels` (bytes) of the observation, `masks`, and the
    action as `numbers` and `choices`, in the order of `parts`."""

    def __init__(self, file):
        with open(file, "rb") as opened:
            self.about = about = json.loads(opened.readline())
            policy = opened.read(about["policy_bytes"])
            recorded = {c["name"]: self._acts(c, opened.read(about["acts"] * c["bytes"])) for c in about["channels"]}
        self.channels = {c["name"]: c for c in about["channels"]}
        form = self.form = about["form"]
        if form.get("kind") not in ("mlp", "gru", "images"):
            raise Problem(f"{about['learner']}: expected a policy of kind mlp, gru or images, got {form.get('kind')!r}, which has no export")
        self.activation, self.head = form["activation"], form["head"]
        if self.activation not in ("tanh", "relu"):
            raise Problem(f"{about['learner']}: expected tanh or relu, got {self.activation}")
        self.layers = [self._layer(policy, layer) for layer in form["layers"]]
        self.outputs = self.layers[-1]["out"]
        self.memory = None
        if form["kind"] == "gru":
            memory = form["memory"]
            self.memory = {**memory, **{name: self._layer(policy, memory[name]) for name in ("input", "hidden")}}
            part = slice(memory["first"], memory["first"] + memory["size"])
            self.states, self.next_states = ([each[part] for each in recorded[prefix + memory["channel"]]] for prefix in ("", "next_"))
        self.images = [self._image(policy, image) for image in form.get("images", [])]
        self.pixel_count = sum(image["pixels"] for image in self.images)
        self.obs = (self.memory["input"] if self.memory else self.layers[0])["in"] - sum(image["dense"]["out"] for image in self.images)
        self.normalizer = self._normalizer(policy, form["normalizer"])
        self._read_head()
        self.inputs = [to_float32(sum(map(list, parts), [])) for parts in zip(*(recorded[name] for name in form["obs"]))] or [[]] * about["acts"]
        self.pixels = [bytes().join(parts) for parts in zip(*(map(bytes, recorded[image["channel"]]) for image in self.images))]
        self.masks = recorded[form["mask"]] if "mask" in form else None
        acts = lambda chosen: [sum(values, []) for values in zip(*(recorded[part["action"]] for part in self.parts if chosen(part)))]
        self.numbers, self.choices = acts(lambda part: part["kind"] == "continuous"), acts(lambda part: part["kind"] != "continuous")

    def _read_head(self):
        """The action: its parts have outputs of the net from "first" on, and numbers or choices from "at" on. A discrete one has flags of a mask,
        and sizes."""
        self.several = self.head["kind"] == "several"
        self.parts, outputs, self.number_count, self.choice_count, self.flags = [], 0, 0, 0, 0
        for given in self.head["parts"] if self.several else [{**self.head, "action": self.form["action"]}]:
            part = {"action": given["action"], "kind": given["kind"], "first": outputs, "at": self.choice_count}
            if part["kind"] == "continuous":
                part |= {"count": len(given["low"]), "at": self.number_count, "low": given["low"], "high": given["high"]}
                self.number_count += part["count"]
            elif part["kind"] == "discrete":
                sizes = given["choices"] if self.several else [given["choices"]]
                part |= {"count": len(sizes), "sizes": sizes, "flag": self.flags, "scalar": self.channels[part["action"]].get("space") == "discrete"}
                self.flags += sum(sizes)
            elif part["kind"] == "bits":
                part["count"] = given["count"]
            else:
                raise Problem(f"{self.about['learner']}: expected a continuous, discrete or bits action, got {part['kind']}")
            self.choice_count += part["count"] if part["kind"] != "continuous" else 0
            outputs += sum(part.get("sizes", [])) or part["count"]
            self.parts.append(part)
        if outputs != self.outputs:
            raise Problem(f"{self.about['learner']}: expected an action of {self.outputs} outputs, got one of {outputs}")
        self.squash = self.head.get("squash", False)
        self.low, self.high = ([bound if x is None else x for part in self.parts for x in part.get(name, [])]
                               for name, bound in (("low", -math.inf), ("high", math.inf)))
        self.returns_choice = not self.several and self.number_count == 0

    def _image(self, policy, image):
        height, width, channels = image["height"], image["width"], image["channels"]
        made = {**image, "pixels": height * width * channels, "dense": self._layer(policy, image["dense"]), "layers": []}
        planar = image["planar"]
        for layer in image["layers"]:
            one = {**self._layer(policy, layer), "height": height, "width": width, "channels": channels, "planar": planar}
            if layer["in"] != layer["kernel"] ** 2 * channels:
                raise Problem(f"{self.about['learner']}: expected patches of {layer['kernel'] ** 2 * channels} numbers, got {layer['in']}")
            height, width, channels, planar = ((height - layer["kernel"]) // layer["stride"] + 1, (width - layer["kernel"]) // layer["stride"] + 1,
                                               layer["out"], False)
            made["layers"].append({**one, "result": height * width * channels})
        return made

    @staticmethod
    def _acts(channel, data):
        n = channel["bytes"]
        if channel["dtype"] == "uint8" and n > 4096:  # an image
            return [data[i : i + n] for i in range(0, len(data), n)]
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
        seen = list(zip(*self.numbers))
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

    def add(name, layer):
        arrays[f"{name}.weight"] = npy(layer["weight"], "float32", (layer["in"], layer["out"]))
        arrays[f"{name}.bias"] = npy(layer["bias"], "float32", (layer["out"],))

    for i, layer in enumerate(policy.layers):
        add(f"layer.{i}", layer)
    for name in ("input", "hidden") if policy.memory else ():
        add(f"memory.{name}", policy.memory[name])
    for k, image in enumerate(policy.images):
        for i, layer in enumerate(image["layers"]):
            add(f"image.{k}.{i}", layer)
            arrays[f"image.{k}.{i}.patch"] = npy([layer["kernel"], layer["stride"]], "int32", (2,))
        add(f"image.{k}.dense", image["dense"])
        arrays[f"image.{k}.shape"] = npy([image["height"], image["width"], image["channels"], int(image["planar"])], "int32", (4,))
    if policy.normalizer:
        for name in ("mean", "scale", "variance"):
            arrays[f"normalizer.{name}"] = npy(policy.normalizer[name], "float64", (policy.obs,))
        for name in ("count", "epsilon", "clip"):
            arrays[f"normalizer.{name}"] = npy([policy.normalizer[name]], "float64", ())
    if policy.number_count:
        arrays["action.low"] = npy(policy.low, "float32", (policy.number_count,))
        arrays["action.high"] = npy(policy.high, "float32", (policy.number_count,))
        arrays["action.squash"] = npy([int(policy.squash)], "uint8", ())
    if policy.several:
        arrays["parts"] = npy(json.dumps([{key: part[key] for key in ("action", "kind", "first", "at", "count", "sizes", "flag", "scalar") if key in part}
                                          for part in policy.parts]), "text", ())
    return arrays


def write_npz(path, arrays):
    """Writes the bytes of arrays by name: under another name first, so that the file is whole or absent."""
    draft = pathlib.Path(f"{path}.draft")
    with zipfile.ZipFile(draft, "w") as file:  # stored, with a fixed date: equal policies give equal files
        for name, data in arrays.items():
            file.writestr(zipfile.ZipInfo(name + ".npy"), data)
    os.replace(draft, path)
