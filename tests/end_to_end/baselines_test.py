#!/usr/bin/env python3
"""Every env that trains without options has the baselines of zero and of uniform actions.

  baselines_test.py PROGRAM PLUGINS    (PLUGINS: the folder with the built plugins)
"""
import json
import math
import pathlib
import subprocess
import sys
import tempfile

ENVS = pathlib.Path(__file__).resolve().parents[2] / "plugins/envs"
OTHERS = {
    "action_repeat": "a wrapper", "clip_reward": "a wrapper", "flatten": "a wrapper", "frame_stack": "a wrapper", "sticky_actions": "a wrapper",
    "time_limit": "a wrapper", "gymnasium": "needs an id; scripts/check_kinds", "pettingzoo": "needs an id; scripts/check_kinds",
    "summarization": "needs texts, and has no uniform action", "uav_grid_tensor": "needs LibTorch",
}
EXPERIMENT = """
experiment: %(env)s
env: {plugin: %(env)s}
learner: {plugin: random, options: {horizon: 4}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 2}
budget: {iterations: 1}
evaluation: {episodes: 2, max_episode_steps: 20}
monitors: []
"""


def baselines(program, folder, env):
    """The returns of zero and of uniform actions."""
    (folder / f"{env}.yaml").write_text(EXPERIMENT % {"env": env})
    done = subprocess.run([program, "run", f"{env}.yaml", "--quiet"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, f"{env}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    result = json.loads(next(folder.glob(f"outputs/{env}/trials/*/attempt-1/result.json")).read_text())
    for key in ("floor_zero", "floor_uniform"):
        assert result.get(key), f"{env}: expected {key} in result.json, got {result.get(key)}"
    return [result[key]["return"]["mean"] for key in ("floor_zero", "floor_uniform")]


def main():
    program, plugins = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    names = sorted(folder.name for folder in ENVS.iterdir() if folder.is_dir())
    assert not set(OTHERS) - set(names), f"expected envs of {ENVS}, got {set(OTHERS) - set(names)}"
    built = [name for name in names if name not in OTHERS and (plugins / f"env_{name}.so").exists()]
    assert "cartpole" in built, f"expected env_cartpole.so in {plugins}, got {built}"
    with tempfile.TemporaryDirectory() as folder:
        for name in built:
            zero, uniform = baselines(program, pathlib.Path(folder), name)
            assert math.isfinite(zero) and math.isfinite(uniform), f"{name}: expected finite baselines, got {zero} and {uniform}"
            print(f"{name}: zero {zero:.3g}, uniform {uniform:.3g}", flush=True)


if __name__ == "__main__":
    main()
