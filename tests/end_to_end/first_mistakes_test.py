"""Makes the fifty first mistakes of first_mistakes/, and follows the hint of each.

usage: first_mistakes_test.py PROGRAM

Fresh readers wrote the mistakes, with the place and the hint that they expected. The error has to name the place, and the hint has to be the
line of FILES or LINES below. The hint is pasted as a person would paste it, and the result has to pass `config check` or to run.
"""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent / "first_mistakes"
ROOT = HERE.parents[2]
DRY = ("run", "gate", "compare", "tune")  # commands with --dry-run

# file -> (first and last line that the hint replaces; 0: it is appended; None: the whole file), expected hints in their order.
# A number: these lines go and the hint is appended.
FILES = {
    "01_zoo_file": ((4, 13), ["env: CartPole-v1", "learner: *", "budget: *"]),
    "02_atari_env": ((5, 5), ["env: {plugin: gymnasium, options: {id: ALE/Breakout-v5}}"]),
    "03_a2c": ((6, 6), ["learner: *"]),
    "04_hydra_defaults": ((4, 6), ["base: configs/ppo/cartpole.yaml"]),
    "05_interpolation": (10, ["sweep: {derive: {learner.options.minibatch_size: learner.options.train_batch_size}}"]),
    "06_option_beside_plugin": ((8, 9), ["  options: {gamma: 0.98, num_epochs: 20}"]),
    "07_tab": ((7, 8), ["  plugin: ppo", "  options: {lr: 1.0e-3}"]),
    "08_entropy_coef": (None, []),
    "09_wandb_sweep": ((9, 12), ["sweep: {grid: {learner.options.lr: [1.0e-3, 3.0e-4], learner.options.clip_param: [0.1, 0.2]}}"]),
    "10_optuna_distribution": ((14, 14), ["      learner.options.lr: {log_uniform: [1.0e-5, 1.0e-2]}"]),
    "11_seeds_list": (None, []),
    "12_seed_axis": (11, ["  seeds: [1, 2, 3]"]),
    "13_clock_time": ((8, 8), ["  wall_time: 90m"]),
    "14_yaml_tag": ((8, 8), ["  env_steps: 1e6"]),
    "15_grid_list": ((9, 11), ["  grid: {learner.options.lr: [1.0e-3, 3.0e-4], learner.options.num_epochs: [5, 10]}"]),
    "16_comma_list": ((10, 10), ["    learner.options.lr: [1.0e-2, 1.0e-3, 1.0e-4]"]),
    "17_options_too_far_left": ((6, 10), ["learner: {plugin: ppo, options: {lr: 3.0e-4, hidden: [256, 256]}}"]),
    "18_no_space": ((10, 10), ["    gamma: 0.98"]),
    "19_placeholder_unquoted": (", {seed}", ['"{seed}"']),
    "20_eval_freq": ((10, 10), ["  every_iterations: 10"]),
    "21_n_steps": ((9, 9), ["    train_batch_size: 128"]),
    "22_monitors_map": ((8, 9), ["monitors: [tensorboard]"]),
    "23_gamma_percent": ("gamma: 99", ["gamma: 0.99"]),
    "24_no_budget": ((0, 0), ["budget: *"]),
    "25_dotted_at_top": ((6, 6), ["learner: {options: {lr: 3.0e-4}}"]),
}
COLUMN_IS_WRONG = {"19_placeholder_unquoted": 64}  # the reader miscounted
# Number of the line -> expected hint, if it is not the first sentence of the reader's; None: the line runs as it is.
CARTPOLE = "backplane run configs/ppo/cartpole.yaml"
LINES = {
    7: "--set learner.options.lr=1e-3",
    4: None,  # + adds a key, as in Hydra
    12: None,  # the only trial needs no name
    13: "backplane plugin describe ppo",
    16: "backplane compare configs/ppo/cartpole.yaml configs/ars/cartpole.yaml --set budget.env_steps=100000",
    17: "backplane gate base.json configs/ppo/cartpole.yaml --fail-if 'eval/return < -5%'",
    19: "backplane run configs/ppo/acrobot.yaml",
    20: "--set 'sweep.random={trials: 8, space: {learner.options.lr: {log_uniform: [1e-5,1e-2]}}}'",
    21: "--sweep rollout.num_env_runners=4",
    23: "--set rollout.num_env_runners=1",
}
BEHIND_DASHES = "backplane run --jobs 0 -- configs/ppo/cartpole.yaml"
PLACES = {7: "'lr'", 8: "64]", 12: "", 21: "rollout.num_env_runners", 15: "'4'", BEHIND_DASHES: "--jobs: expected"}
# The table of misleading hints: typed line -> hint. "": no hint.
TABLE = {
    f"{CARTPOLE} --seeds 3": f"{CARTPOLE} --set sweep.seeds.n=3",
    f"{CARTPOLE} --num-seeds 3": f"{CARTPOLE} --set sweep.seeds.n=3",
    "backplane run --config configs/ppo/cartpole.yaml": CARTPOLE,
    f"{CARTPOLE} --lr=1e-3,1e-4": f"{CARTPOLE} --set 'sweep.grid={{learner.options.lr: [1e-3, 1e-4]}}'",
    f"{CARTPOLE} --workers 4": f"{CARTPOLE} --set rollout.num_env_runners=4",
    f"{CARTPOLE} --epochs 10": f"{CARTPOLE} --set learner.options.num_epochs=10",
    "backplane run configs/ars/cartpole.yaml --epochs 10": "backplane run configs/ars/cartpole.yaml --set budget.epochs=10",
    f"{CARTPOLE} --steps 1e6": f"{CARTPOLE} --set budget.env_steps=1e6",
    f"{CARTPOLE} --env Pendulum-v1": f"{CARTPOLE} --set env=Pendulum-v1",
    f"{CARTPOLE} --env LunarLander-v3": f"{CARTPOLE} --set 'env={{plugin: gymnasium, options: {{id: LunarLander-v3}}}}'",
    "backplane run --env LunarLander-v3": "backplane run configs/ppo/lunar_lander.yaml --set 'env={plugin: gymnasium, options: {id: LunarLander-v3}}'",
    "backplane run --env Ant-v5 --jobs 1": "backplane run configs/ars/ant.yaml --jobs 1 --set env=Ant-v5",
    f"{CARTPOLE} -o elsewhere --dry-run": None,
    f"{CARTPOLE} -s seed=3 -j 1 -q --dry-run": None,
    f"{CARTPOLE} seed=[0,1]": "--set 'sweep.seeds=[0, 1]'",
    f"{CARTPOLE} learner=a2c": "--set learner=*",
    f"{CARTPOLE} monitors=[wandb]": "--set 'monitors=[tensorboard]'",
    f"{CARTPOLE} learner.options.n_steps=2048": "--set learner.options.train_batch_size=2048",
    f"{CARTPOLE} learner.options.num_steps=2048": "--set learner.options.train_batch_size=2048",
    f"{CARTPOLE} learner.options.total_steps=5000": "--set budget.env_steps=5000",
    "backplane stop": "backplane status --help",
    "backplane config check --config configs/ppo/cartpole.yaml": "backplane config check configs/ppo/cartpole.yaml",
    "backplane gate base.json --config configs/ppo/cartpole.yaml": "backplane gate base.json configs/ppo/cartpole.yaml",
    f"{CARTPOLE} --n-trials 20": "backplane run configs/search/cartpole.yaml --set sweep.search.trials=20",
    "backplane run configs/ppo/ant.yaml --n-trials 20": "backplane run --help",
    "backplane bench configs/ppo/cartpole.yaml --trials 5": "backplane bench --help",
    "backplane bench configs/search/cartpole.yaml --trials 5": "backplane bench configs/search/cartpole.yaml --set sweep.search.trials=5",
    BEHIND_DASHES: "backplane run --help",
    "backplane run --seeds 3 -- configs/ppo/cartpole.yaml": "backplane run --set sweep.seeds.n=3 -- configs/ppo/cartpole.yaml",
    "backplane --seeds 3 configs/ppo/cartpole.yaml": f"{CARTPOLE} --set sweep.seeds.n=3",
    f"{CARTPOLE} --resume": CARTPOLE,
    f"{CARTPOLE} --resume outputs/ppo_cartpole": "backplane run outputs/ppo_cartpole",
    f"{CARTPOLE} --sweep 'learner.options.lr=quniform(1,10,2)'": "",
    f"{CARTPOLE} --set 'sweep.zip=[{{learner.options.lr: [1, 2]}}, {{learner.options.lr: [3, 4]}}]'": "",
    "backplane config check defaults.yaml": "",
    "backplane help sweep --markdown": "backplane help sweep",
    "backplane help sweep seeds": "backplane help sweep",
    "backplane tune configs/ppo/cartpole.yaml --for fps": "backplane tune configs/ppo/cartpole.yaml --for SPS",
}


