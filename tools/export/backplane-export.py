"""Writes a trained policy as C, NumPy, Python and ONNX, and checks that each file acts as the trial did.

  backplane-export.py RECORD FOLDER VERSION

RECORD is the file of `backplane-trial --policy`. Writing needs no package except `onnx`, for ONNX; the checks of the other files need NumPy.
"""
import importlib.util
import math
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

from backplane_export_c import DRIVER, c_files
from backplane_export_policy import Policy, Problem, npz, write_npz

HERE = pathlib.Path(__file__).resolve().parent
LIMIT = 1e-5  # of an action's range; float32 sums in another order differ by about 1e-7

PYTHON = '''"""%(about)s

    import policy
    %(call)s          # obs [%(obs)d] or [N, %(obs)d]%(mask)s

Reads policy.npz next to this file; needs NumPy. policy.md explains the numbers.
"""
import pathlib

import numpy as np

ARRAYS = dict(np.load(pathlib.Path(__file__).with_name("policy.npz")))
LAYERS = sum(name.startswith("layer.") and name.endswith(".weight") for name in ARRAYS)
NEXT = np.tanh if ARRAYS["activation"] == "tanh" else lambda x: np.maximum(x, np.float32(0))


def gru(x, state):
    """The next state of the memory (as torch.nn.GRU)."""
    r, z, n = np.split(x @ ARRAYS["memory.input.weight"] + ARRAYS["memory.input.bias"], 3, axis=-1)
    sums = np.split(np.asarray(state, np.float32) @ ARRAYS["memory.hidden.weight"] + ARRAYS["memory.hidden.bias"], 3, axis=-1)
    r, z = (np.float32(1) / (np.float32(1) + np.exp(-(a + b))) for a, b in ((r, sums[0]), (z, sums[1])))
    n = np.tanh(n + r * sums[2])
    return n + z * (state - n)


def outputs(obs, state=None):
    """The net's outputs, before the head; with a memory, followed by its next state."""
    x = np.asarray(obs)
    if "normalizer.mean" in ARRAYS:
        clip = ARRAYS["normalizer.clip"]
        x = np.clip((x - ARRAYS["normalizer.mean"]) * ARRAYS["normalizer.scale"], -clip, clip)
    x = x.astype(np.float32)
    if "memory.input.weight" in ARRAYS:
        if state is None:
            raise ValueError("the policy has a memory: expected step(obs, state), got no state")
        x = state = gru(x, state)
    for i in range(LAYERS):
        x = x @ ARRAYS[f"layer.{i}.weight"] + ARRAYS[f"layer.{i}.bias"]
        if i + 1 < LAYERS:
            x = NEXT(x)
    return x if state is None else (x, state)


def step(obs, state, mask=None):
    """The action of a policy with a memory, like `act`, and the state for the next one. It is 0 at the start of an episode."""
    x, state = outputs(obs, state)
    return chosen(x, mask), state


def act(obs, mask=None):
    """The action for each observation: float32 [..., numbers], or int32 [...] choices, of which `mask` [..., choices] allows some."""
    return chosen(outputs(obs), mask)


def chosen(x, mask):
    if ARRAYS["head"] == "discrete":
        return np.argmax(x if mask is None else np.where(mask, x, -np.inf), axis=-1).astype(np.int32)
    low, high = ARRAYS["action.low"], ARRAYS["action.high"]
    if ARRAYS["action.squash"]:
        x = low + (np.tanh(x) + 1) / 2 * (high - low)
    return np.clip(x, low, high)
'''

# ---- policy.md --------------------------------------------------------------------------------------------------------------


def count(n, what):
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def bound(values, i):
    value = values[i if len(values) > 1 else 0] if values else None
    return "none" if value is None else f"{value:g}"


HEAD = ["| number | channel | meaning | unit | low | high |", "|---|---|---|---|---|---|"]


def element_rows(channel, first):
    """A row of a table per element, or one for a channel of many without labels."""
    size, shape = math.prod(channel["shape"]), "x".join(map(str, channel["shape"])) or "1"
    name, low, high, labels = channel["name"], channel["low"], channel["high"], channel.get("labels", [])
    if not labels and (size > 64 or size == 1 or len(low) < 2 and size > 16):
        return [f"| {first}{f' .. {first + size - 1}' if size > 1 else ''} | `{name}` {shape} | not declared | not declared | {bound(low, 0)} | {bound(high, 0)} |"]
    label = lambda i: meaning(labels[i]) if labels else ("not declared", "not declared")
    element = lambda i: f"`{name}[{i}]`" if size > 1 else f"`{name}`"
    return [f"| {first + i} | {element(i)} | {' | '.join(label(i))} | {bound(low, i)} | {bound(high, i)} |" for i in range(size)]


def meaning(label):
    """Name and unit of a number, as its env declares them (backplane/ext/labels.h), in a table of Markdown."""
    if not label["name"]:
        return "not declared", "not declared"
    return label["name"].replace("|", "\\|"), label["unit"].replace("|", "\\|") or "none"


