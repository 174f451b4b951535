#!/usr/bin/env python3
"""Vector envs of other packages under env.gymnasium, through the adapters of examples/vector_envs: equal to the package's own env, and trained.

  vector_env_test.py envpool|gymnax [--quick]    (BACKPLANE_HOME: the build tree)
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import needs

WHICH = sys.argv[1]
needs.packages("cffi", "gymnasium", WHICH)

import numpy as np

import backplane_rl

QUICK = "--quick" in sys.argv
ROWS, STEPS = (4, 60) if QUICK else (16, 400)
ADAPTERS = pathlib.Path(__file__).resolve().parents[2] / "examples/vector_envs"
CASES = {
    "envpool": {"file": "envpool_env.py", "vector": "EnvPool", "kwargs": {"task_id": "Hopper-v4"}},
    "gymnax": {"file": "gymnax_env.py", "vector": "Gymnax", "kwargs": {"env_id": "CartPole-v1"}},
}
# Prints the seed of a start, so that the bare env can start likewise.
LOUD = """
import sys
sys.path.insert(0, {folder!r})
from {module} import {base} as Base

class Loud(Base):
    def reset(self, *, seed=None, options=None):
        if options is None:
            open({out!r}, "a").write(str(seed) + "\\n")
        return super().reset(seed=seed, options=options)
"""


def bare_envpool(seed, actions):
    """Last observations, first observations, rewards and flags of each step."""
    import envpool

    pool = envpool.make_gymnasium(CASES["envpool"]["kwargs"]["task_id"], num_envs=ROWS, num_threads=1, seed=seed)
    yield pool.reset()[0], None, None, None, None
    for action in actions:
        last, reward, terminated, truncated, _ = pool.step(action)
        first = last.copy()
        ended = np.flatnonzero(terminated | truncated)
        if len(ended):
            first[ended] = pool.reset(ended.astype(np.int32))[0]
        yield first, last, reward, terminated, truncated


def bare_gymnax(seed, actions):
    import gymnax
    import jax

    env, values = gymnax.make(CASES["gymnax"]["kwargs"]["env_id"])
    key = jax.random.key(seed)
    observations, state = jax.vmap(env.reset, in_axes=(0, None))(jax.random.split(key, ROWS), values)

    @jax.jit  # of the whole, as in the adapter, because the compiler's rounding depends on that
    def advance(key, state, action):
        key, now = jax.random.split(key)
        return key, *jax.vmap(env.step, in_axes=(0, 0, 0, None))(jax.random.split(now, ROWS), state, action, values)

    yield observations, None, None, None, None
    for action in actions:
        key, first, state, reward, terminated, truncated, info = advance(key, state, action)
        yield first, info["final_observation"], reward, terminated, truncated


class Adapter(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_equals_the_bare_env(self) -> None:
        case = CASES[WHICH]
        seeds, file = self.folder / "seeds", self.folder / "loud.py"
        file.write_text(LOUD.format(folder=str(ADAPTERS), module=case["file"][:-3], base=case["vector"], out=str(seeds)))
        options = {**case, "file": str(file), "vector": "Loud", "python": sys.executable}
        ours = backplane_rl.make_vec("gymnasium", ROWS, options=options, autoreset_mode="same_step", seed=5)
        ours.action_space.seed(0)
        actions = [ours.action_space.sample() for _ in range(STEPS)]
        first, _ = ours.reset()
        *_, seed = seeds.read_text().split()
        bare = {"envpool": bare_envpool, "gymnax": bare_gymnax}[WHICH](int(seed), actions)
        np.testing.assert_array_equal(first, np.asarray(next(bare)[0], np.float32))
        ends = 0
        for t, (action, (theirs, last, reward, terminated, truncated)) in enumerate(zip(actions, bare)):
            first, our_reward, our_terminated, our_truncated, infos = ours.step(action)
            np.testing.assert_array_equal(first, np.asarray(theirs, np.float32), f"step {t}")
            np.testing.assert_array_equal(our_reward.astype(np.float32), np.asarray(reward, np.float32), f"step {t}")
            np.testing.assert_array_equal(our_terminated, terminated, f"step {t}")
            np.testing.assert_array_equal(our_truncated, truncated, f"step {t}")
            for row in np.flatnonzero(our_terminated | our_truncated):
                np.testing.assert_array_equal(infos["final_obs"][row], np.asarray(last, np.float32)[row], f"step {t}")
                ends += 1
        self.assertGreater(ends, ROWS / 2)
        ours.close()

    def test_trains_and_evaluates(self) -> None:
        case = CASES[WHICH]
        experiment = {
            "experiment": "adapter", "env": {"plugin": "gymnasium", "options": {**case, "file": str(ADAPTERS / case["file"]), "python": sys.executable}},
            "learner": {"plugin": "ppo", "options": {"train_batch_size": 32 * ROWS, "minibatch_size": 8 * ROWS}},
            "rollout": {"num_env_runners": 1, "num_envs_per_env_runner": ROWS},
            "budget": {"iterations": 2}, "evaluation": {"episodes": 3}, "output": {"dir": str(self.folder / "results")},
        }
        file = self.folder / "experiment.yaml"
        file.write_text(json.dumps(experiment))
        program = pathlib.Path(os.environ["BACKPLANE_HOME"]) / "bin/backplane"
        done = subprocess.run([program, "run", file], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("not exact for any number of threads", done.stderr)
        result, = self.folder.glob("results/trials/**/result.json")
        self.assertEqual(json.loads(result.read_text())["state"], "COMPLETED")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
