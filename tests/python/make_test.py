#!/usr/bin/env python3
"""Envs opened by gymnasium.make and make_vec: ids, time limits, seeds, actions, copies and pictures, compared with Gymnasium's own envs.

  make_test.py    (BACKPLANE_HOME: the build tree)
"""
import copy
import functools
import importlib.util
import itertools
import os
import pathlib
import pickle
import subprocess
import sys
import unittest

import needs

needs.packages("cffi", "gymnasium")

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode

import backplane_rl

# The same tasks as Gymnasium's.
ALIKE = ("Acrobot-v1", "Ant-v5", "CartPole-v1", "HalfCheetah-v5", "Hopper-v5", "Humanoid-v5", "HumanoidStandup-v5",
         "InvertedDoublePendulum-v5", "InvertedPendulum-v5", "MountainCar-v0", "MountainCarContinuous-v0", "Pendulum-v1",
         "Pusher-v5", "Reacher-v5", "Swimmer-v5", "Walker2d-v5")
MODES = ("sync", "async", "vector_entry_point")


def length(env):
    """Steps of an episode of zero actions, at most 2500."""
    env.reset(seed=0)
    for n in range(1, 2501):
        if any(env.step(np.zeros(env.action_space.shape, env.action_space.dtype))[2:4]):
            return n
    return None


def ends(envs, steps):
    """The steps in which an episode was truncated."""
    envs.reset(seed=0)
    zero = np.zeros(envs.action_space.shape, envs.action_space.dtype)
    found = [i for i in range(steps) if envs.step(zero)[3].any()]
    envs.close()
    return found


class Ids(unittest.TestCase):
    def test_have_gymnasiums_time_limits(self):
        for id in ALIKE:
            self.assertEqual(gymnasium.spec("backplane/" + id).max_episode_steps, gymnasium.spec(id).max_episode_steps, id)

    def test_make_the_same_wrappers(self):
        def chain(env):
            names = []
            while isinstance(env, gymnasium.Wrapper):
                names.append(type(env).__name__)
                env = env.env
            return names

        for arguments in ({}, {"max_episode_steps": 9}, {"max_episode_steps": -1}, {"disable_env_checker": True}):
            self.assertEqual(chain(gymnasium.make("backplane/CartPole-v1", **arguments)), chain(gymnasium.make("CartPole-v1", **arguments)))

    def test_are_made_again_from_their_spec(self):
        for arguments in ({}, {"max_episode_steps": 9}, {"sutton_barto_reward": True}, {"options": {"max_episode_steps": 7}}):
            env = gymnasium.make("backplane/CartPole-v1", **arguments)
            again = gymnasium.make(env.spec)
            self.assertEqual(again.spec, env.spec)
            self.assertEqual(length(again), length(env))
            self.assertEqual(type(env.spec).from_json(env.spec.to_json()), env.spec)

    def test_vector_envs_are_made_again_from_their_spec(self):
        for mode in MODES:
            envs = gymnasium.make_vec("backplane/Pendulum-v1", num_envs=2, vectorization_mode=mode, max_episode_steps=9)
            again = gymnasium.make_vec(envs.spec)
            self.assertEqual((again.num_envs, ends(again, 25)), (2, ends(envs, 25)), mode)


