"""Optuna's journal: one operation per line."""
from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from .model import COMPLETED, FAILED, PRUNED, UNFINISHED, Run
from .tables import json_lines

OBJECTIVE = "objective"
CREATE_STUDY, CREATE_TRIAL, SET_PARAM, SET_STATE, SET_INTERMEDIATE = 0, 4, 5, 6, 7
STATES = {1: (COMPLETED, ""), 2: (PRUNED, "pruned"), 3: (FAILED, "Optuna records a failure")}  # 0 RUNNING, 4 WAITING
MAXIMIZE = 2


def parameter(value: Any, distribution: Any) -> Any:
    """The value of a parameter: the choice of a categorical one, an integer of an integer one."""
    try:
        found = json.loads(distribution)
        attributes = found["attributes"]
        if "choices" in attributes:
            return attributes["choices"][int(value)]
        return int(value) if found["name"].startswith("Int") else value
    except (ValueError, TypeError, KeyError, IndexError, RecursionError):
        return value


def is_journal(file: Path) -> bool:
    if file.suffix.lower() not in (".log", ".journal", ".jsonl", ""):
        return False
    with file.open("rb") as stream:
        return stream.read(12).startswith((b'{"op_code":', b'{"op_code" :'))


def read_journal(file: Path, name: str) -> list[Run]:
    studies: list[tuple[str, list[int]]] = []
    trials: list[tuple[int, Run]] = []
    for _, line in json_lines(file):
        code, trial = line.get("op_code"), line.get("trial_id")
        if code == CREATE_STUDY:
            studies.append((str(line.get("study_name")), list(line.get("directions", [1]))))
        elif code == CREATE_TRIAL:
            _create(file, name, line, studies, trials)
        elif not isinstance(trial, int) or not 0 <= trial < len(trials):
            continue
        elif code == SET_PARAM:
            trials[trial][1].settings[str(line["param_name"])] = parameter(line["param_value_internal"], line["distribution"])
        elif code == SET_INTERMEDIATE:
            value = line["intermediate_value"]
            trials[trial][1].add(f"intermediate_{OBJECTIVE}", max(0, line["step"]), math.nan if value is None else value)
        elif code == SET_STATE:
            _end(line, *trials[trial], studies)
    for study, run in trials:
        if len(studies) > 1:
            run.settings["optuna study"] = studies[study][0]
    return [run for _, run in trials]


def _create(file: Path, name: str, line: dict[str, Any], studies: list[tuple[str, list[int]]], trials: list[tuple[int, Run]]) -> None:
    study = line.get("study_id", 0)
    study = study if isinstance(study, int) and 0 <= study < len(studies) else 0
    number = sum(1 for one, _ in trials if one == study)
    run = Run(f"{name}/{studies[study][0] if studies else study}/{number}", "Optuna", [file])
    run.state, run.why = UNFINISHED, "Optuna records no end"
    for key in line.get("params") or {}:
        run.settings[key] = parameter(line["params"][key], (line.get("distributions") or {}).get(key))
    trials.append((study, run))
    if isinstance(line.get("state"), int):
        _end(line, study, run, studies)


def _end(line: dict[str, Any], study: int, run: Run, studies: list[tuple[str, list[int]]]) -> None:
    run.state, run.why = STATES.get(line.get("state", 0), (UNFINISHED, "Optuna records no end"))
    directions = studies[study][1] if study < len(studies) else []
    for index, value in enumerate(line.get("values") or []):
        metric = f"{OBJECTIVE}_{index}" if index else OBJECTIVE
        run.add(metric, run.last_step(), math.nan if value is None else value)
        if index < len(directions):
            run.directions[metric] = run.directions["intermediate_" + OBJECTIVE] = 1 if directions[index] == MAXIMIZE else -1
