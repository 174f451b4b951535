"""Env steps per second of one peer, in a process of its own. Prints one JSON object.

  PEERS_PYTHON step_peer.py gymnasium ENV_ID sync|async|numpy ROWS THREADS SECONDS
  PEERS_PYTHON step_peer.py envpool ENV_ID sync|async ROWS THREADS SECONDS

An env step is one action of one row; frame skip is not counted. Actions are uniform, 64 batches drawn before the clock starts and
used in turn. Calls that reset a row (both peers reset in the next call) are not counted as steps.
"""
import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
import json
import sys
import time

import numpy as np

BATCHES = 64


def action_batches(space, rows):
    random = np.random.default_rng(1)
    if hasattr(space, "n"):
        return [random.integers(0, space.n, rows) for _ in range(BATCHES)]
    return [random.uniform(space.low, space.high, (rows, *space.shape)).astype(space.dtype) for _ in range(BATCHES)]


def gymnasium_stepper(env_id, mode, rows, _threads):
    import gymnasium

    mode = "vector_entry_point" if mode == "numpy" else mode
    env = gymnasium.make_vec(env_id, num_envs=rows, vectorization_mode=mode)
    env.reset(seed=1)
    actions = action_batches(env.single_action_space, rows)
    ended = np.zeros(rows, bool)

    def step(i):
        nonlocal ended
        resets = int(ended.sum())
        _, _, terminated, truncated, _ = env.step(actions[i % BATCHES])
        ended = terminated | truncated
        return rows - resets

    return gymnasium.__version__, step


def envpool_stepper(env_id, mode, rows, threads):
    import envpool

    batch = rows if mode == "sync" else max(1, rows * 3 // 4)
    env = envpool.make_gymnasium(env_id, num_envs=rows, batch_size=batch, num_threads=threads, seed=1)
    actions = action_batches(env.action_space, rows)
    env.async_reset()
    ids, ended = np.arange(0), np.zeros(rows, bool)

    def step(i):
        nonlocal ids
        _, _, terminated, truncated, info = env.recv()
        # Results of the actions sent before: a finished row was reset instead of stepped.
        ids = info["env_id"]
        steps = int((~ended[ids]).sum())
        ended[ids] = terminated | truncated
        env.send(actions[i % BATCHES][ids], ids)
        return steps

    return envpool.__version__, step


def main(tool, env_id, mode, rows, threads, seconds):
    version, step = {"gymnasium": gymnasium_stepper, "envpool": envpool_stepper}[tool](env_id, mode, int(rows), int(threads))
    for i in range(16):
        step(i)
    steps, i, start, cpu = 0, 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - start < float(seconds):
        steps += step(i)
        i += 1
    wall = time.perf_counter() - start
    print(json.dumps({"tool": tool, "version": version, "mode": mode, "sps": steps / wall, "cpu_us": 1e6 * (time.process_time() - cpu) / steps}))
    sys.stdout.flush()
    os._exit(0)  # EnvPool's threads may outlive its destructor


if __name__ == "__main__":
    main(*sys.argv[1:])
