#!/usr/bin/env python3
"""Exports of policies made by hand: the files act as a plain computation in double, and a wrong file is an error.

usage: export_test.py
"""
import json
import math
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(__file__).resolve().parents[3] / "tools/export/backplane-export.py"
ACTS = 50


class Net:
    """A random net, its bytes and form, and its action in double precision."""

    def __init__(self, sizes, activation="tanh", rule=None, head="continuous", squash=False, dtype="float32", biases=True, seed=1, memory=0):
        draw = random.Random(seed)
        self.activation, self.rule, self.squash, self.data = activation, rule, squash, b"header"
        code = "f" if dtype == "float32" else "d"
        put = lambda values, code: (len(self.data), setattr(self, "data", self.data + struct.pack(f"<{len(values)}{code}", *values)))[0]
        single = lambda x: struct.unpack("f", struct.pack("f", x))[0]
        self.layers, layers, self.memory = [], [], memory
        gru = [(sizes[0], 3 * memory), (memory, 3 * memory)] if memory else []
        for n, m in gru + list(zip([memory or sizes[0], *sizes[1:]], sizes[1:])):
            weight, bias = [single(draw.gauss(0, 1 / n)) for _ in range(n * m)], [single(draw.gauss(0, 0.1)) if biases else 0.0 for _ in range(m)]
            layers.append({"in": n, "out": m, "weight": put(weight, code), "bias": put(bias, code) if biases else None})
            self.layers.append((n, m, weight, bias))
        self.gru, self.layers = self.layers[: len(gru)], self.layers[len(gru) :]
        of_gru, layers = layers[: len(gru)], layers[len(gru) :]
        normalizer = None
        if rule:
            self.count = 10.0
            self.mean, self.spread = [draw.gauss(50, 1) for _ in range(sizes[0])], [draw.random() + 0.1 for _ in range(sizes[0])]
            self.spread[0] = 0.0 if rule == "squares" else self.spread[0]
            normalizer = {"rule": rule, "count": put([self.count], "d"), "mean": put(self.mean, "d"), rule: put(self.spread, "d"), "epsilon": 1e-2,
                          "clip": 2.0 if rule == "variance" else None, "least_deviation": 1e-7}
        self.low, self.high = [-0.5] * sizes[-1], [None] + [0.25] * (sizes[-1] - 1)
        if squash:
            self.high[0] = 1.0
        self.discrete = head == "discrete"
        about = {"kind": "discrete", "choices": sizes[-1]} if self.discrete else {"kind": "continuous", "squash": squash, "low": self.low, "high": self.high}
        self.form = {"kind": "mlp", "obs": ["obs"], "action": "action", "dtype": dtype, "activation": activation, "layers": layers,
                     "normalizer": normalizer, "head": about}
        if memory:
            self.form["kind"] = "gru"
            self.form["memory"] = {"channel": "memory", "first": 2, "size": memory, "input": of_gru[0], "hidden": of_gru[1]}
            self.carries = [[single(draw.uniform(-1, 1)) for _ in range(memory + 3)] for _ in range(ACTS)]
        self.inputs = [[single(draw.gauss(50 if rule else 0, 1)) for _ in range(sizes[0])] for _ in range(ACTS)]
        self.masks = [[int(draw.random() < 0.5) for _ in range(sizes[-1])] for _ in range(ACTS)] if self.discrete else None
        for mask in self.masks or []:
            mask[draw.randrange(len(mask))] = 1

    def scaled(self, x):
        if self.rule == "variance":
            return [max(-2.0, min(2.0, (v - m) / math.sqrt(s + 1e-2))) for v, m, s in zip(x, self.mean, self.spread)]
        if self.rule == "squares":
            deviations = [math.sqrt(s / (self.count - 1)) for s in self.spread]
            return [0.0 if d < 1e-7 else (v - m) / (d + 1e-2) for v, m, d in zip(x, self.mean, deviations)]
        return x

    def next_state(self, i):
        """The equations of torch.nn.GRU."""
        layer = lambda x, n, m, weight, bias: [bias[b] + sum(x[a] * weight[a * m + b] for a in range(n)) for b in range(m)]
        sigmoid = lambda v: 1 / (1 + math.exp(-v))
        size, state = self.memory, self.carries[i][2 : 2 + self.memory]
        x, h = layer(self.scaled(self.inputs[i]), *self.gru[0]), layer(state, *self.gru[1])
        r, z = ([sigmoid(x[k + at] + h[k + at]) for k in range(size)] for at in (0, size))
        n = [math.tanh(x[2 * size + k] + r[k] * h[2 * size + k]) for k in range(size)]
        return [(1 - z[k]) * n[k] + z[k] * state[k] for k in range(size)]

    def act(self, i):
        x = self.next_state(i) if self.memory else self.scaled(self.inputs[i])
        for k, (n, m, weight, bias) in enumerate(self.layers):
            x = [bias[b] + sum(x[a] * weight[a * m + b] for a in range(n)) for b in range(m)]
            if k + 1 < len(self.layers):
                x = [math.tanh(v) if self.activation == "tanh" else max(0.0, v) for v in x]
        if self.discrete:
            return [max((v, -b) for b, v in enumerate(x) if self.masks[i][b])[1] * -1]
        if self.squash:
            x = [l + (math.tanh(v) + 1) / 2 * (h - l) for v, l, h in zip(x, self.low, self.high)]
        return [min(math.inf if h is None else h, max(l, v)) for v, l, h in zip(x, self.low, self.high)]

    def record(self, change=lambda about: None, shift=0.0, state_shift=0.0):
        actions = [self.act(i) for i in range(ACTS)]
        channel = lambda name, n, dtype, size, **more: {"name": name, "scope": "row", "dtype": dtype, "shape": [n], "low": [], "high": [], "bytes": n * size, **more}
        obs, outputs = len(self.inputs[0]), self.layers[-1][1]
        channels, parts = [channel("obs", obs, "float32", 4)], [struct.pack(f"<{obs * ACTS}f", *sum(self.inputs, []))]
        if self.discrete:
            self.form["mask"] = "action_mask"
            channels += [channel("action_mask", outputs, "uint8", 1), channel("action", 1, "int32", 4)]
            parts += [bytes(sum(self.masks, [])), struct.pack(f"<{ACTS}i", *(a[0] for a in actions))]
        else:
            actions[7][0] += shift
            channels.append(channel("action", outputs, "float32", 4, low=self.low, high=self.high))
            parts.append(struct.pack(f"<{outputs * ACTS}f", *sum(actions, [])))
        if self.memory:
            after = [[0.0, 0.0, *self.next_state(i), 0.0] for i in range(ACTS)]
            after[3][2] += state_shift
            for name, values in (("memory", self.carries), ("next_memory", after)):
                channels.append(channel(name, self.memory + 3, "float32", 4))
                parts.append(struct.pack(f"<{ACTS * (self.memory + 3)}f", *sum(values, [])))
        about = {"experiment": "by hand", "trial": "0123", "env": "env.none", "learner": "learner.none", "iterations": 3, "form": self.form,
                 "policy_bytes": len(self.data), "acts": ACTS, "step_s": 0.02, "channels": channels}
        change(about)
        return json.dumps(about).encode() + b"\n" + self.data[: about["policy_bytes"]] + b"".join(parts)


