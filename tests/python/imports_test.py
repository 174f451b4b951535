"""imports_test.py: backplane_rl.read_runs imports runs, with the frames and the verdict of the commands.

usage: imports_test.py
"""
import os
import pathlib
import random
import sys
import tempfile
import unittest

import backplane_rl

try:
    import pandas
except ImportError:
    pandas = None


class Imports(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="backplane-imports-")
        self.addCleanup(self.folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder.name)
        for arm, shift in (("a", 0), ("b", 50)):
            for seed in range(6):
                file = pathlib.Path(f"runs/{arm}/seed_{seed}/log.csv")
                file.parent.mkdir(parents=True)
                file.write_text("step,score\n" + "".join(f"{step},{step + shift + random.Random(f'{arm}{seed}').gauss(0, 3)!r}\n" for step in range(1, 21)))

    def test_verdict(self):
        runs = backplane_rl.read_runs("runs", to="out")
        answer = runs.compare("score@last")
        self.assertIn("b is better than a", answer.verdict)
        self.assertEqual(answer.report["verdict"], answer.sentences)
        self.assertEqual(runs.folder, pathlib.Path("out"))

    @unittest.skipIf(pandas is None, "no pandas")
    def test_frames(self):
        runs = backplane_rl.read_runs(["runs/a", "runs/b"], to="out")
        self.assertEqual((len(runs.trials), sorted(runs.trials["seed"])), (12, sorted(2 * list(range(6)))))
        self.assertEqual((len(runs.curves), runs.curves["env_steps"].max()), (240, 20))

    def test_errors(self):
        with self.assertRaisesRegex(backplane_rl.BackplaneError, "does not exist"):
            backplane_rl.read_runs("nowhere")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
