#!/usr/bin/env python3
"""The adapter of Stable-Baselines3: its checks, each step compared with DummyVecEnv, and its PPO.

  sb3_test.py    (BACKPLANE_HOME: the build tree)
"""
import unittest
import warnings

import needs

needs.packages("cffi", "gymnasium", "stable_baselines3")

import gymnasium
import numpy as np
import torch
from gymnasium.wrappers import TimeLimit
from stable_baselines3 import PPO
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor, VecNormalize

import backplane_rl
from from_states import FromStates

ROWS, STEPS = 5, 300


class Steps(unittest.TestCase):
    def test_equal_dummy_vec_env(self):
        ours = backplane_rl.sb3.make("cartpole", ROWS, max_episode_steps=25, seed=3)
        ours.action_space.seed(0)
        actions = [np.array([ours.action_space.sample() for _ in range(ROWS)]) for _ in range(STEPS)]
        got, starts = [ours.reset()], [[tuple(ours.state(row)["state"])] for row in range(ROWS)]
        for i, action in enumerate(actions):
            if i % 2:
                got.append(ours.step(action))
            else:
                ours.step_async(action)
                got.append(ours.step_wait())
            for row in np.flatnonzero(got[-1][2]):
                starts[row].append(tuple(ours.state(row)["state"]))

        def make(row):
            return lambda: Monitor(TimeLimit(FromStates(starts[row]), 25))

        theirs = DummyVecEnv([make(row) for row in range(ROWS)])
        np.testing.assert_array_equal(theirs.reset(), got[0])
        kinds = set()
        for action, have in zip(actions, got[1:]):
            want = theirs.step(action)
            for a, b in zip(have[:3], want[:3]):
                np.testing.assert_array_equal(a, b)
                self.assertEqual(a.dtype, b.dtype)
            for a, b in zip(have[3], want[3]):
                self.assertEqual(set(a), set(b))
                self.assertEqual(a["TimeLimit.truncated"], b["TimeLimit.truncated"])
                if "episode" in b:
                    kinds.add(a["TimeLimit.truncated"])
                    self.assertEqual((a["episode"]["r"], a["episode"]["l"]), (b["episode"]["r"], b["episode"]["l"]))
                    np.testing.assert_array_equal(a["terminal_observation"], b["terminal_observation"])
        self.assertEqual(kinds, {False, True})


class Checks(unittest.TestCase):
    def test_stable_baselines3_has_no_complaint(self):
        for name in ("Ant-v5", "CartPole-v1", "Pendulum-v1"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                check_env(gymnasium.make("backplane/" + name))


class Rows(unittest.TestCase):
    def test_have_seeds_attributes_and_methods(self):
        envs = backplane_rl.sb3.make("pendulum", 3)
        envs.seed(5)
        first = envs.reset()
        np.testing.assert_array_equal(gymnasium.make("backplane/Pendulum-v1").reset(seed=6)[0], first[1])
        self.assertFalse(np.array_equal(envs.reset(), first))
        envs.set_attr("level", 2, indices=[1])
        self.assertEqual(envs.get_attr("level", indices=1), [2])
        with self.assertRaises(AttributeError):
            envs.get_attr("level")
        state = envs.env_method("state", indices=0)[0]
        envs.env_method("set_state", state)
        np.testing.assert_array_equal(envs.env.channels["obs"][2], envs.env.channels["obs"][0])
        self.assertEqual(envs.env_is_wrapped(Monitor), [False] * 3)

    def test_reject_misuse(self):
        envs = backplane_rl.sb3.make("ant", 2)
        envs.reset()
        with self.assertRaisesRegex(ValueError, r"expected the shape \(2, 8\)"):
            envs.step(np.zeros((3, 8), np.float32))
        with self.assertRaisesRegex(backplane_rl.BackplaneError, "bp_embed_step_send"):
            envs.step_wait()
        envs.close()
        with self.assertRaisesRegex(backplane_rl.BackplaneError, "closed"):
            envs.step(np.zeros((2, 8), np.float32))


class Training(unittest.TestCase):
    def test_learns(self):
        torch.set_num_threads(1)
        model = PPO("MlpPolicy", backplane_rl.sb3.make("cartpole", 8, seed=0), n_steps=64, batch_size=256, n_epochs=5, learning_rate=2e-3,
                    device="cpu", seed=0)
        model.learn(20_000)
        self.assertGreater(np.mean([episode["r"] for episode in model.ep_info_buffer]), 60)

    def test_accepts_sb3s_wrappers(self):
        model = PPO("MlpPolicy", VecNormalize(VecMonitor(backplane_rl.sb3.make("ant", 4, threads=2))), n_steps=32, batch_size=64, device="cpu")
        model.learn(256)


if __name__ == "__main__":
    unittest.main()