class Mixed:
    """Numbers, three choices with a mask and bits, chosen from two channels of numbers and perhaps images, in double precision."""

    PARTS = [{"action": "move", "kind": "continuous", "low": [-0.2, None], "high": [0.2, 0.1]}, {"action": "gear", "kind": "discrete", "choices": [3]},
             {"action": "lamps", "kind": "bits", "count": 3}, {"action": "tools", "kind": "discrete", "choices": [2, 4]}]
    OUTPUTS = 2 + 3 + 3 + 6

    def __init__(self, shapes=(), seed=3):
        draw, self.data, self.shapes = random.Random(seed), b"head", shapes
        single = lambda x: struct.unpack("f", struct.pack("f", x))[0]

        def layer(n, m, **more):
            weight, bias = [single(draw.gauss(0, (2 / n) ** 0.5)) for _ in range(n * m)], [single(draw.gauss(0, 0.1)) for _ in range(m)]
            at = len(self.data)
            self.data += struct.pack(f"<{n * m + m}f", *weight, *bias)
            return {"in": n, "out": m, "weight": at, "bias": at + 4 * n * m, **more}, (n, m, weight, bias)

        self.images, described = [], []
        for k, (height, width, channels, planar) in enumerate(shapes):
            layers = [layer(16 * channels, 5, kernel=4, stride=2), layer(4 * 5, 6, kernel=2, stride=1)]
            rows, columns = (height - 4) // 2, (width - 4) // 2  # of the second result
            dense = layer(rows * columns * 6, 7)
            self.images.append(([one[1] for one in layers], dense[1]))
            described.append({"channel": f"view{k}", "height": height, "width": width, "channels": channels, "planar": planar,
                              "layers": [one[0] for one in layers], "dense": dense[0]})
        layers = [layer(5 + 7 * len(shapes), 8), layer(8, self.OUTPUTS)]
        self.layers = [one[1] for one in layers]
        self.form = {"kind": "images" if shapes else "mlp", "obs": ["a", "b"], "action": "move", "mask": "flags", "dtype": "float32", "activation": "relu",
                     "layers": [one[0] for one in layers], "normalizer": None, "head": {"kind": "several", "parts": self.PARTS}}
        if shapes:
            self.form["images"] = described
        self.inputs = [[single(draw.gauss(0, 1)) for _ in range(5)] for _ in range(ACTS)]
        self.pixels = [[[draw.randrange(256) for _ in range(h * w * c)] for h, w, c, _ in shapes] for _ in range(ACTS)]
        self.masks = [[1] * 9 if i % 2 else [0, 1, 1, 0, 1, 1, 0, 0, 1] for i in range(ACTS)]

    @staticmethod
    def dense(x, n, m, weight, bias, relu=True):
        y = [bias[b] + sum(x[a] * weight[a * m + b] for a in range(n)) for b in range(m)]
        return [max(0.0, value) for value in y] if relu else y

    def seen(self, shape, layers, pixels):
        """The features of an image; its channels are the last dimension of every array here."""
        height, width, channels, planar = shape
        at = lambda y, x, c: pixels[(c * height + y) * width + x if planar else (y * width + x) * channels + c] / 255
        image = [[[at(y, x, c) for c in range(channels)] for x in range(width)] for y in range(height)]
        for one, kernel, stride in zip(layers[0], (4, 2), (2, 1)):
            ys, xs = (range(0, len(side) - kernel + 1, stride) for side in (image, image[0]))
            order = ((lambda y, x: [image[y + i][x + j][c] for c in range(channels) for i in range(kernel) for j in range(kernel)]) if planar else
                     (lambda y, x: [number for i in range(kernel) for j in range(kernel) for number in image[y + i][x + j]]))
            image, planar = [[self.dense(order(y, x), *one) for x in xs] for y in ys], False
        return self.dense(sum(sum(image, []), []), *layers[1])

    def act(self, i):
        x = sum((self.seen(*each) for each in zip(self.shapes, self.images, self.pixels[i])), []) + self.inputs[i]
        x = self.dense(self.dense(x, *self.layers[0]), *self.layers[1], relu=False)
        best = lambda first, size, flag: max(range(size), key=lambda k: (self.masks[i][flag + k], x[first + k]))
        return {"move": [min(0.2, max(-0.2, x[0])), min(0.1, x[1])], "gear": [best(2, 3, 0)], "lamps": [int(value > 0) for value in x[5:8]],
                "tools": [best(8, 2, 3), best(10, 4, 5)]}

    def record(self, change=lambda actions: None):
        actions = [self.act(i) for i in range(ACTS)]
        change(actions)
        columns = [("a", "f", "float32", [2], [x[:2] for x in self.inputs]), ("b", "f", "float32", [3, 1], [x[2:] for x in self.inputs])]
        for k, (height, width, channels, planar) in enumerate(self.shapes):
            shape = [channels, height, width] if planar else [height, width, channels]
            columns.append((f"view{k}", "B", "uint8", shape, [act[k] for act in self.pixels]))
        columns.append(("flags", "B", "uint8", [9], self.masks))
        columns += [(name, code, dtype, [len(actions[0][name])], [action[name] for action in actions])
                    for name, code, dtype in (("move", "f", "float32"), ("gear", "i", "int32"), ("lamps", "B", "uint8"), ("tools", "i", "int32"))]
        channels = [{"name": name, "scope": "row", "space": "discrete" if name == "gear" else "other", "dtype": dtype, "shape": shape, "low": [], "high": [],
                     "bytes": math.prod(shape) * struct.calcsize(code)} for name, code, dtype, shape, _ in columns]
        about = {"experiment": "by hand", "trial": "0123", "env": "env.none", "learner": "learner.none", "iterations": 3, "form": self.form,
                 "policy_bytes": len(self.data), "acts": ACTS, "step_s": 0.02, "channels": channels}
        acts = [struct.pack(f"<{len(values) * len(values[0])}{code}", *sum(values, [])) for _, code, _, _, values in columns]
        return json.dumps(about).encode() + b"\n" + self.data + b"".join(acts)


