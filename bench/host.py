#!/usr/bin/env python3
"""Measures figures that need several runs of bench_host or a run of `backplane`. The last line is a JSON object with the figures.

  bench/host.py agents        CPU time per env step of a 4-agent env at 4,096 rows / at 64
  bench/host.py many_uavs     CPU time of a UAV's step among 1,000 / among 10, at the same density
  bench/host.py tensor_grid   the grid as tensors and as the scalar env: million agent-steps per second
  bench/host.py start         milliseconds until a plugin is loaded and its 64 rows are reset
  bench/host.py phases        shares of a short PPO run
  bench/host.py e_train       steps per second: PPO on one core / the bare physics, in turn
  bench/host.py amp           PPO with `use_amp: true` / in float32 on one core, in turn
  bench/host.py dry_run       seconds of `run --dry-run` for a sweep of 10,000 points
"""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import tempfile
import time

from figures.readers import spread

ROOT = pathlib.Path(__file__).resolve().parent.parent
PPO = """
experiment: bench
env: {{plugin: {task}}}
learner: {{plugin: ppo, options: {options}}}
rollout: {{num_env_runners: {runners}, num_envs_per_env_runner: {envs}, threads: {runners}}}
resources: {{cpus: {runners}}}
budget: {{iterations: {iterations}}}
monitors: []
output: {{dir: {out}}}
"""
S64 = ("{{train_batch_size: 4096, minibatch_size: 2048, num_epochs: 4, hidden: [256, 256], activation: relu, normalize_obs: true, "
       "use_amp: {use_amp}}}")
SWEEP = """
experiment: ten_thousand
env: {plugin: ant}
learner: {plugin: ppo}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 1}
budget: {iterations: 1}
sweep:
  grid:
    learner.options.lr: {range: [0.0001, 0.0025, 0.0001]}
    learner.options.gamma: {range: [0.9, 0.919, 0.001]}
    rollout.num_envs_per_env_runner: {range: [1, 20, 1]}
"""


