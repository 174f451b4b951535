#!/usr/bin/env python3
"""The Gymnasium adapter: Gymnasium's own checks, every autoreset mode compared step by step with SyncVectorEnv, seeds, states, misuse.

  gymnasium_test.py    (BACKPLANE_HOME: the build tree)
"""
import importlib.util
import os
import threading
import unittest
import warnings

import needs

needs.packages("cffi", "gymnasium")

import gymnasium
import numpy as np
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import TimeLimit

import backplane_rl
from from_states import FromStates

ROWS, STEPS = 5, 300


def disabled_step(envs, actions):
    """One step of a loop over an env of the mode DISABLED, and its resets."""
    obs, reward, terminated, truncated, infos = envs.step(actions)
    ended = terminated | truncated
    if ended.any():
        obs, infos = envs.reset(options={"reset_mask": ended})
    return obs, reward, terminated, truncated, infos


class Autoreset(unittest.TestCase):
    def compare(self, mode: AutoresetMode) -> None:
        step = disabled_step if mode == AutoresetMode.DISABLED else lambda envs, actions: envs.step(actions)
        ours = backplane_rl.make_vec("cartpole", ROWS, autoreset_mode=mode, max_episode_steps=25, seed=3)
        self.assertEqual(ours.metadata["autoreset_mode"], mode)
        ours.action_space.seed(0)
        actions = [ours.action_space.sample() for _ in range(STEPS)]
        got, starts, begun = [ours.reset()[0]], [[tuple(ours.state(row)["state"])] for row in range(ROWS)], np.zeros(ROWS, bool)
        for action in actions:
            got.append(step(ours, action))
            ended = got[-1][2] | got[-1][3]
            for row in np.flatnonzero(begun if mode == AutoresetMode.NEXT_STEP else ended):
                starts[row].append(tuple(ours.state(row)["state"]))
            begun = ended

        def make(row):
            return lambda: TimeLimit(FromStates(starts[row]), 25)

        theirs = SyncVectorEnv([make(row) for row in range(ROWS)], autoreset_mode=mode)
        np.testing.assert_array_equal(got[0], theirs.reset()[0])
        both = np.zeros(2, int)
        for i, action in enumerate(actions):
            want, have = step(theirs, action), got[i + 1]
            for a, b in zip(have[:4], want[:4]):
                np.testing.assert_array_equal(a, b, err_msg=f"step {i}")
                self.assertEqual(a.dtype, b.dtype)
            both += [want[2].any(), want[3].any()]
            self.assertEqual("final_obs" in want[4], "final_obs" in have[4])
            if "final_obs" in want[4]:
                np.testing.assert_array_equal(want[4]["_final_obs"], have[4]["_final_obs"])
                for a, b in zip(have[4]["final_obs"], want[4]["final_obs"]):
                    np.testing.assert_array_equal(a, b)
        self.assertTrue(both.all(), "no step terminated, or none truncated")

    def test_same_step(self):
        self.compare(AutoresetMode.SAME_STEP)

    def test_next_step(self):
        self.compare(AutoresetMode.NEXT_STEP)

    def test_disabled(self):
        self.compare(AutoresetMode.DISABLED)

    def test_defaults_to_next_step(self):
        self.assertEqual(gymnasium.make_vec("backplane/cartpole", num_envs=2).metadata["autoreset_mode"], AutoresetMode.NEXT_STEP)


