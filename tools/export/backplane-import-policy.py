"""Writes the policy of another program as the file of arrays that `learner.start_from` reads.

  backplane-import-policy.py SOURCE FILE STATISTICS ACTIVATION CRITIC

SOURCE is a .npz of such arrays, the .zip of an actor-critic model of Stable-Baselines3, or a state dict of a CleanRL script. STATISTICS is a .npz,
"none" or empty; ACTIVATION is tanh, relu or empty; CRITIC is "critic" or "none". No pickle is loaded: weights come by
torch.load(weights_only=True), everything else from text.
"""
import ast
import io
import json
import math
import pathlib
import re
import shlex
import struct
import sys
import warnings
import zipfile

from backplane_export_policy import Problem, npy, write_npz

MOST_BYTES = 1 << 31  # of a part of a zip file
DTYPES = {"<f2": "e", "<f4": "f", "<f8": "d", "<i4": "i", "<i8": "q", "|u1": "B", "|b1": "?"}
LINEAR = re.compile(r"(\d+)\.(weight|bias)")

STATISTICS_SCRIPT = '''import pickle
import sys

import numpy as np

with open(sys.argv[1], "rb") as file:  # a pickle runs code: only your own
    norm = pickle.load(file)
assert norm.norm_obs, "the observations were not normalized: use --statistics none"
rms = norm.obs_rms
np.savez(sys.argv[2], mean=rms.mean, variance=rms.var, count=rms.count, epsilon=norm.epsilon, clip=norm.clip_obs)
'''


class Array:
    """Numbers in C order."""

    def __init__(self, shape, values):
        self.shape, self.values = tuple(shape), values

    def transposed(self):
        rows, columns = self.shape
        return Array((columns, rows), [self.values[r * columns + c] for c in range(columns) for r in range(rows)])


def read_member(file, name, where):
    try:
        info = file.getinfo(name)
        if info.file_size > MOST_BYTES:
            raise Problem(f"{where}: {name}: expected at most {MOST_BYTES} bytes, got {info.file_size}")
        return file.read(name)
    except KeyError:
        raise Problem(f"{where}: expected a part {name!r}, got {', '.join(file.namelist()[:8])}") from None


def read_npy(data, name):
    if data[:6] != b"\x93NUMPY":
        raise Problem(f"{name}: expected a NumPy array, got other bytes")
    width = 2 if data[6] == 1 else 4
    start = 8 + width + int.from_bytes(data[8 : 8 + width], "little")
    header = ast.literal_eval(data[8 + width : start].decode("latin-1").strip())
    descr, shape, data = header["descr"], header["shape"], data[start:]
    count = math.prod(shape)
    if isinstance(descr, str) and descr.startswith("<U") and shape == ():
        return data.decode("utf-32-le").rstrip("\0")
    if descr not in DTYPES or (header["fortran_order"] and len(shape) > 1):
        raise Problem(f"{name}: expected numbers in C order, got {descr!r}; pickled objects are never loaded")
    code = DTYPES[descr]
    if count * struct.calcsize(code) != len(data):
        raise Problem(f"{name}: expected {count} numbers, got {len(data)} bytes")
    return Array(shape, [float(value) for value in struct.unpack(f"<{count}{code}", data)])


def read_npz(path):
    with zipfile.ZipFile(path) as file:
        return {name.removesuffix(".npy"): read_npy(read_member(file, name, path), f"{path}: {name}") for name in file.namelist()}


def load_tensors(source, path):
    """The tensors of a state dict, by name."""
    try:
        import torch

        warnings.filterwarnings("ignore", module="torch")
    except ImportError:
        raise Problem(f"{path}: expected torch, got none in {sys.executable}\nhint: {sys.executable} -m pip install torch") from None
    try:
        loaded = torch.load(source, map_location="cpu", weights_only=True)
    except Exception as error:  # of a pickle that is more than weights, or damaged
        raise Problem(f"{path}: expected weights only, got {type(error).__name__}: {str(error).splitlines()[0][:200]}") from error
    if not isinstance(loaded, dict) or not all(isinstance(value, torch.Tensor) for value in loaded.values()):
        raise Problem(f"{path}: expected a state dict, names with tensors, got {type(loaded).__name__}")
    return {name: Array(value.shape, value.to(torch.float64).flatten().tolist()) for name, value in loaded.items()}


