"""Groups runs into points: equal settings, several seeds."""
from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from .folder_names import STAMP, facts, match, pattern_of
from .model import COMPLETED, MOST_STEP, Mistake, Run
from .wandb_file import ID

SEEDS = ("seed", "random_seed", "rng_seed", "seed_id", "global_seed", "manual_seed", "seed_number")
ENVS = ("env", "env_id", "env_name", "environment", "env.id", "env.name", "env.env_id", "env.env_name", "gym_id", "env.plugin", "task", "task_name", "task.name", "game")
ARMS = ("path", "algo", "algorithm", "alg", "agent", "method", "exp_name", "model", "learner", "folder", "mlflow experiment", "optuna study")
NOISE = {"log_dir", "logdir", "logging_dir", "log_folder", "output_dir", "outdir", "out_dir", "save_path", "save_dir", "tensorboard_log", "run_name", "run_id", "name",
         "exp_id", "experiment_id", "trial_id", "trial_name", "timestamp", "date", "datetime", "start_time", "created", "hostname", "host", "pid", "node_ip", "uuid",
         "track", "capture_video", "verbose", "local_rank", "wandb_project_name", "wandb_entity", "wandb_project", "job_id", "cwd", "data_dir", "checkpoint_dir",
         "ckpt_path", "version", "commit", "git_hash", "git_commit", ID, "eval_log_path", "storage", "uuid", "num_threads"}
PATH = "path"  # the PATH of the command line that a run was found below
LONGEST = 40  # characters of a value in a name


@dataclass
class Trial:
    run: Run
    seed: int
    identity: dict[str, Any]
    point: str = ""  # name
    arm: str = ""
    task: str = ""
    values: list[tuple[str, Any]] = field(default_factory=list)  # path in the configuration -> value


@dataclass
class Points:
    trials: list[Trial]
    notes: list[str]
    differing: list[str]  # keys of settings
    seeds: str  # their origin, for people


@dataclass
class Choices:
    """Choices of the command line."""
    name: str | None = None
    seed_key: str | None = None
    task: str | None = None
    join: str | None = None
    arms: bool = False  # each PATH is an arm: the first part of a run's name


def key_text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def is_noise(key: str) -> bool:
    last = key.rpartition(".")[2].lower()
    return last in NOISE or key.startswith("_")


def is_stamped(value: Any) -> bool:
    """A path or a time is no setting."""
    return isinstance(value, str) and (value.startswith(("/", "./", "~")) or bool(STAMP.search(value)) and "/" in value)


