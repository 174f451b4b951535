#!/usr/bin/env python3
"""Exports to trackers: packages that record their calls get every iteration once, also while a batch runs.

usage: export_runs_test.py
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[3] / "tools/runs"
# A package `wandb` that writes the calls of a run as lines of JSON.
FAKE_WANDB = '''
import json, os
class Run:
    def __init__(self, **given): self.given = given; self.put("init", {key: given[key] for key in ("id", "name", "config")})
    def put(self, what, content): open(os.environ["CALLS"], "a").write(json.dumps([self.given["id"], what, content]) + "\\n")
    def define_metric(self, *names, **options): pass
    def log(self, values, step): self.put("log", [step, values])
    def finish(self, exit_code): self.put("finish", [exit_code, os.environ["WANDB_MODE"]])
def init(**given): return Run(**given)
'''


class Export(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="backplane-export-"))
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "packages").mkdir()
        (self.folder / "packages/wandb.py").write_text(FAKE_WANDB)
        self.out = self.folder / "out"
        (self.out / "trials/t1/attempt-1").mkdir(parents=True)
        (self.out / "trials/t1/trial.json").write_text(json.dumps({"config": {"learner": {"options": {"lr": 0.5}}}}))
        (self.out / "plan.jsonl").write_text(json.dumps({"trial_id": "t1", "name": "a", "seed": 3}) + "\n")
        self.events = [{"kind": "session.start"}, {"kind": "attempt.start", "trial_id": "t1", "attempt": 1, "t": 5.0}]
        self.put_events()

    def put_events(self, *more):
        self.events += more
        (self.out / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in self.events))

    def put_lines(self, attempt, *iterations):
        folder = self.out / f"trials/t1/attempt-{attempt}"
        folder.mkdir(exist_ok=True)
        with (folder / "metrics.jsonl").open("a") as stream:
            for iteration in iterations:
                stream.write(json.dumps({"iteration": iteration, "step": iteration * 10, "return": {"mean": iteration / 2, "n": 4}, "metrics": {"loss": None}}) + "\n")

    def export(self, *words):
        environment = {**os.environ, "PYTHONPATH": str(self.folder / "packages"), "CALLS": str(self.folder / "calls")}
        environment.pop("WANDB_MODE", None)
        return subprocess.run([sys.executable, "-B", str(TOOL / "backplane-export-runs.py"), words[0], str(self.out), str(self.folder / "to"), *words[1:]],
                              env=environment, capture_output=True, text=True, timeout=60)

    def calls(self, what):
        return [content for _, name, content in map(json.loads, (self.folder / "calls").read_text().splitlines()) if name == what]

    def test_writes_every_iteration_once(self):
        self.put_lines(1, 0, 1, 2, 3)
        self.put_lines(2, 3, 4)  # a resumed attempt repeats an iteration
        self.put_events({"kind": "attempt.end", "trial_id": "t1", "attempt": 2, "state": "COMPLETED"}, {"kind": "session.end"})
        self.assertEqual(self.export("wandb").returncode, 0)
        self.assertEqual([(step, values["return"], values["env_steps"]) for step, values in self.calls("log")], [(i, i / 2, i * 10) for i in range(5)])
        self.assertEqual((self.calls("init")[0]["config"], self.calls("finish")), ({"learner.options.lr": 0.5}, [[0, "offline"]]))

    def test_follows_a_batch_until_it_ends(self):
        self.put_lines(1, 0, 1)

        def batch():
            time.sleep(3)
            self.put_lines(1, 2)
            self.put_events({"kind": "attempt.end", "trial_id": "t1", "attempt": 1, "state": "FAILED"}, {"kind": "session.end"})

        thread = threading.Thread(target=batch)
        thread.start()
        end = self.export("wandb", "--follow")
        thread.join()
        self.assertEqual(end.returncode, 0, end.stderr)
        self.assertEqual([step for step, _ in self.calls("log")], [0, 1, 2])
        self.assertEqual(self.calls("finish"), [[1, "offline"]])

    def test_a_missing_package_is_named(self):
        end = subprocess.run([sys.executable, "-B", "-S", "-E", str(TOOL / "backplane-export-runs.py"), "trackio", str(self.out), str(self.folder / "to")],
                             capture_output=True, text=True, timeout=60)
        self.assertEqual(end.returncode, 1)
        self.assertIn("-m pip install trackio", end.stderr)


if __name__ == "__main__":
    unittest.main()
