#!/usr/bin/env python3
"""RLlib's PPO on the new stack over the vector entry point.

  rllib_test.py    (BACKPLANE_HOME: the build tree)
"""
import math
import os
import unittest

import needs

needs.packages("cffi", "gymnasium", "ray")

os.environ.update(RAY_AUTH_MODE="disabled", RAY_USAGE_STATS_ENABLED="0")  # a local cluster that writes nothing to the home folder

import ray
from ray.rllib.algorithms.ppo import PPOConfig

import backplane_rl


class Ppo(unittest.TestCase):
    def test_trains_on_our_envs(self):
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        self.addCleanup(ray.shutdown)
        config = (PPOConfig().environment("backplane/CartPole-v1")
                  .env_runners(num_env_runners=0, num_envs_per_env_runner=8, gym_env_vectorize_mode="vector_entry_point")
                  .training(train_batch_size_per_learner=512, minibatch_size=128, num_epochs=2))
        algorithm = config.build_algo()
        self.addCleanup(algorithm.stop)
        self.assertIsInstance(algorithm.env_runner.env.unwrapped, backplane_rl.VectorEnv)
        told = algorithm.train()["env_runners"]
        # The reward is 1 per step, so a step whose action is ignored must count in neither. In later iterations, RLlib's mean length
        # slightly exceeds the mean return, also with Gymnasium's own CartPole.
        self.assertAlmostEqual(told["episode_return_mean"], told["episode_len_mean"])
        self.assertTrue(math.isfinite(algorithm.train()["env_runners"]["episode_return_mean"]))


if __name__ == "__main__":
    unittest.main()
