#!/usr/bin/env python3
"""Measures the overhead of a trial by command: CPU time of `run-trial` itself.

usage: command_overhead.py [--build build/release] [--rounds 20] [--at-most-ms 50]

For `true` and for a Python script with 100 reports: the CPU time of run-trial with all its children, minus the command's own. Median of
rounds, in turn. Exits with 1 if a median exceeds --at-most-ms.
"""
import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
REPORTS = "import backplane_client\nfor step in range(100):\n    backplane_client.log({'return': step, 'loss': 1.5}, step=step)\n"


def cpu_ms(words, **options):
    """CPU time of a process and all its waited-for children, in ms."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def prepared(program, folder, name, command):
    """trial.json of a batch that ran it once."""
    file = folder / f"{name}.yaml"
    file.write_text(f"learner: {{command: {json.dumps(command)}}}\n")
    subprocess.run([program, "run", file, "--out", folder / name, "--quiet"], check=True, cwd=folder, stdout=subprocess.DEVNULL)
    return next((folder / name / "trials").glob("*/trial.json"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--at-most-ms", type=float, default=50)
    args = parser.parse_args()
    program = pathlib.Path(args.build).resolve() / "bin/backplane"
    os.environ["PYTHONPATH"] = str(ROOT / "host/client")
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    worst, figures = 0, {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        script = folder / "reports.py"
        script.write_text(REPORTS)
        for title, command in (("true", ["/bin/true"]), ("100 reports", [sys.executable, str(script)])):
            trial = prepared(program, folder, title.replace(" ", "_"), command)
            result = trial.parent / "attempt-1/result.json"
            extra = []
            for _ in range(args.rounds):
                result.unlink()
                with_host = cpu_ms([program.parent / "backplane-trial", "run-trial", trial])
                extra.append(with_host - cpu_ms(command))
            median = statistics.median(extra)
            worst = max(worst, median)
            print(f"{title}: {median:.1f} ms on top of the command ({min(extra):.1f} to {max(extra):.1f}, {args.rounds} rounds)")
            figures["command_overhead_ms/" + title.replace(" ", "_")] = {"median": median, "min": min(extra), "max": max(extra), "n": args.rounds}
    print(json.dumps({"figures": figures}))
    return worst > args.at_most_ms


if __name__ == "__main__":
    sys.exit(main())
