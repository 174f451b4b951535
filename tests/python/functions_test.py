#!/usr/bin/env python3
"""Functions as objectives, end to end: in an experiment file and by backplane_rl.run(train, ...).

  functions_test.py    (BACKPLANE_HOME: the build tree)
"""
import contextlib
import importlib.util
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import time
import types
import unittest

import needs

needs.packages("cffi")

import backplane_rl
from backplane_rl import functions

HOME = pathlib.Path(os.environ["BACKPLANE_HOME"])
BACKPLANE = HOME / "bin/backplane"


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        self.folder = pathlib.Path(folder.name).resolve()

    def write(self, name, text):
        pathlib.Path(name).write_text(textwrap.dedent(text))
        return pathlib.Path(name)

    def backplane(self, *words, **environment):
        return subprocess.run([BACKPLANE, *words], env={**os.environ, **environment}, capture_output=True, text=True, timeout=120)

    def trials(self, out):
        """Each trial's configuration and the result of its last attempt."""
        found = []
        for trial in sorted(pathlib.Path(out, "trials").iterdir()):
            last = max(trial.glob("attempt-*"), key=lambda attempt: int(attempt.name.split("-")[1]))
            found.append((json.loads((trial / "trial.json").read_text())["config"], json.loads((last / "result.json").read_text())))
        return found

    def result(self, out):
        [(_, result)] = self.trials(out)
        return result

    def last(self, out, name):
        """The last report of each trial, sorted."""
        query = "SELECT value FROM iterations WHERE name = ? GROUP BY trial_id HAVING iteration = MAX(iteration) ORDER BY value"
        with contextlib.closing(sqlite3.connect(pathlib.Path(out, "results.sqlite"))) as database:
            return [value for value, in database.execute(query, [name])]