class Grouping:
    def __init__(self, runs: list[Run], choices: Choices) -> None:
        self.runs, self.choices, self.notes = runs, choices, []
        self.labels: dict[int, list[str]] = {}
        self.origin = ""

    def points(self) -> Points:
        self._add_names()
        self._find_seeds()
        identities = [self._identity(run) for run in self.runs]
        if self.choices.arms:
            for run, identity in zip(self.runs, identities):
                identity[PATH] = run.name.split("/")[0]
        self._add_labels(identities)
        groups: dict[str, list[int]] = defaultdict(list)
        for i, identity in enumerate(identities):
            groups[key_text(identity)].append(i)
        trials = [trial for places in groups.values() for trial in self._trials([self.runs[i] for i in places], identities[places[0]])]
        differing = differing_keys([trial.identity for trial in trials])
        name_points(trials, differing, self.choices.task)
        return Points(trials, self.notes, differing, self.origin)

    def _add_names(self) -> None:
        pattern = pattern_of(self.choices.name) if self.choices.name else None
        missed = []
        for run in self.runs:
            settings, seed, self.labels[id(run)] = facts(run.name)
            named = match(pattern, self.choices.name, run.name) if pattern else None
            if pattern and named is None:
                missed.append(run.name)
            if named is not None:
                run.settings.update(named)
                self.labels[id(run)] = []
                continue
            for key, value in settings.items():
                known = {one.rpartition(".")[2] for one in run.settings} | ({"env"} if env_key(run.settings) else set())
                if key not in known:
                    run.settings[key] = value
            run.seed = seed
        if missed:
            raise Mistake(f"--name: '{self.choices.name}' fits {len(self.runs) - len(missed)} of {len(self.runs)} runs; '{missed[0]}' does not")

    def _find_seeds(self) -> None:
        key = self.choices.seed_key or self._seed_key()
        if key is None:
            if any(run.seed is not None for run in self.runs):
                self.origin = "from the names of folders"
            return
        self.origin = f"key '{key}'"
        of_runs = 0
        for run in self.runs:
            value = run.settings.pop(key, None)
            if isinstance(value, float) and value.is_integer():
                value = int(value)
            if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_STEP:
                run.seed, of_runs = value, of_runs + 1
        if self.choices.seed_key and not of_runs:
            raise Mistake(f"--seed-key: expected a setting with whole numbers, got '{key}'; there are {', '.join(sorted({key for run in self.runs for key in run.settings})[:10])}")

    def _seed_key(self) -> str | None:
        keys = Counter(key for run in self.runs for key, value in run.settings.items() if key.rpartition(".")[2].lower() in SEEDS and value is not None)
        if keys:
            best = max(keys, key=lambda key: (keys[key], -key.count("."), key == "seed"))
            for run in self.runs:  # a second seed of the same run is no setting
                for other in keys:
                    if other != best:
                        value = run.settings.pop(other, None)
                        run.settings.setdefault(best, value)
            return best
        return None if any(run.seed is not None for run in self.runs) else self._differing_alone()

    def _differing_alone(self) -> str | None:
        """The only setting, of whole numbers, that differs among otherwise equal runs and has the same values in each group."""
        found = []
        for key in differing_keys([run.settings for run in self.runs]):
            groups: dict[str, list[Any]] = defaultdict(list)
            for run in self.runs:
                groups[key_text({name: value for name, value in run.settings.items() if name != key and not is_noise(name)})].append(run.settings.get(key))
            values = list(groups.values())
            whole = all(isinstance(one, int) and not isinstance(one, bool) and one >= 0 for group in values for one in group)
            if whole and all(len(group) > 1 and len(set(group)) == len(group) for group in values) and all(set(group) == set(values[0]) for group in values) \
                    and max(values[0]) - min(values[0]) < 4 * len(values[0]) and not is_noise(key):
                found.append(key)
        if len(found) != 1:
            return None
        self.notes.append(f"seed: '{found[0]}' is the only setting that differs among otherwise equal runs; --seed-key names a different one")
        return found[0]

    def _identity(self, run: Run) -> dict[str, Any]:
        return {key: value for key, value in run.settings.items() if not is_noise(key) and not is_stamped(value) and value is not None}

    def _add_labels(self, identities: list[dict[str, Any]]) -> None:
        """The names of folders distinguish runs with equal settings."""
        depth = max((len(label) for label in self.labels.values()), default=0)
        padded = [([*self.labels[id(run)]] + [""] * depth)[:depth] for run in self.runs]
        places = [i for i in range(depth) if len({label[i] for label in padded}) > 1]
        groups: dict[str, list[int]] = defaultdict(list)
        for i, identity in enumerate(identities):
            groups[key_text(identity)].append(i)
        if self.choices.arms:
            places = [place for place in places if place > 0]
        needed = any(self._is_unclear([self.runs[i] for i in group], identities[group[0]]) and len({tuple(padded[i][p] for p in places) for i in group}) > 1
                     for group in groups.values())
        for number, place in enumerate(places if needed else [], 1):
            for identity, label in zip(identities, padded):
                identity["folder" if len(places) == 1 else f"folder{number}"] = label[place]

    @staticmethod
    def _is_unclear(runs: list[Run], identity: dict[str, Any]) -> bool:
        seeds = [run.seed for run in runs]
        return None in seeds or len(set(seeds)) < len(seeds) or len([key for key in identity if key not in ENVS]) < 2

    def _trials(self, runs: list[Run], identity: dict[str, Any]) -> list[Trial]:
        runs = self._joined(runs)
        unknown = [run for run in runs if run.seed is None]
        if unknown and len(runs) > 1:
            taken = {run.seed for run in runs}
            free = (number for number in range(len(runs) + len(taken)) if number not in taken)
            for run in unknown:
                run.seed = next(free)
            sentence = "the seeds of some runs are unknown, so the runs are numbered; --seed-key or --name gives the seeds"
            if sentence not in self.notes:
                self.notes.append(sentence)
        by_seed: dict[int, list[Run]] = defaultdict(list)
        for run in runs:
            by_seed[run.seed or 0].append(run)
        return [Trial(self._newest(same, seed), seed, identity) for seed, same in sorted(by_seed.items())]

    def _newest(self, same: list[Run], seed: int) -> Run:
        newest = max(same, key=lambda run: (run.points() > 0, run.state == COMPLETED, run.time_base or newest_change(run), run.name))
        for run in same:
            if run is not newest:
                self.notes.append(f"{run.name} and {newest.name} have the same settings and seed {seed}; only {newest.name} counts, because it is newer")
        return newest

    def _joined(self, runs: list[Run]) -> list[Run]:
        """Runs whose steps continue each other are one run if the user agrees."""
        chain: list[Run] = []
        kept = []
        for run in sorted(runs, key=lambda run: (str(run.seed), run.first_step(), run.name)):
            if chain and continues(chain[-1], run):
                chain.append(run)
                continue
            kept += self._chain(chain)
            chain = [run]
        return kept + self._chain(chain)

    def _chain(self, chain: list[Run]) -> list[Run]:
        if len(chain) < 2:
            return chain
        if self.choices.join is None:
            raise Mistake(f"{chain[1].name} begins at step {chain[1].first_step():,}, where {chain[0].name} ends ({chain[0].last_step():,}), and has the same settings\n"
                          "hint: --join yes makes them one run, --join no keeps them apart")
        if self.choices.join == "no":
            return chain
        first = chain[0]
        for other in chain[1:]:
            for name, curve in other.curves.items():
                own = first.curve(name)
                own.steps.extend(curve.steps)
                own.values.extend(curve.values)
                own.times.extend(curve.times)
            first.sources += other.sources
            first.notes += other.notes + [f"{other.name} continues {first.name}: joined"]
            first.state, first.why = other.state, other.why
        return [first]


