"""Compares our wrappers with Gymnasium's over the same env: observations, rewards and ends of 10,000 steps must be equal, bit for bit.

The env below is the same embedded env on both sides, so that every difference is a wrapper's.
"""
import sys
import unittest

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.wrappers import ClipReward, FrameStackObservation, StickyAction, TimeLimit

from backplane_rl import BackplaneError, EmbeddedEnv

STEPS = 10_000
STICKY_STREAM = 0x571C  # of plugins/envs/sticky_actions
MASK = 2**64 - 1


def philox(key, counter):
    """Words 0 and 1 of Philox4x32-10, as one number (backplane/rng.h)."""
    k = [key & 0xFFFFFFFF, key >> 32]
    c = list(counter)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & 0xFFFFFFFF, (p0 >> 32) ^ c[3] ^ k[1], p0 & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c[1] << 32 | c[0]


class Draws:
    """The random numbers of env.sticky_actions in an episode, instead of NumPy's."""

    def __init__(self, seed):
        self.key, self.n = philox(seed, [0, 0, 0, STICKY_STREAM]), 0

    def uniform(self):
        self.n += 1
        return (philox(self.key, [self.n - 1, 0, 0, 0]) >> 11) * 2.0**-53

    def integers(self, low, _high):
        return low


class Below(gymnasium.Env):
    """One row of an embedded env without wrappers."""

    def __init__(self, plugin, options):
        self.env = EmbeddedEnv(plugin, 1, options=options, seed=1, autoreset="disabled")
        obs, action = self.env.channels["obs"], self.env.channels["action"]
        self.observation_space = spaces.Box(-np.inf, np.inf, obs.shape[1:], np.float32)
        self.action_space = spaces.Box(-2, 2, action.shape[1:], np.float32) if action.dtype == np.float32 else spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        self.np_random = Draws(seed)
        self.env.reset(seeds=np.array([seed], np.uint64))
        return self.env.channels["obs"][0].copy(), {}

    def step(self, action):
        self.env.channels["action"][0] = action
        self.env.step()
        ends = [bool(self.env.channels[name][0]) for name in ("terminated", "truncated")]
        return self.env.channels["obs"][0].copy(), float(self.env.channels["reward"][0]), *ends, {}


class Repeat(gymnasium.Wrapper):
    def __init__(self, env, times):
        super().__init__(env)
        self.times = times

    def step(self, action):
        total = 0.0
        for _ in range(self.times):
            obs, reward, terminated, truncated, info = self.env.step(action)
            total += float(reward)
            if terminated or truncated:
                break
        return obs, total, terminated, truncated, info