class Files(Folder):
    def test_sweep_a_function_with_nested_options(self):
        self.write("shape.py", "def area(a, b): return a * b\n")
        self.write("train.py", """
            import backplane_client, os
            from shape import area

            def train(config):
                net = config["net"]
                print("in", os.getcwd(), type(config["one"]).__name__, config["off"], config["list"], config["none"])
                for step in range(1, 4):
                    backplane_client.report({"loss": area(net["width"], step)}, step=10 * step)
                    backplane_client.report(seed=config["seed"])
                return {"loss": net["width"], "last": 1}

            if __name__ == "__main__":
                raise SystemExit("not in a trial")
            """)
        self.write("grid.yaml", """
            learner:
              function: train.py:train
              options: {net: {width: 1, depth: 2}, one: 1.0, off: false, list: [1, a], none: null}
            sweep: {grid: {learner.options.net.width: [2, 5]}, seeds: {n: 2, first: 7}}
            report: {kind: comparison}
            """)
        run = self.backplane("run", "grid.yaml")
        self.assertEqual(run.returncode, 0, run.stderr)
        found = {(c["learner"]["options"]["net"]["width"], c["seed"]): r for c, r in self.trials("outputs/grid")}
        self.assertEqual(set(found), {(2, 7), (2, 8), (5, 7), (5, 8)})
        for result in found.values():
            self.assertEqual(result["state"], "COMPLETED")
            self.assertEqual(result["iterations"], 7)
            self.assertEqual(result["env_steps"], 30)
            self.assertEqual(result["metrics_parts"][0]["lines"], 7)
        self.assertEqual(self.last("outputs/grid", "loss"), [2, 2, 5, 5])
        self.assertEqual(self.last("outputs/grid", "seed"), [7, 7, 8, 8])
        log = next(pathlib.Path("outputs/grid/trials").glob("*/attempt-1/stdout.log")).read_text()
        self.assertRegex(log, r"^in .*/attempt-1 float False \[1, 'a'\] None\n$")
        again = self.backplane("run", "grid.yaml")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(len(list(pathlib.Path("outputs/grid/trials").glob("*/attempt-*"))), 4, "no trial is left")
        self.write("shape.py", "def area(a, b): return a + b\n")
        changed = self.backplane("run", "grid.yaml")
        self.assertNotEqual(changed.returncode, 0, "a module of the function differs")

    def test_a_returned_number_is_the_metric_value(self):
        self.write("number.py", """
            import fractions
            def train(config):
                return fractions.Fraction(config["half"], 2) if config["half"] else ["no", "number"]
            """)
        self.write("number.yaml", "learner: {function: number.py:train}\nsweep: {grid: {learner.options.half: [0, 1, 3]}}\n")
        pathlib.Path("env/bin").mkdir(parents=True)
        os.symlink(sys.executable, "env/bin/python")
        run = self.backplane("run", "number.yaml", VIRTUAL_ENV=str(self.folder / "env"))
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual({result["facts"]["learner.command"]["program"] for _, result in self.trials("outputs/number")},
                         {str(self.folder / "env/bin/python")}, "the active virtual environment's interpreter")
        self.assertEqual(self.last("outputs/number", "value"), [0.5, 1.5])
        logs = [file.read_text() for file in self.folder.glob("outputs/number/trials/*/attempt-1/stderr.log")]
        self.assertEqual(sum("expected a mapping of metrics, a number or nothing, got list" in log for log in logs), 1)

    def test_an_exception_is_the_trials_error(self):
        self.write("lib.py", """
            def check(lr):
                raise ValueError(f"expected a rate below 1, got {lr}")
            """)
        self.write("train.py", """
            import lib, backplane_client
            def train(config):
                backplane_client.report(loss=1)
                lib.check(config["lr"])
            def missing(config):
                import no_such_package.inner
            def leaves(config):
                raise SystemExit(3)
            """)
        for name, error in (("train", "lib.py:3: ValueError: expected a rate below 1, got 2"),
                            ("missing", "train.py:7: ModuleNotFoundError: No module named 'no_such_package'; install it with `"),
                            ("leaves", "python3 ended with exit code 3")):
            self.write(f"{name}.yaml", f"learner: {{function: train.py:{name}, python: python3, options: {{lr: 2}}}}\n")
            run = self.backplane("run", f"{name}.yaml")
            self.assertEqual(run.returncode, 1, run.stderr)
            result = self.result(f"outputs/{name}")
            self.assertEqual((result["state"], result["outcome"]), ("FAILED", "plugin"))
            self.assertTrue(result["error"].startswith(error), result["error"])
            self.assertIn(error, run.stdout + run.stderr)
        tail = "\n".join(self.result("outputs/train")["log_tail"])
        self.assertEqual(tail.count("Traceback"), 1)
        self.assertNotIn("backplane_function.py", tail)

    def test_mistakes_end_before_the_start(self):
        self.write("train.py", "def train(config):\n    pass\nopen('ran', 'w')\n")
        self.write("bad.py", "def train(config):\n    pass pass\n")
        for learner, words in (("function: train.py:trian", "bad.yaml:1:11: error: learner.function: expected a function 'trian' at the top level "
                                "of train.py, got none; did you mean 'train'?"),
                               ("function: trian.py:train", "did you mean 'train.py'?"),
                               ("function: bad.py:train", "learner.function: bad.py:2: SyntaxError: invalid syntax"),
                               ("function: train.py:train, python: none/python", "learner.python: expected an executable program, got nothing at")):
            self.write("bad.yaml", f"learner: {{{learner}}}\n")
            for command in (["run"], ["run", "--dry-run"], ["config", "check"]):
                run = self.backplane(command[0], *command[1:], "bad.yaml")
                self.assertEqual(run.returncode, 2, run.stderr)
                self.assertIn(words, run.stderr)
        self.assertFalse(list(self.folder.rglob("ran")) + list(self.folder.rglob("trials/*")))

    def test_a_kill_is_resumed_from_the_checkpoint_folder(self):
        self.write("slow.py", """
            import json, os, time
            from backplane_client import checkpoint_dir, report

            def train(config):
                saved = checkpoint_dir() / "state.json"
                first = json.loads(saved.read_text())["step"] + 1 if saved.exists() else 1
                print("from", first, flush=True)
                for step in range(first, 31):
                    report({"return": 2.0 * step}, step=step)
                    fresh = saved.with_suffix(".new")
                    fresh.write_text(json.dumps({"step": step}))
                    os.replace(fresh, saved)
                    time.sleep(0.05)
            """)
        self.write("slow.yaml", "learner: {function: slow.py:train}\n")
        run = subprocess.Popen([BACKPLANE, "run", "slow.yaml"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        def lines():
            return [line for file in self.folder.glob("outputs/slow/trials/*/attempt-1/metrics.jsonl") for line in file.read_text().splitlines()]
        deadline = time.monotonic() + 60
        while len(lines()) < 6 and time.monotonic() < deadline:
            time.sleep(0.05)
        run.kill()
        run.wait()
        again = self.backplane("run", "slow.yaml")
        self.assertEqual(again.returncode, 0, again.stderr)
        [trial] = self.folder.glob("outputs/slow/trials/*")
        self.assertRegex((trial / "attempt-2/stdout.log").read_text(), r"^from ([5-9]|[12]\d)\n")
        result = self.result("outputs/slow")
        self.assertEqual((result["iterations"], result["env_steps"]), (30, 30))
        with contextlib.closing(sqlite3.connect("outputs/slow/results.sqlite")) as database:
            curve = [value for value, in database.execute("SELECT value FROM iterations WHERE name = 'return' ORDER BY iteration")]
        self.assertEqual(curve, [2.0 * step for step in range(1, 31)])

    def test_modules_of_packages_and_of_processes(self):
        pathlib.Path("pack/inner").mkdir(parents=True)
        self.write("pack/__init__.py", "")
        self.write("pack/inner/__init__.py", "")
        self.write("pack/two.py", "two = 2\n")
        self.write("pack/inner/json.py", """
            import multiprocessing
            from ..two import two

            def double(x):
                return two * x

            def train(config):
                with multiprocessing.get_context("spawn").Pool(1) as pool:
                    yield {"loss": pool.map(double, [4])[0]}
                yield {"loss": 7}
            """)
        self.write("pack.yaml", "learner: {function: pack/inner/json.py:train}\n")
        run = self.backplane("run", "pack.yaml")
        self.assertEqual(run.returncode, 0, run.stderr + str(self.result("outputs/pack")))
        self.assertEqual(self.result("outputs/pack")["iterations"], 2)


class Example(Folder):
    def test_the_page_shows_the_shipped_files_and_their_verdict(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        page = (root / "docs/functions.md").read_text()
        for name in ("fit.py", "fit.yaml"):
            file = root / "configs/command" / name
            [shown] = re.findall(rf"```\w+\n# configs/command/{name}\n(.*?)```", page, re.S)
            self.assertTrue(file.read_text().endswith(shown), name)
        run = self.backplane("run", root / "configs/command/fit.yaml", "--jobs", "2")
        self.assertEqual(run.returncode, 0, run.stderr)
        last = {(c["learner"]["options"]["lr"], c["learner"]["options"]["noise"]["sd"]): r["evaluation"]["metrics"]["loss"]["mean"]
                for c, r in self.trials("outputs/fit")}
        # Without noise, x is 10 * (1 - 2 * lr)^100: 1.76 at a rate of 0.01, and below 1e-8 at 0.1.
        self.assertAlmostEqual(last[0.01, 0.1], (10 * 0.98**100) ** 2, delta=0.5)
        self.assertLess(last[0.1, 0.1], 0.01)


class Calls(Folder):
    SCRIPT = """
        import json, sys
        import backplane_rl

        def train(config):
            backplane_rl.report({"loss": (config["lr"] - 3) ** 2 + config["net"]["depth"]}, step=1)

        if __name__ == "__main__":
            results = backplane_rl.run(train, progress=False, **(eval(sys.argv[1]) if sys.argv[1:] else {}))
            print(results.folder)
        """

    def call(self, arguments, script="tune.py"):
        return subprocess.run([sys.executable, script, arguments], capture_output=True, text=True, timeout=120)

    def test_a_function_of_the_script_is_swept(self):
        self.write("tune.py", self.SCRIPT)
        run = self.call("dict(space={'lr': [1, 2.5], 'net': {'depth': 0, 'hidden': (64, 64)}, 'seed': [3, 4]})")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stdout.splitlines()[-1], str(self.folder / "outputs/tune_train"))
        found = self.trials("outputs/tune_train")
        self.assertEqual(sorted((c["learner"]["options"]["lr"], c["seed"]) for c, _ in found), [(1, 3), (1, 4), (2.5, 3), (2.5, 4)])
        for config, result in found:
            self.assertEqual(result["state"], "COMPLETED")
            self.assertEqual(config["learner"]["options"]["net"], {"depth": 0, "hidden": [64, 64]})
            self.assertEqual(config["learner"]["python"], sys.executable)
        self.assertEqual(self.last("outputs/tune_train", "loss"), [0.25, 0.25, 4, 4])
        again = self.backplane("run", "outputs/tune_train.yaml")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(len(list(pathlib.Path("outputs/tune_train/trials").glob("*/attempt-*"))), 4, "the file plans the same trials")

    def test_an_unguarded_call_is_named(self):
        self.write("tune.py", self.SCRIPT.replace('if __name__ == "__main__":', "if True:"))
        run = self.call("dict(space={'lr': 1, 'net': {'depth': 0}}, out='out')")
        self.assertEqual(run.returncode, 1)
        error = self.result("out")["error"]
        self.assertIn("run() is called while a trial imports tune.py", error)

    def test_errors_name_the_argument(self):
        self.write("tune.py", self.SCRIPT)
        for arguments, words in (("dict(space={'lr': {'uniform': [1, 2]}})", "add search={"),
                                 ("dict(space={'lr': float('inf')})", "space: lr: expected a finite number"),
                                 ("dict(space={'lr': 2**63})", "space: lr: expected a finite number of at most 64 bits"),
                                 ("dict(space={'a.b': 1})", "expected names without dots, got 'a.b'"),
                                 ("dict(space={'net': {'x': print}})", "space: net.x: expected a finite number"),
                                 ("dict(space={'seed': 1}, seeds=3)", "expected `seeds` or a seed in `space`, got both"),
                                 ("dict(space={'lr': []})", "expected at least one value, got none")):
            run = self.call(arguments)
            self.assertEqual(run.returncode, 1, run.stderr)
            self.assertIn(words, run.stderr)

    @unittest.skipUnless(importlib.util.find_spec("optuna"), "needs Optuna")
    def test_a_search_of_four_trials(self):
        self.write("tune.py", self.SCRIPT)
        search = "search={'trials': 4, 'method': 'random', 'objective': {'metric': 'loss', 'direction': 'minimize'}}"
        run = subprocess.run([sys.executable, "tune.py", f"dict(space={{'lr': {{'uniform': [0, 6]}}, 'net': {{'depth': [0, 1]}}}}, {search})"],
                             capture_output=True, text=True, timeout=120, env={**os.environ, "BACKPLANE_PYTHON": sys.executable})
        self.assertEqual(run.returncode, 0, run.stderr)
        found = self.trials("outputs/tune_train")
        self.assertEqual(len(found), 4)
        for config, result in found:
            options = config["learner"]["options"]
            self.assertLess(abs(result["iterations"] - 1), 1)
            self.assertTrue(0 <= options["lr"] <= 6 and options["net"]["depth"] in (0, 1), options)
        losses = sorted((c["learner"]["options"]["lr"] - 3) ** 2 + c["learner"]["options"]["net"]["depth"] for c, _ in found)
        self.assertEqual([round(loss, 9) for loss in self.last("outputs/tune_train", "loss")], [round(loss, 9) for loss in losses])


def top(config):
    pass


class Spaces(unittest.TestCase):
    def read(self, space, **arguments):
        return functions.experiment_of(top, space, arguments.get("seeds"), arguments.get("search"))

    def test_functions_that_no_trial_can_find(self):
        def inner(config):
            pass

        made = types.FunctionType(compile("def cell(config): pass", "<cell>", "exec").co_consts[0], {"__name__": __name__}, "cell")
        for function, words in ((lambda config: 1, "a lambda"), (inner, "defined within a function"), (self.read, "method"),
                                (dict, "a type"), (made, "of a notebook or a prompt")):
            with self.assertRaisesRegex(TypeError, words):
                functions.place_of(function)
        self.assertEqual(functions.place_of(top), (pathlib.Path(__file__).resolve(), "top"))

    def test_lists_are_axes_and_tuples_constants(self):
        import collections

        read = self.read(collections.OrderedDict(a=[1, 2], b=(1, 2), c={"d": range(2), "e": None}, f={"grid_search": ["x"]}), seeds=2)
        self.assertEqual(read["sweep"], {"grid": {"learner.options.a": [1, 2], "learner.options.c.d": [0, 1], "learner.options.f": ["x"]},
                                         "seeds": {"n": 2}})
        self.assertEqual(read["learner"]["options"], {"b": [1, 2], "c": {"e": None}})
        self.assertNotIn("sweep", self.read({"a": 1}))

    def test_a_search_has_distributions_and_choices(self):
        search = {"trials": 3, "objective": {"metric": "loss"}}
        read = self.read({"a": {"log_int": [1, 8]}, "b": {"int": [0, 8], "step": 2}, "c": [1, 2], "d": {"int": 3}}, search=search)
        self.assertEqual(read["sweep"], {"search": {**search, "space": {"learner.options.a": {"log_int": [1, 8]}, "learner.options.b": {
            "int": [0, 8], "step": 2}, "learner.options.c": {"choice": [1, 2]}}}})
        self.assertEqual(read["learner"]["options"], {"d": {"int": 3}})

    @unittest.skipUnless(importlib.util.find_spec("optuna"), "needs Optuna")
    def test_distributions_of_optuna(self):
        from optuna import distributions as d

        space = {"a": d.FloatDistribution(1e-5, 1e-1, log=True), "b": d.FloatDistribution(0, 1, step=0.25), "c": d.IntDistribution(1, 9),
                 "d": d.IntDistribution(1, 9, log=True), "e": d.IntDistribution(2, 8, step=2), "f": d.CategoricalDistribution(["x", 1, None])}
        drawn = functions._Space(space).drawn
        self.assertEqual(list(drawn.values()), [{"log_uniform": [1e-5, 1e-1]}, {"uniform": [0, 1], "step": 0.25}, {"int": [1, 9]},
                                                {"log_int": [1, 9]}, {"int": [2, 8], "step": 2}, {"choice": ["x", 1, None]}])

    @unittest.skipUnless(importlib.util.find_spec("ray"), "needs Ray Tune")
    def test_distributions_of_ray_tune(self):
        from ray import tune

        space = {"a": tune.loguniform(1e-5, 1e-1), "b": tune.uniform(0, 1), "c": tune.randint(1, 9), "d": tune.lograndint(1, 9),
                 "e": tune.quniform(0, 1, 0.25), "f": tune.qrandint(2, 8, 2), "g": tune.choice(["x", 1])}
        drawn = functions._Space(space).drawn
        self.assertEqual(list(drawn.values()), [{"log_uniform": [1e-5, 1e-1]}, {"uniform": [0, 1]}, {"int": [1, 8]}, {"log_int": [1, 8]},
                                                {"uniform": [0, 1], "step": 0.25}, {"int": [2, 8], "step": 2}, {"choice": ["x", 1]}])
        self.assertEqual(functions._Space({"a": tune.grid_search([1, 2])}).axes, {"learner.options.a": [1, 2]})
        for unlike in (tune.randn(0, 1), tune.sample_from(lambda spec: 1), tune.qloguniform(1e-3, 1, 1e-3)):
            with self.assertRaisesRegex(TypeError, "space: a: expected"):
                functions._Space({"a": unlike})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
