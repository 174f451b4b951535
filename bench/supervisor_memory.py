#!/usr/bin/env python3
"""Measures the supervisor's memory in a long batch, which should not grow with the number of ended trials.

usage: supervisor_memory.py [--build build/release] [--trials 10000] [--at-most-mib 2]

Runs that many trials of one env step each and prints the supervisor's resident memory after each tenth of them. Exits with 1 if it grows
by more than --at-most-mib from the first tenth to the end. Results of a trial belong in its files and in the plan's tables, which have
their full length from the start.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

EXPERIMENT = """
experiment: many
env: {plugin: cartpole}
learner: {plugin: random, options: {horizon: 1}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 1}
budget: {iterations: 1}
evaluation: {episodes: 0}
monitors: []
sweep: {seeds: {n: %d}}
"""


def memory_mib(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1]) / 1024


class Ended:
    """Ended attempts, read from the end of the last call."""

    def __init__(self, file):
        self.file, self.offset, self.count = file, 0, 0

    def look(self):
        if self.file.exists():
            with self.file.open("rb") as stream:
                stream.seek(self.offset)
                lines = stream.read().rpartition(b"\n")[0]
                self.offset += len(lines)
                self.count += lines.count(b'"attempt.end"')
        return self.count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--trials", type=int, default=10000)
    parser.add_argument("--at-most-mib", type=float, default=2)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "many.yaml").write_text(EXPERIMENT % arguments.trials)
        program = arguments.build.resolve() / "bin" / "backplane"
        batch = subprocess.Popen([program, "run", "many.yaml", "--quiet"], cwd=folder, stdout=subprocess.DEVNULL)
        ended, seen = Ended(folder / "outputs/many/events.jsonl"), []
        try:
            while batch.poll() is None:
                count = ended.look()
                if count >= (len(seen) + 1) * arguments.trials // 10:
                    seen.append(memory_mib(batch.pid))
                    print(f"{count:6} trials  {seen[-1]:6.1f} MiB", flush=True)
                    if len(seen) == 10:
                        break
                time.sleep(0.02)
            code = batch.wait()
        finally:
            batch.kill()
            batch.wait()
    if code != 0 or len(seen) < 9:
        sys.exit(f"supervisor_memory: the batch ended with {code} after {ended.count} trials")
    grown = seen[-1] - seen[0]
    print(f"from the first tenth on it has grown by {grown:.1f} MiB, {grown * 2**20 / (0.9 * arguments.trials):.0f} bytes a trial")
    print(json.dumps({"figures": {"supervisor_grown_mib": grown}}))
    sys.exit(1 if grown > arguments.at_most_mib else 0)


if __name__ == "__main__":
    main()
