#!/usr/bin/env python3
"""Whole trials of the parallel-efficiency experiment, ours and RLlib's in turn. Prints a table and one JSON object.

  bench/peers/parallel_efficiency.py --python RLLIB_PYTHON [--rounds N] [--only ours|rllib]

PPO on Ant, 3 iterations of 4,000 steps, 256-256, minibatch 128, 10 epochs; 1x1, 1x2, 2x1, 2x2 (runners x envs of each). README.md
defines the measures of each side.
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
from measured_run import adopt_orphans, measure, spread  # noqa: E402

SETTINGS = [(1, 1), (1, 2), (2, 1), (2, 2)]
ITERATIONS, BATCH = 3, 4000
FIXED = {"budget.iterations": ITERATIONS, "learner.options.train_batch_size": BATCH, "learner.options.hidden": "[256,256]",
         "learner.options.minibatch_size": 128, "learner.options.num_epochs": 10,
         # The file's own report kind would add a warm-up iteration per trial and a second seed per setting.
         "report": "{kind: comparison, timing: true}"}
DISTURBED = 0.05  # of the machine's CPU time, as in scripts/bench
MB = 1e6
# RLlib / ours: name -> (our key, RLlib's key)
RATIOS = {"ratio_trial": ("trial_s", "trial_s"), "ratio_command": ("command_s", "trial_s"), "ratio_cpu": ("cpu_s", "cpu_s")}


def label(setting):
    return "{}x{}".format(*setting)


def run_facts(run):
    return {"cpu_s": run.cpu_s, "others": run.others, "tree_peak_rss_bytes": run.peak_rss_bytes,
            "tree_peak_pss_bytes": run.peak_pss_bytes, "left_behind": run.left_behind}


def attempts(out):
    """setting -> (seconds from attempt.start to attempt.end, that event) of a finished batch."""
    lines = [json.loads(line) for name in ("plan.jsonl", "events.jsonl") for line in (out / name).read_text().splitlines()]
    settings = {line["trial_id"]: (line["values"]["rollout.num_env_runners"], line["values"]["rollout.num_envs_per_env_runner"])
                for line in lines if "values" in line}
    began, found = {}, {}
    for line in lines:
        if line.get("kind") == "attempt.start":
            began[line["trial_id"]] = line["t"]
        elif line.get("kind") == "attempt.end":
            trial = line["trial_id"]
            result = json.loads((out / "trials" / trial / f"attempt-{line['attempt']}" / "result.json").read_text())
            if line["attempt"] != 1 or line["outcome"] != "ok" or result["env_steps"] < ITERATIONS * BATCH:
                sys.exit(f"trial {trial}: expected {ITERATIONS * BATCH} steps in one attempt, got {result['env_steps']} in attempt "
                         f"{line['attempt']}, outcome {line['outcome']}")
            found[settings[trial]] = (line["t"] - began[trial], line)
    return found


def ours(build, folder, settings):
    """One batch over the product of the settings' runners and envs."""
    out = pathlib.Path(tempfile.mkdtemp(dir=folder)) / "out"
    command = [build / "bin/backplane", "run", ROOT / "configs/parallel_efficiency/ant.yaml", "--out", out, "--quiet"]
    for path, value in FIXED.items():
        command += ["--set", f"{path}={value}"]
    for k, path in enumerate(("rollout.num_env_runners", "rollout.num_envs_per_env_runner")):
        values = ",".join(str(v) for v in sorted({setting[k] for setting in settings}))
        command += ["--sweep", f"{path}={values}"]
    run = measure(command).check()
    found = attempts(out)
    if set(found) != set(settings):
        sys.exit(f"wanted the settings {' '.join(map(label, settings))}, ran {' '.join(map(label, found))}")
    trials = {label(setting): {"trial_s": seconds, "trial_peak_rss_bytes": end["peak_rss_bytes"]}
              for setting, (seconds, end) in found.items()}
    return {"command_s": run.wall_s, "trials": trials, **run_facts(run)}


def one_of_ours(build, folder, setting):
    batch = ours(build, folder, [setting])
    return {**batch.pop("trials")[label(setting)], **batch}


def rllib(args, folder, setting):
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "RAY_TMPDIR": folder, "HOME": folder}  # it writes ~/ray_results
    environment.pop("OMP_NUM_THREADS", None)
    if args.rllib_threads:
        environment["OMP_NUM_THREADS"] = str(args.rllib_threads)
    run = measure([args.python, HERE / "train_rllib.py", *setting, ITERATIONS, args.rllib_net], env=environment).check()
    found = json.loads([line for line in run.stdout.splitlines() if line.startswith("{")][-1])
    if found["env_steps"] < ITERATIONS * BATCH:
        sys.exit(f"RLlib, {label(setting)}: expected {ITERATIONS * BATCH} steps, got {found['env_steps']}")
    return {"version": found["version"], "trial_s": run.wall_s, "start_s": found["ready_at"] - run.began,
            "train_s": found["trained_at"] - found["ready_at"], "stop_s": run.began + run.wall_s - found["trained_at"], **run_facts(run)}