def run(words, folder, env, seconds=300):
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, timeout=seconds)
    return done.returncode, done.stdout + done.stderr


def hints_in(text):
    return [line[len("hint: "):] for line in text.splitlines() if line.startswith("hint: ")]


def fits(expected, hint):
    return hint.startswith(expected[:-1]) if expected.endswith("*") else hint == expected


def pasted(text, where, hints):
    """The file with the hints instead of their lines."""
    lines = text.splitlines()
    if isinstance(where, str):
        return text.replace(where, ", " + hints[0] if where.startswith(", ") else hints[0], 1)
    if isinstance(where, int):
        return "\n".join(lines[:where - 1] + lines[where:] + hints) + "\n"
    first, last = where
    return "\n".join(lines[:first - 1] + hints + lines[last:] if first else lines + hints) + "\n"


def try_file(name, folder, env):
    where, expected = FILES[name]
    text = (HERE / "files" / f"{name}.yaml").read_text()
    (folder / "mistake.yaml").write_text(text)
    code, said = run(["backplane", "config", "check", "--file-only", "mistake.yaml"], folder, env)
    if where is None:
        return "" if code == 0 else f"expected no error, got {code}: {said}"
    place = re.search(r"# place: line (\d+), column (\d+)", text)
    if place:
        line, column = int(place[1]), COLUMN_IS_WRONG.get(name, int(place[2]))
        if f"mistake.yaml:{line}:{column}: error:" not in said.splitlines()[0]:
            return f"expected the place {line}:{column}, got: {said}"
    if "yaml-cpp" in said or code != 2:
        return f"expected exit 2, got {code}: {said}"
    hints, found = hints_in(said), []
    for one in expected:
        hint = next((hint for hint in hints if fits(one.strip(), hint.strip())), None)
        if hint is None:
            return f"expected the hint '{one}', got: {said}"
        found.append(one[:len(one) - len(one.lstrip())] + hint.lstrip())
    (folder / "mistake.yaml").write_text(pasted(text, where, found))
    code, said = run(["backplane", "config", "check", "--file-only", "mistake.yaml"], folder, env)
    return "" if code == 0 else f"the pasted hint fails: {said}\n{(folder / 'mistake.yaml').read_text()}"


