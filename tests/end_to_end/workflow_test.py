#!/usr/bin/env python3
"""GitHub can read the workflow of docs/continuous-integration, and its steps work as described. Skipped (77) without PyYAML.

  workflow_test.py BACKPLANE

Runs its steps "Baseline" and "Gate" unchanged with an experiment of one second: once without a change, once with a worse result.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

FILE = pathlib.Path(__file__).resolve().parents[2] / "docs/continuous-integration/gate.yml"
EXPERIMENT = """
env: {plugin: cartpole}
learner: {plugin: random, options: {policy: %s}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 4}
budget: {iterations: 4}
evaluation: {episodes: 10}
"""


def check_form(workflow):
    assert True in workflow or "on" in workflow, "it starts at nothing"  # `on` is a bool of YAML 1.1
    for name, job in workflow["jobs"].items():
        assert job["runs-on"] and job["steps"], name
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step), f"{name}: a step runs or uses something: {step}"
            assert "uses" not in step or "@v" in step["uses"], step


def run_step(workflow, name, folder, **env):
    step = next(step for step in workflow["jobs"]["gate"]["steps"] if step.get("name") == name)
    # Other tests run at the same time, so the speed is noisy and must not decide.
    script = step["run"].replace("SPS < -10%", "SPS < -90%")
    done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", script], cwd=folder, capture_output=True, text=True, timeout=300,
                          env={**os.environ, **{key: str(value) for key, value in workflow["env"].items()}, **env})
    return done.returncode, done.stdout + done.stderr


def main():
    try:
        import yaml
    except ImportError:
        print("skipped: PyYAML is not there")
        return 77
    workflow = yaml.safe_load(FILE.read_text())
    check_form(workflow)
    with tempfile.TemporaryDirectory(prefix="workflow-") as temporary:
        folder = pathlib.Path(temporary)
        env = {"BACKPLANE": sys.argv[1], "EXPERIMENT": "pole.yaml", "SEEDS": "10"}
        (folder / "pole.yaml").write_text(EXPERIMENT % "uniform")
        code, said = run_step(workflow, "Baseline", folder, **env)
        assert code == 0, said
        assert (folder / "gate/base.plugins/baseline.yaml").exists(), said
        for policy, wanted, verdicts in (("uniform", 0, ("pass", "undecided")), ("zero", 1, ("fail",))):
            (folder / "pole.yaml").write_text(EXPERIMENT % policy)
            code, said = run_step(workflow, "Gate", folder, **env)
            assert code == wanted, f"{policy}: {code}\n{said}"
            found = json.loads((folder / "gate/verdict.json").read_text())["verdict"]
            assert found in verdicts, f"{policy}: {found}"
            subprocess.run(["rm", "-rf", folder / "outputs/gate", folder / "outputs/gate_speed"], check=True)
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