def measured(args, folder):
    """One dictionary per run, in order."""
    runs = []
    for turn in range(args.rounds):
        for k, setting in enumerate(SETTINGS):
            sides = [side for side in ("ours", "rllib") if args.only in (None, side)]
            for side in sides if (turn + k) % 2 == 0 else reversed(sides):
                found = one_of_ours(args.build, folder, setting) if side == "ours" else rllib(args, folder, setting)
                runs.append({"round": turn, "setting": label(setting), "side": side, **found})
                print(f"round {turn + 1} of {args.rounds}, {label(setting)} {side}: {found['trial_s']:.2f} s", file=sys.stderr, flush=True)
        if args.only != "rllib":
            runs.append({"round": turn, "setting": "batch", "side": "ours", **ours(args.build, folder, SETTINGS)})
    return runs


def of(runs, setting, side, key):
    return [run[key] for run in runs if (run["setting"], run["side"]) == (setting, side)]


def summary(runs, setting):
    """Spreads over the rounds, and ratios of the pairs that ran in turn."""
    row = {"setting": setting}
    for side in ("ours", "rllib"):
        keys = [key for run in runs if (run["setting"], run["side"]) == (setting, side) for key in run if key.endswith(("_s", "_bytes"))]
        row[side] = {key: spread(of(runs, setting, side, key)) for key in dict.fromkeys(keys)} or None
    if row["ours"] and row["rllib"]:
        for name, (our_key, key) in RATIOS.items():
            row[name] = spread([b / a for a, b in zip(of(runs, setting, "ours", our_key), of(runs, setting, "rllib", key))])
    row["disturbed"] = sum(run["others"] > DISTURBED for run in runs if run["setting"] == setting)
    return row


def medians(rows):
    """Medians over the settings of the settings' medians."""
    found = {}
    for side in ("ours", "rllib"):
        for key in rows[0][side] or ():
            found[f"{side}/{key}"] = spread([row[side][key]["median"] for row in rows])["median"]
    for name in RATIOS:
        if name in rows[0]:
            found[name] = spread([row[name]["median"] for row in rows])["median"]
    return found


def columns(side, keys):
    """Seconds with two digits, bytes as MB; blank if the side did not run."""
    if side is None:
        return " " * 8 * len(keys)
    return "".join(f"{side[key]['median'] / MB:8.0f}" if key.endswith("_bytes") else f"{side[key]['median']:8.2f}" for key in keys)


def print_table(rows, batch):
    memory = ("tree_peak_pss_bytes", "tree_peak_rss_bytes")
    print(f"{'':8}|{'ours':^32}|{'RLlib':^48}|{'RLlib / ours':^24}")
    print(f"{'':8}|{'trial':>8}{'command':>8}{'PSS MB':>8}{'RSS MB':>8}|"
          f"{'trial':>8}{'start':>8}{'train':>8}{'stop':>8}{'PSS MB':>8}{'RSS MB':>8}|{'trial':>8}{'command':>8}{'CPU':>8}")
    for row in rows:
        ours = columns(row["ours"], ("trial_s", "command_s", *memory))
        theirs = columns(row["rllib"], ("trial_s", "start_s", "train_s", "stop_s", *memory))
        print(f"{row['setting']:6}{'~' if row['disturbed'] else ' '} |{ours}|{theirs}|{columns(row, [n for n in RATIOS if n in row])}")
    if batch:
        command = batch["ours"]["command_s"]["median"]
        print(f"all 4 in one of our batches: {command:.2f} s, {command / len(SETTINGS):.2f} s a trial; PSS, RSS MB"
              f"{columns(batch['ours'], memory)}{' ~' if batch['disturbed'] else ''}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", help="a Python with ray[rllib] and gymnasium[mujoco]")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--only", choices=["ours", "rllib"])
    parser.add_argument("--rllib-net", choices=["shared", "separate"], default="shared", help="actor and critic; ours are separate")
    parser.add_argument("--rllib-threads", type=int, metavar="N", help="OMP_NUM_THREADS of its learner; default: as shipped, one a core")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    args = parser.parse_args()
    if args.rounds < 1:
        parser.error(f"--rounds: expected 1 or more, got {args.rounds}")
    if args.only != "ours" and not args.python:
        parser.error("--python is missing: a Python with ray[rllib] and gymnasium[mujoco]; or --only ours")
    if args.only != "rllib" and not (args.build / "bin/backplane").exists():
        parser.error(f"{args.build / 'bin/backplane'} is not there: scripts/build release backplane plugins/all")
    adopt_orphans()
    with tempfile.TemporaryDirectory() as folder:
        runs = measured(args, folder)
    rows = [summary(runs, label(setting)) for setting in SETTINGS]
    batch = summary(runs, "batch") if args.only != "rllib" else None

    versions = sorted({run["version"] for run in runs if "version" in run})
    print(f"Ant, {ITERATIONS} x {BATCH} steps, {args.rounds} rounds in turn, medians in s; {os.cpu_count()} cores; "
          f"RLlib {' '.join(versions) or 'left out'}, net {args.rllib_net}, learner threads {args.rllib_threads or 'as shipped'}")
    print_table(rows, batch)
    left = sum(run["left_behind"] for run in runs)
    if any(run["others"] > DISTURBED for run in runs):
        print(f"~ other programs took more than {DISTURBED:.0%} of the machine's CPU time in one of its runs")
    print(f"processes left behind and killed: {left}")
    print(json.dumps({"schema": 1, "rounds": args.rounds, "iterations": ITERATIONS, "rllib_net": args.rllib_net,
                      "rllib_threads": args.rllib_threads, "settings": rows,
                      "batch": batch, "medians": medians(rows), "runs": runs}))


if __name__ == "__main__":
    main()
