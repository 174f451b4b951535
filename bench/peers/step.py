#!/usr/bin/env python3
"""Runs the peers' env stepping beside ours, in turn, and prints ours / peer: as shipped, and each divided by its own raw rate.

  bench/peers/step.py --venv VENV [--task ant|humanoid|half_cheetah] [--rounds N] [--seconds S]

The second ratio is what the host is worth; the first one also holds the build of MuJoCo. See README.md for the environment.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HERE = pathlib.Path(__file__).resolve().parent
ENV_IDS = {"ant": "Ant-v5", "humanoid": "Humanoid-v5", "half_cheetah": "HalfCheetah-v5"}
STEPS_PER_S = {"ant": 15000, "humanoid": 14000, "half_cheetah": 100000}  # about, to choose our horizon


def output(command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        raise SystemExit(f"{' '.join(map(str, command))}\nexit {done.returncode}\n{done.stderr}")
    return json.loads(lines[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--venv", type=pathlib.Path, required=True)
    parser.add_argument("--task", choices=ENV_IDS, default="ant")
    parser.add_argument("--rows", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--modes", nargs="+", default=["envpool/sync", "envpool/async", "gymnasium/sync", "gymnasium/async"])
    args = parser.parse_args()
    python = args.venv / "bin/python"
    packages = next(args.venv.glob("lib/python3*/site-packages"))
    plugins = ROOT / "build/release/lib/backplane/plugins"
    env = plugins / f"env_{args.task}.so"
    if not env.exists():
        raise SystemExit(f"{env.name} is not built: scripts/build release")
    xml = packages / f"gymnasium/envs/mujoco/assets/{args.task}.xml"
    libraries = {"ours": next(plugins.glob("libmujoco.so.*"))}
    for tool, files in (("gymnasium", packages.glob("mujoco/libmujoco.so*")), ("envpool", packages.glob("envpool/mujoco/mujoco_gym*.so"))):
        if any(mode.startswith(tool) for mode in args.modes):
            libraries[tool] = next(files)
    horizon = max(8, int(args.seconds * STEPS_PER_S[args.task] / args.rows))

    rates = {name: [] for name in ["ours", *args.modes]}
    raw, versions = {name: [] for name in libraries}, {}
    for _ in range(args.rounds):
        ours = output([ROOT / "build/release/bench/bench_host", "cost", env, f"rows={args.rows}", f"threads={args.threads}",
                       f"horizon={horizon}", "pairs=1"])
        rates["ours"].append(1e6 / ours["wall_us"]["median"])
        for mode in args.modes:
            tool, kind = mode.split("/")
            found = output([python, HERE / "step_peer.py", tool, ENV_IDS[args.task], kind, args.rows, args.threads, args.seconds])
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
        own = [rate / limit for rate, limit in zip(rates[name], raw[tool])]
        text = f"  {name:16} {spread(rates[name], ',.0f')} steps/s, {spread(own, '.3f')} of its own raw rate"
        if name != "ours":
            shipped = [a / b for a, b in zip(rates["ours"], rates[name])]
            divided = [s * raw[tool][i] / raw["ours"][i] for i, s in enumerate(shipped)]
            text += f"; ours / it {spread(shipped, '.3f')} as shipped, {spread(divided, '.3f')} by raw rates"
        print(text)


def spread(values, form):
    return f"{statistics.median(values):{form}} ({min(values):{form}} .. {max(values):{form}})"


if __name__ == "__main__":
    sys.exit(main())
