#!/usr/bin/env python3
"""Measures `backplane status` on the folder of an experiment with many finished trials.

usage: status_of_many.py [--build build/release] [--trials 20000] [--rounds 5] [--at-most-s 1] [--quick]

Runs one trial that does nothing and writes its files for all other trials of the plan, so the folder is as large as after a whole run. Prints
one JSON object: the wall and CPU time of each `status`, whose files are in the page cache, and the number of files. Exits with 1 if the
median wall time is above --at-most-s. --quick is a small folder and one round.
"""
import argparse
import json
import pathlib
import re
import sys
import tempfile

from measured_run import measure, spread
from null_trials import EXPERIMENT


def only_first(program, file, out, trials):
    """Plans all trials and runs one of them."""
    file.write_text(EXPERIMENT % 1)
    measure([program, "run", file, "--out", out, "--quiet"], memory=False).check()
    listed = measure([program, "run", file, "--dry-run", "--json", "--out", out, f"sweep.seeds.n={trials}"], memory=False).check()
    return [trial["trial_id"] for trial in json.loads(listed.stdout)["trials"]]


def fill(out, ids):
    """Writes plan, events and files of all trials as copies of the first one's."""
    plan = [json.loads(line) for line in (out / "plan.jsonl").read_text().splitlines()]
    events = [json.loads(line) for line in (out / "events.jsonl").read_text().splitlines()]
    [own] = [line for line in plan if "trial_id" in line]
    first = out / "trials" / own["trial_id"]
    files = {file.relative_to(first): file.read_bytes() for file in first.rglob("*") if file.is_file()}
    attempt = [event for event in events if event.get("trial_id") == own["trial_id"]]
    last = events.pop()
    for seed, trial in enumerate(ids):
        if trial == own["trial_id"]:
            continue
        plan.append(own | {"trial_id": trial, "seed": seed})
        for name, data in files.items():
            (out / "trials" / trial / name).parent.mkdir(parents=True, exist_ok=True)
            (out / "trials" / trial / name).write_bytes(data)
        for event in attempt:
            events.append(event | {"trial_id": trial, "seq": len(events) + 1})
    events.append(last | {"seq": len(events) + 1})
    for name, lines in (("plan", plan), ("events", events)):
        (out / f"{name}.jsonl").write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    return len(files) * len(ids)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--trials", type=int, default=20000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--at-most-s", type=float)
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    if args.quick:
        args.trials, args.rounds = 1500, 1
    program = pathlib.Path(args.build).resolve() / "bin/backplane"
    with tempfile.TemporaryDirectory() as name:
        out = pathlib.Path(name) / "out"
        files = fill(out, only_first(program, pathlib.Path(name) / "many.yaml", out, args.trials))
        runs = []
        for _ in range(args.rounds + 1):  # the first one fills the cache
            run = measure([program, "status", out], memory=False).check()
            assert f"{args.trials} of {args.trials} done" in run.stdout, run.stdout[:300]
            assert re.search(r"^disk: [\d.]+ \w+ ", run.stdout, re.M), run.stdout[-300:]
            runs.append(run)
    found = {"trials": args.trials, "files": files, "wall_s": spread([run.wall_s for run in runs[1:]]),
             "cpu_s": spread([run.cpu_s for run in runs[1:]]), "others": max(run.others for run in runs[1:])}
    print(json.dumps(found, indent=1))
    return bool(args.at_most_s and found["wall_s"]["median"] > args.at_most_s)


if __name__ == "__main__":
    sys.exit(main())
