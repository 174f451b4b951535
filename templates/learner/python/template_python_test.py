"""Trains the learner twice: it must learn, and a trial that stops half-way must end with the same numbers.

usage: python3 template_python_test.py [PROGRAM]   PROGRAM: backplane, unless it is in PATH
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
PROGRAM = "backplane"


class LearnerTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.out = pathlib.Path(scratch.name)

    def train(self, name, *settings):
        command = [PROGRAM, "run", FOLDER / "template_python.yaml", "--out", self.out / name]
        run = subprocess.run([*command, *(word for s in settings for word in ("--set", s))], capture_output=True, text=True)
        self.assertEqual(0, run.returncode, run.stdout + run.stderr)
        attempts = sorted((self.out / name).rglob("attempt-*/result.json"))
        return json.loads(attempts[-1].read_text())["evaluation_returns"]

    def test_it_learns(self):
        returns = self.train("whole")
        self.assertGreater(sum(returns) / len(returns), 60)  # 25 at random

    def test_a_resumed_trial_is_the_same(self):
        whole = self.train("whole", "budget.iterations=20")
        self.train("parts", "budget.iterations=10")
        resumed = self.train("parts", "budget.iterations=20")
        self.assertEqual(whole, resumed)


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        PROGRAM = sys.argv.pop(1)
    unittest.main()