class TimeLimits(unittest.TestCase):
    def test_are_those_of_gymnasium(self):
        for steps in (None, 50, 200, 2000, -1):
            lengths = [length(gymnasium.make(id, max_episode_steps=steps)) for id in ("backplane/Pendulum-v1", "Pendulum-v1")]
            self.assertEqual(*lengths, steps)

    def test_of_vector_envs_are_those_of_gymnasium(self):
        for mode, arguments in itertools.product(MODES, ({}, {"max_episode_steps": 300}, {"max_episode_steps": 50})):
            make = functools.partial(gymnasium.make_vec, num_envs=2, **arguments)
            self.assertEqual(ends(make("backplane/Pendulum-v1", vectorization_mode=mode), 410),
                             ends(make("Pendulum-v1", vectorization_mode="sync"), 410), (mode, arguments))

    def test_of_the_envs_options_remain(self):
        for given, want in (({"options": {"max_episode_steps": 50}}, 50), ({"options": {"max_episode_steps": 50}, "max_episode_steps": 20}, 20)):
            self.assertEqual(length(gymnasium.make("backplane/Pendulum-v1", **given)), want)
            for mode in MODES:
                made = gymnasium.make_vec("backplane/Pendulum-v1", num_envs=1, vectorization_mode=mode, **given)
                self.assertEqual(ends(made, want + 5), [want - 1], (mode, given))

    def test_of_an_env_without_a_registered_one(self):
        self.assertIsNone(gymnasium.spec("backplane/quadruped_stand").max_episode_steps)  # its default depends on the option phase
        self.assertEqual(length(gymnasium.make("backplane/quadruped_stand")), 200)
        self.assertEqual(length(gymnasium.make("backplane/quadruped_stand", phase=2)), 250)
        self.assertEqual(length(gymnasium.make("backplane/quadruped_stand", max_episode_steps=9)), 9)
        self.assertEqual(ends(gymnasium.make_vec("backplane/quadruped_stand", max_episode_steps=300), 310), [299])

    def test_leave_the_numbers_of_an_episode(self):
        env = gymnasium.make("backplane/Ant-v5", max_episode_steps=5)
        env.reset(seed=0)
        for _ in range(5):
            *_, truncated, info = env.step(np.zeros(8))
        self.assertTrue(truncated)
        self.assertGreater(info["ep/distance"], 0)

    def test_reject_what_is_no_number_of_steps(self):
        for steps in (0, -2, 2**63):
            with self.assertRaisesRegex(ValueError, f"max_episode_steps: expected an integer from 1, or -1 for none, got {steps}"):
                backplane_rl.make_vec("pendulum", max_episode_steps=steps)
        for steps in (2.5, "5"):
            with self.assertRaises(TypeError):
                backplane_rl.make_vec("pendulum", max_episode_steps=steps)


class Seeds(unittest.TestCase):
    def test_of_all_sizes(self):
        """A row starts like an env of gymnasium.make, also if its seed does not fit into 64 bits."""
        for seed in (0, 2**31, 2**63, 2**64 - 1, 2**64, 2**100):
            obs = backplane_rl.make_vec("cartpole", 2).reset(seed=seed)[0]
            for row in range(2):
                env = gymnasium.make("backplane/CartPole-v1")
                np.testing.assert_array_equal(env.reset(seed=seed + row)[0], obs[row], str(seed))
            self.assertFalse(np.array_equal(obs[0], obs[1]))
            gymnasium.make("CartPole-v1").reset(seed=seed + 1)  # accepts it, too

    def test_in_a_list(self):
        envs = backplane_rl.make_vec("cartpole", 3)
        obs = envs.reset(seed=[2**64 - 1, None, np.int64(5)])[0]
        np.testing.assert_array_equal(envs.reset(seed=[5, None, 2**64 - 1])[0][[2, 0]], obs[[0, 2]])

    def test_are_rejected_if_they_are_none(self):
        envs, agents = backplane_rl.make_vec("cartpole", 2), gymnasium.make("backplane/CartPole-v1")
        with self.assertRaisesRegex(ValueError, r"seed\[1\]: expected an integer from 0, got -1"):
            envs.reset(seed=[0, -1])
        for seeds in ([1.5, 2], [0, "1"]):
            with self.assertRaises(TypeError):
                envs.reset(seed=seeds)
        for one in (envs, agents, gymnasium.make("CartPole-v1")):
            with self.assertRaisesRegex(gymnasium.error.Error, "-1"):
                one.reset(seed=-1)


class Actions(unittest.TestCase):
    def test_that_no_type_would_bend(self):
        env = backplane_rl.make_vec("cartpole", 2)
        env.reset(seed=0)
        before = env.state(0)["state"]
        for action in (2**31, 2**32, 2**32 + 1, -2**31 - 1, 2**63):
            for row in range(2):
                actions = np.zeros(2, np.uint64 if action >= 2**63 else np.int64)
                actions[row] = action
                with self.assertRaisesRegex(ValueError, f"expected numbers that int32 can represent, got {action}"):
                    env.step(actions)
        with self.assertRaisesRegex(ValueError, "got object"):
            env.step([2**70, 0])
        np.testing.assert_array_equal(env.state(0)["state"], before)

    def test_of_one_env(self):
        env = gymnasium.make("backplane/CartPole-v1").unwrapped
        for action in (2, -1, 2**32, 2**32 + 1):
            env.reset(seed=1)
            with self.assertRaises((ValueError, backplane_rl.BackplaneError), msg=str(action)):
                env.step(action)
        for action in (1, np.int64(1), np.uint8(1), True, np.array(1)):
            env.reset(seed=1)
            self.assertGreater(env.step(action)[0][1], 0, repr(action))


