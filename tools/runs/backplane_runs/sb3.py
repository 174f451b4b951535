"""Stable-Baselines3 and its Zoo: progress.csv, monitor.csv, evaluations.npz."""
from __future__ import annotations

import json
import math
from pathlib import Path

from .model import Damaged, Run
from .npz import Array, read_npz
from .tables import Table, bounded_lines, csv_rows, finite_number

MONITOR_COLUMNS = ["r", "l", "t"]
NAMES = {"r": "monitor/return", "l": "monitor/length"}


def read_progress(file: Path, run: Run) -> None:
    """progress.csv is a table; rows without a step, of other dumps, have the step before."""
    if file not in run.sources:
        run.sources.append(file)
    table = Table(file, run.name, None)
    for one in table.read():
        if one.state != run.state and one.why:
            run.fail(one.why)
        run.notes += one.notes
        for name, curve in one.curves.items():
            run.curves[name] = curve  # exact, where event files have single precision


class Monitor:
    """One monitor.csv: episodes in the order of their ends. A file opened for appending may lack its header, or repeat it."""

    def __init__(self, file: Path) -> None:
        self.episodes: list[tuple[float, int, dict[str, float]]] = []  # end (s), length, measures
        self.start, self.env = 0.0, ""
        columns = list(MONITOR_COLUMNS)
        rows: list[str] = []
        with file.open(encoding="utf-8", errors="replace") as stream:
            for line in bounded_lines(stream, file):
                if line.startswith("#"):
                    self._head(line)
                elif not finite_number(line.split(",")[0]):
                    self._rows(rows, columns, file)
                    rows, columns = [], [name.strip() for name in line.strip().split(",")]
                elif line.endswith("\n"):  # else still being written
                    rows.append(line)
        self._rows(rows, columns, file)

    def _head(self, line: str) -> None:
        try:
            head = json.loads(line[1:])
            self.start = self.start or float(head.get("t_start", 0))
            self.env = str(head.get("env_id") or self.env)
        except (ValueError, TypeError, AttributeError, RecursionError):
            return

    def _rows(self, rows: list[str], columns: list[str], file: Path) -> None:
        if rows and "r" in columns and len(rows[0].split(",")) != len(columns):
            columns = [*MONITOR_COLUMNS, *(f"column_{i}" for i in range(4, 1 + len(rows[0].split(","))))]
        for row in csv_rows(rows, str(file), columns):
            if "r" in row and isinstance(row.get("l"), (int, float)) and row["l"] >= 0:
                measures = {NAMES.get(name, f"monitor/{name}"): value for name, value in row.items() if name != "t" and isinstance(value, (int, float))}
                self.episodes.append((float(row.get("t", 0) or 0), int(row["l"]), measures))


def read_monitors(files: list[Path], run: Run) -> None:
    """The episodes of all envs of a run; their steps add up over the envs."""
    monitors = [Monitor(file) for file in sorted(files)]
    run.sources += files
    steps = 0
    episodes = [(end, index, length, measures) for monitor in monitors for index, (end, length, measures) in enumerate(monitor.episodes)]
    if len(monitors) > 1:
        episodes.sort(key=lambda one: one[0])
    start = min((monitor.start for monitor in monitors if monitor.start), default=0.0)
    for end, _, length, measures in episodes:
        steps += length
        for name, value in measures.items():
            run.add(name, steps, value, start + end if start else math.nan)
    run.settings.setdefault("env", next((monitor.env for monitor in monitors if monitor.env and monitor.env != "None"), None))
    run.time_base = run.time_base or start


def read_evaluations(file: Path, run: Run) -> None:
    arrays = read_npz(file)
    if not {"timesteps", "results"} <= arrays.keys():
        raise Damaged(f"{file}: expected the arrays timesteps and results, got {', '.join(sorted(arrays)) or 'none'}")
    run.sources.append(file)
    own = "eval/mean_reward" not in run.curves
    for key, name in (("results", "mean_reward"), ("ep_lengths", "mean_ep_length"), ("successes", "success_rate")):
        if key in arrays:
            for step, row in zip(arrays["timesteps"].values, arrays[key].rows()):
                run.add(f"{'eval' if own else 'evaluations'}/{name}", int(step), math.fsum(row) / max(1, len(row)))


def read_score_arrays(file: Path, name: str) -> list[Run]:
    """rliable's arrays: for each algorithm scores of (runs, tasks) or (runs, tasks, steps)."""
    runs = []
    for algorithm, array in read_npz(file).items():
        if len(array.shape) not in (2, 3) or not array.values:
            raise Damaged(f"{file}: {algorithm}: expected scores of (runs, tasks), got the shape {array.shape}")
        for run in range(array.shape[0]):
            runs += [_scores(array, file, f"{name}/{algorithm}/task_{task}/{run}", algorithm, run, task) for task in range(array.shape[1])]
    return runs


def _scores(array: Array, file: Path, name: str, algorithm: str, run: int, task: int) -> Run:
    one = Run(name, "score arrays", [file], settings={"algo": algorithm, "env": f"task_{task}", "seed": run}, directions={"score": 1})
    steps = array.shape[2] if len(array.shape) == 3 else 1
    begin = (run * array.shape[1] + task) * steps
    for step in range(steps):
        one.add("score", step + 1, array.values[begin + step])
    return one
