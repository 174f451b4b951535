"""Trials of RLlib and Ray Tune: result.json, else progress.csv; params.json."""
from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from .model import UNFINISHED, Damaged, Run, flatten
from .plain_values import parse_json, read_text
from .tables import json_lines, read_csv, slashed

NO_METRICS = ("config", "hist_stats", "trial_id", "experiment_id", "experiment_tag", "hostname", "node_ip", "pid", "date", "timestamp", "done",
              "time_since_restore", "iterations_since_restore", "timesteps_since_restore", "warmup_time", "should_checkpoint", "checkpoint_dir_name")
STEPS = ("num_env_steps_sampled_lifetime", "num_env_steps_sampled", "timesteps_total", "training_iteration")


def read_trial(folder: Path, name: str) -> Run:
    run = Run(name, "Ray Tune", folder=folder)
    rows = _rows(folder, run)
    step = next((one for one in STEPS if any((whole(row.get(one)) or 0) > 0 for row in rows)), "training_iteration")
    for count, row in enumerate(rows, 1):
        time = row.get("timestamp")
        place = whole(row.get(step))
        if place is None or place < 0:
            place = count
        for key, value in slashed(row, NO_METRICS).items():
            if key not in STEPS[1:] or key == "training_iteration":
                run.add(key, place, value, float(time) if isinstance(time, (int, float)) else math.nan)
    params = folder / "params.json"
    if params.is_file():
        run.settings.update(flatten(parse_json(read_text(params), str(params))))
        run.sources.append(params)
    _end(folder, rows, run)
    return run


def whole(value: Any) -> int | None:
    """The integer; RLlib's counters are floats such as 201.0."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _rows(folder: Path, run: Run) -> list[dict[str, Any]]:
    """One per iteration: a restored trial repeats iterations, and the later record counts."""
    record, table = folder / "result.json", folder / "progress.csv"
    rows: list[dict[str, Any]] = []
    try:
        if record.is_file() and record.stat().st_size > 0:
            run.sources.append(record)
            rows = [row for _, row in json_lines(record) if isinstance(row, dict)]
        elif table.is_file():
            run.sources.append(table)
            run.notes.append(f"{table}: result.json is missing, so metrics that appear after the first row are unknown")
            rows = [{key.replace("/", "."): value for key, value in row.items() if not key.startswith("config/")} for row in read_csv(table) if "" not in row]
            rows = [{key.replace(".", "/"): value for key, value in row.items()} for row in rows]
    except Damaged as error:
        run.fail(str(error))
    if rows and isinstance(rows[-1].get("config"), dict):
        run.settings.update(flatten(rows[-1]["config"]))
    kept: dict[Any, dict[str, Any]] = {}
    for count, row in enumerate(rows):
        kept[row.get("training_iteration", ("row", count))] = row
    if len(kept) < len(rows):
        run.notes.append(f"{folder}: the trial was restored; {len(rows) - len(kept):,} repeated iterations are replaced by their later record")
    return sorted(kept.values(), key=lambda row: row.get("training_iteration", 0)) if len(kept) < len(rows) else rows


def _end(folder: Path, rows: list[dict[str, Any]], run: Run) -> None:
    error = folder / "error.txt"
    if run.why:
        return
    if error.is_file():
        lines = [line.strip() for line in read_text(error).splitlines() if line.strip()]
        run.fail(f"error.txt: {lines[-1][:200] if lines else 'empty'}")
    elif rows and rows[-1].get("done") is False and not any((folder.parent / name).exists() for name in ("experiment_state.json",)):
        run.state, run.why = UNFINISHED, "its last result has done: false"
