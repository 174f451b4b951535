#!/usr/bin/env python3
"""CPU seconds per env step of SAC, TD3 or DQN with one gradient step of 256 transitions each, in turn with a peer, on one thread.

  bench/peers/train_sac.py sb3 --python PYTHON [--rounds 3] [--learner sac]   # HalfCheetah-v5 (DQN: CartPole-v1), `learn` of Stable-Baselines3
  bench/peers/train_sac.py rltools --python PYTHON [--rounds 3]     # Pendulum; PYTHON has rltools, mkl and mkl-include

Nets of 256-256 and of 64-64, the same on both sides. The whole loop is measured: acting, stepping, storing, sampling, updating. Each
side is measured between two lengths, so that starts cancel out. RLtools' own Python package compiles its loop with its own flags and MKL.
The last line is a JSON object with the median ratio (theirs / ours) and its range for each size.
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
sys.path.insert(0, str(HERE))
from figures.readers import last_json, spread  # noqa: E402
from measured_run import adopt_orphans  # noqa: E402
from train import QUIET, on_cores  # noqa: E402

BATCH, STARTS, LR = 256, 300, 3e-4
SB3_ENVS = {"sac": "HalfCheetah-v5", "td3": "HalfCheetah-v5", "dqn": "CartPole-v1"}
SIZES, STEPS = (256, 64), {256: 1500, 64: 6000}  # measured steps
ENVS = {("sb3", "sac"): "half_cheetah", ("sb3", "td3"): "half_cheetah", ("sb3", "dqn"): "cartpole", ("rltools", "sac"): "pendulum"}
PENDULUM = """#include <rl_tools/rl/environments/pendulum/operations_cpu.h>
template <typename T, typename TI>
using ENVIRONMENT_FACTORY = rl_tools::rl::environments::Pendulum<rl_tools::rl::environments::pendulum::Specification<T, TI>>;
"""


def sb3_side(learner, size, steps):
    import time

    import gymnasium
    import stable_baselines3
    import torch
    from stable_baselines3.common.callbacks import BaseCallback

    class Clock(BaseCallback):
        begin = end = 0.0

        def _on_step(self):
            if self.num_timesteps == 2 * STARTS:
                self.begin = time.process_time()
            self.end = time.process_time()
            return True

    torch.set_num_threads(1)
    more = {"train_freq": 1, "exploration_fraction": 0.001} if learner == "dqn" else {}  # acts with the net, as ours
    model = getattr(stable_baselines3, learner.upper())(
        "MlpPolicy", gymnasium.make(SB3_ENVS[learner]), learning_starts=STARTS, batch_size=BATCH, learning_rate=LR, device="cpu", seed=0,
        policy_kwargs={"net_arch": [size, size]}, **more)
    clock = Clock()
    model.learn(2 * STARTS + steps, callback=clock)
    print(json.dumps({"cpu_us": 1e6 * (clock.end - clock.begin) / steps}))


def rltools_side(_, size, steps):
    import time

    import rltools

    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "environment.h").write_text(PENDULUM)
        module = rltools.SAC({"path": folder, "action_dim": 1, "observation_dim": 3}, enable_evaluation=False, interface_name=f"bench_{size}",
                             ACTOR_BATCH_SIZE=BATCH, CRITIC_BATCH_SIZE=BATCH, N_WARMUP_STEPS=STARTS, STEP_LIMIT=1_000_000, ACTOR_HIDDEN_DIM=size,
                             CRITIC_HIDDEN_DIM=size, ALPHA=1.0, OPTIMIZER_ALPHA=LR, REPLAY_BUFFER_CAP=100_000, EPISODE_STEP_LIMIT=200)
    state = module.State(1)
    for _ in range(2 * STARTS):
        state.step()
    begin = time.process_time()
    for _ in range(steps):
        state.step()
    print(json.dumps({"cpu_us": 1e6 * (time.process_time() - begin) / steps}))


def ours(args, folder, size, core):
    def cpu(steps):
        out = pathlib.Path(tempfile.mkdtemp(dir=folder)) / "out"
        file = out.with_suffix(".yaml")
        more = {"train_freq": 1, "epsilon_steps": 0} if args.learner == "dqn" else {}
        options = {"hidden": [size, size], "batch_size": BATCH, "learning_starts": STARTS, "lr": LR} | more
        file.write_text(json.dumps({  # JSON is YAML
            "experiment": "train", "env": {"plugin": ENVS[args.peer, args.learner]}, "learner": {"plugin": args.learner, "options": options},
            "rollout": {"num_env_runners": 1, "num_envs_per_env_runner": 1, "threads": 1}, "resources": {"cpus": 1},
            "budget": {"env_steps": steps}, "monitors": []}))
        return on_cores([args.build / "bin/backplane", "run", file, "--out", out, "--quiet"], [core])

    # Whole iterations of 1,000 steps.
    short, long = cpu(1000), cpu(1000 + STEPS[size] // 1000 * 1000 + 1000)
    return 1e6 * (long.cpu_s - short.cpu_s) / (STEPS[size] // 1000 * 1000 + 1000), max(short.others, long.others)


def theirs(args, size, core):
    run = on_cores([args.python, __file__, args.peer, "--learner", args.learner, "--side", size], [core], OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")
    return last_json(run.stdout)["cpu_us"], run.others


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", choices=("sb3", "rltools"))
    parser.add_argument("--learner", choices=SB3_ENVS, default="sac")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--side", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if (args.peer, args.learner) not in ENVS:
        parser.error(f"--learner: expected sac with {args.peer}, got {args.learner}")
    if args.side:
        return {"sb3": sb3_side, "rltools": rltools_side}[args.peer](args.learner, args.side, STEPS[args.side])
    args.build = args.build.resolve()
    adopt_orphans()
    core, found = sorted(os.sched_getaffinity(0))[-1], {size: [] for size in SIZES}
    with tempfile.TemporaryDirectory() as folder:
        if args.peer == "rltools":  # compiles
            for size in SIZES:
                theirs(args, size, core)
        for turn in range(args.rounds):
            for size in SIZES:
                mine, peer = (ours(args, folder, size, core), theirs(args, size, core)) if turn % 2 == 0 else reversed(
                    (theirs(args, size, core), ours(args, folder, size, core)))
                quiet = max(mine[1], peer[1]) <= QUIET
                found[size].append((peer[0] / mine[0], quiet))
                print(f"{size}-{size}: ours {mine[0]:,.0f} us of CPU per step, {args.peer} {peer[0]:,.0f}: {peer[0] / mine[0]:.2f}{'' if quiet else ' ~'}", flush=True)
    figures = {}
    for size, rounds in found.items():
        kept = [ratio for ratio, quiet in rounds if quiet]
        figures[f"train/{args.learner}/{args.peer}/{size}"] = {**spread(kept or [ratio for ratio, _ in rounds]), "disturbed": not kept}
    print(json.dumps({"figures": figures}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
