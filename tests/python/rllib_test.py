#!/usr/bin/env python3
"""RLlib's PPO on the new stack over the vector entry point, its env runners in each mode, and its check of envs with several agents.

  rllib_test.py    (BACKPLANE_HOME: the build tree)
"""
import math
import os
import unittest

import needs

needs.packages("cffi", "gymnasium", "pettingzoo", "ray")

os.environ.update(RAY_AUTH_MODE="disabled", RAY_USAGE_STATS_ENABLED="0")  # a local cluster that writes nothing to the home folder

import ray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner
from ray.rllib.env.wrappers.pettingzoo_env import ParallelPettingZooEnv
from ray.rllib.utils.pre_checks.env import check_multiagent_environments

import backplane_rl

SHIPPED = ("acrobot", "ant", "cartpole", "half_cheetah", "hopper", "humanoid", "humanoid_standup", "inverted_double_pendulum",
           "inverted_pendulum", "mountain_car", "mountain_car_continuous", "pendulum", "pusher", "quadruped_stand", "reacher",
           "swimmer", "walker2d")


class Envs(unittest.TestCase):
    def test_are_sampled_in_each_mode(self):
        for name in SHIPPED:
            for mode in ("sync", "vector_entry_point"):
                config = (PPOConfig().environment("backplane/" + name, env_config={"max_episode_steps": 20})
                          .env_runners(num_env_runners=0, num_envs_per_env_runner=2, gym_env_vectorize_mode=mode))
                runner = SingleAgentEnvRunner(config=config)
                episodes = runner.sample(num_episodes=2, random_actions=True)
                runner.stop()
                self.assertTrue(all(len(episode) <= 20 and episode.is_done for episode in episodes), (name, mode))

    def test_with_several_agents_pass_its_check(self):
        check_multiagent_environments(ParallelPettingZooEnv(backplane_rl.pettingzoo.parallel_env("uav_grid")))


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
