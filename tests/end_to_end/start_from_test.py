#!/usr/bin/env python3
"""`learner.start_from`: trials that start from other trials and from files, without their sources, after kills, and its errors.

  start_from_test.py PROGRAM TOOLS

TOOLS has backplane_export_policy.py.
"""
import json
import os
import pathlib
import pickle
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zipfile

SOURCE = """experiment: source
env: {plugin: pendulum, options: {max_episode_steps: 30}}
learner: {plugin: ars, options: {num_dirs: 4, hidden: [8], init_std: 0.1, optimizer: adam}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 4}
budget: {iterations: 3}
checkpoint: {every_iterations: 1}
evaluation: {episodes: 2}
output: {page: false}
"""
MORE = SOURCE.replace("experiment: source", "experiment: NAME")
PPO = """experiment: NAME
env: {plugin: pendulum, options: {max_episode_steps: 30}}
learner: {plugin: ppo, options: {train_batch_size: 128, minibatch_size: 64, num_epochs: 2, hidden: [8], normalize_obs: true, normalize_rewards: true}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 4}
budget: {iterations: 2}
output: {page: false}
"""
REPLAY = """experiment: NAME
env: {plugin: ENV, options: {max_episode_steps: 30}}
learner: {plugin: LEARNER, options: {hidden: [8], batch_size: 8, horizon: 60, learning_starts: 100, lr: 0.01, train_freq: 1}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 2}
budget: {iterations: 4}
evaluation: {episodes: 4, every_iterations: 1}
checkpoint: {every_iterations: 1, keep: 4, best: eval/return}
output: {page: false}
"""


