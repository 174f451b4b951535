"""Tests monitors in Python: their numbers, the end of their trial, and the errors of their files.

usage: python_monitor_test.py PROGRAM
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

PROGRAM = ""
EXPERIMENT = """experiment: walk
env: {plugin: cartpole}
learner: {plugin: random, options: {horizon: 64}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 8}
evaluation: {episodes: 4}
monitors: [{plugin: python, options: %s}]
budget: %s
"""
WRITES = """
    import json
    wants = ["metrics", "episodes", "phases"]
    def start(trial):
        global file
        file = open(trial.trial_dir + "/seen.jsonl", "w")
    def on_iteration(iteration):
        print(json.dumps(vars(iteration)), file=file, flush=True)
"""
ENDLESS = "{wall_time: 60s}"


class PythonMonitor(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="backplane_monitor_"))
        self.addCleanup(shutil.rmtree, self.folder)

    def run_with(self, code, options="", budget="{iterations: 10}", exit=0):
        (self.folder / "look.py").write_text(textwrap.dedent(code))
        (self.folder / "walk.yaml").write_text(EXPERIMENT % ("{file: look.py%s}" % options, budget))
        run = subprocess.run([PROGRAM, "run", "walk.yaml"], cwd=self.folder, capture_output=True, text=True, timeout=120)
        self.assertEqual(exit, run.returncode, run.stdout + run.stderr)
        return run.stdout + run.stderr

    def trial(self):
        return next((self.folder / "outputs/walk/trials").iterdir())

    def result(self):
        return json.loads((self.trial() / "attempt-1/result.json").read_text())

    def metrics(self):
        return [json.loads(line) for line in (self.trial() / "attempt-1/metrics.jsonl").read_text().splitlines()]

    def seen(self):
        return [json.loads(line) for line in (self.trial() / "seen.jsonl").read_text().splitlines()]


class Listens(PythonMonitor):
    def test_it_gets_the_recorded_numbers(self):
        self.run_with(WRITES)
        seen, recorded = [line for line in self.seen() if line["number"] > 0], self.metrics()
        self.assertEqual([line["iteration"] for line in recorded], [line["number"] for line in seen])
        for line, known in zip(seen, recorded):
            self.assertEqual(known["step"], line["env_steps"])
            self.assertEqual(known["return"]["mean"], line["metrics"]["return"])
        ended = [line for line in seen if line["ended"]]
        self.assertEqual(self.result()["episodes"], sum(len(line["episodes"]) for line in ended))
        self.assertEqual({"infer", "env_step"}, {"infer", "env_step"} & {name for line in ended for _, name, _, _ in line["phases"]})
        self.assertTrue(all(line["seconds"] > 0 for line in ended))

    def test_a_class_gets_its_arguments(self):
        self.run_with("""
            class Look:
                def __init__(self, word):
                    self.word, self.samples, self.iterations = word, 0, 0
                def on_iteration(self, iteration):
                    self.iterations += iteration.ended
                def sample(self, seconds):
                    self.samples += 1
                def finish(self, folder):
                    open(folder + "/end.txt", "w").write(f"{self.word} {self.iterations} {self.samples > 0}")
        """, ", class: Look, kwargs: {word: hello}")
        self.assertEqual("hello 10 True", (self.trial() / "attempt-1/end.txt").read_text())

    def test_it_changes_no_result(self):
        self.run_with(WRITES)
        with_monitor = [{key: value for key, value in line.items() if key != "time"} for line in self.metrics()]
        shutil.rmtree(self.folder / "outputs")
        (self.folder / "walk.yaml").write_text((EXPERIMENT % ("{}", "{iterations: 10}")).replace("{plugin: python, options: {}}", ""))
        subprocess.run([PROGRAM, "run", "walk.yaml"], cwd=self.folder, check=True, capture_output=True)
        self.assertEqual(with_monitor, [{key: value for key, value in line.items() if key != "time"} for line in self.metrics()])


class Ends(PythonMonitor):
    def test_a_reason_ends_the_trial(self):
        printed = self.run_with("""
            def on_iteration(iteration):
                if iteration.env_steps >= 2048:
                    return f"{iteration.env_steps} steps are enough"
        """, budget=ENDLESS)
        result = self.result()
        self.assertEqual(("COMPLETED", "ok"), (result["state"], result["outcome"]))
        self.assertEqual({"plugin": "monitor.python", "reason": "2048 steps are enough"}, result["ended_by"])
        self.assertLess(result["trial_s"], 30)
        self.assertEqual(result["iterations"], result["evaluated_at"])
        self.assertIn(f"monitor.python ended the trial after iteration {result['iterations']}: 2048 steps are enough", printed)

    def test_samples_end_it_too_and_none_continues(self):
        self.run_with("def sample(seconds): return 'at once'", budget=ENDLESS)
        self.assertEqual("at once", self.result()["ended_by"]["reason"])
        shutil.rmtree(self.folder / "outputs")
        self.run_with("def sample(seconds): return None")
        self.assertNotIn("ended_by", self.result())
        self.assertEqual(10, self.result()["iterations"])


class Fails(PythonMonitor):
    def rejected(self, code, *texts, options=""):
        said = self.run_with(code, options, exit=2)
        for text in texts:
            self.assertIn(text, said)
        self.assertNotIn("worker.py", said)  # no lines of the program itself
        self.assertFalse(list(self.folder.rglob("metrics.jsonl")))

    def switched_off(self, code, *texts, options=""):
        self.run_with(code, options)
        result = self.result()
        self.assertEqual(("COMPLETED", 10), (result["state"], result["iterations"]))
        said = "\n".join(result["warnings"])
        for text in ("monitor.python was switched off", *texts):
            self.assertIn(text, said)

    def test_a_file_that_cannot_be_loaded_is_rejected_before_the_start(self):
        self.rejected("def on_iteration(iteration:\n  pass\n", "SyntaxError", "look.py:1")
        self.rejected("import math\nmath.nothing\n", "AttributeError", "look.py:2")
        self.rejected("import no_such_package\n", "no_such_package", "-m pip install no_such_package", "options.python of the monitor")
        self.rejected("def on_iterations(iteration): pass\n", "expected a function on_iteration, sample or finish")
        self.rejected("class Stops:\n    def on_iteration(self, iteration): pass\n", "hint: class: Stops")
        self.rejected("class Other: pass\n", "'Look' is not in", "classes in it: Other", options=", class: Look")
        self.rejected("class Look:\n  def __init__(self, word): pass\n", "word", options=", class: Look")
        self.rejected("def sample(t): pass\n", "kwargs: expected `class`", options=", kwargs: {a: 1}")
        self.rejected("wants = ['weights']\ndef sample(t): pass\n", "expected a list of metrics, episodes, phases")
        self.rejected("def sample(t): pass\n", "cannot start 'no-python'", options=", python: no-python")

    def test_a_missing_file_is_rejected(self):
        said = self.run_with("", exit=2, options=", python: python3, class: ''").replace("\n", " ")
        self.assertIn("on_iteration", said)
        (self.folder / "walk.yaml").write_text(EXPERIMENT % ("{file: none.py}", "{iterations: 10}"))
        run = subprocess.run([PROGRAM, "run", "walk.yaml"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(2, run.returncode)
        self.assertIn("none.py", run.stderr)

    def test_an_exception_switches_it_off_and_has_its_place(self):
        self.switched_off("def on_iteration(iteration):\n    iteration.metrics['no such metric']\n",
                          "KeyError: 'no such metric' (look.py:2)", "on_iteration")
        self.assertNotIn("MonitorWorker", "\n".join(self.result()["warnings"]))

    def test_a_wrong_answer_is_explained(self):
        self.switched_off("def on_iteration(iteration):\n    return True\n",
                          "on_iteration: expected None or a string (the reason to end the trial), got True")

    def test_a_hang_has_a_limit_and_its_place(self):
        begin = time.monotonic()
        self.run_with("import time\ndef on_iteration(iteration):\n    time.sleep(1000)\n", ", timeout: 0.5", budget="{wall_time: 4s}")
        self.assertLess(time.monotonic() - begin, 40)
        said = "\n".join(self.result()["warnings"])
        for text in ("the monitor's process did not answer within timeout: 0.5 s", "look.py"):
            self.assertIn(text, said)

    def test_an_exit_is_an_error(self):
        self.switched_off("import sys\ndef on_iteration(iteration):\n    sys.exit(3)\n", "SystemExit: 3")
        shutil.rmtree(self.folder / "outputs")
        self.switched_off("import os\ndef on_iteration(iteration):\n    os._exit(3)\n", "the monitor's process ended with exit code 3")

    def test_it_ends_with_its_trial(self):
        (self.folder / "look.py").write_text("import os, time\nopen('pid', 'w').write(str(os.getpid()))\ndef sample(t): time.sleep(1000)\n")
        (self.folder / "walk.yaml").write_text(EXPERIMENT % ("{file: look.py, timeout: 1000}", ENDLESS))
        running = subprocess.Popen([PROGRAM, "run", "walk.yaml"], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not list(self.folder.rglob("metrics.jsonl")):
            self.assertIsNone(running.poll())
            time.sleep(0.05)
        trial = next(pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if self.is_trial(pid))
        os.kill(trial, signal.SIGKILL)
        running.send_signal(signal.SIGINT)
        running.wait(timeout=60)
        pids = [int(path.read_text()) for path in self.folder.rglob("pid")]
        deadline = time.monotonic() + 10
        while any(pathlib.Path(f"/proc/{pid}").exists() for pid in pids):
            self.assertLess(time.monotonic(), deadline, "the monitor's process outlives its trial")
            time.sleep(0.05)

    def is_trial(self, pid):
        try:
            words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            return False
        return any(word.endswith(b"backplane-trial") for word in words[:1]) and any(bytes(self.folder) in word for word in words)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
