#!/usr/bin/env python3
"""Runs docs/policies.md as pasted: its commands, its C loop with a robot of zeros, and its Python loop.

  policies_test.py    (BACKPLANE_HOME: the build tree)
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import needs

needs.packages("cffi", "gymnasium", "numpy")

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROBOT = """#include <stdio.h>
#include "policy.h"
int robot_read(float obs[POLICY_OBS]) {
  static int left = 3;
  int i;
  for (i = 0; i < POLICY_OBS; ++i) obs[i] = (float)left;
  return left-- > 0;
}
void robot_write(const float action[POLICY_ACTIONS]) { printf("%.6f\\n", (double)action[0]); }
"""
LOADED = """import backplane_rl, numpy
policy = backplane_rl.load_policy("outputs/ppo_pendulum")
obs = numpy.stack([numpy.full(3, left, numpy.float32) for left in (3, 2, 1)])
assert numpy.allclose(policy(obs)[1], policy(obs[1]), atol=4e-6)
print("\\n".join(f"{x:.6f}" for x in policy(obs)[:, 0]))
try:
    backplane_rl.load_policy("outputs/ppo_pendulum", checkpoint="12345")
except backplane_rl.BackplaneError as error:
    assert "expected checkpoint '12345', got" in str(error), error
else:
    raise AssertionError("a checkpoint that does not exist was loaded")
"""
# A trial starts from a checkpoint whose trial is then deleted.
STARTED = """import backplane_rl, numpy, pathlib, shutil
started = "outputs/started"
obs = numpy.random.default_rng(1).normal(size=(100, 3)).astype(numpy.float32)
source = backplane_rl.load_policy("outputs/ppo_pendulum")
shutil.rmtree("outputs/ppo_pendulum")
start, last = (backplane_rl.load_policy(started, checkpoint=name) for name in ("start", "last"))
assert (start(obs) == source(obs)).all(), "the policy that learner.start_from named"
assert numpy.abs(last(obs) - source(obs)).max() > 1e-4, "the trial has learned since"
shutil.rmtree(pathlib.Path(started, "starts"))
try:
    backplane_rl.load_policy(started, checkpoint="start")
except backplane_rl.BackplaneError as error:
    assert "learner.start_from" in str(error), error
else:
    raise AssertionError("a deleted policy was loaded")
"""
# The trial's own plugins in this process choose the actions that NumPy computes.
EMBEDDED = """import backplane_rl, numpy
from backplane_rl._library import check, ffi, lib
made = ffi.new("bp_embed_policy**")
check(lib.bp_embed_policy_open(b"outputs/ppo_pendulum", ffi.NULL, ffi.NULL, 1000, made))
def channel(name):
    view = ffi.new("bp_view*")
    check(lib.bp_embed_policy_tensor(made[0], name, view))
    shape = [view.shape[i] for i in range(view.ndim)]
    return numpy.frombuffer(ffi.buffer(view.data, 4 * int(numpy.prod(shape))), numpy.float32).reshape(shape)
obs, action = channel(b"obs"), channel(b"action")
obs[:] = numpy.random.default_rng(1).normal(size=obs.shape)
check(lib.bp_embed_policy_act(made[0]))
off = numpy.abs(action - backplane_rl.load_policy("outputs/ppo_pendulum")(obs)).max()
assert off < 4e-6 and numpy.ptp(action) > 1e-4, (off, action)
assert lib.bp_embed_step(ffi.cast("bp_embed*", made[0])) < 0 and "got one of a policy" in ffi.string(lib.bp_embed_error()).decode()
check(lib.bp_embed_policy_close(made[0]))
assert lib.bp_embed_policy_act(made[0]) < 0 and "closed" in ffi.string(lib.bp_embed_error()).decode()
assert lib.bp_embed_policy_open(b"outputs/ppo_pendulum", ffi.NULL, b"77", 1, made) < 0
assert "expected checkpoint '77', got" in ffi.string(lib.bp_embed_error()).decode()
"""
# Its best checkpoint is only the policy.
REPLAY = """experiment: sac
env: {plugin: pendulum, options: {max_episode_steps: 30}}
learner: {plugin: sac, options: {hidden: [8], batch_size: 8, horizon: 60, learning_starts: 60}}
budget: {iterations: 3}
evaluation: {episodes: 4, every_iterations: 1}
checkpoint: {best: eval/return}
"""
BEST = EMBEDDED.split("assert lib.bp_embed_step")[0].replace("ppo_pendulum", "sac").replace("ffi.NULL, 1000", 'b"best", 1000').replace(
    'load_policy("outputs/sac")', 'load_policy("outputs/sac", checkpoint="best")')


def run(folder, *words, **more):
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))} fails:\n{done.stdout}{done.stderr}")
    return done.stdout


def main():
    text = (ROOT / "docs/policies.md").read_text()
    block = lambda kind: re.search(rf"^```{kind}\n(.*?)^```", text, re.S | re.M)[1]
    home = pathlib.Path(os.environ["BACKPLANE_HOME"])
    environment = os.environ | {"PATH": f"{home / 'bin'}:{os.environ['PATH']}", "BACKPLANE_PYTHON": sys.executable}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "configs/ppo").mkdir(parents=True)
        shutil.copy(ROOT / "configs/ppo/pendulum.yaml", folder / "configs/ppo")
        commands = block("sh").replace("pendulum.yaml", "pendulum.yaml -s budget.env_steps=8192", 1)
        printed = run(folder, "bash", "-ec", commands, env=environment)
        assert "policy.c: 1000 actions" in printed and "policy.py: 1000 actions" in printed, printed
        (folder / "policy/loop.c").write_text(block("c"))
        (folder / "policy/robot.c").write_text(ROBOT)
        run(folder / "policy", "cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "loop.c", "robot.c", "policy.c", "-o", "loop")
        moved = [float(line) for line in run(folder / "policy", "./loop").split()]
        loaded = [float(line) for line in run(folder, sys.executable, "-c", LOADED, env=environment).split()]
        assert len(moved) == len(loaded) == 3 and all(abs(a - b) < 4e-6 for a, b in zip(moved, loaded)), (moved, loaded)
        run(folder, sys.executable, "-c", EMBEDDED, env=environment)
        words = ["pendulum.yaml", "-s", "budget.env_steps=8192", "learner.start_from=outputs/ppo_pendulum", "--out", "outputs/started", "--quiet"]
        run(folder, home / "bin/backplane", "run", f"configs/ppo/{words[0]}", *words[1:], env=environment)
        python_loop = run(folder, sys.executable, "-c", block("python"), env=environment)
        run(folder, sys.executable, "-c", STARTED, env=environment)
        assert re.search(r"return -\d", python_loop)
        (folder / "sac.yaml").write_text(REPLAY)
        run(folder, home / "bin/backplane", "run", "sac.yaml", "--quiet", env=environment)
        run(folder, sys.executable, "-c", BEST, env=environment)
    print("the page runs, and the best policy of a replay learner acts")


if __name__ == "__main__":
    main()
