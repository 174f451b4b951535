#!/usr/bin/env python3
"""Reads monitor.tensorboard's and `export tb`'s files with TensorBoard's own reader, and finds every value of metrics.jsonl.

  event_files_test.py PROGRAM        runs in .venv-oracle, which has TensorBoard's reader

One trial is interrupted and resumed, so that both writers make two files of one run. Another is killed and resumes from an older
checkpoint, so that the second file replaces a part of the first.
"""
import json
import math
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import time

from tensorboard.backend.event_processing import event_accumulator
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

EXPERIMENT = """
experiment: followed
env: {plugin: cartpole}
learner: {plugin: random, options: {horizon: 8192}}
rollout: {num_env_runners: 2, num_envs_per_env_runner: 4}
budget: {wall_time: 4s}
evaluation: {every_iterations: 2, episodes: 3}  # a slow machine has few iterations in its wall time
monitors: [resources, tensorboard]
"""
KILLED = """
experiment: killed
env: {plugin: cartpole}
learner: {plugin: random, options: {horizon: 256}}
rollout: {num_env_runners: 2, num_envs_per_env_runner: 4}
budget: {iterations: 5000}
evaluation: {every_iterations: 50, episodes: 3}
checkpoint: {every_iterations: 300}
on_failure: {signal: {retry: 1}}
"""
ALIASES = {"sps": "charts/SPS", "return": "charts/episodic_return"}


def series(line):
    """The numbers of a line of metrics.jsonl by name, parsed independently of the C++ code."""
    found = {"episodes": line["episodes"]}
    for prefix, episodes, metrics in (("", line, "ep"), ("eval/", line.get("eval", {}), "metrics")):
        means = {"return": episodes.get("return"), **episodes.get(metrics, {})}
        for name, mean in means.items():
            if mean and mean["n"]:
                found[prefix + (name.removeprefix("ep/") if prefix else name)] = mean["mean"]
    found |= line.get("metrics", {})
    found |= {name: value for name, value in line["time"].items() if name not in ("t", "machine", "phases")}
    found |= line["time"].get("machine", {})
    return found | {alias: found[name] for name, alias in ALIASES.items() if name in found}


def as_float32(value):
    return math.nan if value is None else struct.unpack("f", struct.pack("f", value))[0]


def recorded(trial):
    """name -> {step: value}; an attempt replaces earlier attempts' values from its first step on."""
    values = {}
    for file in sorted(trial.glob("attempt-*/metrics.jsonl")):
        lines = list(map(json.loads, file.read_text().splitlines()))
        for name in values:
            values[name] = {step: value for step, value in values[name].items() if step < lines[0]["step"]}
        for line in lines:
            for name, value in series(line).items():
                values.setdefault(name, {})[line["step"]] = as_float32(value)
    return {name: by_step for name, by_step in values.items() if by_step}


def read_back(folder):
    accumulator = event_accumulator.EventAccumulator(str(folder), size_guidance={"scalars": 0, "tensors": 0})
    accumulator.Reload()
    values = {tag: {e.step: float(e.tensor_proto.float_val[0]) for e in accumulator.Tensors(tag)}
              for tag in accumulator.Tags()["tensors"]}
    return values | {tag: {e.step: e.value for e in accumulator.Scalars(tag)} for tag in accumulator.Tags()["scalars"]}


def expect_equal(what, found, wanted):
    assert found.keys() == wanted.keys(), f"{what}: names differ: {found.keys() ^ wanted.keys()}"
    values = 0
    for name, by_step in wanted.items():
        assert found[name].keys() == by_step.keys(), f"{what}: {name}: steps differ: {sorted(found[name].keys() ^ by_step.keys())[:5]}"
        for step, value in by_step.items():
            same = found[name][step] == value or (math.isnan(value) and math.isnan(found[name][step]))
            assert same, f"{what}: {name} at {step}: {found[name][step]}, metrics.jsonl has {value}"
            values += 1
    print(f"{what}: {values} values of {len(wanted)} series as in metrics.jsonl")