class Net:
    """Named tensors of a net; each must be taken once."""

    def __init__(self, tensors, where):
        self.tensors, self.where = dict(tensors), where

    def take(self, name):
        if name not in self.tensors:
            raise Problem(f"{self.where}: expected a tensor {name!r}, got {', '.join(self.tensors) or 'no more'}")
        return self.tensors.pop(name)

    def linear(self, prefix):
        weight = self.take(prefix + ".weight")
        bias = self.take(prefix + ".bias")
        if len(weight.shape) != 2 or bias.shape != weight.shape[:1]:
            raise Problem(f"{self.where}: {prefix}: expected a linear layer, got {list(weight.shape)} and {list(bias.shape)}")
        return weight.transposed(), bias

    def sequence(self, prefix):
        """Linear layers of a torch.nn.Sequential, each but the last followed by an activation."""
        numbers = sorted({int(found[1]) for name in self.tensors if name.startswith(prefix) and (found := LINEAR.fullmatch(name[len(prefix) :]))})
        if numbers != list(range(0, 2 * len(numbers), 2)):
            raise Problem(f"{self.where}: {prefix}: expected linear layers 0, 2, 4, ..., got {numbers}")
        return [self.linear(f"{prefix}{number}") for number in numbers]

    def check_empty(self):
        if self.tensors:
            raise Problem(f"{self.where}: expected only tensors of a perceptron's actor and critic, got {', '.join(self.tensors)} as well")


def only(place, got, allowed):
    if got not in allowed:
        raise Problem(f"{place}: expected {' or '.join(allowed)}, got {got!r}")
    return allowed[got]


def read_sb3(path, activation):
    with zipfile.ZipFile(path) as file:
        data = json.loads(read_member(file, "data", path))
        weights = read_member(file, "policy.pth", path)
    text = lambda key: data.get(key) if isinstance(data.get(key), dict) else {}
    kwargs, action = text("policy_kwargs"), text("action_space")
    head = only(f"{path}: action_space", action.get(":type:", "none"),
                {"<class 'gymnasium.spaces.discrete.Discrete'>": "discrete", "<class 'gymnasium.spaces.box.Box'>": "continuous",
                 "<class 'gym.spaces.discrete.Discrete'>": "discrete", "<class 'gym.spaces.box.Box'>": "continuous"})
    if head == "discrete" and str(action.get("start", "0")) != "0":
        raise Problem(f"{path}: action_space: expected choices from 0, got {action['start']}")
    if str(kwargs.get("squash_output", False)) != "False":
        raise Problem(f"{path}: squash_output: expected false, got {kwargs['squash_output']}")
    module = text("policy_class").get("__module__", "stable_baselines3.common.policies")
    only(f"{path}: policy_class", module, {"stable_baselines3.common.policies": True})
    extractor = "<class 'stable_baselines3.common.torch_layers.FlattenExtractor'>"
    only(f"{path}: policy_kwargs.features_extractor_class", kwargs.get("features_extractor_class", extractor), {extractor: True})
    own = only(f"{path}: policy_kwargs.activation_fn", kwargs.get("activation_fn", "<class 'torch.nn.modules.activation.Tanh'>"),
               {"<class 'torch.nn.modules.activation.Tanh'>": "tanh", "<class 'torch.nn.modules.activation.ReLU'>": "relu"})
    if activation not in ("", own):
        raise Problem(f"--activation: expected {own}, as {path} has, got {activation}")
    net = Net(load_tensors(io.BytesIO(weights), path), path)
    actor = net.sequence("mlp_extractor.policy_net.") + [net.linear("action_net")]
    critic = net.sequence("mlp_extractor.value_net.") + [net.linear("value_net")]
    deviations = net.take("log_std") if "log_std" in net.tensors else None
    net.check_empty()
    check_arch(path, kwargs.get("net_arch"), actor, critic)
    return layers_of(actor, critic, deviations, own, head)


