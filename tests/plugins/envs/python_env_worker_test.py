#!/usr/bin/env python3
"""Rows of Python envs without their process: spaces as channels, and agents that end. gymnasium.spaces.flatten is the reference.

usage: python_env_worker_test.py    (with gymnasium and pettingzoo; exits with 77 if one is missing)
"""
import importlib.util
import pathlib
import re
import sys
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
if any(importlib.util.find_spec(name) is None for name in ("gymnasium", "pettingzoo")):
    sys.exit(77)

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Tuple
from pettingzoo import ParallelEnv


def load_worker():
    """The env processes' program, assembled as in CMakeLists.txt, as a module."""
    folder = ROOT / "plugins/common/python_env"
    parts = re.search(r"worker_source.cpp\n ([\w ]+)\)", (folder / "CMakeLists.txt").read_text())[1].split()
    module = types.ModuleType("worker")
    exec(compile("\n\n".join((folder / f"worker/{part}.py").read_text() for part in parts), "worker", "exec"), vars(module))
    module.gymnasium, module.numpy, module.spaces = gymnasium, np, spaces
    return module


WORKER = load_worker()
BOX = Box(-np.inf, np.inf, (2,), np.float32)


class Shown(gymnasium.Env):
    """Returns a given observation and keeps its actions."""

    def __init__(self, space, observation, action_space=Discrete(2)):
        self.observation_space, self.action_space, self.observation, self.actions = space, action_space, observation, []

    def reset(self, *, seed=None, options=None):
        return self.observation, {}

    def step(self, action):
        self.actions.append(action)
        return self.observation, 1.0, False, False, {}


class Played:
    """One row after its reset, and the arrays of its channels."""

    def __init__(self, kind, make, named=False):
        self.rows = WORKER.KINDS[kind][1](make, 1, named)
        self.rows.build()
        self.channels = {channel["name"]: channel for channel in self.rows.describe(self.rows.envs[0])}
        self.arrays = {name: self.array(channel) for name, channel in self.channels.items()}
        self.rows.bind(self.arrays)
        self.rows.reset([0], {0: 1})

    def array(self, channel):
        agents = (len(self.rows.agents),) if channel.get("scope") == "agent" else ()
        return np.zeros((1, *agents, *channel["shape"]), WORKER.TYPES[channel["dtype"]])

    def step(self):
        self.rows.step(0, 1)
        return self

    def __getitem__(self, name):
        return self.arrays[name][0].tolist()

    def kinds_of_notices(self):
        return [kind for kind, _, _ in self.rows.notices]


def shown(space, observation, named=False):
    return Played("gymnasium", lambda: Shown(space, observation), named)


