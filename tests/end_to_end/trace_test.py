#!/usr/bin/env python3
"""trace.json of a trial that Ctrl-C ends: valid JSON, spans nested per track, and the phases' sums as in result.json.

  trace_test.py PROGRAM
"""
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

EXPERIMENT = """
experiment: traced
env: {plugin: cartpole}
learner: {plugin: random, options: {horizon: 512}}
rollout: {num_env_runners: 2, num_envs_per_env_runner: 8, threads: 2}
budget: {wall_time: 120s}
monitors: [resources, {plugin: trace, options: {iterations: %d}}]
"""


def nanoseconds(microseconds):
    return round(microseconds * 1000)


def run(program, folder, iterations):
    """Runs until some iterations have ended, and sends Ctrl-C; returns the attempt's folder."""
    (folder / "traced.yaml").write_text(EXPERIMENT % iterations)
    with open(folder / "log", "w") as log:
        out = folder / f"of_{iterations}"  # a fresh folder, because old files look like this run's
        process = subprocess.Popen([program, "run", "traced.yaml", "--out", str(out)], cwd=folder, stdout=log, stderr=log)
        for _ in range(600):
            lines = [file.read_text().count("\n") for file in out.glob("trials/*/attempt-1/metrics.jsonl")]
            if lines and lines[0] > 50:
                break
            time.sleep(0.05)
        time.sleep(1.2)  # a sample of the resources monitor, so that its counters are there
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130, (folder / "log").read_text()
    attempt, = out.glob("trials/*/attempt-1")
    return attempt


def check_tracks(events):
    """Spans of a track are disjoint or nested. Returns the tracks' names."""
    names = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    assert any(e["ph"] == "M" and e["name"] == "process_name" for e in events)
    for track in {e["tid"] for e in events if e["ph"] == "X"}:
        assert track in names, f"track {track} has no name"
        open_until = []
        spans = [(nanoseconds(e["ts"]), nanoseconds(e["dur"])) for e in events if e["ph"] == "X" and e["tid"] == track]
        for begin, duration in sorted(spans, key=lambda s: (s[0], -s[1])):
            assert begin >= 0 and duration >= 0
            while open_until and open_until[-1] <= begin:
                open_until.pop()
            assert not open_until or begin + duration <= open_until[-1], f"{names[track]}: a span crosses another's end at {begin} ns"
            open_until.append(begin + duration)
    return names


def check_all_traced(attempt):
    """With every iteration traced, the trace and the table of phases show the same times."""
    events = json.loads((attempt / "trace.json").read_text())["traceEvents"]
    names = check_tracks(events)
    assert set(names.values()) == {"iterations", "control thread", "thread 1"}, names
    result = json.loads((attempt / "result.json").read_text())
    assert result["events_dropped"] == 0, result["events_dropped"]
    sums = {}
    for e in events:
        if e["ph"] == "X" and names[e["tid"]] != "iterations":
            sums[e["name"]] = sums.get(e["name"], 0) + e["dur"] * 1e-6
    for phase in result["phases"]:
        if phase["name"] in ("env_step", "infer", "env_reset"):
            found = sums.get(phase["name"], 0)
            assert abs(found - phase["seconds"]) < 1e-6, f"{phase['name']}: {found} s traced, {phase['seconds']} s in result.json"
    iterations = [e for e in events if e["ph"] == "X" and names[e["tid"]] == "iterations"]
    assert len(iterations) == result["iterations"], (len(iterations), result["iterations"])
    counters = {e["name"] for e in events if e["ph"] == "C"}
    assert {"SPS", "resources/rss_mb", "rollout/balance"} <= counters, counters
    spans = sum(1 for e in events if e["ph"] == "X")
    print(f"{spans} spans of {result['iterations']} iterations, {result['env_steps']} env steps: nested, sums as in result.json")
    assert spans < result["env_steps"], "a span per step"


def check_first_traced(attempt, iterations):
    events = json.loads((attempt / "trace.json").read_text())["traceEvents"]
    names = check_tracks(events)
    spans = [e for e in events if e["ph"] == "X"]
    ends = sorted(e["ts"] + e["dur"] for e in spans if names[e["tid"]] == "iterations")
    phases = [e["ts"] + e["dur"] for e in spans if names[e["tid"]] != "iterations"]
    assert len(ends) > iterations
    assert phases and max(phases) <= ends[iterations], "phases of later iterations were traced"
    print(f"{len(phases)} phase spans of {iterations} iterations, then none")


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_all_traced(run(program, folder, iterations=1_000_000))
        check_first_traced(run(program, folder, iterations=2), iterations=2)


if __name__ == "__main__":
    main()
