#!/usr/bin/env python3
"""Compares env steps per second of Python envs: a trial with env.gymnasium and Gymnasium's own vector envs, in turn.

  python bench/python_envs.py [--rounds N] [--seconds S] [--envs ID...] [--skip-async] [--build DIR]
  python bench/python_envs.py --vector EnvPool --file examples/vector_envs/envpool_env.py --kwargs '{"task_id": "Ant-v5"}'

Run it with an interpreter that has `gymnasium[box2d]`; the trial's env processes use the same. 64 rows on two cores, random actions. Ours
is the sampling speed of a trial with learner.random (`sampling_sps`, without the first iteration), including the host's episode work.
Theirs is `step` with actions drawn before. Each round runs every env once, in rotating order; the figure is the median over rounds of
the ratio within a round.

--vector compares a trial at 1,024 rows with a bare loop over the same vector env in this process. Both draw actions at random.
"""
import argparse
import importlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

CORES = sorted(os.sched_getaffinity(0))[-2:]
os.sched_setaffinity(0, CORES)

import gymnasium
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROWS, VECTOR_ROWS = 64, 1024


def theirs(env_id, mode, seconds):
    envs = gymnasium.make_vec(env_id, num_envs=ROWS, vectorization_mode=mode)
    actions = np.random.default_rng(1).integers(envs.single_action_space.n, size=(1024, ROWS))
    envs.reset(seed=1)
    for t in range(16):
        envs.step(actions[t])
    steps, start = 0, time.perf_counter()
    while (took := time.perf_counter() - start) < seconds:
        envs.step(actions[steps % len(actions)])
        steps += 1
    envs.close()
    return steps * ROWS / took


def bare(args, seconds):
    """Env steps per second of a loop over the vector env of --vector."""
    sys.path.insert(0, str(args.file.parent))
    envs = getattr(importlib.import_module(args.file.stem), args.vector)(num_envs=VECTOR_ROWS, **args.kwargs)
    envs.action_space.seed(1)
    actions = [envs.action_space.sample() for _ in range(64)]
    resets = envs.metadata["autoreset_mode"] is not gymnasium.vector.AutoresetMode.SAME_STEP
    envs.reset(seed=1)

    def run():
        steps, start = 0, time.perf_counter()
        while (took := time.perf_counter() - start) < seconds or steps < 4:
            observations, rewards, *ended, _ = envs.step(actions[steps % 64])
            over = np.asarray(ended[0]) | np.asarray(ended[1])
            np.asarray(observations), np.asarray(rewards)
            if resets and over.any():
                envs.reset(options={"reset_mask": over})
            steps += 1
        return steps * VECTOR_ROWS / took

    run()
    return run


def ours(options, seconds, build, expected, rows=ROWS):
    """Runs a trial with enough steps for about that long."""
    horizon = max(1, int(expected * seconds / 4 / rows))
    with tempfile.TemporaryDirectory() as out:
        options = {**options, "python": sys.executable}
        experiment = {
            "env": {"plugin": "gymnasium", "options": options},
            "learner": {"plugin": "random", "options": {"horizon": horizon}},
            "rollout": {"num_env_runners": 1, "num_envs_per_env_runner": rows},
            "budget": {"iterations": 5}, "monitors": [], "output": {"dir": out + "/results"}, "experiment": "python_envs",
        }
        file = pathlib.Path(out, "experiment.yaml")
        file.write_text(json.dumps(experiment))
        done = subprocess.run([build / "bin/backplane", "run", file, "--quiet"], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"python_envs: {done.stderr}")
        metrics, = pathlib.Path(out).glob("results/trials/*/attempt-1/metrics.jsonl")
        lines = [json.loads(line) for line in metrics.read_text().splitlines()]
    return statistics.median(line["time"]["sampling_sps"] for line in lines[1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3, help="of each in a round")
    parser.add_argument("--envs", nargs="+", default=["CartPole-v1", "LunarLander-v3"])
    parser.add_argument("--skip-async", action="store_true")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--vector", help="class of --file, instead of --envs")
    parser.add_argument("--file", type=pathlib.Path)
    parser.add_argument("--kwargs", type=json.loads, default={})
    args = parser.parse_args()
    figures = {}
    for env_id in [args.vector] if args.vector else args.envs:
        if args.vector:
            loop = bare(args, args.seconds)
            options, expected = {"file": str(args.file.resolve()), "vector": args.vector, "kwargs": args.kwargs}, loop()
            runs = {"env.gymnasium": lambda: ours(options, args.seconds, args.build, expected, VECTOR_ROWS), "bare loop": loop}
        else:
            expected = 1.5 * theirs(env_id, "sync", 0.5)
            runs = {"env.gymnasium": lambda: ours({"id": env_id}, args.seconds, args.build, expected),
                    "sync": lambda: theirs(env_id, "sync", args.seconds)}
        if not args.skip_async and not args.vector:
            runs["async"] = lambda: theirs(env_id, "async", args.seconds)
        names, rates = list(runs), {name: [] for name in runs}
        for round_ in range(args.rounds):
            for name in names[round_ % len(names):] + names[:round_ % len(names)]:
                rates[name].append(runs[name]())
        for name in names:
            ratios = [a / b for a, b in zip(rates["env.gymnasium"], rates[name])]
            print(f"{env_id:16} {name:14} {statistics.median(rates[name]):9,.0f} steps/s   "
                  f"ours / it = {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})", flush=True)
            figures[f"python_envs/{env_id}/{name}"] = {"median": statistics.median(ratios), "min": min(ratios), "max": max(ratios), "n": args.rounds}
    print(json.dumps({"figures": figures}))


if __name__ == "__main__":
    main()