class Spaces(unittest.TestCase):
    def expect_error(self, space, observation, *words):
        with self.assertRaises(ValueError) as caught:
            shown(space, observation)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_scalar_boxes(self):
        for dtype, value in ((np.float32, np.float32(3)), (np.float64, 2.5), (np.int64, 7), (np.float32, np.zeros(()))):
            row = shown(Box(0, 100, (), dtype), value)
            self.assertEqual(row.channels["obs"]["shape"], ())
            self.assertEqual(row["obs"], float(value))
        self.expect_error(Box(0, 1, (), np.float32), np.zeros(1), "observation: expected an observation of shape ()", "got (1,)")

    def test_scalar_actions_are_arrays_of_their_space(self):
        space = Dict(a=Box(0, 1, (), np.float32), b=Box(0, 3, (), np.int64))
        row = Played("gymnasium", lambda: Shown(Discrete(2), 0, space))
        row.arrays["action/a"][:], row.arrays["action/b"][:] = 0.5, 1.6
        action = row.step().rows.envs[0].actions[0]
        self.assertTrue(space.contains(action), action)
        self.assertEqual((float(action["a"]), int(action["b"]), type(action["a"])), (0.5, 2, np.ndarray))

    def test_every_sample_is_flattened_as_gymnasium_does(self):
        nested = Dict(z=Box(-1, 1, (2, 2), np.float64), a=Tuple((Discrete(3, start=-1), MultiBinary([2, 2]))),
                      m=Dict(image=Box(0, 255, (2, 2, 1), np.uint8), many=MultiDiscrete([[2, 3], [4, 5]])))
        for space in (Discrete(4), Discrete(3, start=5), Discrete(2, start=-1), MultiDiscrete([2, 5]), MultiDiscrete([3, 3], start=[1, -2]),
                      MultiBinary(4), MultiBinary([2, 3]), Box(-1, 1, (2, 3), np.float64), Tuple((Discrete(2), Box(0, 1, (), np.float32))),
                      nested):
            space.seed(3)
            for _ in range(5):
                value = space.sample()
                row = shown(space, value)
                np.testing.assert_array_equal(np.ravel(row["obs"]), spaces.flatten(space, value).astype(np.float32), str(space))

    def test_choices_outside_their_space_are_rejected_by_name(self):
        for value in (-1, 3, np.int64(-1)):
            self.expect_error(Discrete(3), value, "observation: expected a number from 0 to 2", f"got {value}")
        self.expect_error(Discrete(3, start=5), 4, "a number from 5 to 7", "got 4")
        for value in (1.0, None, [0, 1], np.float32(1)):
            self.expect_error(Discrete(3), value, "observation: expected a whole number")
        self.expect_error(MultiDiscrete([2, 3]), [1, 3], "number 1 from 0 to 2", "got 3")
        self.expect_error(MultiDiscrete([2, 3]), [-1, 0], "number 0 from 0 to 1", "got -1")
        self.expect_error(MultiBinary(2), [0, 2], "expected 0 or 1")
        self.expect_error(Dict(a=Tuple((Discrete(2), Discrete(2)))), {"a": (0, 2)}, "observation['a'][1]: expected a number from 0 to 1")

    def test_incomplete_observations_are_rejected_by_name(self):
        space = Dict(a=Discrete(2), b=BOX)
        self.expect_error(space, {"a": 0}, "observation['b']: expected this part")
        self.expect_error(space, np.zeros(4), "observation['a']: expected this part")
        self.expect_error(space, {"a": 0, "b": np.zeros(3)}, "observation['b']: expected an observation of shape (2,)", "got (3,)")
        self.expect_error(Tuple((Discrete(2), Discrete(2))), (0,), "observation[1]: expected this part")

    def test_images_stay_bytes(self):
        image = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
        row = shown(Box(0, 255, (2, 2, 3), np.uint8), image)
        self.assertEqual((row.arrays["obs"].dtype, row.arrays["obs"].shape), (np.uint8, (1, 2, 2, 3)))
        np.testing.assert_array_equal(row["obs"], image)
        self.assertEqual(shown(Box(0, 255, (2,), np.uint8), np.array([7.0, 255.0]))["obs"], [7, 255])
        self.expect_error(Box(0, 255, (2,), np.uint8), np.array([0.5, 1]), "expected whole numbers from 0 to 255", "float64 with 0.5")
        self.expect_error(Box(0, 255, (2,), np.uint8), [256, 1], "whole numbers from 0 to 255", "256")

    def test_parts_can_be_channels(self):
        space = Dict(position=BOX, image=Box(0, 255, (2, 2), np.uint8), extra=Tuple((Discrete(3), MultiBinary(2))))
        value = {"position": np.float32([1, 2]), "image": np.uint8([[1, 2], [3, 4]]), "extra": (2, [0, 1])}
        row = shown(space, value, named=True)
        found = {name: (c["dtype"], row[name]) for name, c in row.channels.items() if c["role"] == "obs"}
        self.assertEqual(found, {"obs/position": ("f32", [1, 2]), "obs/image": ("u8", [[1, 2], [3, 4]]), "obs/extra/0": ("f32", [0, 0, 1]),
                                 "obs/extra/1": ("f32", [0, 1])})
        flat = shown(space, value)
        self.assertEqual(flat.channels["obs"]["parts"], [["observation['position']", 0, [2]], ["observation['image']", 2, [2, 2]],
                                                         ["observation['extra'][0]", 6, [3]], ["observation['extra'][1]", 9, [2]]])
        self.assertEqual(flat["obs"], [1, 2, 1, 2, 3, 4, 0, 0, 1, 0, 1])

    def test_float64_is_reported_once(self):
        for space, value in ((BOX, np.zeros(2)), (Box(-1, 1, (2,), np.float64), np.zeros(2)), (Dict(a=BOX), {"a": np.zeros(2)})):
            row = shown(space, value)
            for _ in range(3):
                row.step()
            self.assertEqual(row.kinds_of_notices(), ["cast"])
        for space, value in ((BOX, np.zeros(2, np.float32)), (Box(0, 255, (2,), np.uint8), np.zeros(2)), (Discrete(2), 0)):
            self.assertEqual(shown(space, value).step().kinds_of_notices(), [])


