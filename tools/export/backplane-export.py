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

from backplane_export_c import c_files, driver
from backplane_export_policy import Policy, Problem, npz, write_npz
from backplane_export_python import python_file

HERE = pathlib.Path(__file__).resolve().parent
LIMIT = 1e-5  # of an action's range; float32 sums in another order differ by about 1e-7

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


def action_lines(policy, part):
    """The lines of policy.md on a part of the action."""
    channel, n = policy.channels[part["action"]], part["count"]
    place = f" From `numbers[{part['at']}]` on." if part["kind"] == "continuous" else f" From `choices[{part['at']}]` on."
    place = place if policy.several else ""
    if part["kind"] == "continuous":
        text = f"{count(n, 'float32 number')} (`{channel['name']}`) within these bounds, as the env received them in the trial.{place}"
        return [text, "", *HEAD, *element_rows(channel, 0), ""]
    if part["kind"] == "bits":
        return [f"{count(n, 'bit')} (`{channel['name']}`), each 0 or 1.{place}", ""]
    if policy.several:
        return [f"{count(n, 'choice')} (`{channel['name']}`) from 0 to {', '.join(str(size - 1) for size in part['sizes'])}, each with the largest of "
                f"its outputs.{place}", ""]
    lines = [f"One choice from 0 to {policy.outputs - 1} (`{channel['name']}`), the one with the largest output. "
             "If your space of actions starts at a different number, add it."]
    return lines + [f"Meaning: {meaning(label)[0]}." for label in channel.get("labels", [])[:1]]


def page(policy, about, files):
    a, inputs, first = policy.about, [], 0
    for image in policy.images:
        shape = "x".join(map(str, policy.channels[image["channel"]]["shape"]))
        inputs.append(f"| bytes | `{image['channel']}` {shape} | pixels | of 0 to 255 | 0 | 255 |")
    for name in policy.form["obs"]:
        inputs += element_rows(policy.channels[name], first)
        first += math.prod(policy.channels[name]["shape"])
    declared = any(policy.channels[name].get("labels") for name in policy.form["obs"])
    declares = (f"`{a['env']}` declares the names and units." if declared else
                f"`{a['env']}` does not declare names and units (`bp.env.labels/1`); its README may explain the numbers.")
    per = "an agent" if policy.channels[policy.form["action"]]["scope"] == "agent" else "an env"
    lines = [f"# Policy of {a['experiment']}", "", about, "", "| file | use |", "|---|---|"] + [f"| `{name}` | {use} |" for name, use in files]
    images = count(len(policy.images), "image of uint8") + " and " if policy.images else ""
    lines += ["", "## Observation", "", f"{images}{count(policy.obs, 'float32 number')} of {per}, as `{a['env']}` returns them; do not scale them. "
              + ("The policy contains the statistics that normalize them." if policy.normalizer else "The policy uses them as they are.")
              + f" {declares}", "", *HEAD] + inputs
    lines += ["", "## Action", ""]
    for part in policy.parts:
        lines += action_lines(policy, part)
    if policy.masks is not None:
        lines.append(f"`mask` holds {policy.flags} flags like the channel `{policy.form['mask']}`: only choices with 1 are allowed.")
    if a["step_s"]:
        lines += ["", f"The env chose one action per {a['step_s']:g} s."]
    if policy.memory:
        lines += ["", "## Memory", "", f"{policy.memory['size']} float32 numbers, which each call reads and replaces. Set them to 0 when an episode starts."]
    lines += ["", "The policy is deterministic: the mean or the best choice, without the noise of training.", ""]
    return "\n".join(lines)


# ---- Checks -----------------------------------------------------------------------------------------------------------------


def act_type(policy):
    """(struct's format, bytes) of an act's result: numbers, choices, then the memory's next state."""
    code = f"<{policy.number_count}f{policy.choice_count}i{policy.memory['size'] if policy.memory else 0}f"
    return code, struct.calcsize(code)


