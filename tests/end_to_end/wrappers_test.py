"""Trains over chains of wrappers with the real program: the same results for any number of threads, rollout workers and stops; errors
before the start.

usage: wrappers_test.py PROGRAM
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""
CHAIN = "[{sticky_actions: 0.25}, {action_repeat: 2}, {clip_reward: [-0.5, 0.5]}, {time_limit: 60}, {frame_stack: 3}]"
PPO = "{plugin: ppo, options: {train_batch_size: 256, minibatch_size: 64, num_epochs: 2}}"
ARS = "{plugin: ars, options: {}}"


class WrappersTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_file(self, *arguments, wrappers=CHAIN, learner=PPO, env="cartpole", rows=8, code=0):
        file = self.folder / "chain.yaml"
        file.write_text(f"experiment: chain\nenv: {{plugin: {env}, wrappers: {wrappers}}}\nlearner: {learner}\n"
                        f"rollout: {{num_env_runners: 4, num_envs_per_env_runner: {rows // 4}}}\nbudget: {{iterations: 4}}\n"
                        "evaluation: {every_iterations: 2, episodes: 3}\ncheckpoint: {every_iterations: 1}\noutput: {page: false}\n")
        done = subprocess.run([PROGRAM, "run", file, "--quiet", *arguments], cwd=self.folder, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def lines(self, out):
        """Measures of each iteration without times."""
        found = {}
        for file in sorted((self.folder / "outputs" / out).glob("trials/*/attempt-*/metrics.jsonl")):
            for line in file.read_text().splitlines():
                one = json.loads(line)
                one.pop("time", None)
                found[one["iteration"]] = one
        return found

    def test_same_bits_for_any_number_of_threads_and_workers(self):
        for learner in (PPO, ARS):
            name = learner[9:12]
            self.run_file("--set", "rollout.threads=1", "--out", f"outputs/{name}1", learner=learner)
            expected = self.lines(f"{name}1")
            self.assertEqual(len(expected), 4)
            self.assertGreaterEqual(expected[1]["metrics"]["inner_steps"], expected[1]["step"])
            for setting in ("rollout.threads=2", "rollout.threads=3", "rollout.workers=2"):
                self.run_file("--set", setting, "--out", f"outputs/{name}{setting}", learner=learner)
                self.assertEqual(self.lines(f"{name}{setting}"), expected, setting)

    def test_stopped_and_extended_trial_has_the_same_bits(self):
        self.run_file("--out", "outputs/whole")
        self.run_file("--set", "budget.iterations=2", "--out", "outputs/parts")
        self.run_file("--set", "budget.iterations=4", "--out", "outputs/parts")
        whole, parts = self.lines("whole"), self.lines("parts")
        self.assertEqual(parts[4]["return"], whole[4]["return"])
        self.assertEqual(parts[4]["ep"], whole[4]["ep"])
        self.assertEqual(parts[4]["eval"], whole[4]["eval"])

    def test_returns_are_the_envs_and_the_learners(self):
        for learner in (PPO, ARS):
            self.run_file("--out", f"outputs/{learner[9:12]}", learner=learner, wrappers="[{action_repeat: 2}, {clip_reward: [0, 0.5]}]")
            last = self.lines(learner[9:12])[4]
            for returns, means in ((last["return"], last["ep"]), (last["eval"]["return"], last["eval"]["metrics"])):
                learners = means["ep/learner_return"]["mean"]
                self.assertGreater(returns["mean"], 3 * learners)  # 2 rewards of 1 against one of 0.5

    def test_mistakes_end_before_the_start(self):
        for wrappers, sentence in (("[{time_limit: 501}]", "at most 500"), ("[pendulum]", "env.pendulum, which is an env of its own"),
                                   ("{time_limit: 5}", "env.wrappers: expected"), ("[{time_limit: 5, frame_stack: 2}]", "several names"),
                                   ("[{frame_stak: 2}]", "frame_stack"), ("[{frame_stack: 0}]", "frames")):
            self.assertIn(sentence, self.run_file(wrappers=wrappers, code=2))
        said = self.run_file(wrappers="[]", env="frame_stack", code=2)
        self.assertIn("is a wrapper: expected an env below it", said)
        self.assertIn("wrappers: [frame_stack]", said)

    def test_chain_belongs_to_the_identity(self):
        ids = set()
        for wrappers in ("[]", "[{frame_stack: 2}]", "[{frame_stack: 3}]", "[{time_limit: 9}, {frame_stack: 2}]", "[{frame_stack: 2}, {time_limit: 9}]"):
            self.run_file("--set", "budget.iterations=1", "--out", f"outputs/id{len(ids)}", wrappers=wrappers)
            ids |= {folder.name for folder in (self.folder / "outputs" / f"id{len(ids)}" / "trials").iterdir()}
        self.assertEqual(len(ids), 5)


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