class Script(ParallelEnv):
    """Agents whose ends a script decides: script(env, agents that act) calls `result`."""

    metadata = {"name": "script_v0"}

    def __init__(self, script, agents="abc", mask=None, state=None, action_space=Discrete(2)):
        self.possible_agents, self.script, self.mask, self.choices = list(agents), script, mask, action_space
        if state is not None:
            self.state = state

    def observation_space(self, agent):
        return Dict(observation=BOX, action_mask=MultiBinary(2)) if self.mask == "observation" else BOX

    def action_space(self, agent):
        return self.choices

    def seen(self, agent):
        plain = np.float32([self.possible_agents.index(agent), self.steps])
        return {"observation": plain, "action_mask": np.int8([1, 0])} if self.mask == "observation" else plain

    def infos(self, agents):
        return {agent: {"action_mask": np.int8([0, 1])} if self.mask == "infos" else {} for agent in agents}

    def reset(self, seed=None, options=None):
        self.steps, self.agents = 0, list(self.possible_agents)
        return {agent: self.seen(agent) for agent in self.agents}, self.infos(self.agents)

    def step(self, actions):
        self.steps += 1
        return self.script(self, sorted(actions))

    def result(self, acting, terminated="", truncated="", agents=None, seen=None, rewards=None):
        staying = [agent for agent in acting if agent not in terminated + truncated]
        self.agents = staying if agents is None else list(agents)
        return ({agent: self.seen(agent) for agent in (acting if seen is None else seen)}, rewards or dict.fromkeys(acting, 1.0),
                {agent: agent in terminated for agent in acting}, {agent: agent in truncated for agent in acting}, self.infos(staying))


def played(script, steps=1, **options):
    row = Played("pettingzoo", lambda: Script(script, **options))
    for _ in range(steps):
        row.step()
    return row