def check_arch(path, arch, actor, critic):
    """The model's text and its weights must have the same sizes."""
    if arch is None:
        return
    if isinstance(arch, list) and len(arch) == 1 and isinstance(arch[0], dict):
        arch = arch[0]
    sizes = lambda layers: [bias.shape[0] for _, bias in layers[:-1]]
    wanted = (arch.get("pi", []), arch.get("vf", [])) if isinstance(arch, dict) else (arch, arch)
    if list(wanted) != [sizes(actor), sizes(critic)]:
        raise Problem(f"{path}: net_arch: expected {sizes(actor)} and {sizes(critic)}, as the weights have, got {arch}")


def read_state_dict(path, activation):
    if not activation:
        raise Problem(f"{path}: expected --activation tanh or relu, because a state dict does not contain it, got none\n"
                      f"hint: CleanRL's PPO scripts use --activation tanh")
    net = Net(load_tensors(path, path), path)
    continuous = "actor_logstd" in net.tensors
    actor = net.sequence("actor_mean." if continuous else "actor.")
    critic = net.sequence("critic.")
    deviations = net.take("actor_logstd") if continuous else None
    net.check_empty()
    if not actor:
        raise Problem(f"{path}: expected tensors actor.0.weight or actor_mean.0.weight, got none")
    if deviations:
        deviations = Array((math.prod(deviations.shape),), deviations.values)
    return layers_of(actor, critic, deviations, activation, "continuous" if continuous else "discrete")


def layers_of(actor, critic, deviations, activation, head):
    arrays = {"activation": activation, "head": head}
    for prefix, layers in (("layer", actor), ("critic", critic)):
        for i, (weight, bias) in enumerate(layers):
            arrays[f"{prefix}.{i}.weight"], arrays[f"{prefix}.{i}.bias"] = weight, bias
    if deviations:
        arrays["log_std"] = deviations
    return arrays


KNOWN = re.compile(r"(layer|critic)\.\d+\.(weight|bias)|log_std|activation|head|action\.(low|high|squash)|"
                   r"normalizer\.(mean|scale|variance|count|epsilon|clip)")


def read_arrays(path):
    arrays = read_npz(path)
    for name in arrays:
        if not KNOWN.fullmatch(name):
            raise Problem(f"{path}: expected the arrays of docs/policies.md, got {name!r} as well")
    for name in ("activation", "head", "layer.0.weight"):
        if name not in arrays:
            raise Problem(f"{path}: expected an array {name!r}, got {', '.join(arrays)}")
    return arrays


def read_source(path, activation):
    try:
        if not zipfile.is_zipfile(path):
            return read_state_dict(path, activation)
        with zipfile.ZipFile(path) as file:
            names = file.namelist()
        if names and all(name.endswith(".npy") for name in names):
            return read_arrays(path)
        return read_sb3(path, activation) if "data" in names else read_state_dict(path, activation)
    except (zipfile.BadZipFile, zipfile.LargeZipFile, EOFError, SyntaxError, ValueError, KeyError, TypeError, struct.error) as error:
        raise Problem(f"{path}: expected a .npz, a .zip of Stable-Baselines3 or a state dict, got a damaged file ({error})") from error