def copies(env):
    return {"deepcopy": copy.deepcopy(env), "pickle": pickle.loads(pickle.dumps(env))}


class Copies(unittest.TestCase):
    def same_steps(self, first, *others, steps=60):
        """Steps all with equal actions, and resets them after an end."""
        for _ in range(steps):
            action = first.action_space.sample()
            want = first.step(action)
            for other in others:
                np.testing.assert_array_equal(other.action_space.sample(), action)
                got = other.step(action)
                np.testing.assert_array_equal(got[0], want[0])
                np.testing.assert_array_equal(got[1:4], want[1:4])
            if isinstance(first, gymnasium.Env) and (want[2] or want[3]):
                start = first.reset()[0]
                for other in others:
                    np.testing.assert_array_equal(other.reset()[0], start)

    def test_of_an_env_resume(self):
        for id in ("CartPole-v1", "Ant-v5", "quadruped_stand"):
            env = gymnasium.make("backplane/" + id, max_episode_steps=30)
            env.reset(seed=3)
            env.action_space.seed(3)
            env.step(env.action_space.sample())
            env.unwrapped.mark = [1]
            made = copies(env)
            self.assertEqual([(other.unwrapped.mark, other.spec) for other in made.values()], [([1], env.spec)] * 2)
            self.same_steps(env, *made.values())

    def test_of_an_env_whose_episode_has_ended(self):
        env = backplane_rl.gymnasium.Env("pendulum", max_episode_steps=2, seed=4)
        env.reset()
        env.step(np.zeros(1))
        env.step(np.zeros(1))
        for other in copies(env).values():
            np.testing.assert_array_equal(other.reset()[0], copy.deepcopy(env).reset()[0])

    def test_of_an_env_before_its_first_episode(self):
        env = backplane_rl.gymnasium.Env("pendulum", seed=4)
        made = copies(env).values()
        start = env.reset()[0]
        for other in made:
            np.testing.assert_array_equal(other.reset()[0], start)

    def test_of_a_vector_env_resume_in_each_mode(self):
        for mode in (AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP):
            envs = backplane_rl.make_vec("cartpole", 3, autoreset_mode=mode, threads=2, copy=False, render_mode="rgb_array")
            envs.reset(seed=3)
            for _ in range(25):
                envs.step(envs.action_space.sample())
            made = copies(envs).values()
            for other in made:
                self.assertEqual((other.metadata, other.copy, other.render_mode), (envs.metadata, False, "rgb_array"))
            self.same_steps(envs, *made)

    def test_are_separate(self):
        env = gymnasium.make("backplane/CartPole-v1")
        start = env.reset(seed=0)[0]
        other = copy.deepcopy(env)
        other.step(1)
        np.testing.assert_array_equal(list(env.unwrapped.state().values())[0].astype(np.float32), start)
        other.close()
        env.step(1)

    def test_go_to_other_processes(self):
        env = gymnasium.make("backplane/CartPole-v1")
        env.reset(seed=0)
        told = subprocess.run([sys.executable, "-c", "import pickle, sys; env = pickle.load(sys.stdin.buffer); sys.stdout.buffer.write(env.step(1)[0].tobytes())"],
                              input=pickle.dumps(env), capture_output=True)
        self.assertEqual(told.stdout, env.step(1)[0].tobytes(), told.stderr.decode())

    def test_of_spaces_equal_them(self):
        for env in (gymnasium.make("backplane/Ant-v5"), backplane_rl.make_vec("cartpole", 2)):
            for space in (env.observation_space, env.action_space):
                for other in (copy.copy(space), *copies(space).values()):
                    self.assertEqual(other, space)
                    np.testing.assert_array_equal(other.low if hasattr(space, "low") else other.nvec, space.low if hasattr(space, "low") else space.nvec)

    def test_of_closed_envs_are_rejected(self):
        envs = backplane_rl.make_vec("cartpole", 2)
        envs.close()
        for call in (pickle.dumps, copy.deepcopy):
            with self.assertRaisesRegex(TypeError, "closed env"):
                call(envs)