def page(policy, about, files):
    a, inputs, first = policy.about, [], 0
    for name in policy.form["obs"]:
        inputs += element_rows(policy.channels[name], first)
        first += math.prod(policy.channels[name]["shape"])
    action = policy.channels[policy.form["action"]]
    declared = any(policy.channels[name].get("labels") for name in policy.form["obs"])
    declares = (f"`{a['env']}` declares the names and units." if declared else
                f"`{a['env']}` does not declare names and units (`bp.env.labels/1`); its README may explain the numbers.")
    per = "an agent" if action["scope"] == "agent" else "an env"
    lines = [f"# Policy of {a['experiment']}", "", about, "", "| file | use |", "|---|---|"] + [f"| `{name}` | {use} |" for name, use in files]
    lines += ["", "## Observation", "", f"{count(policy.obs, 'float32 number')} of {per}, as `{a['env']}` returns them; do not scale them. "
              + ("The policy contains the statistics that normalize them." if policy.normalizer else "The policy uses them as they are.")
              + f" {declares}", "", *HEAD] + inputs
    lines += ["", "## Action", ""]
    if policy.discrete:
        lines.append(f"One choice from 0 to {policy.outputs - 1} (`{action['name']}`), the one with the largest output. "
                     "If your space of actions starts at a different number, add it.")
        if action.get("labels"):
            lines.append(f"Meaning: {meaning(action['labels'][0])[0]}.")
        if policy.masks is not None:
            lines.append(f"`mask` holds {policy.outputs} flags like the channel `{policy.form['mask']}`: only choices with 1 are allowed.")
    else:
        lines += [f"{count(policy.outputs, 'float32 number')} (`{action['name']}`) within these bounds, as the env received them in the trial.", "",
                  *HEAD] + element_rows(action, 0)
    if a["step_s"]:
        lines += ["", f"The env chose one action per {a['step_s']:g} s."]
    if policy.memory:
        lines += ["", "## Memory", "", f"{policy.memory['size']} float32 numbers, which each call reads and replaces. Set them to 0 when an episode starts."]
    lines += ["", "The policy is deterministic: the mean or the best choice, without the noise of training.", ""]
    return "\n".join(lines)


# ---- Checks -----------------------------------------------------------------------------------------------------------------


def compare(policy, name, data):
    """Prints how far the actions in `data` are from the trial's. Returns whether they agree. With a memory, its next state follows each."""
    n, width = len(policy.actions), 1 if policy.discrete else policy.outputs
    if policy.memory:
        return compare_states(policy, name, data, 4 * width)
    return compare_actions(policy, name, data)


def compare_states(policy, name, data, width):
    size = width + 4 * policy.memory["size"]
    acts = [data[i : i + size] for i in range(0, len(data), size)]
    if len(data) != len(policy.actions) * size:
        raise Problem(f"{name}: expected {len(policy.actions)} actions and states, got {len(data)} bytes")
    states = [struct.unpack(f"<{policy.memory['size']}f", act[width:]) for act in acts]
    worst = max(abs(a - b) for ours, theirs in zip(states, policy.next_states) for a, b in zip(ours, theirs))
    print(f"{name}: {len(acts)} states differ from the trial's by at most {worst:.1e}")
    return compare_actions(policy, name, b"".join(act[:width] for act in acts)) and worst <= LIMIT


def compare_actions(policy, name, data):
    n, width = len(policy.actions), 1 if policy.discrete else policy.outputs
    if len(data) != 4 * n * width:
        raise Problem(f"{name}: expected {n} actions, got {len(data)} bytes")
    values = struct.unpack(f"<{n * width}{'i' if policy.discrete else 'f'}", data)
    if policy.discrete:
        differ = sum(value != action[0] for value, action in zip(values, policy.actions))
        print(f"{name}: {n - differ} of {n} choices are the trial's")
        return differ == 0
    ranges, worst = policy.ranges(), 0.0
    for i, action in enumerate(policy.actions):
        for k in range(width):
            off = abs(values[i * width + k] - action[k]) / ranges[k]
            worst = off if off > worst or off != off else worst
    print(f"{name}: {n} actions differ from the trial's by at most {worst:.1e} of their range")
    return worst <= LIMIT


def run_acts(policy, name, words, **more):
    mask = lambda i: bytes(policy.masks[i] if policy.masks else [1] * policy.outputs)
    state = lambda i: struct.pack(f"<{policy.memory['size']}f", *policy.states[i]) if policy.memory else b""
    acts = b"".join(struct.pack(f"<{policy.obs}f", *x) + mask(i) + state(i) for i, x in enumerate(policy.inputs))
    ended = subprocess.run(words, input=acts, capture_output=True, **more)
    if ended.returncode != 0:
        raise Problem(f"{name}: its check failed\n{ended.stderr.decode(errors='replace').strip()}")
    return compare(policy, name, ended.stdout)


def compiler():
    return next(filter(None, map(shutil.which, filter(None, [os.environ.get("CC"), "cc", "gcc", "clang"]))), None)


