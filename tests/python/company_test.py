#!/usr/bin/env python3
"""The library in a process that also uses NumPy, LibTorch and a different MuJoCo.

  company_test.py    (BACKPLANE_HOME: a build tree or an installation that is built with LibTorch)
"""
import pathlib
import subprocess
import sys
import unittest

import needs

needs.packages("cffi", "mujoco", "torch")

import mujoco
import torch

MODEL = mujoco.MjModel.from_xml_string("<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>")
FALLING = mujoco.MjData(MODEL)
mujoco.mj_step(MODEL, FALLING)

import backplane_rl

# A hash of Ants' observations in 50 steps.
EPISODE = """
import hashlib, numpy as np, backplane_rl
env = backplane_rl.make_vec("ant", 4, threads=2)
seen = hashlib.sha256(env.reset(seed=3)[0].tobytes())
for step in range(50):
    seen.update(env.step(np.full((4, 8), np.sin(step), np.float32))[0].tobytes())
env.close()
digest = seen.hexdigest()
"""


def episode() -> str:
    names: dict[str, str] = {}
    exec(EPISODE, names)
    return names["digest"]


class Company(unittest.TestCase):
    def test_an_env_steps_the_same_next_to_other_packages(self) -> None:
        alone = subprocess.run([sys.executable, "-c", EPISODE + "print(digest)"], capture_output=True, text=True, check=True)
        self.assertEqual(episode(), alone.stdout.strip())

    def test_other_packages_still_work(self) -> None:
        episode()
        mujoco.mj_step(MODEL, FALLING)
        self.assertAlmostEqual(FALLING.qvel[2], -2 * 9.81 * MODEL.opt.timestep)
        self.assertEqual(torch.ones(64, 64).matmul(torch.ones(64, 64)).sum().item(), 64**3)
        self.assertEqual(mujoco.mj_versionString(), mujoco.__version__)

    def test_each_package_has_its_own_mujoco(self) -> None:
        episode()
        loaded = {line.split()[-1] for line in pathlib.Path("/proc/self/maps").read_text().splitlines() if "libmujoco" in line}
        self.assertEqual(len(loaded), 2, loaded)

    def test_rejects_an_env_that_needs_libtorch(self) -> None:
        with self.assertRaisesRegex(backplane_rl.BackplaneError, "is built against LibTorch"):
            backplane_rl.EmbeddedEnv("uav_grid_tensor")


if __name__ == "__main__":
    unittest.main()
