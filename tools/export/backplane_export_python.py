"""Writes a policy as policy.py, which reads policy.npz with NumPy."""

PYTHON = '''"""%(about)s

    import policy
    %(call)s          # obs %(obs)s%(mask)s

Reads policy.npz next to this file; needs NumPy. policy.md explains the numbers.
"""
import json
import pathlib

import numpy as np

ARRAYS = dict(np.load(pathlib.Path(__file__).with_name("policy.npz")))
LAYERS = sum(name.startswith("layer.") and name.endswith(".weight") for name in ARRAYS)
NEXT = np.tanh if ARRAYS["activation"] == "tanh" else lambda x: np.maximum(x, np.float32(0))
PARTS = json.loads(str(ARRAYS["parts"])) if "parts" in ARRAYS else []
NUMBERS, IMAGES = %(numbers)r, %(images)r  # channels of the observation and their shapes


def joined(obs):
    """The numbers of the channels without images, side by side."""
    parts = [np.asarray(obs[name], np.float32) for name in NUMBERS]
    return np.concatenate([x.reshape(*x.shape[: x.ndim - len(shape)], -1) for x, shape in zip(parts, NUMBERS.values())], -1)


def features(k, pixels, shape):
    """The features of image k."""
    height, width, depth, planar = ARRAYS[f"image.{k}.shape"]
    x = np.asarray(pixels)
    x = x.reshape(*x.shape[: x.ndim - len(shape)], *((depth, height, width) if planar else (height, width, depth)))
    x, i = x.astype(np.float32) * (np.float32(1) / np.float32(255)), 0
    while f"image.{k}.{i}.weight" in ARRAYS:
        kernel, stride = ARRAYS[f"image.{k}.{i}.patch"]
        x = np.lib.stride_tricks.sliding_window_view(x, (kernel, kernel), (-2, -1) if planar else (-3, -2))
        # Patches [..., y, x, channel, row, column]; their numbers have the order of the image.
        x = np.moveaxis(x, -5, -3)[..., ::stride, ::stride, :, :, :] if planar else np.moveaxis(x[..., ::stride, ::stride, :, :, :], -3, -1)
        x = x.reshape(*x.shape[:-3], -1) @ ARRAYS[f"image.{k}.{i}.weight"] + ARRAYS[f"image.{k}.{i}.bias"]
        x, planar, i = np.maximum(x, np.float32(0)), False, i + 1
    x = x.reshape(*x.shape[:-3], -1) @ ARRAYS[f"image.{k}.dense.weight"] + ARRAYS[f"image.{k}.dense.bias"]
    return np.maximum(x, np.float32(0))


def inputs(obs):
    """The net's input."""
    if IMAGES and not isinstance(obs, dict):
        if NUMBERS or len(IMAGES) > 1:
            raise ValueError(f"obs: expected a dict with the channels {', '.join([*IMAGES, *NUMBERS])}, got an array")
        obs = {next(iter(IMAGES)): obs}
    parts = [features(k, obs[name], shape) for k, (name, shape) in enumerate(IMAGES.items())]
    if NUMBERS:
        x = joined(obs) if isinstance(obs, dict) else np.asarray(obs)
        if "normalizer.mean" in ARRAYS:
            clip = ARRAYS["normalizer.clip"]
            x = np.clip((x - ARRAYS["normalizer.mean"]) * ARRAYS["normalizer.scale"], -clip, clip)
        parts.append(x.astype(np.float32))
    return np.concatenate(parts, -1)


def gru(x, state):
    """The next state of the memory (as torch.nn.GRU)."""
    r, z, n = np.split(x @ ARRAYS["memory.input.weight"] + ARRAYS["memory.input.bias"], 3, axis=-1)
    sums = np.split(np.asarray(state, np.float32) @ ARRAYS["memory.hidden.weight"] + ARRAYS["memory.hidden.bias"], 3, axis=-1)
    r, z = (np.float32(1) / (np.float32(1) + np.exp(-(a + b))) for a, b in ((r, sums[0]), (z, sums[1])))
    n = np.tanh(n + r * sums[2])
    return n + z * (state - n)


def outputs(obs, state=None):
    """The net's outputs, before the head; with a memory, followed by its next state."""
    x = inputs(obs)
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
    """The action for each observation: float32 [..., numbers], or int32 [...] choices, of which `mask` [..., choices] allows some. Several
    channels of observations or actions are a dict."""
    return chosen(outputs(obs), mask)


def bounded(x, part=slice(None)):
    low, high = ARRAYS["action.low"][part], ARRAYS["action.high"][part]
    if ARRAYS["action.squash"]:
        x = low + (np.tanh(x) + 1) / 2 * (high - low)
    return np.clip(x, low, high)


def best(x, mask):
    return np.argmax(x if mask is None else np.where(mask, x, -np.inf), axis=-1).astype(np.int32)


def value_of(part, x, mask):
    """The part of an action: float32 [..., numbers], int32 [..., choices] or [...] of one choice, or int32 [..., bits]."""
    first, count = part["first"], part["count"]
    if part["kind"] == "continuous":
        return bounded(x[..., first : first + count], slice(part["at"], part["at"] + count))
    if part["kind"] == "bits":
        return (x[..., first : first + count] > 0).astype(np.int32)
    choices, flag = [], part["flag"]
    for size in part["sizes"]:
        choices.append(best(x[..., first : first + size], None if mask is None else mask[..., flag : flag + size]))
        first, flag = first + size, flag + size
    return choices[0] if part["scalar"] else np.stack(choices, -1)


def chosen(x, mask):
    if PARTS:
        action = {part["action"]: value_of(part, x, None if mask is None else np.asarray(mask)) for part in PARTS}
        return action if len(action) > 1 else action[PARTS[0]["action"]]
    return best(x, mask) if ARRAYS["head"] == "discrete" else bounded(x)
'''


def python_file(policy, about):
    shapes = lambda names: {name: policy.channels[name]["shape"] for name in names}
    images = [image["channel"] for image in policy.images]
    call = (f"action, state = policy.step(obs, state)   # state [{policy.memory['size']}] or [N, {policy.memory['size']}]" if policy.memory
            else "action = policy.act(obs)")
    obs = f"[{policy.obs}] or [N, {policy.obs}]" if not images else "of one env, or [N, ...]" if len(images) == 1 and not policy.obs else "a dict of channels"
    return PYTHON % {"about": about, "call": call, "obs": obs, "mask": "" if policy.masks is None else "; a mask of choices may follow",
                     "numbers": shapes(policy.form["obs"]), "images": shapes(images)}