def newest_change(run: Run) -> float:
    return max((os.stat(source).st_mtime for source in run.sources if source.exists()), default=0)


def continues(before: Run, after: Run) -> bool:
    last, first = before.last_step(), after.first_step()
    if before.seed != after.seed or not before.points() or not after.points() or first <= last or before.points() < 2:
        return False
    spread = max(1, last - before.first_step())
    longest = max((len(curve) for curve in before.curves.values()), default=1)
    return first - last <= max(2 * spread / longest, 0.1 * last)


def differing_keys(settings: list[dict[str, Any]]) -> list[str]:
    keys = list(dict.fromkeys(key for one in settings for key in one))
    return [key for key in keys if len({key_text(one.get(key)) for one in settings}) > 1]


def env_key(identity: dict[str, Any]) -> str | None:
    return next((key for key in ENVS if isinstance(identity.get(key), (str, int))), None)


def path_of(key: str, identity: dict[str, Any]) -> str:
    return "env.plugin" if key == env_key(identity) else f"learner.options.{key}"


def value_text(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    text = re.sub(r"\s+", " ", text)
    return text if len(text) <= LONGEST else text[:LONGEST - 9] + "~" + hashlib.sha256(text.encode()).hexdigest()[:8]


def naming_keys(trials: list[Trial], differing: list[str], task: str | None) -> list[str]:
    """The fewest differing settings that distinguish the points: names of algorithms first, envs last."""
    own = {task_key(trial.identity, task) for trial in trials}
    order = sorted((key for key in differing if key not in own), key=lambda key: (key not in ARMS, ARMS.index(key) if key in ARMS else 0, key in ENVS))

    def distinct(keys: list[str]) -> int:
        return len({tuple(key_text(trial.identity.get(key)) for key in keys) for trial in trials})

    chosen: list[str] = []
    for key in order:
        if distinct([*chosen, key]) > distinct(chosen):
            chosen.append(key)
    return chosen


def name_points(trials: list[Trial], differing: list[str], task: str | None) -> None:
    """"ppo lr=0.1", and with a task "ppo lr=0.1 on CartPole-v1"."""
    short = Counter(key.rpartition(".")[2] for key in differing)
    chosen = naming_keys(trials, differing, task)

    def word(key: str, value: Any) -> str:
        last = key.rpartition(".")[2]
        if key in ENVS or key in ARMS or re.fullmatch(r"folder\d+", key):
            return value_text(value)
        return f"{last if short[last] == 1 else key}={value_text(value)}"

    for trial in trials:
        own = task_key(trial.identity, task)
        parts = [word(key, trial.identity[key]) for key in chosen if trial.identity.get(key) is not None]
        trial.arm = " ".join(part for part in parts if part).replace(" on ", " at ")
        trial.task = value_text(trial.identity[own]).replace(" on ", " at ") if own else ""
        trial.point = f"{trial.arm or 'all'} on {trial.task}" if own else trial.arm
        trial.values = [(path_of(key, trial.identity), trial.identity[key]) for key in differing if trial.identity.get(key) is not None]
    names: dict[str, str] = {}
    for trial in trials:  # two points never share a name
        known = names.setdefault(trial.point, key_text(trial.identity))
        if known != key_text(trial.identity):
            trial.point += "~" + hashlib.sha256(key_text(trial.identity).encode()).hexdigest()[:6]


def task_key(identity: dict[str, Any], task: str | None) -> str | None:
    if task is None:
        return None
    if task in ENVS:
        return env_key(identity)
    return task if identity.get(task) is not None else None


def last_tenth(values: list[float]) -> float:
    """The mean of the last tenth of a curve, as reports take it."""
    count = max(1, len(values) // 10)
    finite = [value for value in values[-max(3, count):] if math.isfinite(value)]
    whole = values[-count:]
    chosen = whole if all(math.isfinite(value) for value in whole) else finite
    return math.fsum(chosen) / len(chosen) if chosen else math.nan
