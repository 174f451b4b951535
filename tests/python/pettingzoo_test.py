#!/usr/bin/env python3
"""The adapter of PettingZoo: its own tests, masks, and agents that leave.

  pettingzoo_test.py    (BACKPLANE_HOME: the build tree)
"""
import copy
import importlib
import importlib.util
import os
import pickle
import sys
import unittest
import warnings

import needs

needs.packages("cffi", "gymnasium", "pettingzoo")

import numpy as np
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, render_test, seed_test, state_test
from pettingzoo.utils import parallel_to_aec

import backplane_rl

HUNTERS = os.path.join(os.environ["BACKPLANE_HOME"], "tests/fixtures/plugins/env_hunters.so")


def play(env, seed):
    """An episode of random allowed actions: each step's results, and the agents that acted."""
    draw = np.random.default_rng(seed)
    _, infos = env.reset(seed=seed)
    steps = []
    while env.agents:
        acting = list(env.agents)
        actions = {agent: draw.choice(np.flatnonzero(infos[agent]["action_mask"])) for agent in acting}
        step = env.step(actions)
        infos = step[4]
        steps.append((acting, step))
    return steps


class UavGrid(unittest.TestCase):
    def test_passes_pettingzoos_tests(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            parallel_api_test(backplane_rl.pettingzoo.parallel_env("uav_grid"), num_cycles=300)
        parallel_seed_test(lambda: backplane_rl.pettingzoo.parallel_env("uav_grid"), num_cycles=100)

    def test_passes_pettingzoos_tests_one_agent_at_a_time(self):
        def env(**arguments):
            return parallel_to_aec(backplane_rl.pettingzoo.parallel_env("uav_grid", **arguments))

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            api_test(env(), num_cycles=200)
            seed_test(env, num_cycles=100)
            state_test(env(), backplane_rl.pettingzoo.parallel_env("uav_grid"))
            if importlib.util.find_spec("vl_convert"):
                render_test(lambda render_mode: env(render_mode="rgb_array"))  # it first asks for "human"

    def test_agents_leave_and_stay_away(self):
        env = backplane_rl.pettingzoo.parallel_env("uav_grid", grid_size=12, n_obstacles=10, n_uavs=6, mask_static=False)
        left_before_the_end = 0
        for seed in range(8):
            steps = play(env, seed)
            self.assertEqual(steps[0][0], env.possible_agents)
            for (acting, step), (following, _) in zip(steps, steps[1:]):
                for each in step:
                    self.assertEqual(set(each), set(acting))
                self.assertEqual(following, [agent for agent in acting if not step[2][agent]])
                left_before_the_end += len(acting) - len(following)
            last = steps[-1][1]
            self.assertTrue(all(last[2][agent] or last[3][agent] for agent in steps[-1][0]))
        self.assertGreater(left_before_the_end, 0)

    def test_the_limit_truncates_agents_that_are_alive(self):
        last = play(backplane_rl.pettingzoo.parallel_env("uav_grid", max_steps=3), 0)[-1][1]
        self.assertTrue(any(last[3].values()))
        self.assertTrue(all(last[2][agent] != last[3][agent] for agent in last[2]))

    def test_several_channels_are_dicts(self):
        """int8 patches split the same numbers into two parts."""
        env, parts = (backplane_rl.pettingzoo.parallel_env("uav_grid", patch_dtype=dtype) for dtype in ("float32", "int8"))
        whole, split = env.reset(seed=3)[0]["agent_4"], parts.reset(seed=3)[0]["agent_4"]
        space = parts.observation_space("agent_4")
        self.assertEqual(space["patch"].dtype, np.int8)
        self.assertTrue(space.contains(split))
        np.testing.assert_array_equal(np.concatenate([split["obs"], split["patch"]]), whole)
        self.assertTrue(parts.state_space.contains(parts.state()))
        np.testing.assert_array_equal(np.concatenate([parts.state()["state"], parts.state()["map"]]), env.state())

    def test_rewards_equal_the_rows(self):
        """The same seeds and actions through the channels."""
        env, raw = backplane_rl.pettingzoo.parallel_env("uav_grid"), backplane_rl.EmbeddedEnv("uav_grid", 1, autoreset="disabled")
        _, infos = env.reset(seed=3)
        raw.reset(seeds=[3])
        np.testing.assert_array_equal(env.state(), raw.channels["state"][0])
        for step in range(50):
            actions = {agent: int(np.argmax(infos[agent]["action_mask"])) for agent in env.agents}
            raw.channels["action"][:] = [actions.get(agent, 0) for agent in env.possible_agents]
            obs, rewards, _, _, infos = env.step(actions)
            raw.step()
            for agent in obs:
                i = env.possible_agents.index(agent)
                np.testing.assert_array_equal(obs[agent], raw.channels["obs"][i])
                self.assertEqual(rewards[agent], raw.channels["reward"][i])
            if not env.agents:
                break

    def test_copies_resume(self):
        env = backplane_rl.pettingzoo.parallel_env("uav_grid", n_uavs=4)
        _, infos = env.reset(seed=3)
        for _ in range(5):
            env.step({agent: np.argmax(infos[agent]["action_mask"]) for agent in env.agents})
        for agent in env.agents:
            env.action_space(agent).seed(1)
        others = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
        for _ in range(30):
            actions = {agent: env.action_space(agent).sample() for agent in env.agents}
            want, state = env.step(actions), env.state()
            for other in others:
                self.assertEqual({agent: other.action_space(agent).sample() for agent in other.agents}, actions)
                got = other.step(actions)
                self.assertEqual(got[1:4], want[1:4])
                np.testing.assert_array_equal(other.state(), state)
                for agent, seen in want[0].items():
                    np.testing.assert_array_equal(got[0][agent], seen)

    def test_time_limits_and_seeds(self):
        env = backplane_rl.pettingzoo.parallel_env("uav_grid", max_episode_steps=3)
        self.assertEqual(len(play(env, 2**64 - 1)), 3)
        with self.assertRaisesRegex(ValueError, "seed: expected an integer from 0, got -1"):
            env.reset(seed=-1)

    def test_after_the_end_a_step_does_nothing(self):
        env = backplane_rl.pettingzoo.parallel_env("uav_grid", max_steps=3)
        play(env, 0)
        self.assertEqual(env.step({}), ({}, {}, {}, {}, {}))

    def test_misuse_is_rejected(self):
        env = backplane_rl.pettingzoo.parallel_env("uav_grid")
        with self.assertRaisesRegex(ValueError, "reset starts an episode"):
            env.step({"agent_0": 0})
        env.reset(seed=0)
        with self.assertRaisesRegex(ValueError, "expected one for each of agent_0, .*got none"):
            env.step({})
        with self.assertRaisesRegex(TypeError, "use gymnasium.make"):
            backplane_rl.pettingzoo.parallel_env("ant")
        env.close()
        with self.assertRaisesRegex(backplane_rl.BackplaneError, "closed"):
            env.reset()


@unittest.skipUnless(importlib.util.find_spec("supersuit"), "SuperSuit is in the environments of scripts/test_adapters only")
class SuperSuit(unittest.TestCase):
    def test_wraps_and_vectorizes(self):
        import supersuit

        env = supersuit.frame_stack_v1(supersuit.dtype_v0(backplane_rl.pettingzoo.parallel_env("uav_grid", n_uavs=4), np.float64), 3)
        parallel_api_test(env, num_cycles=100)
        row = supersuit.pettingzoo_env_to_vec_env_v1(supersuit.black_death_v3(env))
        for cpus in (0, 2):
            envs = supersuit.concat_vec_envs_v1(row, 2, num_cpus=cpus, base_class="gymnasium")
            obs, _ = envs.reset(seed=1)
            for _ in range(150):  # longer than an episode
                obs, *_ = envs.step(np.zeros(8, int))
            self.assertEqual(obs.shape[0], 8)
            envs.close()


@unittest.skipUnless(importlib.util.find_spec("mpe2"), "MPE2 is in the environments of scripts/test_adapters only")
class PythonEnvs(unittest.TestCase):
    """PettingZoo's envs, played by env.pettingzoo in its processes."""

    def open(self, module):
        env = backplane_rl.pettingzoo.parallel_env("pettingzoo", options={"id": module, "python": sys.executable})
        self.addCleanup(env.close)
        return env

    def play(self, module, steps=1000):
        """The bare env with the same seeds and actions returns the same numbers."""
        bare, ours, draw = importlib.import_module(module).parallel_env(), self.open(module), np.random.default_rng(5)
        names = dict(zip(bare.possible_agents, ours.possible_agents))
        ended = seed = 0
        seen, got = bare.reset(seed=seed)[0], ours.reset(seed=seed)[0]
        for step in range(steps):
            for agent in bare.agents:
                np.testing.assert_array_equal(got[names[agent]], seen[agent].astype(np.float32), err_msg=f"{module}: step {step}")
            actions = {agent: draw.integers(bare.action_space(agent).n) for agent in bare.agents}
            seen, *theirs, _ = bare.step(actions)
            got, *results, _ = ours.step({names[agent]: action for agent, action in actions.items()})
            for mine, other in zip(results, theirs):
                self.assertEqual(mine, {names[agent]: np.float32(other[agent]) for agent in actions}, f"{module}: step {step}")
            self.assertEqual(ours.agents, [names[agent] for agent in bare.agents])
            if not bare.agents:
                ended, seed = ended + 1, seed + 1
                seen, got = bare.reset(seed=seed)[0], ours.reset(seed=seed)[0]
        self.assertGreater(ended, 0, "no episode ended, so no flag was compared")

    def test_simple_spread(self):
        self.play("mpe2.simple_spread_v3")

    def test_simple_reference(self):
        self.play("mpe2.simple_reference_v3")

    def test_pursuit(self):
        self.play("pettingzoo.sisl.pursuit_v5")

    def test_passes_pettingzoos_tests(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            parallel_api_test(self.open("mpe2.simple_spread_v3"), num_cycles=100)
        parallel_seed_test(lambda: self.open("mpe2.simple_spread_v3"), num_cycles=30)


class Groups(unittest.TestCase):
    """Agents with different spaces: env.hunters of the fixtures."""

    def setUp(self):
        self.env = backplane_rl.pettingzoo.parallel_env(file=HUNTERS)

    def test_agents_have_the_names_and_spaces_of_their_groups(self):
        self.assertEqual(self.env.possible_agents, ["hunters_0", "hunters_1", "prey_0"])
        self.assertEqual(self.env.observation_space("hunters_1").shape, (3,))
        self.assertEqual(self.env.action_space("hunters_1").shape, (1,))
        self.assertEqual(self.env.observation_space("prey_0").shape, (1,))
        self.assertEqual(self.env.action_space("prey_0").n, 3)
        _, infos = self.env.reset(seed=1)
        self.assertNotIn("action_mask", infos["hunters_0"])
        self.assertEqual(infos["prey_0"]["action_mask"].shape, (3,))

    def test_passes_pettingzoos_tests(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            parallel_api_test(self.env, num_cycles=100)

    def test_values_equal_the_rows(self):
        raw = backplane_rl.EmbeddedEnv(None, 1, file=HUNTERS, autoreset="disabled")
        self.assertEqual(raw.spec["groups"], [{"name": "hunters", "agents": 2}, {"name": "prey", "agents": 1}])
        self.env.reset(seed=3)
        raw.reset(seeds=[3])
        other = copy.deepcopy(self.env)
        raw.channels["hunters/action"][:, 0], raw.channels["prey/action"][:] = [0.5, -0.25], 2
        raw.step()
        actions = {"hunters_0": np.array([0.5], np.float32), "hunters_1": np.array([-0.25], np.float32), "prey_0": 2}
        for env in (self.env, other):
            obs, rewards, _, _, _ = env.step(actions)
            np.testing.assert_array_equal(obs["hunters_1"], raw.channels["hunters/obs"][1])
            np.testing.assert_array_equal(obs["prey_0"], raw.channels["prey/obs"][0])
            self.assertEqual(list(rewards.values()), raw.channels["reward"].tolist())


if __name__ == "__main__":
    unittest.main()
