#!/usr/bin/env python3
"""Compares the training speed of PPO on Ant with a peer's, in turn: env steps per second with learning, on the same two cores.

  bench/peers/train.py s64|defaults --python SB3_PYTHON [--rounds N]
  bench/peers/train.py rllib --python RLLIB_PYTHON [--rounds N]

s64: 64 envs x 64 steps, 4 epochs, minibatch 2,048, separate actor and critic of 256-256 ReLU, normalised observations of 27 numbers.
defaults: Stable-Baselines3's own settings with 8 envs (n_steps 2,048, minibatch 64, 10 epochs, 64-64 tanh).
rllib: 2 runners of 2 envs, train batch 4,000, minibatch 128, 10 epochs, 256-256 tanh; with separate nets and with shared layers, each
on both sides.
A round uses the peer's best mode. Both sides exclude the first iteration. The last line is a JSON object.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
from figures.readers import last_json, spread  # noqa: E402
from measured_run import adopt_orphans, measure  # noqa: E402

QUIET = 0.05  # of the machine's CPU time, as in scripts/bench
OBS_27 = {"include_cfrc_ext_in_observation": False}
SAME = {"lr": 3e-4, "gamma": 0.99}


def options(**values):
    return {**SAME, **values}


# name -> (env options, learner options, (runners, envs per runner), our iterations, peer's modes as arguments of its script)
RLLIB = {"train_batch_size": 4000, "minibatch_size": 128, "num_epochs": 10, "hidden": [256, 256], "activation": "tanh"}
SETTINGS = {
    "s64": (OBS_27, options(train_batch_size=4096, minibatch_size=2048, num_epochs=4, hidden=[256, 256], activation="relu", normalize_obs=True), (2, 32), 12,
            {"dummy, 2 threads": ("s64", "dummy", 50000, 2), "subproc": ("s64", "subproc", 50000, 1)}),
    "defaults": ({}, options(train_batch_size=16384, minibatch_size=64, num_epochs=10, hidden=[64, 64], activation="tanh"), (2, 4), 3,
                 {"dummy": ("defaults", "dummy", 32768, 1), "subproc": ("defaults", "subproc", 32768, 1)}),
    "rllib/separate": ({}, options(**RLLIB), (2, 2), 4, {"2 x 2": (2, 2, 4, "separate"), "2 x 2, one learner thread": (2, 2, 4, "separate")}),
    "rllib/shared": ({}, options(**RLLIB, share_layers=True), (2, 2), 4, {"2 x 2": (2, 2, 4, "shared"), "2 x 2, one learner thread": (2, 2, 4, "shared")}),
}


def on_cores(command, cores, sampled=False, **environment):
    """`sampled`: its children die without being waited for, so only samples measure their CPU time."""
    return measure(["taskset", "-c", ",".join(map(str, cores)), *command], memory=sampled, env={**os.environ, **environment}).check()


def ours(args, folder, name, cores):
    env, learner, (runners, envs), iterations, _ = SETTINGS[name]
    out = pathlib.Path(tempfile.mkdtemp(dir=folder)) / "out"
    file = out.with_suffix(".yaml")
    file.write_text(json.dumps({  # JSON is YAML
        "experiment": "train", "env": {"plugin": "ant", "options": env}, "learner": {"plugin": "ppo", "options": learner},
        "rollout": {"num_env_runners": runners, "num_envs_per_env_runner": envs, "threads": 2}, "resources": {"cpus": 2},
        "budget": {"iterations": args.iterations or iterations}, "monitors": []}))
    run = on_cores([args.build / "bin/backplane", "run", file, "--out", out, "--quiet"], cores)
    return json.loads(next(out.glob("trials/*/attempt-1/result.json")).read_text())["sps"], run.others


def theirs(args, folder, name, mode, cores):
    words = list(SETTINGS[name][4][mode])
    if args.peer_steps and not name.startswith("rllib"):
        words[2] = args.peer_steps
    environment = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_TMPDIR": folder, "HOME": folder} if name.startswith("rllib") else {}
    if "one learner thread" in mode:
        environment["OMP_NUM_THREADS"] = "1"
    script = "train_rllib.py" if name.startswith("rllib") else "train_sb3.py"
    run = on_cores([args.python, HERE / script, *words], cores, sampled=name.startswith("rllib"), **environment)  # raylet waits for no worker
    return last_json(run.stdout)["sps"], run.others


def compare(args, folder, name, cores):
    """The ratio of each round, and True if it was quiet."""
    modes, ratios, quiet = list(SETTINGS[name][4])[:args.modes], [], []
    for turn in range(args.rounds):
        mine = ours(args, folder, name, cores) if turn % 2 == 0 else None
        peer = {mode: theirs(args, folder, name, mode, cores) for mode in modes}
        mine = mine or ours(args, folder, name, cores)
        best = max(peer, key=lambda mode: peer[mode][0])
        ratios.append(mine[0] / peer[best][0])
        quiet.append(max(mine[1], *(others for _, others in peer.values())) <= QUIET)
        print(f"{name}: ours {mine[0]:,.0f} steps/s, " + ", ".join(f"{mode} {sps:,.0f}" for mode, (sps, _) in peer.items())
              + f"; ours / best {ratios[-1]:.2f}{'' if quiet[-1] else ' ~'}", flush=True)
    kept = [ratio for ratio, calm in zip(ratios, quiet) if calm]
    return {**spread(kept or ratios), "disturbed": not kept}


def ours_alone(args, folder, name, cores):
    print(f"{name}: ours {ours(args, folder, name, cores)[0]:,.0f} steps/s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("setting", choices=("s64", "defaults", "rllib"))
    parser.add_argument("--python", help="the peer's; without one ours runs alone")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--iterations", type=int, help="our iterations (default: about as long as the peer's)")
    parser.add_argument("--modes", type=int, help="the first of the peer's modes alone")
    parser.add_argument("--peer-steps", type=int, help="of SB3; at least two rollouts")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    args = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))[-2:]
    adopt_orphans()
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in SETTINGS:
            if name.split("/")[0] != args.setting:
                continue
            if args.python:
                figures[f"train/{name}"] = compare(args, folder, name, cores)
            else:
                ours_alone(args, folder, name, cores)
    print(json.dumps({"figures": figures}))


if __name__ == "__main__":
    sys.exit(main())