class Agents(unittest.TestCase):
    def expect_error(self, script, *words, steps=1, **options):
        with self.assertRaises(ValueError) as caught:
            played(script, steps, **options)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def flags(self, row):
        return [row[name] for name in ("alive", "agent_ended", "agent_truncated", "terminated", "truncated")]

    def test_one_agent_is_terminated(self):
        row = played(lambda env, acting: env.result(acting, terminated="b"))
        self.assertEqual(self.flags(row), [[1, 0, 1], [0, 1, 0], [0, 0, 0], 0, 0])
        self.assertEqual(row["obs"], [[0, 1], [0, 0], [2, 1]])

    def test_one_agent_is_truncated_and_keeps_its_last_observation_for_one_step(self):
        row = played(lambda env, acting: env.result(acting, truncated="b" if env.steps == 1 else ""))
        self.assertEqual(self.flags(row), [[1, 0, 1], [0, 0, 0], [0, 1, 0], 0, 0])
        self.assertEqual(row["obs"], [[0, 1], [1, 1], [2, 1]])
        row.step()
        self.assertEqual(self.flags(row), [[1, 0, 1], [0, 0, 0], [0, 0, 0], 0, 0])
        self.assertEqual(row["obs"], [[0, 2], [0, 0], [2, 2]])

    def test_all_end(self):
        for terminated, truncated, row_flags in (("abc", "", [1, 0]), ("", "abc", [0, 1]), ("ab", "c", [0, 1]), ("abc", "abc", [1, 0])):
            row = played(lambda env, acting: env.result(acting, terminated, truncated))
            self.assertEqual([row["terminated"], row["truncated"]], row_flags)
            self.assertEqual(row["obs"], [[0, 1], [1, 1], [2, 1]], "last observations")

    def test_agents_end_one_by_one_in_any_order(self):
        order = {1: "c", 2: "a", 3: "b"}
        row = played(lambda env, acting: env.result(acting, terminated=order[env.steps]), steps=2)
        self.assertEqual(self.flags(row), [[0, 1, 0], [1, 0, 0], [0, 0, 0], 0, 0])
        self.assertEqual((row.step()["terminated"], row["reward"]), (1, [0, 1, 0]))

    def test_the_order_of_agents_and_results_does_not_matter(self):
        def reversed_results(env, acting):
            out = env.result(acting)
            env.agents.reverse()
            return [dict(reversed(each.items())) for each in out]
        self.assertEqual(played(reversed_results, steps=3)["obs"], [[0, 3], [1, 3], [2, 3]])

    def test_agents_that_end_and_stay_listed_are_an_error(self):
        listed = "are terminated or truncated, and env.agents still has them"
        self.expect_error(lambda env, acting: env.result(acting, terminated="abc", agents="abc"), "agents 'a', 'b', 'c' " + listed)
        self.expect_error(lambda env, acting: env.result(acting, truncated="abc", agents="abc"), listed)
        self.expect_error(lambda env, acting: env.result(acting, truncated="b", agents="abc"), "agents 'b' " + listed)

    def test_agents_that_leave_without_an_end_or_join_are_an_error(self):
        self.expect_error(lambda env, acting: env.result(acting, agents=""), "neither terminated nor truncated")
        self.expect_error(lambda env, acting: env.result(acting, agents="ac"), "agents 'b' have left env.agents")
        again = "agents 'b' are new in env.agents"
        self.expect_error(lambda env, acting: env.result(acting, "b") if env.steps == 1 else env.result(acting, agents="abc"), again, steps=2)
        self.expect_error(lambda env, acting: env.result(acting, agents="abcx"), "agents 'x' are new")

    def test_observations_that_a_learner_needs_are_required(self):
        for seen, truncated in (("ac", "b"), ("bc", "b"), ("", "abc")):
            self.expect_error(lambda env, acting: env.result(acting, truncated=truncated, seen=seen), "expected an observation of agent")
        self.assertEqual(played(lambda env, acting: env.result(acting, "abc", seen=""))["terminated"], 1)

    def test_rewards_after_the_end_are_reported_and_left_out(self):
        row = played(lambda env, acting: env.result(acting, "b" if env.steps == 1 else "", rewards={"a": 1, "b": 5, "c": 1}), steps=3)
        self.assertEqual((row["reward"], row.kinds_of_notices()), ([1, 0, 1], ["reward"]))
        self.assertIn("agent 'b' got a reward of 5", row.rows.notices[0][2])

    def test_masks_in_observations_and_in_infos(self):
        row = played(lambda env, acting: env.result(acting, "b"), mask="observation")
        self.assertEqual((row["action_mask"], row["obs"]), ([[1, 0], [1, 1], [1, 0]], [[0, 1], [0, 0], [2, 1]]))
        row = played(lambda env, acting: env.result(acting, "b"), mask="infos")
        self.assertEqual((row["action_mask"], row["obs"][0]), ([[0, 1], [1, 1], [0, 1]], [0, 1]))
        self.assertEqual(row.channels["action_mask"]["shape"], (2,))
        self.assertEqual(played(lambda env, acting: env.result(acting, "abc"), mask="infos")["terminated"], 1, "the last infos need none")

    def test_masks_that_do_not_fit(self):
        def without(env, acting):
            return *env.result(acting)[:4], {agent: {} for agent in acting}
        def late(env, acting):
            return *env.result(acting)[:4], {agent: {"action_mask": [1, 0]} for agent in acting}
        def long(env, acting):
            return *env.result(acting)[:4], {agent: {"action_mask": [1, 0, 1]} for agent in acting}
        self.expect_error(without, "infos of agent 'a': expected an action_mask", mask="infos")
        self.expect_error(long, "action_mask of agent 'a': expected 2 flags, got 3", mask="infos")
        self.assertEqual(played(late, steps=3).kinds_of_notices(), ["mask"])
        several = MultiDiscrete([2, 2])
        self.assertEqual(played(lambda env, acting: env.result(acting), mask="infos", action_space=several).kinds_of_notices(), ["mask"])
        with self.assertRaisesRegex(WORKER.Refusal, "action_mask: expected a Discrete action_space, got MultiDiscrete"):
            played(lambda env, acting: env.result(acting), mask="observation", action_space=several)

    def test_state_is_a_method_an_attribute_or_absent(self):
        go = lambda env, acting: env.result(acting)
        self.assertEqual(played(go, state=lambda: np.array([1.0, 2.0]))["state"], [1, 2])
        self.assertEqual(played(go, state=lambda: 3)["state"], 3)
        for state in (None, {"t": 0}, np.zeros(3)):  # the base class raises NotImplementedError
            self.assertNotIn("state", played(go, state=state).channels)
        with self.assertRaises(AttributeError):
            played(go, state=lambda: None.missing)
        sizes = iter(range(1, 9))
        self.expect_error(go, "state(): expected the shape (1,)", "got (2,)", state=lambda: np.zeros(next(sizes)))


if __name__ == "__main__":
    unittest.main()
