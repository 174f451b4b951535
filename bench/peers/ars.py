#!/usr/bin/env python3
"""Compares augmented random search with the paper's NumPy loop (ars_reference.py), in turn: env steps per CPU second on one core each.

  bench/peers/ars.py half_cheetah|cartpole --python PYTHON [--rounds N] [--steps N]

Ours is the whole `backplane run` with start and one evaluation episode. The last line is a JSON object.
"""
import argparse
import json
import os
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
from figures.readers import last_json, spread  # noqa: E402
from measured_run import adopt_orphans, measure  # noqa: E402

# task -> (arguments of the reference, its steps, ours)
TASKS = {"half_cheetah": (["--env", "HalfCheetah-v5"], 32_000, 96_000),
         "cartpole": (["--env", "CartPole-v1", "--dirs", "2", "--top", "2", "--noise", ".05"], 32_000, 10_000_000)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("--python", required=True, help="one that has gymnasium[mujoco]")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=float, default=1, help="this share of them")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    args = parser.parse_args()
    words, their_steps, our_steps = TASKS[args.task]
    core = str(max(os.sched_getaffinity(0)))
    adopt_orphans()
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(args.rounds):
            steps = int(our_steps * args.steps)
            run = measure(["taskset", "-c", core, args.build / "bin/backplane", "run", ROOT / f"configs/ars/{args.task}.yaml", "--quiet",
                           "--out", f"{folder}/{turn}", "--set", "rollout.threads=1", "--set", f"budget.env_steps={steps}",
                           "--set", "evaluation.episodes=1"], memory=False).check()
            done = json.loads(next(pathlib.Path(folder, str(turn)).glob("trials/*/attempt-1/result.json")).read_text())["env_steps"]
            theirs = measure(["taskset", "-c", core, args.python, HERE / "ars_reference.py", *words, "--steps", str(int(their_steps * args.steps))],
                             memory=False, env={**os.environ, "OMP_NUM_THREADS": "1"}).check()
            ours_sps, sps = done / run.cpu_s, last_json(theirs.stdout)["cpu_sps"]
            ratios.append(ours_sps / sps)
            print(f"{args.task}: ours {ours_sps:,.0f} env steps per CPU second, the reference {sps:,.0f}: {ratios[-1]:.2f}", flush=True)
    print(json.dumps({"figures": {f"ars/{args.task}": spread(ratios)}}))


if __name__ == "__main__":
    sys.exit(main())
