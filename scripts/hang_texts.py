"""Experiments in which something hangs, for scripts/check_hangs: files by name, of which x.yaml is the experiment.

@FIXTURES@ is the folder of the test plugins, @PYTHON@ an interpreter with Gymnasium, @FOLDER@ the kind's folder, @HANG@ its
resources.hang_timeout, @REPORT@ the real report program."""

COMMON = """resources: {hang_timeout: @HANG@}
plugin_path: [@FIXTURES@]
output: {dir: out, page: false}
on_failure: {signal: fail, plugin: fail, timeout: fail, temp: fail}
"""
QUIET = "monitors: []\n" + COMMON


def faulty(env="none", learner="none", more=""):
    return {"x.yaml": f"""experiment: x
env: {{plugin: faulty, options: {{fault: {env}}}}}
learner: {{plugin: faulty, options: {{fault: {learner}}}}}
rollout: {{num_env_runners: 1, num_envs_per_env_runner: 2, threads: 1}}
budget: {{iterations: 3}}
{more}""" + QUIET}


def monitored(monitor):
    return {"x.yaml": f"""experiment: x
env: {{plugin: faulty}}
learner: {{plugin: faulty}}
rollout: {{num_env_runners: 1, num_envs_per_env_runner: 2, threads: 1}}
budget: {{wall_time: 2s}}
monitors: [{monitor}]
""" + COMMON}


def unruly(call, fault):
    return monitored(f"{{plugin: unruly, options: {{call: {call}, fault: {fault}}}}}")


def command(script, more=""):
    return {"t.py": script, "x.yaml": f"""experiment: x
learner: {{command: [python3, t.py]}}
{more}""" + COMMON}


def python_env(step="", reset="", at_import="", timeout_s=60, over="self.steps % 4 == 0", more="budget: {iterations: 3}\n"):
    return {"waits.py": f"""import os, signal, time
import gymnasium
{at_import}

class Waits(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-1, 1, (1,))
    action_space = gymnasium.spaces.Discrete(2)
    steps = resets = 0

    def reset(self, *, seed=None, options=None):
        self.resets += 1
        {reset or "pass"}
        return self.observation_space.low, {{}}

    def step(self, action):
        self.steps += 1
        {step or "pass"}
        return self.observation_space.low, 1.0, False, {over}, {{}}
""", "x.yaml": f"""experiment: x
env: {{plugin: gymnasium, options: {{file: waits.py, class: Waits, python: "@PYTHON@", timeout: {timeout_s}}}}}
learner: {{plugin: random, options: {{horizon: 8}}}}
rollout: {{num_env_runners: 1, num_envs_per_env_runner: 2, threads: 1}}
{more}""" + QUIET}


# Replaces the Python of a search: answers the requests of optuna_side.py up to the faulty one.
SIDE_PROCESS = """#!/usr/bin/env python3
import json, os, sys, time
mode = "@MODE@"
if "--lacks" in sys.argv:
    while mode == "lacks_hangs": time.sleep(1)
    sys.exit(print(""))
if not sys.argv[1].startswith("/proc/self/fd/"):
    os.execvp("python3", ["python3", *sys.argv[1:]])
requests, replies = os.fdopen(int(sys.argv[2]), "r"), os.fdopen(os.dup(int(sys.argv[3])), "w")
number = -1
for line in requests:
    op = json.loads(line)["op"]
    number += op == "ask"
    answer = {"open": {"version": "5.0.0"}, "ask": {"number": number, "params": {"learner.options.x": number / 8}},
              "report": {"prune": False}}.get(op, {})
    if mode == op + "_never":
        time.sleep(3600)
    text = json.dumps(answer) + "\\n"
    if mode == op + "_half":
        replies.write(text[:7]), replies.flush(), time.sleep(3600)
    if mode == op + "_nonsense": text = "Traceback (most recent call last):\\n"
    if mode == op + "_empty": text = "{}\\n"
    replies.write(text), replies.flush()
"""
SCORES = """import os, time
print("score=1", flush=True)
"""


def search(mode):
    return {"side.py": SIDE_PROCESS.replace("@MODE@", mode), "t.py": SCORES, "x.yaml": """experiment: x
learner: {command: [python3, t.py, "{x}"], options: {x: 0.0}, metrics: {score: "score=([0-9.]+)"}}
sweep:
  search:
    trials: 3
    space: {learner.options.x: {uniform: [0, 1]}}
    objective: {metric: score, direction: maximize}
""" + COMMON}


PROGRAM = r"python3|t\.py|learner\.command"
SIDE = {"BACKPLANE_PYTHON": "@FOLDER@/side.py"}

# Slurm in a few lines: the array's script runs next to the batch, as on a node.
SLURM = {
    "bin/sbatch": """#!/bin/sh
test "$1" = --version && exec echo slurm 22
cat > sbatch.script
SLURM_ARRAY_JOB_ID=12 SLURM_ARRAY_TASK_ID=0 setsid sh sbatch.script > worker.log 2>&1 < /dev/null &
echo $! > worker.pid
echo 12
""",
    "bin/squeue": """#!/bin/sh
kill -0 "$(cat worker.pid)" 2>/dev/null && echo 12 0 RUNNING
true
""",
    "bin/scancel": "#!/bin/sh\n",
}
HANGS = "#!/bin/sh\nexec sleep 3600\n"
ON_PATH = {"PATH": "@FOLDER@/bin:/usr/local/bin:/usr/bin:/bin"}


def slurm(**programs):
    text = faulty(more="engine: {kind: slurm}\n")["x.yaml"].replace("iterations: 3", "wall_time: 8s")
    return {"x.yaml": text, **SLURM, **{f"bin/{name}": text for name, text in programs.items()}}

DEAF = """import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True: print("return=1", flush=True), time.sleep(0.2)
"""
REPORT_HANGS = '#!/bin/sh\ncase "$1" in --check) exec @REPORT@ "$@";; *) exec sleep 3600;; esac\n'
REPORT_CHECK_HANGS = '#!/bin/sh\ncase "$1" in --check) exec sleep 3600;; *) exec @REPORT@ "$@";; esac\n'
FIGURES_HANG = """#!/bin/sh
case "$1" in *backplane-figures.py) exec sleep 3600;; *) exec python3 "$@";; esac
"""
CHECKED = faulty(more="report: {kind: comparison, columns: [SPS]}\n")
SHORT = faulty(more="report: {kind: parallel_efficiency}\n")
ENDLESS = "budget: {iterations: 3, wall_time: 3s}\nevaluation: {episodes: 1, at_start: true}\n"
