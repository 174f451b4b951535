"""Shared parts of the oracles of learners with a replay buffer: nets on flat parameters, the learner's draws, and measures of difference."""

import math

import torch_oracle as oracle
from torch_oracle import np, torch


def mlp(params, at, inputs, hidden, outputs, act):
    layers = []
    for size in hidden + [outputs]:
        layers.append(oracle.Linear(params, at, inputs, size))
        inputs, at = size, layers[-1].end

    def forward(x):
        for layer in layers[:-1]:
            x = act(layer(x))
        return layers[-1](x)

    return forward, at


def normals(key, n):
    """Box and Muller from Philox blocks; runs of 64 numbers, the order of plugins/common/nn/normals.hpp."""
    out = []
    for i in range(n):
        run, word, block = i // 64, i % 64 // 16, i % 16
        words = oracle.philox([run * 16 + block, 0, 0, 0], [key & 0xFFFFFFFF, key >> 32])
        first, second = words[word // 2 * 2], words[word // 2 * 2 + 1]
        turn = (second - 2**32 if second >= 2**31 else second) * 2**-32
        radius = math.sqrt(-2 * math.log(((first >> 8) + 0.5) * 2**-24))
        out.append(radius * (math.sin if word % 2 else math.cos)(2 * math.pi * turn))
    return out


class Replay:
    """The newest transitions of the stored frames, with the learner's stream of draws."""

    def __init__(self, request, options, obs, actions, masked=False):
        """`actions`: numbers that are stored for an action. With masks [frames, rows, choices], the frame after a window is needed, too."""
        rows = request["rows"]
        sizes = {"obs": (obs,), "action": (actions,), "next_obs": (obs,), "mask": (-1,)}
        self.data = {k: torch.tensor(v).double() for k, v in request["stored"].items()}
        self.data = {k: v.reshape(len(self.data["reward"]) // rows, rows, *sizes.get(k, ())) for k, v in self.data.items()}
        self.rows, self.o, self.seed = rows, options, request["seed"]
        self.capacity = -(-options["buffer_size"] // rows)
        self.priorities, self.most, self.masked = {}, 1.0, masked

    def starts(self, count):
        """All admissible (frame, row), oldest first."""
        return [(f, r) for f in range(max(0, count - self.capacity), count - self.o["n_step"] + 1 - self.masked) for r in range(self.rows)]

    def draw(self, count, number):
        n, starts, key = self.o["batch_size"], self.starts(count), oracle.key_of(self.seed, oracle.LEARNER, 0, number)
        draws = [oracle.key_of(key, 0, 0, i) for i in range(n)]
        if not self.o["prioritized_replay"]:
            return [starts[d * len(starts) >> 64] for d in draws], torch.ones(n)
        for start in starts:
            self.priorities.setdefault(start, self.most)
        p = np.array([self.priorities[s] for s in starts])
        mass = (np.arange(n) + np.array([(d >> 11) * 2.0**-53 for d in draws])) * p.sum() / n
        chosen = np.searchsorted(np.cumsum(p), mass, side="right")
        weight = torch.tensor((len(starts) * p[chosen] / p.sum()) ** -self.o["priority_beta"])
        return [starts[i] for i in chosen], weight / weight.max()

    def window(self, frame, row):
        total, discount, d = 0.0, 1.0, self.data
        for f in range(frame, frame + self.o["n_step"]):
            total, discount = total + discount * d["reward"][f, row], discount * self.o["gamma"]
            if d["terminated"][f, row] or d["truncated"][f, row]:
                break
        ended = d["terminated"][f, row] or d["truncated"][f, row]
        allowed = torch.ones(1) if ended or not self.masked else d["mask"][f + 1, row]
        return total, 0.0 if d["terminated"][f, row] else discount, d["next_obs"][f, row], allowed

    def batch(self, starts):
        """obs, action, reward, discount, next_obs; self.allowed: the choices at next_obs."""
        windows = [self.window(*s) for s in starts]
        self.allowed = torch.stack([w[3].expand(self.data["mask"].shape[-1]) for w in windows]) if self.masked else None
        pick = lambda name: torch.stack([self.data[name][s] for s in starts])  # noqa: E731
        return pick("obs"), pick("action"), *(torch.stack([torch.as_tensor(w[i]) for w in windows]) for i in range(3))

    def prioritize(self, starts, errors):
        for start, error in zip(starts, errors.tolist()):
            self.priorities[start] = float(np.float32((error + self.o["priority_eps"]) ** self.o["priority_alpha"]))
            self.most = max(self.most, self.priorities[start])


def step(values, gradient, steps, lr, limit=0):
    """Adam in place on [weights, m, v]."""
    oracle.clip([gradient], limit)
    values[:] = oracle.adam(values[0], gradient, values[1], values[2], steps, lr, eps=1e-8)


def largest(ours, theirs):
    return max((abs(a - b) for a, b in zip(ours, theirs, strict=True)), default=0.0)


def serve(state_of, simulate, steps, others=lambda ours, theirs: {}):
    """Answers requests (see sac_oracle.py). simulate(request, options, state, losses) changes a state; `steps`: its counters, equal in both.
    Buffers are the state's attributes `tensors`: name -> values."""

    def run(request, options):
        state, losses = state_of(request["before"]), {}
        simulate(request, options, state, losses)
        return state, losses

    def answer(request):
        ours, losses = run(request, request["options"])
        theirs = state_of(request["after"])
        distance = {name: float((value - theirs.tensors()[name]).abs().max()) for name, value in ours.tensors().items()}
        distance["steps"] = sum(abs(getattr(ours, name) - getattr(theirs, name)) for name in steps)
        distance |= others(ours, theirs)
        for name, values in losses.items():
            distance[name] = largest(values, request["losses"][name])
        without = 0.0
        if request.get("base"):
            plain, _ = run(request, request["base"])
            without = max(float((plain.tensors()[name] - value).abs().max()) for name, value in ours.tensors().items())
            without = max(without, *others(plain, ours).values(), 0.0)
        return {"distance": distance, "without": without}

    oracle.serve(answer)
