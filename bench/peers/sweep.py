#!/usr/bin/env python3
"""Measures a batch's overhead per trial: a sweep of almost empty trials, on ours and on the peers.

  bench/peers/sweep.py [--trials 64] [--jobs 1] [--rounds 3] [--ray-python PY] [--hydra-python PY]

Ours runs twice: as a batch (`backplane run`, each trial a process under a shim, with checks, events and database), and as the trials'
own processes (`run-trial`) one by one. The difference is the supervisor's cost. Ray Tune uses a fresh process per trial, as ours does;
Hydra's launcher runs everything in one process. Prints one JSON object, and in a last line the ratios of the rounds.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))
from figures.readers import spread  # noqa: E402
from null_trials import EXPERIMENT  # noqa: E402

RAY = """
import sys, time, tempfile, logging
import ray
from ray import tune
def null(config): tune.report({"x": config["i"]})
n, jobs = int(sys.argv[1]), int(sys.argv[2])
with tempfile.TemporaryDirectory() as d:
    ray.init(log_to_driver=False, logging_level=logging.ERROR)
    walls = []
    for k in (1, n):  # the first fit warms up
        t = time.perf_counter()
        r = tune.Tuner(null, param_space={"i": tune.grid_search(list(range(k)))}, tune_config=tune.TuneConfig(max_concurrent_trials=jobs),
                       run_config=tune.RunConfig(storage_path=d, name=f"n{k}", verbose=0)).fit()
        assert len(r) == k and not r.num_errors
        walls.append(time.perf_counter() - t)
    ray.shutdown()
print("ms", walls[1] / n * 1e3)
"""

HYDRA = """
import hydra
from omegaconf import OmegaConf
from hydra.core.config_store import ConfigStore
ConfigStore.instance().store(name="c", node=OmegaConf.create({"i": 0}))
@hydra.main(version_base=None, config_name="c")
def main(c): return c.i
main()
"""


def wall(command, **options):
    began = time.perf_counter()
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nexit {done.returncode}\n{done.stderr[-2000:]}")
    return time.perf_counter() - began, done.stdout


def ours(program, folder, trials, jobs):
    config = folder / "null.yaml"
    seconds = {}
    for n in (1, trials):
        config.write_text(EXPERIMENT % n)
        out = folder / f"out{n}"
        shutil.rmtree(out, ignore_errors=True)
        seconds[n], _ = wall([program, "run", config, "--out", out, "--jobs", jobs, "--quiet"])
    trial_json = sorted(out.glob("trials/*/trial.json"))[:20]
    own = []
    for file in trial_json:
        spec = json.loads(file.read_text())
        spec["attempt_dir"] = str(folder / "own" / spec["trial_id"])
        spec["checkpoint_dir"] = spec["attempt_dir"] + "/checkpoint"
        shutil.rmtree(spec["attempt_dir"], ignore_errors=True)
        os.makedirs(spec["attempt_dir"])
        again = folder / "own.json"
        again.write_text(json.dumps(spec))
        own.append(wall([pathlib.Path(program).parent / "backplane-trial", "run-trial", again])[0])
    batch_ms = (seconds[trials] - seconds[1]) / (trials - 1) * 1e3
    own_ms = statistics.median(own) * 1e3
    return {"batch_ms_per_trial": batch_ms, "trial_alone_ms": own_ms, "beyond_the_trial_ms": batch_ms - own_ms / jobs}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=64)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--ray-python")
    parser.add_argument("--hydra-python")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    args = parser.parse_args()
    found = {"trials": args.trials, "jobs": args.jobs, "ours": [], "ray_tune_ms_per_trial": [], "hydra_ms_per_job": []}
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "RAY_AIR_NEW_OUTPUT": "0", "RAY_worker_niceness": "0"}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for _ in range(args.rounds):
            found["ours"].append(ours(args.build.resolve() / "bin/backplane", folder, args.trials, args.jobs))
            if args.ray_python:
                text = wall([args.ray_python, "-c", RAY, args.trials, args.jobs], env=environment)[1]
                found["ray_tune_ms_per_trial"].append(float(text.split("ms")[-1]))
            if args.hydra_python:
                script = folder / "job.py"
                script.write_text(HYDRA)
                seconds = {n: wall([args.hydra_python, script, "-m", f"i=range({n})", f"hydra.sweep.dir={folder}/hydra"])[0]
                           for n in (1, args.trials)}
                found["hydra_ms_per_job"].append((seconds[args.trials] - seconds[1]) / (args.trials - 1) * 1e3)
    mine = [turn["batch_ms_per_trial"] for turn in found["ours"]]
    figures = {"sweep/ours_ms": spread(mine)}
    for peer, times in (("ray_tune", "ray_tune_ms_per_trial"), ("hydra", "hydra_ms_per_job")):
        if found[times]:
            figures[f"sweep/{peer}_over_ours"] = spread(theirs / ours_ms for theirs, ours_ms in zip(found[times], mine))
    print(json.dumps(found, indent=1))
    print(json.dumps({"figures": figures}))


if __name__ == "__main__":
    main()