class Runs:
    """Runs the program in a folder of the test."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def call(self, *words, expect=0):
        done = subprocess.run([self.program, *map(str, words)], cwd=self.folder, capture_output=True, text=True)
        assert done.returncode == expect, f"{words}: exit {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def write(self, name, text, *more):
        (self.folder / f"{name}.yaml").write_text(text.replace("NAME", name) + "".join(line + "\n" for line in more))

    def run(self, name, *words, expect=0):
        return self.call("run", f"{name}.yaml", "--quiet", *words, expect=expect)

    def trials(self, name):
        lines = map(json.loads, (self.folder / "outputs" / name / "plan.jsonl").read_text().splitlines())
        return [line["trial_id"] for line in lines if "trial_id" in line]

    def trial(self, name, number=0):
        return self.folder / "outputs" / name / "trials" / self.trials(name)[number]

    def result(self, name, number=0, attempt=1):
        return json.loads((self.trial(name, number) / f"attempt-{attempt}/result.json").read_text())

    def policy(self, trial, checkpoint):
        record = self.folder / "record"
        self.call("run-trial", trial / "trial.json", "--policy", record, "--checkpoint", checkpoint)
        return Policy(record)

    def metrics(self, trial):
        """The line of each iteration from the last attempt that reached it, without times."""
        lines = {}
        for attempt in sorted(trial.glob("attempt-*")):
            for line in (attempt / "metrics.jsonl").read_text().splitlines():
                try:
                    line = json.loads(line)
                except ValueError:
                    continue  # torn by a kill
                line.pop("time", None)
                lines[line["iteration"]] = line
        return lines


def same_policy(a, b, what):
    assert a.layers == b.layers and a.normalizer == b.normalizer, f"{what}: expected the source's weights and statistics, got others"
    assert (a.inputs, a.numbers, a.choices) == (b.inputs, b.numbers, b.choices), f"{what}: expected the source's actions, got others"


def starts_from_trials(runs):
    runs.write("source", SOURCE)
    runs.run("source")
    source = runs.trial("source")
    last = runs.policy(source, "last")
    for name, named in (("last", "outputs/source"), ("by_id", f"outputs/source/{source.name[:8]}"), ("third", f"outputs/source/{source.name}@3")):
        runs.write(name, MORE, f"# from {named}")
        runs.run(name, "learner.start_from=" + named)
        same_policy(runs.policy(runs.trial(name), "start"), last, named)
        started = runs.result(name)["started_from"]
        assert started["trial_id"] == source.name and started["iterations"] == 3 and not started["optimizer"], started
        assert runs.result(name)["iterations"] == 3, "the counters start at 0"
    earlier = runs.policy(source, "2")
    runs.write("second", MORE)
    runs.run("second", "learner.start_from=outputs/source@2")
    same_policy(runs.policy(runs.trial("second"), "start"), earlier, "@2")
    assert earlier.layers != last.layers, "the source learned between its checkpoints"


def starts_from_the_best_of_replay_learners(runs):
    for learner, env in (("sac", "pendulum"), ("td3", "pendulum"), ("dqn", "cartpole")):
        starts_from_the_best_of_a_replay_learner(runs, learner, REPLAY.replace("ENV", env).replace("LEARNER", learner))


def starts_from_the_best_of_a_replay_learner(runs, name, text):
    """Its best checkpoint is only the policy."""
    runs.write(name, text)
    runs.run(name)
    source = runs.trial(name)
    first = int(runs.result(name)["best"]["iteration"])
    best = runs.policy(source, "best")
    more = name + "_more"
    runs.write(more, text)
    runs.run(more, f"learner.start_from=outputs/{name}@best")
    same_policy(runs.policy(runs.trial(more), "start"), best, "@best")
    same_policy(best, runs.policy(source, first), "best.bin")
    started, lines = runs.result(more)["started_from"], runs.metrics(runs.trial(more))
    assert started["iterations"] == first and started["source"].endswith(f"outputs/{name}@best") and not started["optimizer"], started
    updates = [line["metrics"]["train/updates"] for line in lines.values()]
    assert updates == [10, 60, 60, 60], f"no update before learning_starts, and none made up for: {updates}"
    facts = runs.result(more)["facts"]
    assert facts["learner." + name]["replay"].startswith("empty at the start"), facts
    runs.call("export", "policy", "outputs/" + name, "--to", "exported_" + name, "--checkpoint", "best")
    runs.run(more, f"learner.start_from=exported_{name}/policy.npz", "--out", f"outputs/{name}_file")
    same_policy(runs.policy(runs.trial(name + "_file"), "start"), best, "a file of the best policy")
    said = runs.run(more, f"learner.start_from=outputs/{name}@best", "learner.start_optimizer=true", "--out", f"outputs/{name}_all", expect=2)
    assert "expected a whole state, because of start_optimizer, got the policy of a best checkpoint" in said, said
    runs.run(more, f"learner.start_from=outputs/{name}@{first}", "learner.start_optimizer=true", "--out", f"outputs/{name}_all")
    same_policy(runs.policy(runs.trial(name + "_all"), "start"), best, "the same iteration, as a whole state")


def optimizer_is_taken_over_by_option(runs):
    runs.write("optimizer", MORE, "sweep: {grid: {learner.start_optimizer: [false, true]}}")
    runs.run("optimizer", "learner.start_from=outputs/source")
    norms = [runs.metrics(runs.trial("optimizer", number))[1]["metrics"] for number in (0, 1)]
    assert norms[0] != norms[1], "Adam's moments change the first step"
    assert runs.result("optimizer", 1)["started_from"]["optimizer"] is True
    same_policy(runs.policy(runs.trial("optimizer", 1), "start"), runs.policy(runs.trial("source"), "last"), "with the optimizer")


def seeds_stay_their_own(runs):
    runs.write("seeds", MORE, "sweep: {seeds: {n: 2}}")
    runs.run("seeds", "learner.start_from=outputs/source")
    first, second = (runs.metrics(runs.trial("seeds", number))[1]["metrics"] for number in (0, 1))
    assert first != second, "each seed has its own directions"


def starts_from_files(runs):
    runs.call("export", "policy", "outputs/source", "--to", "exported")
    page = (runs.folder / "exported/policy.md").read_text()
    assert "| 2 | `obs[2]` | angular velocity | rad/s | -8 | 8 |" in page, page
    assert "| 0 | `action` | torque | N m | -2 | 2 |" in page, page
    runs.write("file", MORE)
    runs.run("file", "learner.start_from=exported/policy.npz")
    same_policy(runs.policy(runs.trial("file"), "start"), runs.policy(runs.trial("source"), "last"), "a file")
    runs.write("ppo", PPO)
    runs.run("ppo")
    runs.write("ppo_more", PPO)
    runs.run("ppo_more", "learner.start_from=outputs/ppo@last")
    same_policy(runs.policy(runs.trial("ppo_more"), "start"), runs.policy(runs.trial("ppo"), "last"), "ppo")


def sweeps_and_identity(runs):
    shutil.copy(runs.folder / "exported/policy.npz", runs.folder / "policy.npz")
    runs.write("swept", MORE, "sweep: {grid: {learner.start_from: [outputs/source@2, outputs/source@3, policy.npz]}}")
    runs.run("swept")
    ids = runs.trials("swept")
    assert len(set(ids)) == 3
    kept = {file.parent.name for file in (runs.folder / "outputs/swept/starts").glob("*/start.bin")}
    assert len(kept) == 3, kept
    runs.call("export", "policy", "outputs/source", "--to", "exported", "--checkpoint", "2")
    shutil.copy(runs.folder / "exported/policy.npz", runs.folder / "policy.npz")
    said = runs.run("swept", expect=1)
    assert "learner.start_from" in said and "--accept-change" in said, said
    runs.run("swept", "--accept-change")
    now = runs.trials("swept")
    assert now[:2] == ids[:2] and now[2] != ids[2], "a changed source is a new trial"
    same_policy(runs.policy(runs.trial("swept", 2), "start"), runs.policy(runs.trial("source"), "2"), "the changed file")
    runs.call("gc", "outputs/swept", "--keep", "last")
    left = {file.parent.name for file in (runs.folder / "outputs/swept/starts").glob("*/start.bin")}
    assert len(left) == 3 and len(kept - left) == 1, "gc deletes the policy from which no trial of the plan starts"


def survives_kills_and_lost_sources(runs):
    runs.call("run", "source.yaml", "--quiet", "--out", "outputs/doomed")
    text = MORE.replace("iterations: 3", "iterations: 40")
    runs.write("whole", text, "sweep: {seeds: {n: 2}}")
    runs.run("whole", "learner.start_from=outputs/doomed", "--jobs", "1")
    runs.write("broken", text, "sweep: {seeds: {n: 2}}")
    process = subprocess.Popen([runs.program, "run", "broken.yaml", "--quiet", "learner.start_from=outputs/doomed", "--jobs", "1"], cwd=runs.folder,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    first = None
    for _ in range(4000):
        found = list(runs.folder.glob("outputs/broken/trials/*/attempt-1/metrics.jsonl"))
        if found and found[0].read_text().count("\n") > 2:
            first = found[0].parents[1]
            break
        assert process.poll() is None, "the run ended before the kill"
        time.sleep(0.005)
    assert first is not None, "no trial began"
    shutil.rmtree(runs.folder / "outputs/doomed")
    process.send_signal(signal.SIGKILL)
    process.wait()
    runs.run("broken", "learner.start_from=outputs/doomed", "--jobs", "1")
    for number in (0, 1):
        trial, whole = runs.trial("broken", number), runs.trial("whole", number)
        assert json.loads((trial / "trial.json").read_text())["start_from"]["sha256"]
        mine, its = runs.metrics(trial), runs.metrics(whole)
        assert list(mine) == list(its) == list(range(1, 41)), (list(mine), list(its))
        assert all(mine[i]["metrics"] == its[i]["metrics"] for i in mine), "the source was lost after the start, and no bit differs"
    starts = runs.folder / "outputs/broken/starts"
    before = {file: file.stat().st_mtime_ns for file in starts.rglob("*")}
    said = runs.run("broken", "learner.start_from=outputs/doomed", "--dry-run")
    assert said.count("COMPLETED, stays") == 2, said
    runs.run("broken", "learner.start_from=outputs/doomed", "--dry-run", "sweep.seeds.n=3")
    assert before == {file: file.stat().st_mtime_ns for file in starts.rglob("*")}, "a dry run changes no file"
    for words in (["--dry-run"], []):
        said = runs.run("broken", "learner.start_from=outputs/doomed", "--fresh", *words, expect=2)
        assert "expected a trial (OUT/TRIAL or OUT/TRIAL@best) or a policy file, got neither" in said, said
    assert not (runs.folder / "outputs/broken.1").exists(), "the results stay if a fresh run cannot start"
    os.rename(runs.folder / "outputs/broken", runs.folder / "outputs/moved")
    assert "equal bit for bit" in runs.call("replay", "outputs/moved", first.name)


def statistics_belong_to_the_policy(runs):
    said = runs.run("ppo_more", "learner.start_from=outputs/ppo", "learner.options.normalize_obs=false", "--out", "outputs/unlike", expect=2)
    assert "expected normalize_obs: true, as the policy was trained, got false" in said, said


def npy(descr, shape, data):
    header = repr({"descr": descr, "fortran_order": False, "shape": shape})
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def rewritten(runs, name, change, compression=zipfile.ZIP_STORED):
    """policy.npz with changed arrays."""
    with zipfile.ZipFile(runs.folder / "policy.npz") as file:
        arrays = {each: file.read(each) for each in file.namelist()}
    change(arrays)
    with zipfile.ZipFile(runs.folder / name, "w", compression) as file:
        for each, data in arrays.items():
            file.writestr(each, data)


class Bomb:
    def __reduce__(self):
        return pathlib.Path("exploded").touch, ()


def rejects_what_does_not_fit(runs):
    bias = "layer.0.bias.npy"
    rewritten(runs, "nan.npz", lambda a: a.update({bias: npy("<f4", (8,), struct.pack("<8f", float("nan"), *[0] * 7))}))
    rewritten(runs, "short.npz", lambda a: a.update({bias: npy("<f4", (7,), struct.pack("<7f", *[0] * 7))}))
    rewritten(runs, "pickle.npz", lambda a: a.update({bias: npy("|O", (8,), pickle.dumps([Bomb()] * 8))}))
    rewritten(runs, "more.npz", lambda a: a.update({"gru.0.weight.npy": a[bias]}))
    rewritten(runs, "less.npz", lambda a: a.pop(bias))
    rewritten(runs, "packed.npz", lambda a: None, zipfile.ZIP_DEFLATED)
    data = (runs.folder / "policy.npz").read_bytes()
    (runs.folder / "cut.npz").write_bytes(data[: len(data) // 2])
    flipped = bytearray(data)
    flipped[data.index(b"layer.0.weight.npy") + 200] ^= 1
    (runs.folder / "flipped.npz").write_bytes(flipped)
    cases = {
        "nan.npz": "layer.0.bias: expected finite numbers, got nan", "short.npz": "layer.0.bias: expected 8, got 7",
        "pickle.npz": "layer.0.bias: expected an array of numbers or text, got type '|O'", "more.npz": "gru.0.weight: expected only arrays",
        "less.npz": "layer.0.bias: expected this array, got none", "packed.npz": "got a compressed one", "cut.npz": "expected a whole .npz file",
        "flipped.npz": "its checksum differs", "nothing": "expected a trial (OUT/TRIAL or OUT/TRIAL@best) or a policy file, got neither",
        "outputs/source@best": "expected checkpoint 'best'", "outputs/source@first": "expected @best, @last or @N",
        "outputs/ppo": "expected a saved state of learner.ars",
    }
    for source, wanted in cases.items():
        runs.write("wrong", MORE.replace("learner: {plugin: ars,", f"learner: {{plugin: ars, start_from: {source},"))
        said = runs.run("wrong", expect=2)
        assert wanted in said and "wrong.yaml:3" in said, f"{source}: expected {wanted!r} with its place, got\n{said}"
    assert not list(runs.folder.rglob("exploded")), "no pickle is loaded"
    runs.write("wrong", MORE.replace("hidden: [8]", "hidden: [16]"))
    for source in ("outputs/source", "policy.npz"):
        said = runs.run("wrong", f"learner.start_from={source}", expect=2)
        assert "16" in said and "expected" in said and "got" in said, said
    runs.write("wrong", MORE)
    said = runs.run("wrong", "learner.start_optimizer=true", expect=2)
    assert "this key needs learner.start_from, which is missing" in said, said
    said = runs.run("wrong", "learner.start_from=policy.npz", "learner.start_optimizer=true", expect=2)
    assert "expected a trial with start_optimizer, got a file of weights" in said, said


def main():
    global Policy
    sys.path.insert(0, sys.argv[2])
    from backplane_export_policy import Policy

    tests = (starts_from_trials, starts_from_the_best_of_replay_learners, optimizer_is_taken_over_by_option, seeds_stay_their_own, starts_from_files, sweeps_and_identity,
             survives_kills_and_lost_sources, statistics_belong_to_the_policy, rejects_what_does_not_fit)
    with tempfile.TemporaryDirectory() as name:
        runs = Runs(sys.argv[1], pathlib.Path(name))
        for test in tests:
            began = time.monotonic()
            test(runs)
            print(f"{test.__name__}: {time.monotonic() - began:.1f} s", flush=True)


if __name__ == "__main__":
    main()