class Checks(unittest.TestCase):
    def test_gymnasium_has_no_complaint(self):
        for name in ("acrobot", "ant", "cartpole", "half_cheetah", "hopper", "humanoid", "humanoid_standup",
                     "inverted_double_pendulum", "inverted_pendulum", "mountain_car", "mountain_car_continuous", "pendulum",
                     "pusher", "quadruped_stand", "reacher", "swimmer", "walker2d"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                check_env(gymnasium.make("backplane/" + name).unwrapped, skip_render_check=importlib.util.find_spec("vl_convert") is None)

    def test_every_env_is_registered_by_all_its_names(self):
        for env in backplane_rl.envs():
            for name in [env["id"].removeprefix("env."), *env["aliases"]]:
                self.assertEqual(f"backplane/{name}" in gymnasium.registry, env["refused"] is None, name)

    def test_wrappers_of_gymnasium_work(self):
        envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(gymnasium.make_vec("backplane/CartPole-v1", num_envs=3))
        envs.reset(seed=0)
        lengths = []
        for _ in range(60):
            infos = envs.step(np.ones(3, int))[4]
            lengths += list(infos["episode"]["l"][infos["_episode"]]) if "episode" in infos else []
        self.assertTrue(lengths and all(8 <= length <= 11 for length in lengths), lengths)  # always to the right


class Seeds(unittest.TestCase):
    def test_row_r_of_seed_s_equals_an_env_of_seed_s_plus_r(self):
        envs = gymnasium.make_vec("backplane/Pendulum-v1", num_envs=3)
        obs = envs.reset(seed=7)[0]
        for row in range(3):
            one = gymnasium.make("backplane/Pendulum-v1")
            np.testing.assert_array_equal(one.reset(seed=7 + row)[0], obs[row])
            self.assertFalse(np.array_equal(one.reset()[0], obs[row]))

    def test_threads_change_nothing(self):
        def play(threads):
            envs = backplane_rl.make_vec("ant", 6, threads=threads)
            envs.reset(seed=1)
            envs.action_space.seed(1)
            return [envs.step(envs.action_space.sample())[0] for _ in range(20)]

        np.testing.assert_array_equal(play(1), play(2))

    def test_a_list_has_a_seed_per_row(self):
        envs = backplane_rl.make_vec("cartpole", 2)
        first = envs.reset(seed=[4, None])[0]
        again = envs.reset(seed=[4, None])[0]
        np.testing.assert_array_equal(first[0], again[0])
        self.assertFalse(np.array_equal(first[1], again[1]))
        with self.assertRaisesRegex(ValueError, "expected one for each of 2 envs, got 3"):
            envs.reset(seed=[1, 2, 3])


class States(unittest.TestCase):
    def test_are_restored(self):
        envs = backplane_rl.make_vec("ant", 2)
        envs.reset(seed=0)
        state, zero = envs.state(0), np.zeros(envs.action_space.shape)
        first = envs.step(zero)[0][0]
        envs.set_state(1, state)
        np.testing.assert_array_equal(envs.step(zero)[0][1], first)
        with self.assertRaisesRegex(backplane_rl.BackplaneError, "has no state 'qposs'.*qpos"):
            envs.set_state(0, qposs=state["qpos"])
        with self.assertRaises(backplane_rl.BackplaneError):
            envs.set_state(0, qpos=[1.0])

    def test_saved_rows_resume(self):
        envs = backplane_rl.make_vec("cartpole", 2)
        envs.reset(seed=0)
        saved = envs.env.save()
        first = [envs.step(np.ones(2, int))[0] for _ in range(30)]
        envs.env.load(saved)
        np.testing.assert_array_equal([envs.step(np.ones(2, int))[0] for _ in range(30)], first)


class Memory(unittest.TestCase):
    def test_is_copied_by_default(self):
        for wanted in (True, False):
            envs = backplane_rl.make_vec("cartpole", 2, copy=wanted)
            obs = envs.reset(seed=0)[0]
            before = obs.copy()
            envs.step(np.ones(2, int))
            self.assertEqual(np.array_equal(obs, before), wanted)

    def test_a_view_outlives_its_env(self):
        envs = backplane_rl.make_vec("cartpole", 2, copy=False)
        obs = envs.reset(seed=0)[0]
        before = obs.copy()
        envs.close()
        np.testing.assert_array_equal(obs, before)

    def test_only_actions_are_written_by_the_caller(self):
        env = backplane_rl.EmbeddedEnv("cartpole", 2)
        for channel in env.spec["channels"]:
            self.assertEqual(env.channels[channel["name"]].flags.writeable, channel["role"] == "action")


class Misuse(unittest.TestCase):
    def setUp(self):
        self.envs = backplane_rl.make_vec("ant", 2)
        self.envs.reset(seed=0)

    def refused(self, pattern, actions, error=ValueError):
        with self.assertRaisesRegex(error, pattern):
            self.envs.step(actions)

    def test_of_actions(self):
        self.refused(r"expected the shape \(2, 8\), got \(2, 7\)", np.zeros((2, 7)))
        self.refused(r"expected the shape \(2, 8\), got \(8,\)", np.zeros(8))
        self.refused("expected numbers of the type float32, got complex128", np.zeros((2, 8), complex))
        self.refused("row 0.*got nan", np.full((2, 8), np.nan), backplane_rl.BackplaneError)
        pole = backplane_rl.make_vec("cartpole", 2)
        pole.reset()
        with self.assertRaisesRegex(ValueError, "int32, got float64"):
            pole.step(np.zeros(2))
        with self.assertRaisesRegex(backplane_rl.BackplaneError, "got 2"):
            pole.step(np.array([0, 2]))

    def test_of_options(self):
        with self.assertRaisesRegex(backplane_rl.BackplaneError, "frame_skip"):
            backplane_rl.make_vec("ant", frame_skip=0)
        with self.assertRaisesRegex(TypeError, "unexpected keyword argument 'frame_skp'.*frame_skip"):
            backplane_rl.make_vec("ant", frame_skp=1)
        with self.assertRaisesRegex(backplane_rl.BackplaneError, "ant"):
            backplane_rl.make_vec("antt")
        with self.assertRaisesRegex(ValueError, "rows: expected an integer"):
            backplane_rl.make_vec("ant", -1)
        with self.assertRaisesRegex(TypeError, "10; use backplane_rl.pettingzoo"):
            backplane_rl.make_vec("uav_grid")

    def test_after_close(self):
        self.envs.close()
        self.envs.close()
        self.refused("closed", np.zeros((2, 8)), backplane_rl.BackplaneError)
        with self.assertRaisesRegex(backplane_rl.BackplaneError, "open env"):
            self.envs.state(0)

    def test_before_a_reset(self):
        with self.assertRaisesRegex(backplane_rl.BackplaneError, "no running episode"):
            backplane_rl.make_vec("cartpole").step(np.zeros(1, int))

    def test_after_fork(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Python, that NumPy has threads
            child = os.fork()
        if child == 0:
            try:
                self.envs.step(np.zeros((2, 8)))
            except backplane_rl.BackplaneError as error:
                os._exit(0 if "fork" in str(error) else 2)
            os._exit(1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.envs.step(np.zeros((2, 8)))

    def test_of_two_threads(self):
        """Each call is whole or rejected."""
        said = set()

        def play():
            for _ in range(200):
                try:
                    self.envs.step(np.zeros((2, 8)))
                except backplane_rl.BackplaneError as error:
                    said.add(str(error))

        threads = [threading.Thread(target=play) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertTrue(all("another call is using this handle" in text for text in said), said)


if __name__ == "__main__":
    unittest.main()
