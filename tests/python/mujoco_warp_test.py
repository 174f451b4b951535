#!/usr/bin/env python3
"""The quadruped of examples/vector_envs in MuJoCo Warp: equal to the native env until its feet touch the floor, alike over whole episodes, and
trained by ARS and PPO. On a CPU, 64 rows; scripts/check_gpu runs more on a GPU.

  mujoco_warp_test.py    (BACKPLANE_HOME: the build tree)
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import needs

needs.packages("cffi", "gymnasium", "mujoco_warp")

import numpy as np

import backplane_rl

ADAPTERS = pathlib.Path(__file__).resolve().parents[2] / "examples/vector_envs"
sys.path.insert(0, str(ADAPTERS))
import mujoco_warp_env

ROWS = 64
TRAINED = {"up_shape": "ramp", "height_cost": 4, "knee_lo": 0.6, "knee_hi": 0.9, "knee_reward": 0.5}  # of configs/ars/quadruped_stand.yaml
ARS = {"num_dirs": 32, "top_dirs": 8, "normalize_obs": False, "bias": True, "squash_output": True, "init_std": 0.01,
       "step_size": 0.03, "noise_std": 0.03}


def native(**options):
    return backplane_rl.make_vec("quadruped_stand", ROWS, autoreset_mode="disabled", options={"obs": "qpos_qvel", **options})


def stand(obs):
    """The controller of the env's README, which stands for most of an episode; noise makes some rows fall."""
    hips, knees = slice(7, 15, 2), slice(8, 15, 2)
    actions = np.zeros((len(obs), 8), np.float32)
    actions[:, 0::2] = 5 * (-0.7 - obs[:, hips]) - 0.2 * obs[:, 21::2]
    actions[:, 1::2] = 5 * (1.4 - obs[:, knees]) - 0.2 * obs[:, 22::2]
    return actions


class Policies:
    """Policies that end episodes differently, with their own noise for each env."""

    def __init__(self, seed):
        self.rng, self.steps = np.random.default_rng(seed), 0

    def stands(self, obs):
        return np.clip(stand(obs) + self.rng.normal(0, 0.5, (ROWS, 8)), -1, 1).astype(np.float32)

    def kicks(self, obs):
        if self.steps % 20 == 0:
            self.kick = self.rng.choice([-1, 1], (ROWS, 8)).astype(np.float32)
        self.steps += 1
        return self.kick


def episodes(env, act, seeds):
    """Return and length of the first episode of each row."""
    obs, _ = env.reset(seed=seeds)
    returns, lengths, going = np.zeros(ROWS), np.zeros(ROWS, int), np.ones(ROWS, bool)
    while going.any():
        obs, rewards, terminated, truncated, _ = env.step(act(obs))
        returns[going] += rewards[going]
        lengths[going] += 1
        over = terminated | truncated
        going &= ~over
        if over.any():
            obs, _ = env.reset(seed=list(range(ROWS)), options={"reset_mask": over})
    return returns, lengths


def distance(a, b):
    """The largest difference of the two samples' distribution functions."""
    every = np.concatenate([a, b])
    return max(abs(np.mean(a <= x) - np.mean(b <= x)) for x in every)


def chance_of_distance(a, b, rounds=2000):
    """The share of random divisions of all values into two samples that are at least as far apart (a permutation test)."""
    rng, both, seen = np.random.default_rng(0), np.concatenate([a, b]), distance(a, b)
    divided = (rng.permutation(both) for _ in range(rounds))
    return np.mean([distance(each[: len(a)], each[len(a):]) >= seen - 1e-12 for each in divided])


