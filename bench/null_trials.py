#!/usr/bin/env python3
"""Measures the overhead per trial: CPU time of a batch of almost empty trials, with its supervisor and shims.

usage: null_trials.py [--build build/release] [--other BUILD] [--few 50] [--many 250] [--rounds 5] [--at-most-ms 12] [--quick]

Runs two batches in turn, with few and with many trials of one env step each. The figure is the difference of their CPU times (user and
system, all processes) per additional trial, which excludes a batch's fixed cost. For comparison it also measures, in turn, a shell's
start of /bin/true, and with --other a different build. Prints one JSON object with medians of the rounds. Rounds in which other programs
used more than 5 % of the machine are dropped. If none is left, the result is "disturbed", which neither reaches nor misses the bar.
Exits with 1 if an undisturbed median is above --at-most-ms. --quick is one small round.
"""
import argparse
import json
import pathlib
import sys
import tempfile

from measured_run import adopt_orphans, measure, spread

EXPERIMENT = """experiment: null_trials
env: {plugin: cartpole}
learner: {plugin: random, options: {horizon: 1}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 1, threads: 1}
budget: {iterations: 1}
monitors: []
sweep: {seeds: {n: %d}}
"""
STARTS = 200
DISTURBED = 0.05


class Subject:
    def __init__(self, build, folder, few, many):
        self.program = pathlib.Path(build).resolve() / "bin/backplane"
        self.folder, self.few, self.many, self.batches = folder, few, many, 0

    def batch(self, trials):
        self.batches += 1
        file = self.folder / "null_trials.yaml"
        file.write_text(EXPERIMENT % trials)
        out = self.folder / f"{self.program.parts[-3]}-{self.batches}"
        return measure([self.program, "run", file, "--out", out, "--jobs", 1, "--quiet"], memory=False).check()

    def round(self):
        """Milliseconds per trial, and the largest share of other programs."""
        few, many = self.batch(self.few), self.batch(self.many)
        return (many.cpu_s - few.cpu_s) / (self.many - self.few) * 1e3, max(few.others, many.others)


def start_ms():
    script = f"i=0; while [ $i -lt {STARTS} ]; do /bin/true; i=$((i+1)); done"
    return measure(["/bin/sh", "-c", script], memory=False).check().cpu_s / STARTS * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--other", help="another build, measured in turn")
    parser.add_argument("--few", type=int, default=50)
    parser.add_argument("--many", type=int, default=250)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--at-most-ms", type=float)
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    if args.quick:
        args.few, args.many, args.rounds = 2, 12, 1
    adopt_orphans()
    rounds = []
    with tempfile.TemporaryDirectory() as name:
        folders = [pathlib.Path(name) / side for side in ("this", "other")]
        for folder in folders:
            folder.mkdir()
        this = Subject(args.build, folders[0], args.few, args.many)
        other = Subject(args.other, folders[1], args.few, args.many) if args.other else None
        for _ in range(args.rounds):
            one = {"start_ms": start_ms()}
            one["trial_ms"], one["others"] = this.round()
            if other:
                one["other_ms"], others = other.round()
                one["others"] = max(one["others"], others)
            rounds.append(one)
    quiet = [one for one in rounds if one["others"] <= DISTURBED]
    used = quiet or rounds
    found = {"trial_ms": spread([one["trial_ms"] for one in used]),
             "starts_of_true": spread([one["trial_ms"] / one["start_ms"] for one in used]),
             "disturbed": not quiet, "rounds_left_out": len(rounds) - len(used)}
    if args.other:
        found["other_ms"] = spread([one["other_ms"] for one in used])
        found["ratio"] = spread([one["trial_ms"] / one["other_ms"] for one in used])
    print(json.dumps(found, indent=1))
    return bool(args.at_most_ms and quiet and found["trial_ms"]["median"] > args.at_most_ms)


if __name__ == "__main__":
    sys.exit(main())