class Host:
    def __init__(self, args):
        self.build, self.pairs, self.quick = args.build, args.pairs, args.quick
        self.plugins, self.tests = self.build / "lib/backplane/plugins", self.build / "tests/plugins"

    def bench(self, *words, **environment):
        done = subprocess.run([self.build / "bench/bench_host", *map(str, words)], capture_output=True, text=True,
                              env={**os.environ, **environment})
        if done.returncode != 0:
            raise SystemExit(f"bench: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def train(self, folder, cores, **values):
        """result.json of a PPO trial."""
        file = pathlib.Path(folder) / "bench.yaml"
        out = pathlib.Path(tempfile.mkdtemp(dir=folder)) / "out"
        file.write_text(PPO.format(out=out, **values))
        subprocess.run(["taskset", "-c", ",".join(map(str, cores)), self.build / "bin/backplane", "run", file, "--quiet"], check=True, stdout=subprocess.PIPE)
        return json.loads(next(out.glob("trials/*/attempt-1/result.json")).read_text())


def cores(number):
    return sorted(os.sched_getaffinity(0))[-number:]


def agents(host):
    turns = 1 if host.quick else 3
    few, many, env = [], [], host.tests / "env_null_agents.so"
    for _ in range(turns):
        few.append(host.bench("cost", env, "rows=64", "chunk_rows=64", "horizon=1024", f"pairs={host.pairs}"))
        many.append(host.bench("cost", env, "rows=4096", "chunk_rows=64", "horizon=16", f"pairs={host.pairs}"))
    return {"agents_4096_over_64": spread(b["cpu_us"]["median"] / a["cpu_us"]["median"] for a, b in zip(few, many)),
            "agents_us_per_row": many[0]["cpu_us"]}


def many_uavs(host):
    """In turn, with equal numbers of UAV steps in both rollouts."""
    def cost(rows, horizon, uavs, side):
        found = host.bench("cost", host.plugins / "env_uav_grid.so", f"rows={rows}", "chunk_rows=16", f"horizon={horizon}", "masked=1", f"pairs={host.pairs}",
                           "env.others=patches", f"env.n_uavs={uavs}", f"env.n_obstacles={4 * uavs}", f"env.grid_size={side}")
        return found["cpu_us"]["median"] / found["agents"]
    rounds = [(cost(1, 41, 1000, 400), cost(64, 64, 10, 40)) for _ in range(1 if host.quick else 5)]
    return {"uav_grid_1000_over_10": spread(many / few for many, few in rounds), "uav_grid_1000_ns": spread(1e3 * many for many, _ in rounds)}


def tensor_grid(host):
    """OMP_NUM_THREADS sets LibTorch's threads, the host sets the scalar env's. With one thread, use CPU time, which other programs disturb
    less."""
    torch = next(iter(ROOT.glob(".venv/lib/python3*/site-packages/torch/lib")))
    found = {}
    for rows, horizon in ((64, 8),) if host.quick else ((64, 64), (1024, 16), (16384, 4)):
        for threads in (1, 2):
            setting = (f"rows={rows}", "chunk_rows=16", f"horizon={horizon}", "masked=1", f"pairs={host.pairs}")
            scalar = host.bench("cost", host.plugins / "env_uav_grid.so", *setting, f"threads={threads}")
            tensor = host.bench("cost", host.plugins / "env_uav_grid_tensor.so", *setting, BACKPLANE_TORCH_LIB=str(torch),
                                OMP_NUM_THREADS=str(threads), OMP_WAIT_POLICY="passive")
            for name, run in (("scalar", scalar), ("tensor", tensor)):
                us = run["cpu_us" if threads == 1 else "wall_us"]
                found[f"uav_grid_tensor/{name}/{rows}x{threads}_M_per_s"] = {
                    "median": run["agents"] / us["median"], "min": run["agents"] / us["max"], "max": run["agents"] / us["min"], "n": us["n"]}
    return found


def start(host):
    """Each in a fresh process."""
    found = {}
    for task in ("ant", "humanoid", "half_cheetah", "quadruped_stand"):
        env = host.plugins / f"env_{task}.so"
        if env.exists():
            found[f"start_ms/{task}"] = spread(host.bench("start", env, "rows=64")["wall_ms"] for _ in range(1 if host.quick else 5))
    return found


def phases(host):
    with tempfile.TemporaryDirectory() as folder:
        result = host.train(folder, cores(2), task="ant", options="{}", runners=2, envs=32, iterations=2 if host.quick else 20)
    found = {f"phases/ant/{phase['name']}": phase["share"] for phase in result["phases"]}
    return {**found, "phases/ant/sps": result["sps"], **{f"phases/ant/{name}": value for name, value in result["rollout"].items()}}


def e_train(host):
    """One shared net of 64-64, 4 epochs, minibatch 512, normalised observations. The raw rate covers the plugin's own steps."""
    options = "{train_batch_size: 4096, minibatch_size: 512, num_epochs: 4, hidden: [64, 64], share_layers: true, normalize_obs: true}"
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(1 if host.quick else 5):
            trial = host.train(folder, cores(1), task="ant", options=options, runners=1, envs=64, iterations=2 if host.quick else 12)
            raw = host.bench("raw", host.plugins / "env_ant.so", "rows=64", f"horizon={8 if host.quick else 128}", "pairs=1")
            ratios.append(trial["sps"] * raw["raw_cpu_us"]["median"] * 1e-6)
    return {"e_train": spread(ratios)}


def amp(host):
    """Two nets of 256-256, 4 epochs, minibatch 2,048, normalised observations. Also returns the updates' share of either time."""
    ratios, shares = [], {"false": [], "true": []}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(1 if host.quick else 7):
            sps = {}
            for word, found in shares.items():
                trial = host.train(folder, cores(1), task="ant", options=S64.format(use_amp=word), runners=1, envs=64, iterations=2 if host.quick else 10)
                sps[word] = trial["sps"]
                found.append(sum(phase["share"] for phase in trial["phases"] if phase["name"].startswith("update_")))
            ratios.append(sps["true"] / sps["false"])
    return {"amp": spread(ratios), "amp/update_share": spread(shares["true"]), "amp/update_share_float32": spread(shares["false"])}


def dry_run(host):
    """Plans and checks all trials without writing; --quick also reads a sweep of 10,000 points."""
    walls, cpus = [], []
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "sweep.yaml").write_text(SWEEP)
        for _ in range(1 if host.quick else 5):
            before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
            done = subprocess.run([host.build.resolve() / "bin/backplane", "run", "sweep.yaml", "--dry-run"], cwd=folder, capture_output=True, text=True)
            walls.append(time.perf_counter() - began)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpus.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
            if done.returncode != 0 or "10000" not in done.stdout.replace(",", ""):
                raise SystemExit(f"run --dry-run: exit {done.returncode}, wanted 10000 points\n{done.stdout[:400]}{done.stderr}")
    return {"dry_run_s": spread(walls), "dry_run_cpu_s": spread(cpus)}


WHAT = {f.__name__: f for f in (agents, many_uavs, tensor_grid, start, phases, e_train, amp, dry_run)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=WHAT)
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--quick", action="store_true", help="as little as still runs everything")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    args = parser.parse_args()
    print(json.dumps({"figures": WHAT[args.what](Host(args))}))


if __name__ == "__main__":
    main()