@unittest.skipUnless(importlib.util.find_spec("vl_convert") and importlib.util.find_spec("PIL"), "vl_convert is in the environments of scripts/test_adapters only")
class Pictures(unittest.TestCase):
    def test_show_the_state(self):
        """The cart is between the red marks at -2.4 m and 2.4 m."""
        env = gymnasium.make("backplane/CartPole-v1", render_mode="rgb_array").unwrapped
        env.reset(seed=0)
        for x in (-2.0, 0.0, 1.5):
            env.set_state(state=[x, 0, 0, 0])
            picture = env.render()
            self.assertEqual((picture.dtype, picture.ndim, picture.shape[2]), (np.uint8, 3, 3))
            at = {name: np.flatnonzero((picture == colour).all(axis=2).any(axis=0)) for name, colour in
                  (("marks", (0xc1, 0x12, 0x1f)), ("cart", (0x33, 0x46, 0x5c)))}
            left, right = at["marks"].min(), at["marks"].max()
            share = (at["cart"].mean() - left) / (right - left)
            self.assertAlmostEqual(4.8 * share - 2.4, x, delta=0.02)

    def test_of_all_envs_change_with_time(self):
        for env in backplane_rl.envs():
            if env["refused"] or env["id"] in ("env.gymnasium", "env.pettingzoo", "env.summarization", "env.uav_grid"):
                continue
            made = gymnasium.make("backplane/" + env["id"].removeprefix("env."), render_mode="rgb_array")
            self.assertGreaterEqual(made.metadata["render_fps"], 1)
            made.reset(seed=0)
            first = made.render()
            np.testing.assert_array_equal(first, made.render())
            for _ in range(9):
                made.step(made.action_space.sample())
            self.assertFalse(np.array_equal(first, made.render()), env["id"])

    def test_of_rows_are_those_of_single_envs(self):
        envs = gymnasium.make_vec("backplane/Pendulum-v1", num_envs=2, render_mode="rgb_array")
        envs.reset(seed=7)
        for row, picture in enumerate(envs.render()):
            one = gymnasium.make("backplane/Pendulum-v1", render_mode="rgb_array")
            one.reset(seed=7 + row)
            np.testing.assert_array_equal(picture, one.render())

    def test_are_collected_and_drawn_after_the_end(self):
        env = gymnasium.make("backplane/Pendulum-v1", render_mode="rgb_array_list", max_episode_steps=3)
        env.reset(seed=0)
        for _ in range(3):
            env.step(np.zeros(1))
        self.assertEqual(len(env.render()), 4)

    def test_need_a_reset(self):
        env = backplane_rl.gymnasium.Env("pendulum", render_mode="rgb_array")
        with self.assertRaisesRegex(backplane_rl.BackplaneError, "row 0 has no state to draw"):
            env.render()


class RenderModes(unittest.TestCase):
    def test_draw_only_on_request(self):
        env = gymnasium.make("backplane/CartPole-v1")
        env.reset()
        self.assertIsNone(env.unwrapped.render())

    def test_of_other_names_are_rejected(self):
        for make in (backplane_rl.make_vec, backplane_rl.gymnasium.Env):
            with self.assertRaisesRegex(ValueError, "render_mode: expected None or 'rgb_array', got 'human'"):
                make("cartpole", render_mode="human")

    def test_of_an_env_without_pictures_are_no_argument(self):
        file = pathlib.Path(os.environ["BACKPLANE_HOME"]) / "tests/plugins/env_resets_itself.so"
        if not file.exists():
            self.skipTest(f"there is no {file}")
        self.assertEqual(backplane_rl.make_vec(None, file=file).metadata["render_modes"], [])
        with self.assertRaisesRegex(TypeError, "draws no pictures"):
            backplane_rl.make_vec(None, file=file, render_mode="rgb_array")


if __name__ == "__main__":
    unittest.main()
