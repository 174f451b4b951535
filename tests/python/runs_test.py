#!/usr/bin/env python3
"""Experiments from Python: run, its callback, its errors, and what results reads.

  runs_test.py    (BACKPLANE_HOME: the build tree)
"""
import contextlib
import importlib.util
import io
import os
import pathlib
import sqlite3
import sys
import tempfile
import unittest
from unittest import mock

import needs

needs.packages("cffi")

import backplane_rl

EXPERIMENT = """
experiment: two
env: cartpole
learner: {plugin: random, options: {horizon: 32}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 2}
budget: {iterations: 3}
sweep: {grid: {rollout.num_envs_per_env_runner: [2, 4]}, seeds: {n: 2}}
"""


class Runs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        pathlib.Path("two.yaml").write_text(EXPERIMENT)

    def test_report_each_iteration(self):
        told = []
        results = backplane_rl.run("two.yaml", set={"budget.iterations": 5}, on_iteration=lambda *news: told.append(news))
        self.assertEqual(len(told), 4 * 5)
        self.assertEqual({metrics["iteration"] for _, metrics in told}, {1, 2, 3, 4, 5})
        self.assertEqual(results.folder.resolve(), pathlib.Path("outputs/two").resolve())
        with sqlite3.connect("outputs/two/results.sqlite") as database:
            names = "SELECT value FROM iterations WHERE trial_id = ? AND iteration = ? AND name = ?"
            for trial, metrics in told:
                for name in ("env_steps", "return", "sps"):
                    self.assertEqual(database.execute(names, (trial, metrics["iteration"], name)).fetchall(), [(metrics[name],)])

    def test_stop_on_request(self):
        results = backplane_rl.run("two.yaml", set={"budget.iterations": 1000000}, on_iteration=lambda trial, metrics: False)
        self.assertTrue(results.cancelled)

    def test_raise_the_exception_of_a_callback(self):
        for error in (ZeroDivisionError, KeyboardInterrupt):
            def fail(trial, metrics):
                raise error("of mine")

            with self.assertRaisesRegex(error, "of mine"):
                backplane_rl.run("two.yaml", set={"budget.iterations": 1000000}, arguments=["--fresh"], on_iteration=fail)
        self.assertFalse(backplane_rl.run("two.yaml", arguments=["--fresh"]).cancelled)

    def test_report_the_errors_of_a_file(self):
        with self.assertRaisesRegex(backplane_rl.BackplaneError, "iteratons") as caught:
            backplane_rl.run("two.yaml", set={"budget.iteratons": 3})
        self.assertLess(caught.exception.status, 0)
        with self.assertRaisesRegex(backplane_rl.BackplaneError, "none.yaml"):
            backplane_rl.run("none.yaml")

    def test_show_a_bar_that_fills_up(self):
        shown = io.StringIO()
        with contextlib.redirect_stderr(shown):
            backplane_rl.run("two.yaml", progress=True)
        self.assertIn(f"[{'#' * 30}] 100%  4 of 4 trials", shown.getvalue().splitlines()[-1].split("\r")[-1])


class CsvCells(unittest.TestCase):
    def test_lose_the_apostrophe_of_a_formula(self):
        from backplane_rl.results import unmarked

        for cell, text in [("'=1+1", "=1+1"), ("'@SUM(A1)", "@SUM(A1)"), ("'-", "-"), ("'+x", "+x"), ("''=1", "'=1")]:
            self.assertEqual(unmarked(cell), text)

    def test_are_kept_otherwise(self):
        from backplane_rl.results import unmarked

        for cell in ["'a", "it's", "'", "", "-1", "=1", 3, None]:
            self.assertEqual(unmarked(cell), cell)


@unittest.skipUnless(importlib.util.find_spec("pandas"), "pandas is in the environments of scripts/test_adapters only")
class ResultsOfARun(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        file = pathlib.Path(folder.name, "two.yaml")
        file.write_text(EXPERIMENT)
        cls.results = backplane_rl.run(file, out=pathlib.Path(folder.name, "out"))

    def test_csv_files(self):
        pathlib.Path("marked.csv").write_text("'=name,value,note\n'=1+1,-2.5,\n'@x,3,\"'-a,b\"\nplain,,''=1\n")
        frame = backplane_rl.read_csv("marked.csv")
        self.assertEqual(list(frame.columns), ["=name", "value", "note"])
        self.assertEqual(list(frame["=name"]), ["=1+1", "@x", "plain"])
        self.assertEqual(list(frame["value"])[:2], [-2.5, 3])
        self.assertEqual(list(frame["note"])[1:], ["-a,b", "'=1"])

    def test_trials(self):
        trials = self.results.trials
        self.assertEqual(list(trials["rollout.num_envs_per_env_runner"]), [2, 2, 4, 4])
        self.assertEqual(list(trials["seed"]), [0, 1, 0, 1])
        self.assertEqual(set(trials["state"]), {"COMPLETED"})
        metrics = self.results.metrics
        for trial in trials.index:
            mean = metrics[(metrics.trial == trial) & (metrics.name == "return")]["mean"].item()
            self.assertEqual(trials.loc[trial, "return"], mean)

    def test_curves_equal_the_database(self):
        curves = self.results.curves.set_index(["trial", "iteration"])
        self.assertEqual(len(curves), 12)
        with sqlite3.connect(self.results.folder / "results.sqlite") as database:
            rows = database.execute("SELECT trial_id, iteration, name, value FROM iterations").fetchall()
        self.assertTrue(rows)
        for trial, iteration, name, value in rows:
            self.assertEqual(curves.loc[(trial, iteration), name], value)

    def test_metrics_of_a_command_may_have_any_name(self):
        names = ["iteration", "trial", "attempt", "t", "env_steps ", "mean", "step", "a\u2028b", "n\u0085x", "eval/return", "ep", "return"]
        with tempfile.TemporaryDirectory() as folder:
            script, file = pathlib.Path(folder, "train.py"), pathlib.Path(folder, "names.yaml")
            script.write_text(f"import json, os\nfor i in range(1, 6):\n    values = {{name: 100.0 * i + k for k, name in enumerate({names!r})}}\n"
                              "    line = json.dumps({'step': 10 * i, 'values': values}, ensure_ascii=False) + '\\n'\n"
                              "    os.write(int(os.environ['BACKPLANE_REPORT_FD']), line.encode())\n")
            file.write_text(f"learner: {{command: [{sys.executable}, train.py]}}\n")
            curves = backplane_rl.run(file, out=pathlib.Path(folder, "out")).curves
        self.assertEqual(list(curves["iteration"]), [1, 2, 3, 4, 5])
        self.assertEqual(list(curves["env_steps"]), [10, 20, 30, 40, 50])
        self.assertEqual(set(curves["attempt"]), {1})
        self.assertTrue(curves["t"].is_monotonic_increasing)
        for k, name in enumerate(names):
            column = f"reported/{name}" if name in ("iteration", "trial", "attempt", "t") else name
            self.assertEqual(list(curves[column]), [100.0 * i + k for i in range(1, 6)], column)

    def test_the_report_is_shown(self):
        with mock.patch("webbrowser.open") as opened:
            backplane_rl.show(self.results)
        opened.assert_called_once_with((self.results.folder / "index.html").resolve().as_uri())
        with self.assertRaisesRegex(FileNotFoundError, "expected a results folder"):
            backplane_rl.results("nowhere")


if __name__ == "__main__":
    unittest.main()
