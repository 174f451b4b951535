#!/usr/bin/env python3
"""Compares episodes of gymnasium.make("backplane/...") with Gymnasium's own env, from the same state and with the same actions.
Observations and rewards are Gymnasium's rounded to float32, flags are equal. The same for Gymnasium's envs played by env.gymnasium.

  trajectories_test.py    (BACKPLANE_HOME: the build tree)
"""
import sys
import unittest

import needs

needs.packages("cffi", "gymnasium", "mujoco")

import gymnasium
import numpy as np

import backplane_rl  # its import registers the envs

STEPS, EPISODES = 1000, 3


def state_of(env) -> dict:
    env = env.unwrapped
    if hasattr(env, "data"):
        return {"qpos": env.data.qpos.copy(), "qvel": env.data.qvel.copy()}
    return {"state": np.array(env.state, float)}


class Trajectories(unittest.TestCase):
    def play(self, name: str, steps: int = STEPS) -> None:
        theirs, ours = gymnasium.make(name), gymnasium.make("backplane/" + name)
        self.assertEqual(theirs.action_space, ours.action_space)
        self.assertEqual(theirs.observation_space.shape, ours.observation_space.shape)
        theirs.action_space.seed(5)
        ended = 0
        for episode in range(EPISODES):
            obs, _ = theirs.reset(seed=episode)
            ours.reset(seed=episode)
            got = ours.unwrapped.set_state(**state_of(theirs))
            np.testing.assert_array_equal(got, obs.astype(np.float32))
            for step in range(steps):
                action = theirs.action_space.sample()
                obs, reward, *flags, _ = theirs.step(action)
                got, got_reward, *got_flags, _ = ours.step(action)
                np.testing.assert_array_equal(got, obs.astype(np.float32), err_msg=f"{name}: episode {episode}, step {step}")
                self.assertEqual(got_reward, float(np.float32(reward)), f"{name}: episode {episode}, step {step}")
                self.assertEqual(got_flags, flags)
                if any(flags):
                    ended += 1
                    break
        self.assertGreater(ended, 0, "no episode ended, so no flag was compared")

    def test_ant(self):
        self.play("Ant-v5")

    def test_humanoid(self):
        self.play("Humanoid-v5")

    def test_half_cheetah(self):
        self.play("HalfCheetah-v5")

    def test_cartpole(self):
        self.play("CartPole-v1")

    def test_pendulum(self):
        self.play("Pendulum-v1")

    def test_mountain_car_continuous(self):
        self.play("MountainCarContinuous-v0")

    def test_acrobot(self):
        self.play("Acrobot-v1")

    def test_hopper(self):
        self.play("Hopper-v5")

    def test_humanoid_standup(self):
        self.play("HumanoidStandup-v5")

    def test_inverted_double_pendulum(self):
        self.play("InvertedDoublePendulum-v5")

    def test_inverted_pendulum(self):
        self.play("InvertedPendulum-v5")

    def test_mountain_car(self):
        self.play("MountainCar-v0")

    def test_pusher(self):
        self.play("Pusher-v5")

    def test_reacher(self):
        self.play("Reacher-v5")

    def test_swimmer(self):
        self.play("Swimmer-v5")

    def test_walker2d(self):
        self.play("Walker2d-v5")


class PythonEnvs(unittest.TestCase):
    """Envs in Python, played by env.gymnasium in its processes, next to the bare env with the same seeds and actions."""

    def play(self, name: str) -> None:
        bare = gymnasium.make(name)
        ours = backplane_rl.gymnasium.Env("gymnasium", options={"id": name, "python": sys.executable})
        self.addCleanup(ours.close)
        bare.action_space.seed(7)
        ended, seed = 0, 0

        def expect_observation(got, seen, step):
            wanted = gymnasium.spaces.flatten(bare.observation_space, seen).astype(np.float32)
            np.testing.assert_array_equal(np.ravel(got), wanted, err_msg=f"{name}: step {step}")

        expect_observation(ours.reset(seed=seed)[0], bare.reset(seed=seed)[0], "reset")
        for step in range(STEPS):
            action = bare.action_space.sample()
            seen, reward, *flags, _ = bare.step(action)
            got, got_reward, *got_flags, _ = ours.step(action)
            expect_observation(got, seen, step)
            self.assertEqual((got_reward, got_flags), (float(np.float32(reward)), flags), f"{name}: step {step}")
            if any(flags):
                ended, seed = ended + 1, seed + 1
                expect_observation(ours.reset(seed=seed)[0], bare.reset(seed=seed)[0], step)
        self.assertGreater(ended, 0, "no episode ended, so no flag was compared")

    def test_cartpole(self):
        self.play("CartPole-v1")

    def test_pendulum(self):
        self.play("Pendulum-v1")

    def test_acrobot(self):
        self.play("Acrobot-v1")

    def test_half_cheetah(self):  # its observations are float64
        self.play("HalfCheetah-v5")

    def test_taxi(self):  # its observations are choices
        self.play("Taxi-v4" if "Taxi-v4" in gymnasium.registry else "Taxi-v3")


if __name__ == "__main__":
    unittest.main()