class Export(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def export(self, record):
        (self.folder / "record").write_bytes(record)
        words = [sys.executable, "-B", PROGRAM, self.folder / "record", self.folder / "made", "1.2.3"]
        return subprocess.run(words, capture_output=True, text=True)

    def expect_whole(self, net, agrees):
        run = self.export(net.record())
        self.assertEqual(0, run.returncode, run.stdout + run.stderr)
        checked = [line for line in run.stdout.splitlines() if line.startswith("policy.") and "not " not in line]
        self.assertTrue(checked, run.stdout)
        for line in checked:
            self.assertRegex(line, agrees)
        return run

    def test_continuous_actions_are_normalised_and_clipped(self):
        self.expect_whole(Net([5, 16, 8, 3], rule="variance"), r"50 actions .* at most \d\.\de-0[6-9] ")

    def test_squashed_actions_of_weights_in_double(self):
        self.expect_whole(Net([4, 8, 2], activation="relu", rule="squares", squash=True, dtype="float64"), r"50 actions .* at most \d\.\de-0[6-9] ")

    def test_masked_choices_of_a_linear_policy(self):
        self.expect_whole(Net([6, 4], head="discrete", biases=False), "50 of 50 choices")

    def test_a_memory_is_an_input_and_an_output(self):
        self.expect_whole(Net([5, 16, 3], rule="variance", memory=6), r"50 (actions .* at most \d\.\de-0[6-9] |states .* at most \d\.\de-0[6-9])")
        self.expect_whole(Net([6, 4], head="discrete", memory=9), r"50 of 50 choices|50 states")
        self.assertIn("9 float32 numbers, which each call reads", (self.folder / "made/policy.md").read_text())
        self.assertIn("#define POLICY_STATE 9", (self.folder / "made/policy.h").read_text())

    def test_actions_of_several_kinds(self):
        self.expect_whole(Mixed(), r"50 (actions .* at most \d\.\de-0[6-9] )|50 of 50 choices")
        self.assertIn("policy_act(const float obs[POLICY_OBS], const unsigned char *mask, float numbers[POLICY_NUMBERS], int choices[POLICY_CHOICES])",
                      (self.folder / "made/policy.h").read_text())
        page = (self.folder / "made/policy.md").read_text()
        self.assertIn("2 choices (`tools`) from 0 to 1, 3, each with the largest of its outputs. From `choices[4]` on.", page)
        self.assertIn("3 bits (`lamps`), each 0 or 1. From `choices[1]` on.", page)
        self.assertIn("`mask` holds 9 flags", page)

    def test_images_of_both_layouts(self):
        self.expect_whole(Mixed([(12, 10, 2, False), (10, 14, 3, True)]), r"50 (actions .* at most \d\.\de-0[6-9] )|50 of 50 choices")
        self.assertIn("#define POLICY_PIXELS 660", (self.folder / "made/policy.h").read_text())
        self.assertIn("| bytes | `view1` 3x10x14 | pixels |", (self.folder / "made/policy.md").read_text())

    def test_a_wrong_choice_or_bit_is_an_error(self):
        for name, at in (("gear", 0), ("lamps", 2), ("tools", 1)):
            run = self.export(Mixed().record(lambda actions: actions[9][name].__setitem__(at, 1 - min(1, actions[9][name][at]))))
            self.assertEqual(1, run.returncode, name + run.stdout)
            self.assertIn("49 of 50 choices are the trial's", run.stdout)

    def test_parts_that_do_not_fit_are_an_error(self):
        net = Mixed()
        net.form["head"] = {"kind": "several", "parts": net.PARTS[1:]}
        run = self.export(net.record())
        self.assertEqual(1, run.returncode, run.stdout)
        self.assertIn("expected an action of 14 outputs, got one of 12", run.stderr)

    def test_a_wrong_state_is_an_error(self):
        run = self.export(Net([5, 16, 3], memory=6).record(state_shift=1e-4))
        self.assertEqual(1, run.returncode, run.stdout)
        self.assertIn("expected the trial's actions, got others", run.stderr)

    def test_page_names_numbers_of_observation_and_action(self):
        self.expect_whole(Net([5, 3]), "50 actions")
        page = (self.folder / "made/policy.md").read_text()
        self.assertIn("| 2 | `action[2]` | not declared | not declared | -0.5 | 0.25 |", page)
        self.assertIn("| 0 | `action[0]` | not declared | not declared | -0.5 | none |", page)
        self.assertIn("5 float32 numbers of an env", page)
        self.assertIn("`env.none` does not declare names and units", page)
        self.assertIn("one action per 0.02 s", page)
        self.assertIn("(trial 0123, 3 iterations)", page)
        self.expect_whole(Net([5, 1]), "50 actions")
        self.assertIn("\n1 float32 number (`action`) within", (self.folder / "made/policy.md").read_text())

    def test_page_lists_declared_names_and_units(self):
        labels = [{"name": f"angle {i}", "unit": "rad"} for i in range(80)]
        labels[1:3] = [{"name": "sine | of it", "unit": ""}, {"name": "", "unit": ""}]

        def declare(about):
            about["channels"][0]["labels"] = labels
            about["channels"][1]["labels"] = [{"name": f"torque {i}", "unit": "150 N m"} for i in range(3)]

        run = self.export(Net([80, 3]).record(declare))
        self.assertEqual(0, run.returncode, run.stderr)
        page = (self.folder / "made/policy.md").read_text()
        for line in ("| 0 | `obs[0]` | angle 0 | rad | none | none |", "| 1 | `obs[1]` | sine \\| of it | none | none | none |",
                     "| 2 | `obs[2]` | not declared | not declared | none | none |", "| 79 | `obs[79]` | angle 79 | rad | none | none |",
                     "| 1 | `action[1]` | torque 1 | 150 N m |", "`env.none` declares the names and units."):
            self.assertIn(line, page)

    def test_equal_policies_give_equal_files(self):
        files = []
        for _ in range(2):
            self.expect_whole(Net([5, 8, 3], rule="variance"), "50 actions")
            files.append({path.name: path.read_bytes() for path in (self.folder / "made").iterdir() if path.is_file() and path.suffix != ".onnx"})
        self.assertEqual(files[0], files[1])

    def test_a_wrong_action_is_an_error(self):
        run = self.export(Net([5, 16, 3]).record(shift=1e-4))
        self.assertEqual(1, run.returncode, run.stdout)
        self.assertIn("expected the trial's actions, got others", run.stderr)

    def test_missing_statistics_are_an_error(self):
        net = Net([5, 16, 3], rule="variance")

        def cut(about):
            about["policy_bytes"] -= 5 * 8
        run = self.export(net.record(cut))
        self.assertEqual(1, run.returncode, run.stdout)
        self.assertIn("expected 5 numbers at byte", run.stderr)

    def test_other_kinds_are_an_error(self):
        net = Net([5, 3])
        net.form["kind"] = "lstm"
        run = self.export(net.record())
        self.assertEqual(1, run.returncode, run.stdout)
        self.assertIn("expected a policy of kind mlp, gru or images, got 'lstm'", run.stderr)

    def test_incomplete_forms_are_an_error(self):
        for part in ("head", "layers", "action", "dtype", "normalizer"):
            net = Net([5, 3])
            record = net.record(lambda about: about["form"].pop(part))
            run = self.export(record)
            self.assertEqual(1, run.returncode, run.stdout)
            self.assertIn(f"got one without a valid '{part}'", run.stderr)


if __name__ == "__main__":
    unittest.main()
