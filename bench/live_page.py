#!/usr/bin/env python3
"""Measures the page of a running batch: its size, and the CPU time per update.

usage: live_page.py [--build build/release] [--trials 200] [--iterations 1000] [--seconds 60]

Runs a batch of one trial, copies that trial --trials times, and lets two copies grow while `backplane-report --live` writes the page.
Prints a line per update.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

from figures.readers import spread

EXPERIMENT = """
experiment: many
env: {plugin: cartpole}
learner: {plugin: ppo, options: {train_batch_size: 256, minibatch_size: 128, num_epochs: 1}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 4}
budget: {iterations: %d}
monitors: [resources]
"""


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def multiply(out, trials):
    """Copies the first trial under other ids and seeds; all but two have ended."""
    plan = json.loads((out / "plan.jsonl").read_text().splitlines()[0])
    first = plan["trial_id"]
    events = [json.loads(line) for line in (out / "events.jsonl").read_text().splitlines()]
    of_trial = [event for event in events if event.get("trial_id") == first]
    progress = json.loads((out / "progress.json").read_text())
    lines, new_events, rows = [], [events[0]], []
    for i in range(trials):
        name = first if i == 0 else f"{i:016x}"
        if i:
            shutil.copytree(out / "trials" / first, out / "trials" / name)
        lines.append({**plan, "trial_id": name, "point_id": f"p{i:015x}", "name": f"lr={i}", "seed": 0})
        runs = i >= trials - 2
        new_events += [{**event, "trial_id": name} for event in of_trial if not (runs and event["kind"] == "attempt.end")]
        rows.append({**progress["trials"][0], "id": name, "name": f"lr={i}", "state": "RUNNING" if runs else "COMPLETED", "progress": 0.5 if runs else 1})
    (out / "plan.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (out / "events.jsonl").write_text("".join(json.dumps({**event, "seq": seq + 1}) + "\n" for seq, event in enumerate(new_events)))
    progress.update(state="running", total=trials, done=trials - 2, counts={"COMPLETED": trials - 2, "RUNNING": 2}, eta_s=60, trials=rows)
    (out / "progress.json").write_text(json.dumps(progress))
    return [out / "trials" / f"{i:016x}" / "attempt-1" / "metrics.jsonl" for i in range(trials - 2, trials)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--iterations", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--keep", type=pathlib.Path, help="leave the page here")
    arguments = parser.parse_args()
    programs = arguments.build.resolve() / "bin"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "many.yaml").write_text(EXPERIMENT % arguments.iterations)
        subprocess.run([programs / "backplane", "run", "many.yaml", "--quiet", "--out", "results/many"], cwd=folder, check=True)
        out = folder / "results" / "many"
        (out / "index.html").unlink()
        growing = multiply(out, arguments.trials)
        later = growing[0].read_text().splitlines(keepends=True)
        for file in growing:
            file.write_text("".join(later[: len(later) // 2]))
        writer = subprocess.Popen([programs / "backplane-report", "--live", out])
        begin, last_cpu, last_written, added, costs = time.monotonic(), 0.0, 0, len(later) // 2, []
        try:
            while time.monotonic() - begin < arguments.seconds:
                time.sleep(0.2)
                if added < len(later):
                    for file in growing:
                        with file.open("a") as stream:
                            stream.write(later[added])
                    added += 1
                page = out / "index.html"
                written = page.stat().st_mtime_ns if page.exists() else last_written
                if written == last_written:
                    continue
                time.sleep(0.1)  # its CPU time comes in ticks
                cpu, text = cpu_seconds(writer.pid), page.read_text()
                curves = len(re.findall(r'":\[\[', text))
                rss = int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{writer.pid}/status").read_text())[1]) / 1024
                print(f"{time.monotonic() - begin:6.1f} s  {len(text.encode()) / 1e6:.2f} MB  {cpu - last_cpu:.2f} s of CPU  {curves} curves  {rss:.0f} MiB", flush=True)
                costs.append(cpu - last_cpu)
                last_cpu, last_written = cpu, written
            share = cpu_seconds(writer.pid) / (time.monotonic() - begin)
            print(f"in all {share:.2%} of a core")
            print(json.dumps({"figures": {"live_page_core": share, **({"live_page_cpu_s": spread(costs)} if costs else {})}}))
        finally:
            writer.kill()
            writer.wait()
        if arguments.keep:
            shutil.copy(out / "index.html", arguments.keep)


if __name__ == "__main__":
    main()