class WrappersTest(unittest.TestCase):
    def compare(self, id, wrappers, theirs, options=None):
        ours = EmbeddedEnv(id, 1, options={**(options or {}), "env.wrappers": wrappers}, seed=1, autoreset="disabled")
        theirs = theirs(Below(id, options or {}))
        random, channels, ended, episodes = np.random.default_rng(7), ours.channels, True, 0
        for step in range(STEPS):
            if ended:
                episodes += 1
                ours.reset(seeds=np.array([episodes], np.uint64))
                np.testing.assert_array_equal(channels["obs"][0], theirs.reset(seed=episodes)[0], f"reset before step {step}")
            discrete = channels["action"].dtype != np.float32
            action = random.integers(2) if discrete else random.uniform(-2, 2, channels["action"].shape[1:]).astype(np.float32)
            channels["action"][0] = action
            ours.step()
            obs, reward, *ends, _ = theirs.step(action)
            np.testing.assert_array_equal(channels["obs"][0], obs, f"step {step}")
            self.assertEqual(channels["reward"][0], np.float32(reward), step)
            self.assertEqual([bool(channels["terminated"][0]), bool(channels["truncated"][0])], [bool(e) for e in ends], step)
            ended = any(ends)
        return episodes

    def test_frame_stack(self):
        self.assertGreater(self.compare("cartpole", [{"frame_stack": 4}], lambda e: FrameStackObservation(e, 4)), 100)
        self.compare("pendulum", [{"frame_stack": 3}], lambda e: FrameStackObservation(e, 3))

    def test_time_limit(self):
        self.assertGreater(self.compare("pendulum", [{"time_limit": 37}], lambda e: TimeLimit(e, 37)), 200)
        self.compare("cartpole", [{"time_limit": 12}], lambda e: TimeLimit(e, 12))

    def test_clip_reward(self):
        self.compare("pendulum", [{"clip_reward": [-1, -0.5]}], lambda e: ClipReward(e, -1, -0.5))

    def test_sticky_actions(self):
        self.compare("cartpole", [{"sticky_actions": 0.25}], lambda e: StickyAction(e, 0.25))
        self.compare("pendulum", [{"sticky_actions": {"probability": 0.6}}], lambda e: StickyAction(e, 0.6))

    def test_action_repeat_stops_at_the_end(self):
        self.compare("cartpole", [{"action_repeat": 4}], lambda e: Repeat(e, 4))
        self.assertGreater(self.compare("pendulum", [{"action_repeat": 7}], lambda e: Repeat(e, 7)), STEPS * 7 // 210)

    def test_chain_is_applied_from_the_innermost_out(self):
        wrappers = [{"sticky_actions": 0.25}, {"action_repeat": 4}, {"clip_reward": [-3, -1]}, {"time_limit": 20}, {"frame_stack": 4}]
        self.compare("pendulum", wrappers, lambda e: FrameStackObservation(
            TimeLimit(ClipReward(Repeat(StickyAction(e, 0.25), 4), -3, -1), 20), 4))

    def test_over_a_python_env(self):
        env = {"id": "CartPole-v1", "python": sys.executable}
        self.compare("gymnasium", [{"action_repeat": 3}, {"frame_stack": 2}], lambda e: FrameStackObservation(Repeat(e, 3), 2), env)

    def test_outer_env_is_seen(self):
        env = EmbeddedEnv("pendulum", 3, options={"env.wrappers": [{"action_repeat": 3}, {"frame_stack": 2}]}, seed=1)
        self.assertEqual(env.spec["max_episode_steps"], 67)  # of 200 inner steps
        self.assertEqual(env.channels["obs"].shape, (3, 2, 3))
        self.assertEqual([w["id"] for w in env.spec["options"]["env.wrappers"]], ["env.action_repeat", "env.frame_stack"])
        env.reset()
        for _ in range(66):
            env.step()
        self.assertFalse(env.channels["truncated"].any())
        env.step()
        self.assertTrue(env.channels["truncated"].all())

    def test_flatten_joins_and_hides(self):
        env = EmbeddedEnv("uav_grid", 2, options={"env.wrappers": ["flatten"]}, seed=1)
        env.reset()
        self.assertEqual(env.channels["obs"].ndim, 2)

    def test_returns_are_the_inner_envs_and_the_learners(self):
        env = EmbeddedEnv("pendulum", 2, options={"env.wrappers": [{"clip_reward": [-1, 0]}]}, seed=1)
        env.reset()
        own = EmbeddedEnv("pendulum", 2, seed=1)
        own.reset()
        learner = np.zeros(2)
        for _ in range(200):
            env.step()
            own.step()
            learner += env.channels["reward"]
        np.testing.assert_array_equal(env.channels["ep_return"], own.channels["ep_return"])
        np.testing.assert_array_equal(env.channels["ep/learner_return"], learner)
        self.assertTrue((own.channels["ep_return"] < learner).all())

    def test_saved_rows_resume_bit_for_bit(self):
        wrappers = [{"sticky_actions": 0.5}, {"action_repeat": 2}, {"time_limit": 40}, {"frame_stack": 3}]
        env = EmbeddedEnv("pendulum", 4, options={"env.wrappers": wrappers}, seed=3)
        env.reset()
        random = np.random.default_rng(1)
        actions = random.uniform(-2, 2, (120, *env.channels["action"].shape)).astype(np.float32)

        def play(part):
            seen = []
            for action in part:
                env.channels["action"][...] = action
                env.step()
                seen.append([env.channels[name].copy() for name in ("obs", "reward", "truncated", "ep/learner_return")])
            return seen
        play(actions[:60])
        saved = env.save()
        first = play(actions[60:])
        env.load(saved)
        for step, (a, b) in enumerate(zip(first, play(actions[60:]), strict=True)):
            for x, y in zip(a, b, strict=True):
                np.testing.assert_array_equal(x, y, f"step {step}")

    def test_mistakes_are_named(self):
        for wrappers, sentence in ((["cartpole"], "expected a wrapper in env.wrappers"), ([{"time_limit": 900}], "at most 500"),
                                   ([{"time_limit": 5, "frame_stack": 2}], "a mapping of several names"), ([{"clip_reward": [1]}], "range"),
                                   (["nothing"], "nothing"), ([{"flatten": ["reward"]}], "OBS")):
            with self.assertRaises(BackplaneError, msg=sentence) as found:
                EmbeddedEnv("cartpole", 1, options={"env.wrappers": wrappers})
            self.assertIn(sentence, str(found.exception))
        with self.assertRaises(BackplaneError) as found:
            EmbeddedEnv("frame_stack", 1)
        self.assertIn("expected an env below it", str(found.exception))


if __name__ == "__main__":
    unittest.main()
