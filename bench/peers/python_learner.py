#!/usr/bin/env python3
"""Whole-training speed of PPO in Python on Ant: learner.python, a loop over our vector env with the same class, and Stable-Baselines3.

  bench/peers/python_learner.py --python PYTHON [--build build/release] [--rounds N] [--iterations N]

64 envs x 64 steps, 4 epochs, minibatch 2,048, separate actor and critic of 64-64 tanh, observations of 27 numbers; two threads step our
envs, and Stable-Baselines3's DummyVecEnv its own. PYTHON has torch, gymnasium, mujoco, cffi and stable_baselines3. Sides run in turn, each
with N and with 2 iterations. The difference leaves out the start. CPU seconds count all processes. The last line is JSON: how many times
as fast learner.python is, by wall time.
"""
import argparse
import ctypes
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
from measured_run import spread  # noqa: E402

ROWS, HORIZON = 64, 64
SUBREAPER = 36  # prctl
ARGUMENTS = dict(horizon=HORIZON, epochs=4, minibatch=2048)
EXPERIMENT = """experiment: bench
env: {plugin: ant, options: {include_cfrc_ext_in_observation: false}}
learner: {plugin: python, options: {file: %s, class: PPO, kwargs: %s, threads: %d}}
rollout: {num_env_runners: 2, num_envs_per_env_runner: 32, threads: 2}
budget: {iterations: %d}
"""
LOOP = """
import sys, types
import numpy, torch
sys.path[:0] = [%(package)r, %(folder)r]
import backplane_rl, ppo
torch.set_num_threads(%(threads)d)
envs = backplane_rl.make_vec("ant", 64, threads=2, autoreset_mode="same_step", copy=False, infos=False, seed=0, include_cfrc_ext_in_observation=False)
env = types.SimpleNamespace(action=types.SimpleNamespace(space="box", shape=(8,)), obs=types.SimpleNamespace(shape=(27,)))
learner = ppo.PPO(env, **%(arguments)r)
T, N = learner.horizon, 64
r = dict(obs=numpy.zeros((T + 1, N, 27), "f4"), action=numpy.zeros((T, N, 8), "f4"), logp=numpy.zeros((T, N), "f4"), value=numpy.zeros((T, N), "f4"),
         reward=numpy.zeros((T, N), "f4"), terminated=numpy.zeros((T, N), "u1"), truncated=numpy.zeros((T, N), "u1"))
r["obs"][T] = envs.reset(seed=0)[0]
for _ in range(%(iterations)d):
    r["obs"][0], last, at = r["obs"][T], [], []
    for t in range(T):
        inputs = types.SimpleNamespace(obs=r["obs"][t], greedy=False)
        for name, value in learner.act(inputs).items():
            r[name][t] = value.numpy()
        r["obs"][t + 1], r["reward"][t], r["terminated"][t], r["truncated"][t], infos = envs.step(r["action"][t])
        for row in numpy.flatnonzero(r["terminated"][t] | r["truncated"][t]):
            last.append(infos["final_obs"][row].copy()), at.append(t * N + row)
    ended = dict(final_obs=numpy.array(last, "f4").reshape(-1, 27), final_index=numpy.array(at, "i8"))
    learner.consume({**r, **ended})
"""
SB3 = """
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
torch.set_num_threads(%(threads)d)
envs = make_vec_env("Ant-v5", 64, env_kwargs=dict(include_cfrc_ext_in_observation=False))
PPO("MlpPolicy", envs, device="cpu", seed=0, n_steps=64, batch_size=2048, n_epochs=4).learn(%(iterations)d * 64 * 64)
"""


def measured(command, **options):
    """Wall and CPU seconds, with the processes that a trial leaves to its reaper."""
    begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(command, capture_output=True, text=True, **options)
    wall = time.monotonic() - begin
    if run.returncode != 0:
        raise SystemExit(f"{command}: exit {run.returncode}\n{run.stdout}{run.stderr}")
    try:
        while True:
            os.wait()
    except ChildProcessError:
        pass
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def seconds_of(side, args, iterations):
    names = {"package": str(ROOT / "host/python"), "folder": str(ROOT / "examples/learners"), "arguments": ARGUMENTS,
             "iterations": iterations, "threads": args.threads}
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"VIRTUAL_ENV": str(pathlib.Path(args.python).parents[1]), "BACKPLANE_HOME": str(args.build)}
        if side == "learner.python":
            kwargs = "{" + ", ".join(f"{name}: {value}" for name, value in ARGUMENTS.items()) + "}"
            file = pathlib.Path(folder, "bench.yaml")
            file.write_text(EXPERIMENT % (ROOT / "examples/learners/ppo.py", kwargs, args.threads, iterations))
            return measured([args.build / "bin/backplane", "run", file, "--out", pathlib.Path(folder, "out")], env=environment)
        return measured([args.python, "-c", (LOOP if side == "loop" else SB3) % names], env=environment)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", required=True)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--iterations", type=int, default=12)
    parser.add_argument("--threads", type=int, default=1, help="of torch, on all sides")
    parser.add_argument("--sides", default="learner.python,loop,sb3")
    args = parser.parse_args()
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    figures = {}
    steps = (args.iterations - 2) * ROWS * HORIZON
    for number in range(args.rounds):
        for side in args.sides.split(","):
            few, many = seconds_of(side, args, 2), seconds_of(side, args, args.iterations)
            figures.setdefault(side, []).append([steps / (many[0] - few[0]), steps / (many[1] - few[1])])
            print(f"round {number + 1}: {side:15} {figures[side][-1][0]:9.0f} steps/s {figures[side][-1][1]:9.0f} steps per CPU second",
                  file=sys.stderr, flush=True)
    print(json.dumps(figures))
    ours = [rates[0] for rates in figures.pop("learner.python")]
    print(json.dumps({"figures": {f"train/python_learner/{side}": spread([a / b[0] for a, b in zip(ours, theirs)]) for side, theirs in figures.items()}}))


if __name__ == "__main__":
    main()
