#!/usr/bin/env python3
"""CleanRL's ppo_continuous_action.py, unmodified from the wheel cleanrl==1.2.0, with Gymnasium 0.28 of its time.

  unmodified_script_test.py    (BACKPLANE_HOME: the build tree)
"""
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import needs

needs.packages("cffi", "cleanrl", "gymnasium", "tensorboard", "torch")


def episodes(id, *arguments):
    """Steps and returns of the episodes that the script prints."""
    script = pathlib.Path(importlib.util.find_spec("cleanrl").submodule_search_locations[0]) / "ppo_continuous_action.py"
    with tempfile.TemporaryDirectory() as folder:
        ended = subprocess.run([sys.executable, "-W", "ignore", script, "--env-id", id, "--total-timesteps", "1024", "--num-envs", "2",
                                "--num-steps", "256", "--update-epochs", "1", *arguments], cwd=folder, capture_output=True, text=True,
                               env={**os.environ, "OMP_NUM_THREADS": "1"})
        assert ended.returncode == 0, ended.stderr
        assert list(pathlib.Path(folder).glob("runs/**/events.out.tfevents*"))
    return re.findall(r"global_step=(\d+), episodic_return=\[(.*)\]", ended.stdout)


class Script(unittest.TestCase):
    def test_sees_the_episodes_that_gymnasium_has(self):
        ours, theirs = episodes("backplane_rl:backplane/Pendulum-v1"), episodes("Pendulum-v1")
        self.assertEqual([step for step, _ in ours], [step for step, _ in theirs])
        self.assertEqual([step for step, _ in ours], ["400", "400", "800", "800"])
        for _, returned in ours + theirs:
            self.assertLess(-2000, float(returned))
            self.assertLess(float(returned), 0)

    def test_trains_on_mujoco(self):
        episodes("backplane_rl:backplane/HalfCheetah-v5")


if __name__ == "__main__":
    unittest.main()
