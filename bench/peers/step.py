#!/usr/bin/env python3
"""Compares env stepping with the peers, in turn, and prints ours / peer: as shipped, and each divided by its own raw rate.

  bench/peers/step.py --venv VENV [--task TASK] [--rounds N] [--seconds S]

The second ratio measures the host; the first one also includes the build of MuJoCo. Classic control tasks need no library and by default
run 1,024 rows on one core. The last line is a JSON object. See README.md for the environment.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from figures.readers import spread  # noqa: E402

# The approximate speed chooses our horizon.
TASKS = {"ant": ("Ant-v5", 15000), "humanoid": ("Humanoid-v5", 14000), "half_cheetah": ("HalfCheetah-v5", 100000),
         "hopper": ("Hopper-v5", 60000), "humanoid_standup": ("HumanoidStandup-v5", 10000),
         "inverted_double_pendulum": ("InvertedDoublePendulum-v5", 100000), "inverted_pendulum": ("InvertedPendulum-v5", 300000),
         "pusher": ("Pusher-v5", 50000), "reacher": ("Reacher-v5", 200000), "swimmer": ("Swimmer-v5", 100000),
         "walker2d": ("Walker2d-v5", 40000),
         "acrobot": ("Acrobot-v1", 2000000), "cartpole": ("CartPole-v1", 25000000), "mountain_car": ("MountainCar-v0", 25000000),
         "mountain_car_continuous": ("MountainCarContinuous-v0", 25000000), "pendulum": ("Pendulum-v1", 15000000)}
SMALL = {"acrobot": "sync", "cartpole": "numpy", "mountain_car": "sync", "mountain_car_continuous": "sync", "pendulum": "sync"}  # Gymnasium's fastest vector env
FILES = {"humanoid_standup": "humanoidstandup", "pusher": "pusher_v5", "walker2d": "walker2d_v5"}  # names of Gymnasium's models


def output(command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        raise SystemExit(f"{' '.join(map(str, command))}\nexit {done.returncode}\n{done.stderr}")
    return json.loads(lines[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--venv", type=pathlib.Path, required=True)
    parser.add_argument("--task", choices=TASKS, default="ant")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--modes", nargs="+")
    args = parser.parse_args()
    small = args.task in SMALL
    args.rows, args.threads = args.rows or (1024 if small else 64), args.threads or (1 if small else 2)
    args.modes = args.modes or (["envpool/sync", "gymnasium/" + SMALL[args.task]] if small else ["envpool/sync", "envpool/async", "gymnasium/sync", "gymnasium/async"])
    python = args.venv / "bin/python"
    packages = next(args.venv.glob("lib/python3*/site-packages"))
    plugins = args.build / "lib/backplane/plugins"
    env = plugins / f"env_{args.task}.so"
    if not env.exists():
        raise SystemExit(f"{env.name} is not built: scripts/build release")
    xml = packages / f"gymnasium/envs/mujoco/assets/{FILES.get(args.task, args.task)}.xml"
    libraries = {} if small else {"ours": next(plugins.glob("libmujoco.so.*"))}
    for tool, files in (("gymnasium", packages.glob("mujoco/libmujoco.so*")), ("envpool", packages.glob("envpool/mujoco/mujoco_gym*.so"))):
        if libraries and any(mode.startswith(tool) for mode in args.modes):
            libraries[tool] = next(files)
    # A rollout stores its frames, so use many short ones if steps are cheap.
    steps = max(8, int(args.seconds * TASKS[args.task][1] / args.rows))
    horizon = min(steps, 4096)

    rates = {name: [] for name in ["ours", *args.modes]}
    raw, versions = {name: [] for name in libraries}, {}
    for _ in range(args.rounds):
        ours = output([args.build / "bench/bench_host", "cost", env, f"rows={args.rows}", f"threads={args.threads}",
                       f"horizon={horizon}", f"pairs={max(1, steps // horizon)}"])
        rates["ours"].append(1e6 / ours["wall_us"]["median"])
        for mode in args.modes:
            tool, kind = mode.split("/")
            found = output([python, HERE / "step_peer.py", tool, TASKS[args.task][0], kind, args.rows, args.threads, args.seconds])
            rates[mode].append(found["sps"])
            versions[tool] = found["version"]
        for name, library in libraries.items():
            found = output([python, HERE / "raw_rate.py", library, xml, args.task, args.threads, args.seconds])
            raw[name].append(found["sps"])
            versions[f"{name}'s MuJoCo"] = found["version"]

    print(f"{args.task}, {args.rows} rows, {args.threads} threads, {args.rounds} rounds in turn: median (range)")
    print("  " + ", ".join(f"{name} {version}" for name, version in versions.items()))
    for name in rates:
        tool = name.split("/")[0]
        text = f"  {name:16} {said(rates[name], ',.0f')} steps/s"
        if libraries:
            text += f", {said(over(rates[name], raw[tool]), '.3f')} of its own raw rate"
        if name != "ours":
            shipped = over(rates["ours"], rates[name])
            text += f"; ours / it {said(shipped, '.3f')} as shipped"
            if libraries:
                text += f", {said(by_raw(shipped, raw, tool), '.3f')} by raw rates"
        print(text)
    print(json.dumps({"figures": best_of(args, rates, raw)}))


def over(these, those):
    return [a / b for a, b in zip(these, those)]


def by_raw(shipped, raw, tool):
    return [ratio * theirs / ours for ratio, theirs, ours in zip(shipped, raw[tool], raw["ours"])]


def best_of(args, rates, raw):
    """Ours over the best mode of each tool, per round."""
    figures = {}
    for tool in dict.fromkeys(mode.split("/")[0] for mode in args.modes):
        best = [max(turn) for turn in zip(*(rates[mode] for mode in args.modes if mode.startswith(tool)))]
        shipped = over(rates["ours"], best)
        figures[f"step/{args.task}/{tool}"] = spread(shipped)
        if raw:
            figures[f"step/{args.task}/{tool}/by_raw_rates"] = spread(by_raw(shipped, raw, tool))
    return figures


def said(values, form):
    return f"{statistics.median(values):{form}} ({min(values):{form}} .. {max(values):{form}})"


if __name__ == "__main__":
    sys.exit(main())