def expect_well_formed(folder, attempts):
    """Each file starts with the version, and the second of a run with its resume step. Wall times are current and do not decrease."""
    files = sorted(folder.glob("*tfevents*"))
    assert len(files) == attempts, f"{len(files)} files for {attempts} attempts"
    for number, file in enumerate(files, 1):
        events = list(EventFileLoader(str(file)).Load())
        assert events[0].file_version == "brain.Event:2", events[0]
        starts = [e for e in events if e.HasField("session_log") and e.session_log.status == 1]
        assert len(starts) == (number > 1), f"{file.name}: {len(starts)} session starts"
        times = [e.wall_time for e in events]
        assert times == sorted(times) and abs(time.time() - times[-1]) < 600, f"{file.name}: {times[0]} to {times[-1]}"


def follow_then_interrupt(program, folder):
    """Starts the experiment, waits until the event file can be followed, and sends Ctrl-C."""
    with open(folder / "log", "w") as log:
        run = subprocess.Popen([program, "run", "followed.yaml"], cwd=folder, stdout=log, stderr=log)
        for _ in range(600):
            files = list(folder.glob("outputs/followed/trials/*/*tfevents*"))
            if files and any(e.step for e in EventFileLoader(str(files[0])).Load()):
                break
            time.sleep(0.05)
        else:
            run.kill()
            raise AssertionError("no event file to follow after 30 s: " + (folder / "log").read_text())
        assert run.poll() is None, "the trial was over before its events were on disk"
        run.send_signal(signal.SIGINT)
        assert run.wait() == 130, (folder / "log").read_text()


def kill_between_checkpoints(program, folder):
    """Runs an experiment whose trial is killed once, as the kernel does when memory runs out, and is retried automatically."""
    (folder / "killed.yaml").write_text(KILLED)
    run = subprocess.Popen([program, "run", "killed.yaml"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not any(file.read_text().count("\n") > 350 for file in folder.glob("outputs/killed/trials/*/attempt-1/metrics.jsonl")):
        assert run.poll() is None, "the experiment ended too early to be killed"
        time.sleep(0.01)
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            if words[1:2] == [b"run-trial"] and words[2].startswith(bytes(folder)):
                os.kill(int(process.name), signal.SIGKILL)
        except OSError:
            pass  # it has ended meanwhile
    assert run.wait() == 0


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "followed.yaml").write_text(EXPERIMENT)
        follow_then_interrupt(program, folder)
        subprocess.run([program, "run", "followed.yaml"], cwd=folder, check=True, capture_output=True)
        subprocess.run([program, "export", "tb", "outputs/followed"], cwd=folder, check=True, capture_output=True)
        trial, = folder.glob("outputs/followed/trials/*")
        exported, = folder.glob("outputs/followed/tb/*")
        wanted = recorded(trial)
        assert {"sps", "return", "ep/length", "eval/return", "eval/length", "resources/rss_mb", "charts/SPS"} <= wanted.keys(), wanted.keys()
        for what, where in (("monitor.tensorboard", trial), ("export tb", exported)):
            expect_well_formed(where, attempts=2)
            expect_equal(what, read_back(where), wanted)

        kill_between_checkpoints(program, folder)
        subprocess.run([program, "export", "tb", "outputs/killed"], cwd=folder, check=True, capture_output=True)
        trial, = folder.glob("outputs/killed/trials/*")
        last, first = ([json.loads(line)["step"] for line in (trial / f"attempt-{n}/metrics.jsonl").read_text().splitlines()] for n in (1, 2))
        assert first[0] <= last[-1], "the killed attempt had not gone on beyond its checkpoint"
        exported, = folder.glob("outputs/killed/tb/*")
        expect_equal("export tb of a killed trial", read_back(exported), recorded(trial))


if __name__ == "__main__":
    main()
