#!/usr/bin/env python3
"""The adapter of Stable-Baselines3: its checks, each step compared with DummyVecEnv, and its PPO.

  sb3_test.py    (BACKPLANE_HOME: the build tree)
"""
import importlib.util
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
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor, VecNormalize

import backplane_rl
from from_states import FromStates

ROWS, STEPS = 5, 300
LEARNED = ("ant", "cartpole", "half_cheetah", "humanoid", "mountain_car_continuous", "pendulum", "quadruped_stand")
SHIPPED = ("acrobot", "ant", "cartpole", "half_cheetah", "hopper", "humanoid", "humanoid_standup", "inverted_double_pendulum",
           "inverted_pendulum", "mountain_car", "mountain_car_continuous", "pendulum", "pusher", "quadruped_stand", "reacher",
           "swimmer", "walker2d")


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
        for name in SHIPPED:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                check_env(gymnasium.make("backplane/" + name))


class Ids(unittest.TestCase):
    """What SB3 makes of an id of gymnasium.make, as of its own envs."""

    def test_make_vec_env(self):
        ours, theirs = (make_vec_env(id, n_envs=2, seed=3, env_kwargs={"max_episode_steps": 9}) for id in ("backplane/CartPole-v1", "CartPole-v1"))
        self.assertEqual(ours.reset().shape, theirs.reset().shape)
        self.assertEqual(ours.render_mode, theirs.render_mode)
        first = make_vec_env("backplane/CartPole-v1", n_envs=2, seed=3).reset()
        np.testing.assert_array_equal(first[1], gymnasium.make("backplane/CartPole-v1").reset(seed=4)[0])
        for i in range(9):
            dones = [envs.step(np.array([i % 2, i % 2]))[2].tolist() for envs in (ours, theirs)]
            self.assertEqual(*dones)
        self.assertEqual(dones[0], [True, True])

    def test_train_and_evaluate(self):
        model = PPO("MlpPolicy", "backplane/CartPole-v1", n_steps=256, device="cpu", seed=0).learn(512)
        for env in (gymnasium.make("backplane/CartPole-v1"), backplane_rl.sb3.make("cartpole", 2), make_vec_env("backplane/CartPole-v1")):
            returns, lengths = evaluate_policy(model, env, n_eval_episodes=4, return_episode_rewards=True, warn=False)
            self.assertEqual(returns, [float(length) for length in lengths])

    @unittest.skipUnless(importlib.util.find_spec("sb3_contrib"), "sb3-contrib is in the environments of scripts/test_adapters only")
    def test_train_in_sb3_contrib(self):
        import sb3_contrib

        sb3_contrib.TRPO("MlpPolicy", "backplane/CartPole-v1", n_steps=128, device="cpu").learn(256)
        sb3_contrib.RecurrentPPO("MlpLstmPolicy", backplane_rl.sb3.make("cartpole", 2), n_steps=32, device="cpu").learn(64)
        sb3_contrib.ARS("LinearPolicy", "backplane/Pendulum-v1", n_delta=2, device="cpu").learn(800)


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
        with self.assertRaisesRegex(backplane_rl.BackplaneError, r"step_send\(\)"):
            envs.step_wait()
        envs.seed(-1)
        with self.assertRaisesRegex(ValueError, r"seed\[0\]: expected an integer from 0, got -1"):
            envs.reset()
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
        envs = VecNormalize(VecMonitor(backplane_rl.sb3.make("ant", 4, threads=2)))
        model = PPO("MlpPolicy", envs, n_steps=32, batch_size=64, device="cpu")
        model.learn(256)
        evaluated = VecNormalize(backplane_rl.sb3.make("ant", 2, max_episode_steps=50), training=False, norm_reward=False)
        evaluated.obs_rms = envs.obs_rms
        self.assertEqual(evaluate_policy(model, evaluated, n_eval_episodes=2, return_episode_rewards=True, warn=False)[1], [50, 50])

    def test_of_each_env_takes_20000_steps(self):
        torch.set_num_threads(1)
        for name in LEARNED:
            model = PPO("MlpPolicy", backplane_rl.sb3.make(name, 8), n_steps=250, batch_size=500, n_epochs=2, device="cpu", seed=0)
            model.learn(20_000)
            self.assertEqual(model.num_timesteps, 20_000, name)
            self.assertTrue(all(bool(torch.isfinite(weights).all()) for weights in model.policy.parameters()), name)

    def test_draws_rows(self):
        if importlib.util.find_spec("vl_convert"):
            envs = backplane_rl.sb3.make("cartpole", 4, render_mode="rgb_array")
            envs.reset()
            one = envs.get_images()[0].shape
            self.assertEqual(envs.render("rgb_array").shape, (2 * one[0], 2 * one[1], 3))


if __name__ == "__main__":
    unittest.main()
