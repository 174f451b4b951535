#!/usr/bin/env python3
"""TorchRL's check of env specs on all envs, single, vectorized, with pixels and with several agents.

  torchrl_test.py    (BACKPLANE_HOME: the build tree)
"""
import importlib.util
import unittest
import warnings

import needs

needs.packages("cffi", "gymnasium", "pettingzoo", "torchrl")

from torchrl.envs import GymEnv, SerialEnv, check_env_specs
from torchrl.envs.libs.pettingzoo import PettingZooWrapper

import backplane_rl

SHIPPED = ("acrobot", "ant", "cartpole", "half_cheetah", "hopper", "humanoid", "humanoid_standup", "inverted_double_pendulum",
           "inverted_pendulum", "mountain_car", "mountain_car_continuous", "pendulum", "pusher", "quadruped_stand", "reacher",
           "swimmer", "walker2d")


class Envs(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")

    def test_pass_its_check(self):
        for name in SHIPPED:
            env = GymEnv("backplane/" + name)
            env.set_seed(3)
            check_env_specs(env)

    def test_are_vectorized(self):
        self.assertEqual(GymEnv("backplane/CartPole-v1", num_envs=3).rollout(30, break_when_any_done=False).shape, (3, 30))
        self.assertEqual(SerialEnv(2, lambda: GymEnv("backplane/Pendulum-v1")).rollout(3).shape, (2, 3))

    @unittest.skipUnless(importlib.util.find_spec("vl_convert"), "vl_convert is in the environments of scripts/test_adapters only")
    def test_are_observed_as_pixels(self):
        pixels = GymEnv("backplane/CartPole-v1", from_pixels=True, pixels_only=True).rollout(3)["pixels"]
        self.assertEqual((pixels.shape[0], pixels.shape[-1]), (3, 3))

    def test_with_several_agents_pass_its_check(self):
        check_env_specs(PettingZooWrapper(backplane_rl.pettingzoo.parallel_env("uav_grid"), use_mask=True))


if __name__ == "__main__":
    unittest.main()
