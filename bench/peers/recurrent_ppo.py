#!/usr/bin/env python3
"""CPU seconds per env step of PPO with a GRU, ours and a plain PyTorch loop, in turn: CartPole without velocities.

  bench/peers/recurrent_ppo.py [--python PYTHON] [--rounds 5] [--size 64] [--sequence 16] [--uncut] [--build build/release]

Both sides have the settings of configs/ppo/cartpole_positions.yaml: 8 envs, 128 steps, 10 epochs, minibatches of 8 sequences, a GRU and a
layer of 64 for actor and critic each, one thread. PYTHON has torch and numpy. The PyTorch side steps all envs by one NumPy expression, acts
without gradients, and runs nn.GRU over whole sequences, in one call if no episode ends in the minibatch. With --uncut, its update ignores
ends of episodes: the least time that it can take. Each side is measured between two
lengths, so that starts cancel out. Prints the median ratio and its range.
"""
import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENVS, STEPS, EPOCHS, MINIBATCH, HIDDEN = 8, 128, 10, 128, 64


def torch_side(size, sequence, iterations, uncut):
    import time

    import numpy as np
    import torch
    from torch import nn

    torch.set_num_threads(1)
    torch.manual_seed(0)
    generator = np.random.default_rng(0)

    class Net(nn.Module):
        def __init__(self, outputs):
            super().__init__()
            self.gru, self.layer, self.head = nn.GRU(2, size), nn.Linear(size, HIDDEN), nn.Linear(HIDDEN, outputs)

        def forward(self, x, state, fresh=None):
            """x [T, n, 2], state [1, n, size], fresh [T, n]: the state is 0 before these entries."""
            cuts = [] if fresh is None or uncut else [int(t) for t in fresh.any(1).nonzero()[:, 0]]
            seen = []
            for begin, end in zip([0] + [t for t in cuts if t > 0], [t for t in cuts if t > 0] + [len(x)]):
                if begin in cuts:
                    state = state * (~fresh[begin])[None, :, None]
                out, state = self.gru(x[begin:end], state)
                seen.append(out)
            out = torch.cat(seen) if len(seen) > 1 else seen[0]
            return self.head(torch.relu(self.layer(out))), state

    actor, critic = Net(2), Net(1)
    optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=2e-3, eps=1e-5)
    cart, length = generator.uniform(-0.05, 0.05, (ENVS, 4)), np.zeros(ENVS, int)
    states = [torch.zeros(1, ENVS, size) for _ in range(2)]
    fresh = torch.zeros(ENVS, dtype=torch.bool)

    def step(action):
        nonlocal cart, length
        x, v, angle, w = cart.T
        c, s, force = np.cos(angle), np.sin(angle), np.where(action, 10.0, -10.0)
        push = (force + 0.05 * w * w * s) / 1.1
        turn = (9.8 * s - c * push) / (0.5 * (4 / 3 - 0.1 * c * c / 1.1))
        cart = cart + 0.02 * np.stack([v, push - 0.05 * turn * c / 1.1, w, turn], 1)
        length += 1
        over = (abs(cart[:, 0]) > 2.4) | (abs(cart[:, 2]) > 12 * np.pi / 180)
        cut = ~over & (length == 500)
        return over, cut

    def rollout():
        nonlocal fresh, states, cart
        keys = ("obs", "action", "logp", "value", "fresh", "over", "done", "following")
        kept = {key: [] for key in keys}
        starts = []
        with torch.no_grad():
            for t in range(STEPS):
                if t % sequence == 0:
                    starts.append([s * (~fresh)[None, :, None] for s in states])
                obs = torch.tensor(cart[:, ::2], dtype=torch.float32)
                before = [s * (~fresh)[None, :, None] for s in states]
                logits, states[0] = actor(obs[None], before[0])
                value, states[1] = critic(obs[None], before[1])
                log_probs = torch.log_softmax(logits[0], -1)
                action = torch.multinomial(log_probs.exp(), 1)[:, 0]
                over, cut = step(action.numpy())
                after = torch.zeros(ENVS)
                if cut.any():
                    after = critic(torch.tensor(cart[:, ::2], dtype=torch.float32)[None], states[1])[0][0, :, 0]
                row = (obs, action, log_probs.gather(1, action[:, None])[:, 0], value[0, :, 0], fresh, over, over | cut, after)
                for key, one in zip(keys, row):
                    kept[key].append(torch.as_tensor(one))
                fresh = torch.as_tensor(over | cut)
                ended = np.flatnonzero(over | cut)
                cart[ended], length[ended] = generator.uniform(-0.05, 0.05, (len(ended), 4)), 0
            obs = torch.tensor(cart[:, ::2], dtype=torch.float32)
            last = critic(obs[None], states[1] * (~fresh)[None, :, None])[0][0, :, 0]
        kept = {key: torch.stack(values) for key, values in kept.items()}
        following = torch.cat([kept["value"][1:], last[None]])
        following = torch.where(kept["done"], kept["following"], following)
        advantage, total = torch.zeros(STEPS, ENVS), torch.zeros(ENVS)
        for t in reversed(range(STEPS)):
            delta = 1 + 0.99 * following[t] * ~kept["over"][t] - kept["value"][t]
            total = delta + 0.99 * 0.95 * total * ~kept["done"][t]
            advantage[t] = total
        # [sequences] of (length, ...), one row each.
        cut_up = lambda x: x.reshape(STEPS // sequence, sequence, ENVS, *x.shape[2:]).transpose(1, 2).flatten(0, 1).transpose(0, 1)
        data = {key: cut_up(x) for key, x in {**kept, "advantage": advantage, "target": advantage + kept["value"]}.items()}
        return data, [torch.cat([one[k] for one in starts], 1) for k in range(2)]

    def update(data, starts):
        n = data["obs"].shape[1]
        for _ in range(EPOCHS):
            for part in torch.randperm(n).split(MINIBATCH // sequence):
                one = {key: x[:, part] for key, x in data.items()}
                logits, _ = actor(one["obs"], starts[0][:, part], one["fresh"])
                value = critic(one["obs"], starts[1][:, part], one["fresh"])[0][..., 0]
                log_probs = torch.log_softmax(logits, -1)
                ratio = (log_probs.gather(-1, one["action"][..., None])[..., 0] - one["logp"]).exp()
                advantage = (one["advantage"] - one["advantage"].mean()) / (one["advantage"].std() + 1e-8)
                clipped = one["value"] + (value - one["value"]).clamp(-0.2, 0.2)
                loss = -torch.minimum(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean() + 0.25 * torch.maximum(
                    (value - one["target"]) ** 2, (clipped - one["target"]) ** 2).mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_([*actor.parameters(), *critic.parameters()], 0.5)
                optimizer.step()

    update(*rollout())  # pages in everything
    begin = time.process_time()
    for _ in range(iterations):
        update(*rollout())
    print((time.process_time() - begin) / (iterations * ENVS * STEPS))


def our_cpu(build, size, sequence, steps):
    with tempfile.TemporaryDirectory() as out:
        words = [build / "bin/backplane", "run", ROOT / "configs/ppo/cartpole_positions.yaml", "--out", out]
        memory = f"{{kind: gru, size: {size}, sequence: {sequence}}}"
        for setting in (f"learner.options.memory={memory}", f"budget.env_steps={steps}", "rollout.threads=1", "evaluation.episodes=1"):
            words += ["--set", setting]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--sequence", type=int, default=16)
    parser.add_argument("--uncut", action="store_true")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--torch-side", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.torch_side:
        return torch_side(options.size, options.sequence, options.torch_side, options.uncut)
    ours, theirs, short, long = [], [], 8 * 1024, 40 * 1024
    for _ in range(options.rounds):
        cpu = [our_cpu(options.build, options.size, options.sequence, steps) for steps in (short, long)]
        ours.append((cpu[1] - cpu[0]) / (long - short))
        words = [options.python, __file__, "--torch-side", "8", "--size", str(options.size), "--sequence", str(options.sequence)]
        words += ["--uncut"] if options.uncut else []
        theirs.append(float(subprocess.run(words, check=True, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}).stdout))
    ratios = sorted(b / a for a, b in zip(ours, theirs))
    print(json.dumps({"size": options.size, "sequence": options.sequence, "uncut": options.uncut, "rounds": options.rounds,
                      "ours_us": 1e6 * statistics.median(ours), "torch_us": 1e6 * statistics.median(theirs),
                      "figures": {"train/recurrent/torch": {"median": statistics.median(ratios), "min": ratios[0], "max": ratios[-1],
                                                            "n": len(ratios)}}}))


if __name__ == "__main__":
    main()
