#!/usr/bin/env python3
"""Measures the monitors' cost: a trial's wall time with / without them, and CPU time of their thread / of the trial. Prints a table and JSON.

  bench/monitors.py [--blocks N] [--iterations N] [--monitors ID...]

PPO on Ant. Trials run in blocks on, off, off, on, so that a machine that grows steadily slower or faster changes no ratio. README.md
defines the interval.
"""
import argparse
import json
import math
import pathlib
import statistics
import sys
import tempfile

from measured_run import adopt_orphans, measure, spread

ROOT = pathlib.Path(__file__).resolve().parent.parent
DISTURBED = 0.05  # of the machine's CPU time, as in report.py
BAR = 0.005  # CPU time of the monitors' thread / of the trial
BLOCK = ("on", "off", "off", "on")
CONFIG = """experiment: monitors
env: {plugin: ant}
learner: {plugin: ppo, options: {train_batch_size: 4000, hidden: [256, 256], minibatch_size: 128, num_epochs: 10}}
rollout: {num_env_runners: 2, num_envs_per_env_runner: 2}
"""


def t_quantile(df):
    """0.975 quantile of Student's t. The probability within -t .. t is a finite sum for whole df (Abramowitz and Stegun 26.7.3, 26.7.4)."""
    def within(angle):
        sine, cosine = math.sin(angle), math.cos(angle)
        term, total = (cosine, 0.0) if df % 2 else (1.0, 0.0)
        for k in range(2 + df % 2, df + 1, 2):
            total += term
            term *= (k - 1) / k * cosine * cosine
        return 2 / math.pi * (angle + sine * total) if df % 2 else sine * total

    low, high = 0.0, math.pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if within(middle) < 0.95 else (low, middle)
    return math.sqrt(df) * math.tan(low)


def trial(args, config, out, monitors):
    """Wall seconds from attempt.start to attempt.end, and the trial's recorded CPU time of its monitors, if any."""
    run = measure([args.build / "bin/backplane", "run", config, "--out", out, "--quiet", "--set", f"budget.iterations={args.iterations}",
                   "--set", f"monitors=[{','.join(monitors)}]"], memory=False).check()
    times = {event["kind"]: event["t"] for event in map(json.loads, (out / "events.jsonl").read_text().splitlines())}
    result = json.loads(next(out.glob("trials/*/attempt-1/result.json")).read_text())
    cpu = result.get("monitors") or {}
    share = cpu["cpu_s"] / cpu["process_cpu_s"] if cpu.get("process_cpu_s") and "cpu_s" in cpu else None
    return {"wall_s": times["attempt.end"] - times["attempt.start"], "cpu_s": run.cpu_s, "others": run.others, "monitor_share": share}


def interval(blocks, key):
    """Geometric mean of on / off over the blocks, with its 95 % t interval."""
    logs = [statistics.mean(math.log(run[key]) * (2 if run["side"] == "on" else -2) for run in block) for block in blocks]
    mean, half = statistics.mean(logs), t_quantile(len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs))
    return {"ratio": math.exp(mean), "low": math.exp(mean - half), "high": math.exp(mean + half), "n": len(logs)}


def run_blocks(args, monitors):
    blocks = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        config = folder / "monitors.yaml"
        config.write_text(CONFIG)
        for b in range(args.blocks):
            blocks.append([{"side": side, **trial(args, config, folder / f"{b}-{k}", monitors if side == "on" else [])}
                           for k, side in enumerate(BLOCK)])
            print(f"block {b + 1} of {args.blocks}: " + ", ".join(f"{run['side']} {run['wall_s']:.2f} s" for run in blocks[-1]),
                  file=sys.stderr, flush=True)
    return blocks


def summary(blocks):
    """Ratios of the quiet blocks, or of all if fewer than two are quiet, and the monitors' share per trial with monitors."""
    quiet = [block for block in blocks if all(run["others"] <= DISTURBED for run in block)]
    used = quiet if len(quiet) >= 2 else blocks
    shares = [run["monitor_share"] for block in blocks for run in block if run["side"] == "on" and run["monitor_share"] is not None]
    return {"disturbed": len(blocks) - len(quiet), "over_all": len(quiet) < 2, "wall": interval(used, "wall_s"),
            "cpu": interval(used, "cpu_s"), "monitor_share": spread(shares) if shares else None}


def print_table(found):
    for key, what in (("wall", "wall time, on / off"), ("cpu", "CPU time, on / off")):
        row, mark = found[key], "~" if found["over_all"] else " "
        print(f"{what:32} {mark}{row['ratio']:.4f}  95 % interval {row['low']:.4f} .. {row['high']:.4f}  n {row['n']}")
    share, what = found["monitor_share"], "CPU time, monitors / trial"
    if share is None:
        print(f"{what:32}  not in result.json of this build (monitors.cpu_s, monitors.process_cpu_s)")
    else:
        print(f"{what:32}  {share['median']:.3%}  {share['min']:.3%} .. {share['max']:.3%}  n {share['n']}  "
              f"at most {BAR:.1%}: {'reached' if share['median'] <= BAR else 'MISSED'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=10, help="of 4,000 steps; 10 take about 10 s on 2 cores")
    parser.add_argument("--monitors", nargs="+", metavar="ID", help="default: resources, and tensorboard where it is built")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    args = parser.parse_args()
    if args.blocks < 2:
        parser.error(f"--blocks: expected 2 or more, for an interval, got {args.blocks}")
    if not (args.build / "bin/backplane").exists():
        parser.error(f"{args.build / 'bin/backplane'} is not there: scripts/build release backplane plugins/all")
    plugins = args.build / "lib/backplane/plugins"
    monitors = args.monitors or [name for name in ("resources", "tensorboard") if (plugins / f"monitor_{name}.so").exists()]

    adopt_orphans()
    blocks = run_blocks(args, monitors)
    found = summary(blocks)
    print(f"Ant, {args.iterations} x 4000 steps, monitors {', '.join(monitors)} against none; "
          f"{found['disturbed']} of {len(blocks)} blocks disturbed")
    print_table(found)
    print(json.dumps({"schema": 1, "monitors": monitors, "iterations": args.iterations, **found, "blocks": blocks}))
    share = found["monitor_share"]
    return 1 if share and share["median"] > BAR else 0


if __name__ == "__main__":
    sys.exit(main())
