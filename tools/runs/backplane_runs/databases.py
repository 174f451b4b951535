"""SQLite databases of MLflow, Optuna and Trackio, by the tables that every release has."""
from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from .model import COMPLETED, FAILED, PRUNED, UNFINISHED, Damaged, Run, flatten
from .optuna_journal import OBJECTIVE, parameter
from .plain_values import plain

LARGEST = 1.7976931348623157e308  # MLflow stores infinity as this number
MLFLOW_STATES = {"FINISHED": (COMPLETED, ""), "FAILED": (FAILED, "MLflow records a failure"), "KILLED": (FAILED, "MLflow records that it was killed")}
OPTUNA_STATES = {"COMPLETE": (COMPLETED, ""), "PRUNED": (PRUNED, "pruned"), "FAIL": (FAILED, "Optuna records a failure")}
SPECIAL = {"INF_POS": math.inf, "INF_NEG": -math.inf, "NAN": math.nan}
MOST_ROWS = 100_000_000
MOST_CELL = 64 << 20  # bytes


def read_database(file: Path, name: str) -> list[Run]:
    with file.open("rb") as stream:
        if stream.read(16) != b"SQLite format 3\0":
            raise Damaged(f"{file}: expected an SQLite database, got other bytes")
    try:
        database = sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True, timeout=10)
        try:
            if hasattr(database, "setlimit"):  # of Python 3.11
                database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_CELL)
            tables = {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            for needed, read in READERS:
                if needed <= tables:
                    return read(Database(file, name, database))
        finally:
            database.close()
    except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:
        raise Damaged(f"{file}: the database cannot be read: {error}") from None
    return []


class Database:
    def __init__(self, file: Path, name: str, connection: sqlite3.Connection) -> None:
        self.file, self.name, self.connection = file, name, connection

    def rows(self, table: str, *columns: str, order: str = "") -> Any:
        """Rows of the columns; a column that this release lacks is None."""
        there = {row[1] for row in self.connection.execute(f"PRAGMA table_info({table})")}
        picked = ", ".join(f'"{one}"' if one in there else "NULL" for one in columns)
        return self.connection.execute(f"SELECT {picked} FROM {table}" + (f" ORDER BY {order}" if order else "") + f" LIMIT {MOST_ROWS}")


def finite_or_inf(value: float, run: Run) -> float:
    if abs(value) >= LARGEST:
        note = "MLflow stores infinity as the largest number; it is shown as infinite"
        if note not in run.notes:
            run.notes.append(note)
        return math.copysign(math.inf, value)
    return value


def read_mlflow(data: Database) -> list[Run]:
    experiments = dict(data.rows("experiments", "experiment_id", "name"))
    runs: dict[str, Run] = {}
    of_experiment: dict[str, Any] = {}
    for uuid, title, status, start, stage, experiment in data.rows("runs", "run_uuid", "name", "status", "start_time", "lifecycle_stage", "experiment_id"):
        if stage == "deleted":
            continue
        run = runs[uuid] = Run(f"{data.name}/{experiments.get(experiment, experiment)}/{title or uuid}", "MLflow", [data.file])
        run.state, run.why = MLFLOW_STATES.get(status, (UNFINISHED, f"MLflow records the state {status}"))
        run.time_base = (start or 0) / 1000
        of_experiment[uuid] = experiment
    if len(set(of_experiment.values())) > 1:
        for uuid, run in runs.items():
            run.settings["mlflow experiment"] = experiments.get(of_experiment[uuid])
    for uuid, key, value in data.rows("params", "run_uuid", "key", "value"):
        if uuid in runs:
            runs[uuid].settings[key] = plain(value or "")
    for uuid, key, value, time, step, is_nan in data.rows("metrics", "run_uuid", "key", "value", "timestamp", "step", "is_nan", order="step, timestamp, value"):
        if uuid in runs:
            run = runs[uuid]
            run.add(key, max(0, step or 0), math.nan if is_nan else finite_or_inf(float(value), run), (time or 0) / 1000)
    return list(runs.values())


def read_optuna(data: Database) -> list[Run]:
    studies = dict(data.rows("studies", "study_id", "study_name"))
    directions = {(study, objective or 0): 1 if word == "MAXIMIZE" else -1
                  for study, objective, word in data.rows("study_directions", "study_id", "objective", "direction")}
    runs: dict[int, Run] = {}
    of_study: dict[int, int] = {}
    for trial, number, study, state, start in data.rows("trials", "trial_id", "number", "study_id", "state", "datetime_start", order="trial_id"):
        run = runs[trial] = Run(f"{data.name}/{studies.get(study)}/{number if number is not None else trial}", "Optuna", [data.file])
        run.state, run.why = OPTUNA_STATES.get(state, (UNFINISHED, f"Optuna records the state {state}"))
        of_study[trial] = study
        if len(studies) > 1:
            run.settings["optuna study"] = studies.get(study)
    for trial, name, value, distribution in data.rows("trial_params", "trial_id", "param_name", "param_value", "distribution_json"):
        if trial in runs:
            runs[trial].settings[name] = parameter(value, distribution)
    for trial, step, value, kind in data.rows("trial_intermediate_values", "trial_id", "step", "intermediate_value", "intermediate_value_type", order="step"):
        if trial in runs:
            runs[trial].add(f"intermediate_{OBJECTIVE}", max(0, step), _special(value, kind))
    for trial, objective, value, kind in data.rows("trial_values", "trial_id", "objective", "value", "value_type"):
        if trial in runs:
            run, metric = runs[trial], f"{OBJECTIVE}_{objective}" if objective else OBJECTIVE
            run.add(metric, run.last_step(), _special(value, kind))
            run.directions[metric] = run.directions["intermediate_" + OBJECTIVE] = directions.get((of_study[trial], objective or 0), 0)
    return list(runs.values())


def _special(value: float | None, kind: str | None) -> float:
    """A release without the type column stores infinity as it is, and NaN as null."""
    return SPECIAL.get(kind or "", math.nan if value is None else value)


def read_trackio(data: Database) -> list[Run]:
    runs: dict[str, Run] = {}
    numbers = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
    for uuid, title, config in data.rows("configs", "run_id", "run_name", "config"):
        run = runs[uuid or title] = Run(f"{data.name}/{title}", "Trackio", [data.file])
        run.settings = {key: value for key, value in flatten(_json(config)).items() if not key.startswith("_")}
    for uuid, title, time, step, metrics in data.rows("metrics", "run_id", "run_name", "timestamp", "step", "metrics", order="id"):
        run = runs.setdefault(uuid or title, Run(f"{data.name}/{title}", "Trackio", [data.file]))
        clock = _clock(time)
        run.time_base = run.time_base or clock
        for key, value in flatten(_json(metrics)).items():
            run.add(key, max(0, step), numbers.get(value, value) if isinstance(value, str) else value, clock)
    for run in runs.values():
        cut_repeated(run)
    return list(runs.values())


def cut_repeated(run: Run) -> None:
    """If the steps went back, a later attempt resumed: its points count from its first step on."""
    for name, curve in run.curves.items():
        back = next((i for i in range(len(curve) - 1, 0, -1) if curve.steps[i] < curve.steps[i - 1]), 0)
        if back:
            kept = [i for i in range(back) if curve.steps[i] < curve.steps[back]]
            run.notes.append(f"{name}: the run resumed at step {curve.steps[back]:,}; {back - len(kept):,} points of the earlier attempt are discarded")
            curve.keep([*kept, *range(back, len(curve))])


def _json(text: Any) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _clock(text: Any) -> float:
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except ValueError:
        return math.nan


READERS: tuple[tuple[set[str], Callable[[Database], list[Run]]], ...] = (
    ({"experiments", "runs", "metrics", "params"}, read_mlflow),
    ({"studies", "trials", "trial_params", "trial_values"}, read_optuna),
    ({"metrics", "configs"}, read_trackio),
)
