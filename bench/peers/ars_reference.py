#!/usr/bin/env python3
"""Augmented random search as a plain loop in NumPy over one Gymnasium env: what one worker of the paper's code does (Mania et al., arXiv
1803.07055, https://github.com/modestyachts/ARS), V2, without Ray around it. Prints one JSON object.

  PYTHON ars_reference.py [--env HalfCheetah-v5] [--steps 50000] [--seed 1] [--dirs 8] [--top 4] [--step-size .02] [--noise .03] [--shift 0]

`sps` is env steps per second of wall time, `cpu_sps` per second of CPU time of the process, both over whole iterations, learning included;
making the env is not counted. Needs gymnasium with MuJoCo and numpy; keep BLAS to one thread (OMP_NUM_THREADS=1).
"""
import argparse
import json
import time

import gymnasium
import numpy as np


class Filter:
    """Running moments of observations, as the paper's MeanStdFilter: fixed within an iteration, merged after it."""

    def __init__(self, size):
        self.n, self.mean, self.squares = 0, np.zeros(size), np.zeros(size)
        self.mu, self.std = np.zeros(size), np.ones(size)

    def push(self, x):
        self.n += 1
        delta = x - self.mean
        self.mean += delta / self.n
        self.squares += delta * delta * (self.n - 1) / self.n

    def freeze(self):
        self.mu = self.mean.copy()
        self.std = np.sqrt(self.squares / (self.n - 1))
        self.std[self.std < 1e-7] = np.inf

    def __call__(self, x):
        self.push(x)
        return (x - self.mu) / (self.std + 1e-8)


def act(env, outputs):
    if isinstance(env.action_space, gymnasium.spaces.Discrete):
        return int(outputs.argmax())
    return np.clip(outputs, env.action_space.low, env.action_space.high)


def rollout(env, weights, observe, shift, seed):
    x, _ = env.reset(seed=seed)
    total, steps, done = 0.0, 0, False
    while not done:
        x, reward, terminated, truncated, _ = env.step(act(env, weights @ observe(x)))
        total += reward - shift
        steps += 1
        done = terminated or truncated
    return total, steps


def main(options):
    env = gymnasium.make(options.env)
    rng = np.random.default_rng(options.seed)
    outputs = env.action_space.n if isinstance(env.action_space, gymnasium.spaces.Discrete) else env.action_space.shape[0]
    weights = np.zeros((outputs, env.observation_space.shape[0]))
    observe = Filter(weights.shape[1])
    steps, iterations, start, cpu = 0, 0, time.perf_counter(), time.process_time()
    while steps < options.steps:
        directions = rng.standard_normal((options.dirs, *weights.shape))
        returns = np.empty((options.dirs, 2))
        for d, direction in enumerate(directions):
            seed = int(rng.integers(2**31))
            for k, sign in enumerate((1, -1)):
                returns[d, k], n = rollout(env, weights + sign * options.noise * direction, observe, options.shift, seed)
                steps += n
        kept = np.argsort(-returns.max(axis=1), kind="stable")[:options.top]
        sigma = returns[kept].std()
        if sigma > 0:
            change = np.tensordot(returns[kept, 0] - returns[kept, 1], directions[kept], 1)
            weights += options.step_size / (options.top * sigma) * change
        observe.freeze()
        iterations += 1
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    print(json.dumps({"tool": "ars_reference", "env": options.env, "gymnasium": gymnasium.__version__, "numpy": np.__version__,
                      "steps": steps, "iterations": iterations, "last_mean_return": float(returns.mean()), "sps": steps / wall,
                      "cpu_sps": steps / cpu}))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env", default="HalfCheetah-v5")
    parser.add_argument("--steps", type=int, default=50000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dirs", type=int, default=8)
    parser.add_argument("--top", type=int, default=4)
    parser.add_argument("--step-size", type=float, default=0.02)
    parser.add_argument("--noise", type=float, default=0.03)
    parser.add_argument("--shift", type=float, default=0)
    main(parser.parse_args())