def compare(policy, name, data):
    """Prints how far the actions and states in `data` are from the trial's. Returns whether they agree."""
    code, size = act_type(policy)
    n, numbers, actions = len(data) // size, policy.number_count, policy.number_count + policy.choice_count
    if len(data) != n * size or n != policy.about["acts"]:
        raise Problem(f"{name}: expected {policy.about['acts']} acts of {size} bytes, got {len(data)} bytes")
    acts, good = [struct.unpack_from(code, data, size * i) for i in range(n)], True
    if policy.memory:
        worst = largest(abs(a - b) for act, state in zip(acts, policy.next_states) for a, b in zip(act[actions:], state))
        print(f"{name}: {n} states differ from the trial's by at most {worst:.1e}")
        good = worst <= LIMIT
    if numbers:
        ranges = policy.ranges()
        worst = largest(abs(a - b) / span for act, action in zip(acts, policy.numbers) for a, b, span in zip(act, action, ranges))
        print(f"{name}: {n} actions differ from the trial's by at most {worst:.1e} of their range")
        good = good and worst <= LIMIT
    if policy.choice_count:
        same = sum(list(act[numbers:actions]) == list(choices) for act, choices in zip(acts, policy.choices))
        print(f"{name}: {same} of {n} choices are the trial's")
        good = good and same == n
    return good


def largest(values):
    """The largest one; NaN if one is NaN."""
    worst = 0.0
    for value in values:
        worst = value if value > worst or value != value else worst
    return worst


def run_acts(policy, name, words, **more):
    mask = lambda i: bytes(policy.masks[i] if policy.masks else [1] * policy.flags)
    state = lambda i: struct.pack(f"<{policy.memory['size']}f", *policy.states[i]) if policy.memory else b""
    pixels = lambda i: policy.pixels[i] if policy.images else b""
    acts = b"".join(struct.pack(f"<{policy.obs}f", *x) + pixels(i) + mask(i) + state(i) for i, x in enumerate(policy.inputs))
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
    main_file, program = scratch / "driver.c", scratch / "driver"
    main_file.write_text(driver(policy))
    words = [cc, "-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", f"-I{folder}", main_file, folder / "policy.c", "-o", program]
    compiled = subprocess.run(words, capture_output=True, text=True)
    if compiled.returncode != 0:
        raise Problem(f"policy.c: {cc} rejects it\n{compiled.stderr.strip()}")
    return run_acts(policy, "policy.c", [program])


READ_ACTS = """import sys
import numpy as np
acts = np.frombuffer(sys.stdin.buffer.read(), np.dtype([("obs", "<f4", %d), ("pixels", "u1", %d), ("mask", "u1", %d), ("state", "<f4", %d)]))

def write(action, state):
    for one, after in zip(action, state):
        sys.stdout.buffer.write(b"".join(part.astype(part.dtype.newbyteorder("<")).tobytes() for part in one) + after.astype("<f4").tobytes())

"""
RUN_PYTHON = READ_ACTS + """import policy

def channels(acts):
    if not policy.IMAGES and len(policy.NUMBERS) == 1:
        return acts["obs"]
    obs = {}
    for values, shapes in ((acts["pixels"], policy.IMAGES), (acts["obs"], policy.NUMBERS)):
        at = 0
        for name, shape in shapes.items():
            n = int(np.prod(shape))
            obs[name], at = values[:, at : at + n].reshape(len(values), *shape), at + n
    return obs

for i in range(0, len(acts), 50):  # images need memory
    some = acts[i : i + 50]
    remembers, mask = some["state"].shape[1] > 0, some["mask"] if some["mask"].shape[1] > 0 else None
    action, state = policy.step(channels(some), some["state"], mask) if remembers else (policy.act(channels(some), mask), some["state"])
    parts = list(action.values()) if isinstance(action, dict) else [action]
    write(zip(*sorted(parts, key=lambda part: part.dtype != np.float32)), state)  # numbers, then choices
"""
RUN_ONNX = READ_ACTS + """import onnxruntime
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
session = onnxruntime.InferenceSession("policy.onnx", options, providers=["CPUExecutionProvider"])
for i in range(0, len(acts), 50):
    some = acts[i : i + 50]
    results = dict(zip((each.name for each in session.get_outputs()), session.run(None, {each.name: some[each.name] for each in session.get_inputs()})))
    state = results.pop("next_state", some["state"])
    write(zip(*results.values()), state)
"""


def has(name):
    return importlib.util.find_spec(name) is not None


def check_by(policy, file, code, needs, folder):
    missing = [name for name in needs if not has(name)]
    if missing:
        print(f"{file}: not checked: {sys.executable} -m pip install {' '.join(missing)}")
        return True
    words = [sys.executable, "-c", code % (policy.obs, policy.pixel_count, policy.flags, policy.memory["size"] if policy.memory else 0)]
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
    for name, text in (("policy.h", header), ("policy.c", body), ("policy.py", python_file(policy, about))):
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