def check_c(policy, folder, scratch):
    cc = compiler()
    if cc is None:
        print("policy.c: not checked: expected a C compiler, got none (CC, cc, gcc, clang)")
        return True
    driver, program = scratch / "driver.c", scratch / "driver"
    driver.write_text(("#define POLICY_DISCRETE\n" if policy.discrete else "") + DRIVER)
    words = [cc, "-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", f"-I{folder}", driver, folder / "policy.c", "-o", program]
    compiled = subprocess.run(words, capture_output=True, text=True)
    if compiled.returncode != 0:
        raise Problem(f"policy.c: {cc} rejects it\n{compiled.stderr.strip()}")
    return run_acts(policy, "policy.c", [program])


READ_ACTS = """import sys
import numpy as np
acts = np.frombuffer(sys.stdin.buffer.read(), np.dtype([("obs", "<f4", %d), ("mask", "u1", %d), ("state", "<f4", %d)]))

def write(action, state):
    for one, after in zip(action, state):
        sys.stdout.buffer.write(one.astype(action.dtype.newbyteorder("<")).tobytes() + after.astype("<f4").tobytes())

"""
RUN_PYTHON = READ_ACTS + """import policy
remembers = acts["state"].shape[1] > 0
write(*(policy.step(acts["obs"], acts["state"], acts["mask"]) if remembers else (policy.act(acts["obs"], acts["mask"]), acts["state"])))
"""
RUN_ONNX = READ_ACTS + """import onnxruntime
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
session = onnxruntime.InferenceSession("policy.onnx", options, providers=["CPUExecutionProvider"])
feed = {each.name: acts[each.name] for each in session.get_inputs()}
outputs = session.run(None, feed)
write(outputs[0], outputs[1] if len(outputs) > 1 else acts["state"])
"""


def has(name):
    return importlib.util.find_spec(name) is not None


def check_by(policy, file, code, needs, folder):
    missing = [name for name in needs if not has(name)]
    if missing:
        print(f"{file}: not checked: {sys.executable} -m pip install {' '.join(missing)}")
        return True
    words = [sys.executable, "-c", code % (policy.obs, policy.outputs, policy.memory["size"] if policy.memory else 0)]
    return run_acts(policy, file, words, cwd=folder, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})


def write_onnx(folder):
    """Writes policy.onnx in a process of its own. Returns whether it is there."""
    if not has("onnx"):
        print(f"policy.onnx: not written: {sys.executable} -m pip install onnx onnxruntime")
        return False
    ended = subprocess.run([sys.executable, HERE / "backplane_export_onnx.py", folder], capture_output=True, text=True)
    if ended.returncode != 0:
        raise Problem(f"policy.onnx: cannot be written\n{ended.stderr.strip()}")
    return True


def read(record):
    try:
        return Policy(record)
    except (KeyError, IndexError, TypeError, ValueError) as error:  # of a learner's form
        raise Problem(f"expected a form as backplane/ext/policy.h describes it, got one without a valid {error}") from error


def main(record, to, version):
    policy, folder = read(record), pathlib.Path(to)
    a = policy.about
    about = f"Policy of {a['learner']} for {a['env']}, trained in {a['experiment']} (trial {a['trial']}, {count(a['iterations'], 'iteration')}); Backplane {version}."
    about = about.replace("\\", "/").replace("*/", "* /").replace('"', "'")  # it stands in comments of C and Python
    folder.mkdir(parents=True, exist_ok=True)
    files = [("policy.c", "C99, with `policy.h`; needs no library"), ("policy.npz", "the arrays"), ("policy.py", "NumPy, with `policy.npz`")]
    header, body = c_files(policy, about)
    mask = "" if policy.masks is None else "; a mask of choices may follow"
    call = f"action, state = policy.step(obs, state)   # state [{policy.memory['size']}] or [N, {policy.memory['size']}]" if policy.memory else "action = policy.act(obs)"
    python = PYTHON % {"about": about, "call": call, "obs": policy.obs, "mask": mask}
    for name, text in (("policy.h", header), ("policy.c", body), ("policy.py", python)):
        (folder / name).write_text(text)
    write_npz(folder / "policy.npz", npz(policy))
    (folder / "policy.onnx").unlink(missing_ok=True)  # of an earlier export
    onnx = write_onnx(folder)
    if onnx:
        files.append(("policy.onnx", "ONNX"))
    (folder / "policy.md").write_text(page(policy, about, files))
    with tempfile.TemporaryDirectory() as scratch:
        good = [check_c(policy, folder, pathlib.Path(scratch)), check_by(policy, "policy.py", RUN_PYTHON, ["numpy"], folder)]
    good += [check_by(policy, "policy.onnx", RUN_ONNX, ["numpy", "onnxruntime"], folder)] if onnx else []
    print(f"{folder}: {', '.join(name for name, _ in files)}, policy.md")
    if not all(good):
        raise Problem(f"{folder}: expected the trial's actions, got others; do not use these files")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (Problem, OSError) as problem:
        sys.exit(f"backplane export policy: {problem}")