class Quadruped(unittest.TestCase):
    def test_equals_the_native_env_without_contact(self) -> None:
        for options in ({}, {"phase": 2, **TRAINED}):
            ours, theirs = native(**options), mujoco_warp_env.QuadrupedStand(ROWS, obs="qpos_qvel", **options)
            obs, _ = ours.reset(seed=3)
            theirs.reset(seed=3)
            theirs.data.qpos.assign(obs[:, :15])
            rng = np.random.default_rng(0)
            for step in range(10):
                actions = rng.uniform(-1, 1, (ROWS, 8)).astype(np.float32)
                wanted, rewards, terminated, truncated, _ = ours.step(actions)
                got, their_rewards, their_terminated, their_truncated, _ = theirs.step(actions)
                self.assertEqual(theirs.data.nacon.numpy()[0], 0)
                np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-4, err_msg=f"step {step}")
                np.testing.assert_allclose(their_rewards, rewards, rtol=0, atol=1e-4, err_msg=f"step {step}")
                np.testing.assert_array_equal(their_terminated | their_truncated, terminated | truncated)
            ours.close()

    def test_starts_like_the_native_env(self) -> None:
        ours, theirs = native(), mujoco_warp_env.QuadrupedStand(ROWS, obs="qpos_qvel")
        a, b = np.asarray(ours.reset(seed=1)[0]), theirs.reset(seed=list(range(ROWS)))[0]
        np.testing.assert_allclose(b[:, :7], a[:, :7], atol=1e-6)
        np.testing.assert_array_equal(b[:, 15:], 0)
        for joints, spread in ((slice(7, 15, 2), 0.01), (slice(8, 15, 2), 0.04)):
            self.assertLess(abs(a[:, joints].mean() - b[:, joints].mean()), spread / 2)
            np.testing.assert_allclose(b[:, joints].std(), spread, rtol=0.2)
        again = theirs.reset(seed=[7] * ROWS, options={"reset_mask": np.arange(ROWS) % 2 == 0})[0]
        np.testing.assert_array_equal(again[2::2], again[:-2:2], "a row's seed determines its start")
        np.testing.assert_array_equal(again[1::2], b[1::2], "other rows play on")

    def test_episodes_are_not_distinguishable(self) -> None:
        for name in ("stands", "kicks"):
            ours, theirs = native(), mujoco_warp_env.QuadrupedStand(ROWS, obs="qpos_qvel")
            returns, lengths = episodes(ours, getattr(Policies(1), name), 1)
            their_returns, their_lengths = episodes(theirs, getattr(Policies(2), name), list(range(ROWS)))
            for what, a, b in (("return", returns, their_returns), ("length", lengths, their_lengths)):
                p = chance_of_distance(a, b)
                print(f"{name}: {what} {a.mean():.1f} +- {a.std():.1f} natively, {b.mean():.1f} +- {b.std():.1f} in MuJoCo Warp, p = {p:.2f}")
                self.assertGreater(p, 0.01, f"{name}: {what}")
            ours.close()

    def test_the_comparison_finds_a_difference(self) -> None:
        ours, theirs = native(), mujoco_warp_env.QuadrupedStand(ROWS, obs="qpos_qvel", alive_reward=0.5)
        a, _ = episodes(ours, Policies(1).stands, 1)
        b, _ = episodes(theirs, Policies(2).stands, list(range(ROWS)))
        self.assertLess(chance_of_distance(a, b), 0.01)

    def train(self, learner, iterations):
        with tempfile.TemporaryDirectory() as folder:
            experiment = {
                "experiment": "warp", "env": {"plugin": "gymnasium", "options": {
                    "file": str(ADAPTERS / "mujoco_warp_env.py"), "files": [str(ADAPTERS / name) for name in ("mujoco_warp_env.py", "quadruped_stand.xml")],
                    "vector": "QuadrupedStand", "kwargs": TRAINED, "python": sys.executable}},
                "learner": learner, "rollout": {"num_env_runners": 1, "num_envs_per_env_runner": ROWS},
                "budget": {"iterations": iterations}, "output": {"dir": folder + "/results"},
            }
            file = pathlib.Path(folder) / "experiment.yaml"
            file.write_text(json.dumps(experiment))
            done = subprocess.run([pathlib.Path(os.environ["BACKPLANE_HOME"]) / "bin/backplane", "run", file], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            trial, = pathlib.Path(folder).glob("results/trials/*")
            lines, = trial.glob("attempts/*/metrics.jsonl") if (trial / "attempts").exists() else trial.rglob("metrics.jsonl")
            return [json.loads(line) for line in lines.read_text().splitlines()]

    def test_ars_learns_to_stand(self) -> None:
        lines = self.train({"plugin": "ars", "options": ARS}, 5)
        returns = [line["metrics"]["train/return_mean"] for line in lines]
        print("ARS: mean return of the candidates by iteration:", *(f"{value:.0f}" for value in returns))
        self.assertEqual(len(returns), 5)
        self.assertGreater(returns[-1], returns[0])

    def test_ppo_trains(self) -> None:
        lines = self.train({"plugin": "ppo", "options": {"train_batch_size": 64 * ROWS, "minibatch_size": 16 * ROWS}}, 2)
        self.assertTrue(lines)


if __name__ == "__main__":
    unittest.main(verbosity=2)
