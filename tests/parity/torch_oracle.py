"""Shared parts of the update oracles: PyTorch in float64, the order of shuffles, saved states, and measures of difference.

They compute a learner's whole update, from its rollouts to its weights, with PyTorch's autograd and without the learner's code. The
optimisers are written out here, because PyTorch's own import packages that the wheel lacks. The build takes LibTorch from the same wheel in
.venv. It is imported after the packages of .venv-oracle, so that it is installed only once.
"""

import json
import pathlib
import struct
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(path) for path in ROOT.glob(".venv/lib/python3*/site-packages")]

import numpy as np  # noqa: E402
import torch  # noqa: E402

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)

MASK = 2**64 - 1
LEARNER = 3  # the purpose of a learner's own numbers


def philox(counter, key):
    """Philox4x32-10 of Salmon et al., SC11."""
    c, k = list(counter), list(key)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ k[0], b & 0xFFFFFFFF, a >> 32 ^ c[3] ^ k[1], a & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def key_of(seed, purpose, row, n):
    words = philox([n & 0xFFFFFFFF, n >> 32, row, purpose], [seed & 0xFFFFFFFF, seed >> 32])
    return words[1] << 32 | words[0]


def shuffled(n, seed, epoch):
    """Fisher and Yates, from the last place down."""
    order, key = list(range(n)), key_of(seed, LEARNER, 0, epoch)
    for draw, i in enumerate(range(n, 1, -1)):
        j = key_of(key, 0, 0, draw) * i >> 64
        order[i - 1], order[j] = order[j], order[i - 1]
    return order


class Saved:
    """Reads a saved state from its start: numbers, and arrays with their length in front."""

    def __init__(self, text):
        self.bytes, self.at = bytes.fromhex(text), 0

    def take(self, kind, n=1):
        values = struct.unpack_from(f"<{n}{kind}", self.bytes, self.at)
        self.at += struct.calcsize(f"<{n}{kind}")
        return values if n > 1 else values[0]

    def array(self, dtype):
        n = self.take("Q")
        values = np.frombuffer(self.bytes, dtype, n, self.at).astype(np.float64)
        self.at += n * np.dtype(dtype).itemsize
        return torch.tensor(values)


class Rollout:
    """The delivery's tensors by name."""

    def __init__(self, tensors):
        self.tensors = {name: torch.tensor(t["values"]).reshape(t["shape"]) for name, t in tensors.items()}

    def __getattr__(self, name):
        return self.tensors[name]

    def has(self, name):
        return name in self.tensors


class Linear:
    """A layer in the flat parameters: weights [in, out], then biases."""

    def __init__(self, params, at, n_in, n_out):
        self.weight = params[at : at + n_in * n_out].reshape(n_in, n_out)
        self.bias = params[at + n_in * n_out : at + (n_in + 1) * n_out]
        self.end = at + (n_in + 1) * n_out

    def __call__(self, x):
        return x @ self.weight + self.bias


class Gru:
    """A gated recurrent unit in the flat parameters: input weights [in, 3 size] and biases, then the state's, computed by PyTorch."""

    def __init__(self, params, at, n_in, size):
        of_input, of_state = Linear(params, at, n_in, 3 * size), Linear(params, at + (n_in + 1) * 3 * size, size, 3 * size)
        self.weights = [of_input.weight.T, of_state.weight.T, of_input.bias, of_state.bias]
        self.end = of_state.end

    def __call__(self, x, state, fresh):
        """States after each entry of x [T, n, in]; the state [n, size] is 0 before entries with fresh [T, n]."""
        states = []
        for each, restarts in zip(x, fresh):
            state = torch.where(restarts.unsqueeze(-1), 0.0, state)
            out, _ = torch._VF.gru(each.unsqueeze(0), state.unsqueeze(0), self.weights, True, 1, 0.0, False, False, False)
            state = out[0]
            states.append(state)
        return torch.stack(states)


