"""Several tasks: reference scores that count as 0 and 1 on the common scale."""
from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from .model import COMPLETED, PRUNED, Damaged, Mistake
from .plain_values import parse_json, read_text, read_yaml
from .points import Points, last_tenth
from .tables import read_csv


def read_references(file: Path) -> dict[str, list[float]]:
    """{task: [worst, best]} of JSON, YAML, or a CSV file with the columns task, worst, best."""
    try:
        if file.suffix.lower() == ".csv":
            rows = [list(row.values()) for row in read_csv(file)]
            found: Any = {str(row[0]): row[1:3] for row in rows if len(row) >= 3}
        else:
            found = parse_json(read_text(file), str(file)) if file.suffix == ".json" else read_yaml(file)
    except (Damaged, OSError) as error:
        raise Mistake(f"--reference: {error}") from None
    out: dict[str, list[float]] = {}
    for task, scores in (found if isinstance(found, dict) else {}).items():
        pair = list(scores.values()) if isinstance(scores, dict) else scores
        if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(one, (int, float)) and math.isfinite(one) for one in pair) or pair[0] == pair[1]:
            raise Mistake(f"--reference: {file}: {task}: expected [worst, best], two different numbers, got {scores}")
        out[str(task)] = [float(pair[0]), float(pair[1])]
    if not out:
        raise Mistake(f"--reference: {file}: expected scores such as {{\"CartPole-v1\": [20, 500]}}, got none")
    return out


def tasks_of(points: Points, metric: str, way: int, references: dict[str, list[float]] | None) -> tuple[list[dict[str, Any]], str]:
    """The entries of compare.tasks, and a sentence if the references come from the runs themselves. Empty: some arm lacks a task."""
    arms_on: dict[str, set[str]] = {}
    for trial in points.trials:
        arms_on.setdefault(trial.task, set()).add(trial.arm)
    if len({frozenset(arms) for arms in arms_on.values()}) > 1:
        lacking = max(arms_on, key=lambda task: len(set().union(*arms_on.values()) - arms_on[task]))
        return [], f"not every arm ran on every task ({lacking} lacks {', '.join(sorted(set().union(*arms_on.values()) - arms_on[lacking])[:3])}), so there is no joint verdict"
    tasks = []
    for task in arms_on:
        if references is not None and task not in references:
            raise Mistake(f"--reference: expected scores of '{task}', got {', '.join(sorted(references)[:6])}")
        tasks.append({"name": task, "reference": references[task] if references else observed(points, task, metric, way)})
    return tasks, "" if references else "normalised scores use each task's worst and best run as 0 and 1; --reference FILE sets them"


def observed(points: Points, task: str, metric: str, way: int) -> list[float]:
    scores = [last_tenth(list(trial.run.curves[metric].values)) for trial in points.trials
              if trial.task == task and metric in trial.run.curves and trial.run.state in (COMPLETED, PRUNED)]
    finite = [score for score in scores if math.isfinite(score)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    if low == high:
        low, high = low - 0.5, high + 0.5
    return [low, high] if way >= 0 else [high, low]