def add_statistics(arrays, choice, source, to):
    has = "normalizer.mean" in arrays
    if choice == "" and has:
        return
    if choice == "":
        raise Problem(f"{source}: expected --statistics FILE.npz, or none if the observations were not normalized, got neither\n"
                      f"If the training used VecNormalize, write its statistics by this script, where the training ran:\n\n"
                      + "".join(f"    {line}".rstrip() + "\n" for line in STATISTICS_SCRIPT.splitlines())
                      + f"\nhint: backplane import policy {shlex.quote(source)} --to {shlex.quote(to)} --statistics none")
    if has:
        raise Problem(f"{source}: expected no --statistics, because the file contains its own, got {choice}")
    if choice == "none":
        return
    try:
        given = read_npz(choice)
    except (zipfile.BadZipFile, EOFError, SyntaxError, ValueError, KeyError, struct.error) as error:
        raise Problem(f"{choice}: expected a .npz with statistics, got a damaged file ({error})") from error
    names = ["mean", "variance", "count", "epsilon", "clip"]
    if sorted(given) != sorted(names):
        raise Problem(f"{choice}: expected the arrays {', '.join(names)}, got {', '.join(sorted(given)) or 'none'}")
    size = arrays["layer.0.weight"].shape[:1]
    for name in names:
        shape = size if name in ("mean", "variance") else ()
        if given[name].shape != shape:
            raise Problem(f"{choice}: {name}: expected {list(shape)} numbers, got {list(given[name].shape)}")
        arrays["normalizer." + name] = given[name]
    epsilon = given["epsilon"].values[0]
    if min(given["variance"].values + [given["count"].values[0]]) < 0 or epsilon <= 0:
        raise Problem(f"{choice}: expected a variance and a count of 0 or more, and an epsilon above 0, got less")
    arrays["normalizer.scale"] = Array(size, [1 / math.sqrt(value + epsilon) for value in given["variance"].values])


def check_finite(arrays, source):
    for name, array in arrays.items():
        if isinstance(array, str) or name in ("action.low", "action.high", "normalizer.clip"):
            continue
        if not all(map(math.isfinite, array.values)):
            raise Problem(f"{source}: {name}: expected finite numbers, got {next(v for v in array.values if not math.isfinite(v))}")


def encode(arrays):
    def one(name, array):
        if isinstance(array, str):
            return npy(array, "text", ())
        if name == "action.squash":
            return npy([int(value) for value in array.values], "uint8", array.shape)
        return npy(array.values, "float64" if name.startswith("normalizer.") else "float32", array.shape)

    return {name: one(name, array) for name, array in arrays.items()}


def sizes(arrays, prefix):
    found = []
    while f"{prefix}.{len(found)}.weight" in arrays:
        found.append(arrays[f"{prefix}.{len(found)}.weight"].shape)
    return [found[0][0]] + [shape[1] for shape in found] if found else []


def summary(arrays, to):
    actor, critic = sizes(arrays, "layer"), sizes(arrays, "critic")
    options = {"hidden": actor[1:-1], "activation": arrays["activation"], "normalize_obs": "normalizer.mean" in arrays}
    if critic and critic[1:-1] != actor[1:-1]:
        options["vf_hidden"] = critic[1:-1]
    if "log_std" in arrays and len(arrays["log_std"].shape) == 2:
        options["use_sde"] = True
    for name, option, default in (("epsilon", "obs_epsilon", 1e-8), ("clip", "obs_clip", 10)):
        if options["normalize_obs"] and (value := arrays["normalizer." + name].values[0]) != default:
            options[option] = value
    written = ", ".join(f"{key}: {json.dumps(value) if not isinstance(value, str) else value}" for key, value in options.items())
    print(f"{to}: {' -> '.join(map(str, actor))}, {arrays['activation']}, {arrays['head']} actions; "
          f"{'critic ' + ' -> '.join(map(str, critic)) if critic else 'no critic'}; "
          f"{'statistics of observations' if options['normalize_obs'] else 'no statistics'}")
    print(f"  learner: {{plugin: ppo, start_from: {to}, options: {{{written}}}}}")


def main(source, to, statistics, activation, critic):
    if not pathlib.Path(source).is_file():
        raise Problem(f"{source}: expected a file, got none")
    arrays = read_source(source, activation)
    if critic == "none":
        arrays = {name: array for name, array in arrays.items() if not name.startswith("critic.")}
    add_statistics(arrays, statistics, source, to)
    check_finite(arrays, source)
    write_npz(to, encode(arrays))
    summary(arrays, to)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (Problem, OSError, OverflowError) as problem:
        sys.exit(f"backplane import policy: {problem}")