def parts(n, count):
    return [(n * i // count, n * (i + 1) // count) for i in range(count)]


def advantages(reward, value, following, goes_on, same_stream, gamma, lam):
    """Generalised advantage estimation (Schulman et al., arXiv 1506.02438), computed as the defining sum, [T, streams]."""
    delta = reward + gamma * goes_on * following - value
    total = torch.zeros_like(delta)
    for t in range(len(delta)):
        weight = torch.ones_like(delta[0])
        for k in range(t, len(delta)):
            total[t] += weight * delta[k]
            weight = weight * gamma * lam * same_stream[k]
    return total


def policy_loss(ratio, advantage, clip):
    return -torch.minimum(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage).mean()


def value_loss(value, old, target, clip, huber):
    def loss(x):
        return torch.nn.functional.huber_loss(x, target, delta=huber, reduction="none") if huber > 0 else 0.5 * (x - target) ** 2

    if clip <= 0:
        return loss(value).mean()
    return torch.maximum(loss(value), loss(old + (value - old).clamp(-clip, clip))).mean()


def masked_log_probs(logits, mask):
    return torch.log_softmax(logits if mask is None else logits.masked_fill(mask == 0, -torch.inf), -1)


def entropy_of(log_probs):
    return -(log_probs.exp() * log_probs.masked_fill(log_probs == -torch.inf, 0)).sum(-1)


class Action:
    """The numbers, and the choices and bits, of samples."""

    def __init__(self, numbers, choices):
        self.numbers, self.choices = numbers, choices

    @staticmethod
    def of(rollout, names):
        """`names`: the channels with choices and bits."""
        choices = [getattr(rollout, name).reshape(*rollout.reward.shape, -1).double() for name in names]
        numbers = rollout.raw_action.double() if rollout.has("raw_action") else None
        return Action(numbers, torch.cat(choices, -1) if choices else None)

    def map(self, function):
        return Action(*(None if each is None else function(each) for each in (self.numbers, self.choices)))


def log_prob_and_entropy(parts, head, action, mask, deviations):
    """`parts`: the kind and the outputs of each distribution of the action. deviations(mean, first): of the numbers from the first on."""
    logp = entropy = outputs = numbers = choices = flags = 0
    for kind, n in parts:
        own = head[..., outputs : outputs + n]
        outputs += n
        if kind == "numbers":
            normal = torch.distributions.Normal(own, deviations(own, numbers))
            more = [each.sum(-1) for each in (normal.log_prob(action.numbers[..., numbers : numbers + n]), normal.entropy())]
            numbers += n
        elif kind == "bits":
            bits = torch.distributions.Bernoulli(logits=own)
            more = [each.sum(-1) for each in (bits.log_prob(action.choices[..., choices : choices + n]), bits.entropy())]
            choices += n
        else:
            log_probs = masked_log_probs(own, None if mask is None else mask[..., flags : flags + n])
            taken = action.choices[..., choices : choices + 1].long()
            more = log_probs.gather(-1, taken).squeeze(-1), entropy_of(log_probs)
            choices, flags = choices + 1, flags + n
        logp, entropy = logp + more[0], entropy + more[1]
    return logp, entropy


def clip(gradients, limit):
    """Scales them in place to a joint norm of at most `limit` (0: none), as torch.nn.utils.clip_grad_norm_; returns their norm."""
    norm = float(torch.cat([g.flatten() for g in gradients]).norm())
    for g in gradients if limit > 0 else []:
        g *= min(1.0, limit / (norm + 1e-6))
    return norm


def adam(w, g, m, v, step, lr, betas=(0.9, 0.999), eps=1e-5, decay=0.0):
    """One step (Kingma and Ba, arXiv 1412.6980, algorithm 1) with decoupled weight decay (Loshchilov and Hutter, arXiv 1711.05101).
    Returns weights and moments. `step` counts from 1."""
    m, v = betas[0] * m + (1 - betas[0]) * g, betas[1] * v + (1 - betas[1]) * g**2
    mean, square = m / (1 - betas[0] ** step), v / (1 - betas[1] ** step)
    return w * (1 - lr * decay) - lr * mean / (square.sqrt() + eps), m, v


def away(ours, theirs):
    """Largest difference, relative to the largest reference value."""
    return float((ours - theirs).abs().max() / theirs.abs().max().clamp(min=1e-12))


def apart(ours, theirs, start):
    """Distance between two results of an update, relative to the update's length."""
    return float((ours - theirs).norm() / (theirs - start).norm().clamp(min=1e-12))


def serve(answer):
    for line in sys.stdin:
        try:
            reply = answer(json.loads(line))
        except Exception as error:  # the test shows it
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), flush=True)