def try_line(typed, place, expected, folder, env):
    words = shlex.split(typed)
    code, said = run(words + (["--dry-run"] if expected is None and words[1] in DRY and "--dry-run" not in words else []), folder, env)
    if expected is None:
        return "" if code == 0 else f"expected exit 0, got {code}: {said}"
    if code != 2:
        return f"expected exit 2, got {code}: {said}"
    if place not in said.split("hint: ")[0]:
        return f"expected '{place}' in the error, got: {said}"
    if not expected:
        return f"expected no hint, got: {said}" if hints_in(said) else ""
    hint = next((hint for hint in hints_in(said) if fits(expected, hint)), None)
    if hint is None:
        return f"expected the hint '{expected}', got: {said}"
    return follow(typed, hint, folder, env)


def follow(typed, hint, folder, env):
    """Runs the hint: a whole line, or values to add to the typed one without those that it replaces."""
    words = shlex.split(hint)
    if words[0].startswith("--"):
        words = shlex.split(typed)[:3] + words
    elif words[0] != "backplane":
        return ""  # a line of a file, which FILES pastes
    if words[1] in ("bench", "gate") or words[1:3] == ["plugin", "validate"] or "--help" in words:
        return ""  # it would take minutes, or needs a baseline of many seeds
    dry = ["--dry-run"] if words[1] in DRY and "--dry-run" not in words else []
    code, said = run(words[:2] + dry + words[2:], folder, env)
    return "" if code == 0 or "a package is missing" in said else f"the hint `{hint}` fails: {said}"


def prepare(program, folder):
    """A folder as the readers had it: the configs, a finished run, a plugin."""
    (folder / "bin").mkdir()
    (folder / "bin/backplane").symlink_to(program)
    (folder / "configs").symlink_to(ROOT / "configs")
    env = dict(os.environ, PATH=f"{folder / 'bin'}:{os.environ['PATH']}")
    ran = run(["backplane", "run", "configs/ppo/cartpole.yaml", "--quiet", "--set", "budget.env_steps=512"], folder, env)
    if ran[0] != 0:
        sys.exit(f"cannot prepare: {ran[1]}")
    (folder / "defaults.yaml").write_text("base: configs/ppo/cartpole.yaml\ndefaults: [{override: x}]\n")
    (folder / "my_task/build").mkdir(parents=True)
    (folder / "my_task/plugin.cpp").write_text("")
    (folder / "my_task/build/env_my_task.so").write_text("")
    return env


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    wrong, tried = [], 0
    files = sorted(file.stem for file in (HERE / "files").glob("*.yaml"))
    lines = json.loads((HERE / "lines.json").read_text())
    if files != sorted(FILES) or len(lines) != 25:
        wrong.append("expected 25 files and 25 lines, each with its hint")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        env = prepare(program, folder)
        for file in files:
            tried += 1
            if why := try_file(file, folder, env):
                wrong.append(f"{file}: {why}")
        cases = [(line["line"], PLACES.get(i, line["place"].split(" (")[0]), LINES.get(i, line["hint"].split("  (")[0])) for i, line in enumerate(lines)]
        for typed, place, expected in cases + [(typed, PLACES.get(typed, ""), hint) for typed, hint in TABLE.items()]:
            tried += 1
            shutil.rmtree(folder / "elsewhere", ignore_errors=True)
            if why := try_line(typed, place, expected, folder, env):
                wrong.append(f"{typed}: {why}")
    print("\n".join(wrong) or f"{tried} mistakes, each with its place and a hint that works")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
