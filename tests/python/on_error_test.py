#!/usr/bin/env python3
"""Errors in Python's words, and on_error="end_episode" of the adapters.

  on_error_test.py [BREAKS]    (the plugin of tests/host/embed/breaks.cpp; BACKPLANE_HOME: the build tree)
"""
import importlib.util
import os
import subprocess
import sys
import unittest
import warnings

import gymnasium
import numpy as np

import backplane_rl

BREAKS = sys.argv.pop() if len(sys.argv) > 1 else os.path.join(os.environ["BACKPLANE_HOME"], "tests/plugins/env_breaks.so")
BROKE = "env.breaks: step: row {} broke"


class Episodes(unittest.TestCase):
    def test_of_a_vector_env_end_in_their_row(self):
        envs = backplane_rl.make_vec(None, 3, file=BREAKS, on_error="end_episode")
        envs.reset(seed=10)
        actions = np.array([[0], [1], [0]], np.float32)
        with self.assertWarnsRegex(RuntimeWarning, "row 1 broke; its episode is truncated"):
            obs, rewards, terminated, truncated, infos = envs.step(actions)
        self.assertEqual(obs[:, 0].tolist(), [11, 11, 13])  # row 1 keeps the observation before the step
        self.assertEqual(rewards.tolist(), [1, 0, 1])
        self.assertEqual((terminated.any(), truncated.tolist()), (False, [False, True, False]))
        self.assertEqual(infos["error"].tolist(), [None, BROKE.format(1), None])
        self.assertEqual(infos["_error"].tolist(), [False, True, False])
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # only the first error is a warning
            infos = envs.step(actions)[4]  # row 1 restarts
            self.assertNotIn("error", infos)
            self.assertIn("error", envs.step(actions)[4])

    def test_of_a_single_env_end_with_their_reason(self):
        env = backplane_rl.gymnasium.Env(file=BREAKS, on_error="end_episode")
        env.reset(seed=5)
        with self.assertWarns(RuntimeWarning):
            obs, reward, terminated, truncated, info = env.step(np.array([2], np.float32))
        self.assertEqual((obs[0], reward, terminated, truncated), (5, 0, False, True))
        self.assertEqual(info["error"], "observation obs[0] of row 0 is not finite")
        self.assertEqual(env.reset(seed=6)[0][0], 6)
        self.assertNotIn("error", env.step(np.array([0], np.float32))[4])

    @unittest.skipUnless(importlib.util.find_spec("stable_baselines3"), "scripts/test_adapters has Stable-Baselines3")
    def test_do_not_end_a_training_of_sb3(self):
        from stable_baselines3 import PPO

        envs = backplane_rl.sb3.make(None, 4, file=BREAKS, on_error="end_episode", seed=1)
        ended = []

        def note(of_callback, _):
            ended.extend(info for info in of_callback["infos"] if "error" in info)
            return True

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = PPO("MlpPolicy", envs, n_steps=64, batch_size=64, n_epochs=1, device="cpu", seed=1).learn(1024, callback=note)
        self.assertEqual(model.num_timesteps, 1024)
        self.assertGreater(len(ended), 10)
        for info in ended:
            self.assertTrue(info["TimeLimit.truncated"] and np.isfinite(info["terminal_observation"]).all())

    def test_raise_by_default(self):
        envs = backplane_rl.make_vec(None, 2, file=BREAKS)
        envs.reset(seed=1)
        with self.assertRaisesRegex(backplane_rl.BackplaneError, "row 0 broke"):
            envs.step(np.ones((2, 1), np.float32))

    def test_of_an_installed_env_have_the_option(self):
        env = gymnasium.make("backplane/CartPole-v1", on_error="end_episode")
        env.reset(seed=1)
        self.assertEqual(env.step(1)[1:4], (1.0, False, False))
        with self.assertRaisesRegex(backplane_rl.BackplaneError, "on_error: expected raise or end_episode"):
            gymnasium.make("backplane/CartPole-v1", on_error="ignore")


class Texts(unittest.TestCase):
    def test_name_the_calls_of_python(self):
        env = backplane_rl.EmbeddedEnv("cartpole")
        calls = [(env.step, r"call reset\(\) first"), (env.step_wait, r"call step_send\(\) first"),
                 (lambda: (env.reset(), env.load(b"x" * 100)), r"expected bytes of save\(\)")]
        for call, text in calls:
            with self.assertRaisesRegex(backplane_rl.BackplaneError, text) as raised:
                call()
            self.assertNotIn("bp_", str(raised.exception))
        env.reset()
        env.step_send()
        with self.assertRaisesRegex(backplane_rl.BackplaneError, r"call step_wait\(\) first"):
            env.reset()

    def test_name_the_install_line_of_a_missing_package(self):
        for name, module in (("sb3", "stable_baselines3"), ("gymnasium", "gymnasium"), ("pettingzoo", "pettingzoo"),
                             ("read_csv('x.csv')", "pandas")):
            program = f"import sys; sys.modules[{module!r}] = None\nimport importlib.util as u; find = u.find_spec\n" \
                      f"u.find_spec = lambda n, *a: None if n == {module!r} else find(n, *a)\nimport backplane_rl\nbackplane_rl.{name}"
            said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stderr.strip().splitlines()
            self.assertEqual(said[-2:], [f"ModuleNotFoundError: No module named '{module}'",
                                         f"hint: run {sys.executable} -m pip install {module.replace('_', '-')}"])


if __name__ == "__main__":
    unittest.main()
