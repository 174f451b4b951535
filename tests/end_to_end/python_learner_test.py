"""Tests learners in Python: their numbers, threads, resume, and how a trial ends when their code fails.

usage: python_learner_test.py PROGRAM
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
import threading
import time
import unittest

PROGRAM = ""
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples/learners"
EXPERIMENT = """experiment: learn
env: %(env)s
learner: {plugin: python, options: {file: learn.py, class: Learn%(options)s}}
rollout: {num_env_runners: 3, num_envs_per_env_runner: 4, threads: %(threads)d}
budget: %(budget)s
checkpoint: {every_iterations: 1}
evaluation: {episodes: 4}
"""
# A learner whose actions and weights depend on everything it gets.
LEARNS = """
    import numpy as np
    class Learn:
        horizon = 16
        extra = {"value": (2,)}
        def __init__(self, env, lr=0.1):
            self.lr, self.w, self.choices = lr, np.zeros(env.obs.shape, np.float32), env.action.n
        def act(self, inputs):
            score = inputs.obs @ self.w
            noise = 0 if inputs.greedy else np.random.standard_normal(len(score))
            return {"action": (score + noise > 0).astype(int), "value": np.stack([score, score], 1)}
        def consume(self, rollout):
            live = 1 - (rollout.terminated | rollout.truncated)
            self.w += self.lr * np.einsum("tno,tn->o", rollout.obs[:-1], (rollout.action - 0.5) * live) / rollout.reward.size
            self.w += 0.001 * np.random.standard_normal(self.w.shape) + rollout.value.mean() + rollout.final_obs.sum(0) * 0.01
            return {"weight": self.w[0], "own/steps": rollout.env_steps}
        def save(self): return {"w": self.w}
        def load(self, state): self.w = state["w"]
"""
FAILS = """
    import os, signal, sys, time
    class Learn:
        horizon = 16
        def __init__(self, env): self.n = 0
        def act(self, inputs): return [0] * len(inputs.obs)
        def consume(self, rollout):
            self.n += 1
            if self.n == 3:
                %s
        def save(self): return self.n
        def load(self, state): self.n = state
