"""HF Trainer's trainer_state.json, its checkpoints, and Keras' folders of event files."""
from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from .model import UNFINISHED, Damaged, Run
from .plain_values import parse_json, read_text

MOST_STATE_BYTES = 512 << 20
CHECKPOINT = re.compile(r"checkpoint-(\d+)")
NO_METRICS = ("step", "total_flos")
SUMMARY = ("train_runtime", "train_loss", "train_samples_per_second", "train_steps_per_second")  # of a row that covers all steps
SETTINGS = ("max_steps", "num_train_epochs", "train_batch_size", "eval_steps", "logging_steps", "save_steps")


def read_trainer_state(folder: Path, name: str) -> Run:
    file = folder / "trainer_state.json"
    state = parse_json(read_text(file, MOST_STATE_BYTES), str(file))
    history = state.get("log_history") if isinstance(state, dict) else None
    if not isinstance(history, list):
        raise Damaged(f"{file}: expected log_history, got none")
    run = Run(name, "HF Trainer", [file], folder=folder)
    for count, row in enumerate(history, 1):
        if not isinstance(row, dict):
            raise Damaged(f"{file}: log_history[{count - 1}]: expected an object, got {type(row).__name__}")
        step = row.get("step", count)
        if not isinstance(step, int) or step < 0:
            raise Damaged(f"{file}: log_history[{count - 1}]: expected a step, got {str(step)[:40]}")
        summary = "train_runtime" in row
        for key, value in row.items():
            if key not in NO_METRICS and not (summary and (key in SUMMARY or key == "epoch")):
                run.add(key, step, value)
    run.settings = {key: state[key] for key in SETTINGS if isinstance(state.get(key), (int, float))}
    done, wanted = state.get("global_step"), state.get("max_steps")
    if isinstance(done, int) and isinstance(wanted, int) and 0 < done < wanted:
        run.state, run.why = UNFINISHED, f"it ended at step {done:,} of {wanted:,}"
    return run


def without_older_checkpoints(children: dict[Path, list[Run]]) -> dict[Path, list[Run]]:
    """Keeps only the newest checkpoint-N, which contains the history of the others."""
    numbers = {child: int(found[1]) for child, runs in children.items() if (found := CHECKPOINT.fullmatch(child.name)) and _is_state(child, runs)}
    newest = max(numbers, key=numbers.get, default=None)
    return {child: runs for child, runs in children.items() if child not in numbers or child == newest}


def _is_state(child: Path, runs: list[Run]) -> bool:
    return any(run.kind == "HF Trainer" and run.folder == child for run in runs)


def join_checkpoints(runs: list[Run], folder: Path, name: str) -> list[Run]:
    """The newest checkpoint is the run of the folder above it, unless that has a state of its own."""
    own = next((run for run in runs if run.folder == folder and run.kind == "HF Trainer"), None)
    kept: list[Run] = []
    for run in runs:
        below = run.folder is not None and run.folder.parent == folder and run.kind == "HF Trainer" and CHECKPOINT.fullmatch(run.folder.name)
        if not below:
            kept.append(run)
        elif own is None:
            run.name, run.folder = name, folder
            kept.append(run)
            own = run
    return kept


def join_events(runs: list[Run], folder: Path) -> list[Run]:
    """The Trainer's event files below runs/ repeat its state; they add only settings."""
    own = next((run for run in runs if run.folder == folder and run.kind == "HF Trainer"), None)
    if own is None:
        return runs
    kept: list[Run] = []
    for run in runs:
        if run.kind == "TensorBoard" and run.folder is not None and folder / "runs" in (run.folder, *run.folder.parents):
            _add_settings(own, run.settings)
            own.sources += run.sources
        else:
            kept.append(run)
    return kept


def _add_settings(run: Run, settings: dict[str, Any]) -> None:
    for key, value in settings.items():
        run.settings.setdefault(key, value)


def join_keras(runs: list[Run], folder: Path, name: str) -> list[Run]:
    """Keras logs one run into the folders train and validation."""
    parts = {run.folder.name: run for run in runs if run.kind == "TensorBoard" and run.folder is not None and run.folder.parent == folder
             and run.folder.name in ("train", "validation")}
    if "train" not in parts or any(run.folder == folder for run in runs):
        return runs
    joined = Run(name, "TensorBoard", folder=folder)
    for part, run in sorted(parts.items()):
        joined.sources += run.sources
        joined.notes += run.notes
        _add_settings(joined, run.settings)
        joined.curves.update({f"{part}/{tag}": curve for tag, curve in run.curves.items()})
        joined.time_base = joined.time_base or run.time_base
        if run.why:
            joined.state, joined.why = run.state, run.why
    return [joined] + [run for run in runs if run not in parts.values()]