"""


class PythonLearner(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="backplane_learner_"))
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, code, options="", budget="{iterations: 8}", env="{plugin: cartpole}", threads=1):
        (self.folder / "learn.py").write_text(textwrap.dedent(code))
        values = {"env": env, "options": options, "budget": budget, "threads": threads}
        (self.folder / "learn.yaml").write_text(EXPERIMENT % values)

    def run_with(self, code, exit=0, **settings):
        self.write(code, **settings)
        return self.again(exit)

    def again(self, exit=0, *words):
        run = subprocess.run([PROGRAM, "run", "learn.yaml", *words], cwd=self.folder, capture_output=True, text=True, timeout=240)
        if exit is not None:
            self.assertEqual(exit, run.returncode, run.stdout + run.stderr)
        return run.stdout + run.stderr

    def trials(self):
        return sorted((self.folder / "outputs/learn/trials").iterdir())

    def result(self):
        return json.loads(max(self.trials()[0].glob("attempt-*/result.json"), key=self.attempt_of).read_text())

    def attempt_of(self, file):
        return int(file.parent.name.removeprefix("attempt-"))

    def numbers(self):
        """All recorded numbers but times, and the evaluation."""
        lines = {}
        for file in sorted(self.trials()[0].glob("attempt-*/metrics.jsonl"), key=self.attempt_of):
            for line in map(json.loads, file.read_text().splitlines()):
                lines[line["iteration"]] = {k: v for k, v in line.items() if k in ("step", "return", "metrics", "train", "ep", "own")}
        return lines, self.result()["evaluation_returns"]

    def forget(self):
        shutil.rmtree(self.folder / "outputs")


class Learns(PythonLearner):
    def test_a_memory_counts_the_steps_of_each_episode(self):
        self.run_with("""
            import numpy as np
            class Learn:
                horizon, carry = 40, {"h": (1,)}
                def __init__(self, env): self.before = np.zeros(env.rows)
                def act(self, inputs): return {"action": np.zeros(len(inputs.obs), int), "h": inputs.h + 1}
                def consume(self, rollout):
                    ended = rollout.terminated | rollout.truncated
                    for t in range(self.horizon):
                        assert (rollout.h[t, :, 0] == self.before).all(), (t, rollout.h[t], self.before)
                        self.before = np.where(ended[t], 0, self.before + 1)
                    return {"episodes": ended.sum()}
        """, budget="{iterations: 3}")
        episodes = [line["metrics"]["train/episodes"] for line in map(json.loads, next(self.folder.rglob("metrics.jsonl")).read_text().splitlines())]
        self.assertGreater(min(episodes), 12)  # of 12 rows: a pole that is always pushed to one side falls within 11 steps

    def test_numbers_are_the_same_for_any_number_of_threads(self):
        found = []
        for threads in (1, 2, 3):
            self.run_with(LEARNS, threads=threads)
            found.append(self.numbers())
            self.forget()
        self.assertEqual(8, len(found[0][0]))
        self.assertEqual(found[0], found[1])
        self.assertEqual(found[0], found[2])

    def test_an_extended_trial_is_the_same_as_a_whole_one(self):
        self.run_with(LEARNS)
        whole = self.numbers()
        self.forget()
        self.run_with(LEARNS, budget="{iterations: 3}")
        self.run_with(LEARNS, budget="{iterations: 8}")
        self.assertEqual(1, len(self.trials()))
        self.assertEqual(whole[1], self.numbers()[1])
        self.assertEqual(whole[0][8], self.numbers()[0][8])

    def test_an_evaluation_changes_no_training(self):
        self.run_with(LEARNS)
        first = self.numbers()
        self.forget()
        self.write(LEARNS)
        self.again(0, "--set", "evaluation.every_iterations=2")
        self.assertEqual(first, self.numbers())

    def test_rollouts_are_not_copied(self):
        self.run_with("""
            import mmap, os
            class Learn:
                horizon = 16
                def __init__(self, env): pass
                def shared(self, array):
                    while not isinstance(array, mmap.mmap): array = array.base if hasattr(array, "base") else array.obj
                    return len(array) > os.fstat(5).st_size  # the plugin's memory, for copies
                def act(self, inputs):
                    assert self.shared(inputs.obs)
                    return [0] * len(inputs.obs)
                def consume(self, rollout):
                    assert all(self.shared(rollout[name]) for name in ("obs", "action", "reward", "terminated", "truncated"))
        """)
        self.assertEqual(8, self.result()["iterations"])

    def test_a_changed_file_is_another_trial(self):
        self.run_with(LEARNS)
        self.assertIn("learner.options.file", self.run_with(LEARNS + "\n    # changed\n", exit=1))
        first = self.trials()
        self.again(0, "--accept-change")
        self.assertNotEqual(first, self.trials())

    def test_agents_have_a_dimension(self):
        self.run_with("""
            import numpy as np
            class Learn:
                horizon = 16
                extra = {"logp": ()}
                def __init__(self, env): self.env = env
                def act(self, inputs):
                    shape = (len(inputs.obs), self.env.agents)
                    assert inputs.obs.shape == (*shape, *self.env.obs.own_shape) and self.env.agents > 1
                    allowed = inputs.action_mask if "action_mask" in inputs else np.ones((*shape, self.env.action.n))
                    return {"action": (allowed * inputs.rng.random(allowed.shape)).argmax(-1), "logp": np.zeros(shape)}
                def consume(self, rollout):
                    rows, agents = self.env.rows, self.env.agents
                    assert rollout.logp.shape == rollout.action.shape == (16, rows, agents), rollout.action.shape
                    assert rollout.obs.shape[:3] == (17, rows, agents) and rollout.final_obs.shape[1:] == rollout.obs.shape[2:]
        """, env="{plugin: uav_grid}")

    def test_it_plans_evaluations_ticks_and_the_end(self):
        self.run_with("""
            import numpy as np
            class Learn:
                def __init__(self, env): self.seen = []
                def plan(self, limits):
                    assert limits.progress is None
                    steps = [{"rollout": {"horizon": 8, "part": 4}}, {"tick": "update_backward"},
                             {"evaluate": {"candidates": 3, "episodes_each": 2, "seeds": range(6), "max_steps": 20}}, None]
                    return steps[min(len(set(self.seen)), 3)]
                def act(self, inputs):
                    return np.zeros(len(inputs.obs)) if inputs.candidate is None else inputs.candidate.clip(0) % 2
                def consume(self, delivery):
                    self.seen.append(delivery.kind)
                    if delivery.kind == "rollout":
                        assert delivery.reward.shape[0] == 4 and delivery.count == 2
                        if delivery.index == 0: self.seen.pop()
                    if delivery.kind == "evaluate": assert delivery.fitness.shape == (3, 2) and delivery.ep_length.max() <= 20
        """.replace("np.zeros(len(inputs.obs))", "np.zeros(len(inputs.obs), int)"))
        self.assertEqual("COMPLETED", self.result()["state"])
        self.assertEqual(2, self.result()["iterations"])


class Fails(PythonLearner):
    def fails(self, line, outcome, *texts, options=", timeout: 2", exit=1):
        self.run_with(FAILS % line, exit=exit, options=options)
        result = self.result()
        self.assertEqual(outcome, result["outcome"], result)
        for text in texts:
            self.assertIn(text, json.dumps(result["error"]))
        self.assertNotIn("LearnerWorker", json.dumps(result["error"]))

    def test_an_exception_is_the_outcome_with_its_traceback(self):
        self.fails("raise KeyError('no such key')", "plugin", "consume: KeyError: 'no such key' (learn.py:10)", "raise KeyError")

    def test_exits_are_the_outcome(self):
        self.fails("sys.exit(0)", "plugin", "SystemExit: 0", "learn.py:10")
        self.forget()
        self.fails("os._exit(3)", "plugin", "the learner's process ended with exit code 3")
        self.forget()
        self.fails("os.kill(os.getpid(), signal.SIGKILL)", "plugin", "the learner's process was killed by signal 9")

    def test_a_loop_has_a_limit_with_a_name_and_its_place(self):
        self.fails("while True: time.sleep(0.01)", "timeout", "did not answer within timeout: 2 s", "learn.py")

    def test_a_lack_of_memory_is_out_of_memory(self):
        self.fails("raise MemoryError", "oom", "MemoryError", exit=0)

    def test_mistakes_are_explained(self):
        cases = [
            ("class Learner: pass", "'Learn' is not in", "classes in it: Learner"),
            ("class Learn:\n def act(self, i): pass", "no method consume(self, delivery)"),
            ("class Learn:\n def __init__(self, env): pass\n def act(self, i): pass\n def consume(self, d): pass", "expected `horizon`"),
            ("class Learn:\n horizon = 4\n def act(self, i): pass\n def consume(self, d): pass", "TypeError", "Learn() takes no arguments"),
            ("import no_such_package", "-m pip install no_such_package", "learner.options.python"),
            ("class Learn:\n horizon = 4\n act_in = ['view']\n def __init__(self, env): pass\n def act(self, i): pass\n def consume(self, d): pass",
             "act_in: expected channels of the env (obs, action, reward, terminated), got 'view'"),
        ]
        for code, *texts in cases:
            printed = self.run_with(code, exit=2)
            for text in texts:
                self.assertIn(text, printed)
            self.assertNotIn("worker.py", printed)

    def test_wrong_answers_are_explained(self):
        learner = "class Learn:\n horizon = 4\n extra = {'v': ()}\n def __init__(self, env): pass\n def consume(self, d): %s\n def act(self, i):\n  import numpy as np\n  n = len(i.obs)\n  return %s\n"
        for answer, consumed, text in [
            ("{'action': np.zeros(n, int)}", "pass", "act: expected 'v' among the outputs, got action"),
            ("{'action': np.zeros((n, 1), int), 'v': np.zeros(n)}", "pass", "act: 'action': expected shape (12,), got (12, 1)"),
            ("{'action': np.zeros(n), 'v': np.zeros(n)}", "pass", "act: 'action': expected numbers that fit int32, got float64"),
            ("{'action': np.full(n, 7), 'v': np.zeros(n)}", "pass", "expected a whole number from 0 to 1, got 7"),
            ("{'action': np.zeros(n, int), 'v': np.zeros(n)}", "return 3", "consume: expected None or a dict of metrics, got 3"),
        ]:
            self.run_with(learner % (consumed, answer), exit=None)
            self.assertIn(text, json.dumps(self.result()["error"]))
            self.forget()

    def test_a_negative_horizon_is_explained(self):
        self.run_with("class Learn:\n horizon = -4\n def __init__(self, env): pass\n def act(self, i): return [0] * len(i.obs)\n def consume(self, d): pass\n",
                      exit=None)
        self.assertIn("expected 0 or more, got -4", json.dumps(self.result()["error"]))

    def test_a_state_that_is_no_data_is_explained(self):
        self.run_with("class Net: pass\nclass Learn:\n horizon = 4\n def __init__(self, env): pass\n def act(self, i): return [0] * len(i.obs)\n"
                      " def consume(self, d): pass\n def save(self): return {'net': [Net()]}\n def load(self, s): pass\n", exit=None)
        self.assertIn("state['net'][0]: expected numbers, texts, lists, dicts, arrays or tensors, got Net", json.dumps(self.result()["error"]))


class Stops(PythonLearner):
    def learner(self):
        """The learner's process."""
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
                if b"/proc/self/fd/6" in words and os.readlink(f"/proc/{pid}/cwd") == str(self.folder):
                    return int(pid)
            except OSError:
                pass
        return None

    def start(self, *words):
        return subprocess.Popen([PROGRAM, "run", "learn.yaml", *words], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def test_dev_trains_again_when_the_file_changes(self):
        self.write(LEARNS)
        with subprocess.Popen([PROGRAM, "dev", "learn.py", "learn.yaml"], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True) as running:
            ends = threading.Timer(120, running.kill)
            ends.start()
            try:
                said = []
                for build in (1, 2):
                    for line in running.stdout:
                        said.append(line)
                        if f"build {build} finished" in line:
                            break
                    self.write(LEARNS.replace("lr=0.1", "lr=0.2"))
                running.send_signal(signal.SIGINT)
                running.wait(timeout=60)
            finally:
                ends.cancel()
                running.kill()
        self.assertIn("build 2 starts, with the learner of build 1", "".join(said))

    def test_programs_of_the_file_do_not_keep_the_buffers(self):
        looks = LEARNS.replace("        def consume(self, rollout):\n", """        def consume(self, rollout):
            import subprocess
            held = subprocess.run(["ls", "-l", "/proc/self/fd"], close_fds=False, capture_output=True, text=True).stdout
            assert "memfd:learner" not in held, held
""")
        self.run_with(looks, budget="{iterations: 1}")

    def test_killed_learners_resume_with_the_same_numbers(self):
        moments = int(os.environ.get("BACKPLANE_KILLS", "3"))
        slow = LEARNS.replace("live = 1", "__import__('time').sleep(0.02); live = 1")
        self.run_with(slow, budget="{iterations: %d}" % (20 + 20 * moments))
        whole = self.numbers()
        self.forget()
        killed = 0
        for moment in range(moments):
            attempts = len(list(self.folder.rglob("metrics.jsonl")))
            running = self.start(*["--only-failed"] if moment > 0 else [])
            while len(list(self.folder.rglob("metrics.jsonl"))) == attempts and running.poll() is None:
                time.sleep(0.01)
            if (pid := self.learner()) is None:
                break
            time.sleep(0.2 + 0.037 * moment)
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            killed += running.wait(timeout=120) == 1
        self.assertGreater(killed, moments / 2)
        self.again(0, "--only-failed")
        self.assertEqual(whole[1], self.numbers()[1])
        failed = [json.loads(file.read_text()) for file in self.trials()[0].glob("attempt-*/result.json")]
        failed = [result for result in failed if result["state"] != "COMPLETED"]
        self.assertGreaterEqual(len(failed), killed)
        for result in failed:
            self.assertEqual("plugin", result["outcome"])
            self.assertIn("killed by signal 9", result["error"])

    def test_an_interrupted_trial_resumes_with_the_same_numbers(self):
        self.run_with(LEARNS, budget="{iterations: 300}")
        whole = self.numbers()
        self.forget()
        running = self.start()
        while not list(self.folder.rglob("checkpoint.bin")):
            self.assertIsNone(running.poll())
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        running.wait(timeout=60)
        self.again(0)
        self.assertEqual(whole[1], self.numbers()[1])

    def test_an_interrupt_ends_a_call(self):
        self.write(FAILS % "time.sleep(1000)", options=", timeout: 1000")
        running = self.start()
        while not list(self.folder.rglob("metrics.jsonl")) or len(max(self.folder.rglob("metrics.jsonl")).read_text().splitlines()) < 2:
            self.assertIsNone(running.poll())
            time.sleep(0.05)
        begin = time.monotonic()
        running.send_signal(signal.SIGINT)
        running.wait(timeout=60)
        self.assertLess(time.monotonic() - begin, 20)


class Examples(PythonLearner):
    def test_the_guides_class_runs(self):
        guide = (EXAMPLES.parents[1] / "docs/guide/algorithm.md").read_text()
        self.run_with(guide.split("```python\n")[1].split("```")[0] + "\nLearn = Search\n")
        self.assertEqual(8, self.result()["iterations"])

    def test_the_template_tests_itself(self):
        environment = os.environ | {"PATH": os.path.dirname(PROGRAM) + ":" + os.environ["PATH"]}
        said = subprocess.run([PROGRAM, "new", "learner", "mine", "--python"], cwd=self.folder, capture_output=True, text=True, env=environment)
        self.assertEqual(0, said.returncode, said.stderr)
        self.assertIn("run mine/mine.yaml", said.stdout)
        test = subprocess.run([sys.executable, "mine/mine_test.py", PROGRAM], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(0, test.returncode, test.stderr)

    def trained(self, name, *settings):
        for file in EXAMPLES.iterdir():
            shutil.copy(file, self.folder)
        run = subprocess.run([PROGRAM, "run", name, "--out", "out", *(word for s in settings for word in ("--set", s))],
                             cwd=self.folder, capture_output=True, text=True, timeout=280)
        self.assertEqual(0, run.returncode, run.stdout + run.stderr)
        returns = json.loads(next((self.folder / "out").rglob("attempt-1/result.json")).read_text())["evaluation_returns"]
        return sum(returns) / len(returns)

    def test_reinforce_learns(self):
        self.assertGreater(self.trained("reinforce_cartpole.yaml"), 60)

    def test_ppo_learns_and_accepts_continuous_actions(self):
        try:
            subprocess.run([self.python(), "-c", "import torch"], check=True, capture_output=True)
        except subprocess.CalledProcessError:
            self.skipTest("needs torch")
        settings = ["env.plugin=cartpole", "learner.options.kwargs.horizon=64", "rollout.num_envs_per_env_runner=8"]
        self.assertGreater(self.trained("ppo_ant.yaml", *settings, "budget.iterations=25", "learner.options.kwargs.lr=0.001"), 120)
        shutil.rmtree(self.folder / "out")
        self.trained("ppo_ant.yaml", "env.plugin=pendulum", *settings[1:], "budget.iterations=2")

    def python(self):
        active = os.environ.get("VIRTUAL_ENV")
        return f"{active}/bin/python" if active else "python3"


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
